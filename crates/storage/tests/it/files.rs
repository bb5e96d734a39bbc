use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use casebook_storage::{FileLock, NewFile, Waited, create_private_dir, read_at, write_atomic};

#[test]
fn a_reader_sees_the_old_content_or_the_new() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("状态.json");
    let (old, new) = ("旧".repeat(50_000), "n".repeat(200_000));
    write_atomic(&path, old.as_bytes()).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..20 {
                write_atomic(&path, if round % 2 == 0 { &new } else { &old }.as_bytes()).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            let seen = fs::read_to_string(&path).unwrap();
            assert!(seen == old || seen == new, "{} bytes", seen.len());
        }
    });
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "no temporary file is left"
    );
}

#[test]
fn a_write_that_cannot_be_made_leaves_the_old_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("taken");
    fs::create_dir(&path).unwrap();
    assert!(write_atomic(&path, b"x").is_err());
    assert!(path.is_dir());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_new_file_has_its_name_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let names = || fs::read_dir(folder.path()).unwrap().count();
    let write = || {
        let mut file = NewFile::create_in(folder.path()).unwrap();
        file.write_at(4, b"5678").unwrap();
        file.write_at(0, b"1234").unwrap();
        file
    };
    drop(write());
    assert_eq!(names(), 0, "given up, it leaves nothing");
    let file = write();
    let path = folder.path().join("part.seg");
    assert!(!path.exists());
    file.publish("part.seg").unwrap();
    assert_eq!((fs::read(&path).unwrap(), names()), (b"12345678".to_vec(), 1));
    let file = fs::File::open(path).unwrap();
    let mut four = [0; 4];
    read_at(&file, 3, &mut four).unwrap();
    assert_eq!(&four, b"4567");
    assert!(read_at(&file, 5, &mut four).is_err(), "fewer bytes than were asked for");
    fs::create_dir(folder.path().join("taken")).unwrap();
    assert!(write().publish("taken").is_err());
    assert_eq!(names(), 2);
}

#[cfg(unix)]
#[test]
fn files_and_folders_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("a/b");
    create_private_dir(&folder).unwrap();
    create_private_dir(&folder).unwrap();
    write_atomic(&folder.join("file"), b"x").unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&root.path().join("a")), 0o700);
    assert_eq!(mode(&folder.join("file")), 0o600);
}

#[test]
fn one_holder_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("build.lock");
    assert!(!FileLock::is_held(&path).unwrap());
    let held = FileLock::try_acquire(&path).unwrap().unwrap();
    assert!(FileLock::is_held(&path).unwrap());
    assert!(FileLock::try_acquire(&path).unwrap().is_none());
    let timed_out = FileLock::wait(&path, Some(Duration::from_millis(30)), &mut || true).unwrap();
    assert!(matches!(timed_out, Waited::TimedOut));
    assert!(matches!(
        FileLock::wait(&path, None, &mut || false).unwrap(),
        Waited::GivenUp
    ));
    drop(held);
    let acquired = FileLock::wait(&path, Some(Duration::ZERO), &mut || false).unwrap();
    assert!(matches!(acquired, Waited::Acquired(_)));
}

#[cfg(unix)]
#[test]
fn a_lock_knows_whether_its_file_still_has_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.lock");
    let held = FileLock::try_acquire(&path).unwrap().unwrap();
    assert!(held.is_at(&path));
    std::fs::remove_file(&path).unwrap();
    assert!(!held.is_at(&path));
    let other = FileLock::try_acquire(&path).unwrap().unwrap();
    assert!(other.is_at(&path) && !held.is_at(&path));
}
