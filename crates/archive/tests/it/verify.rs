//! Every way to differ is told, with what was expected and found.

use std::path::Path;

use casebook_archive::{CatalogEntry, verify};

use crate::entry;

const CONTENT: &str = "{\"role\":\"user\",\"content\":\"你好\"}\n\n{\"role\":\"assistant\",\"content\":\"hello\"}";

/// Makes an archive with one raw source; checks what differs after `change`.
fn check(change: impl FnOnce(&Path, &mut CatalogEntry), expected: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("archive");
    std::fs::create_dir_all(root.join("raw-sources")).unwrap();
    write_private(&root.join("raw-sources/会话.jsonl"), CONTENT);
    let mut entry = entry("raw-sources/会话.jsonl", CONTENT);
    change(&root, &mut entry);
    let found: Vec<_> = verify(&root, &entry).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

fn write_private(path: &Path, content: &str) {
    std::fs::write(path, content).unwrap();
    #[cfg(unix)]
    set_mode(path, 0o600);
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_is_as_it_should_be_differs_in_nothing() {
    check(|_, _| (), &[]);
    check(|_, entry| entry.path.insert_str(0, "./"), &[]);
}

#[test]
fn size_hash_and_records_are_compared() {
    check(
        |_, entry| entry.size = 3,
        &[&format!("size is {} bytes, expected 3", CONTENT.len())],
    );
    check(|_, entry| entry.record_count = 3, &["2 records, expected 3"]);
    let (found, other) = (entry("", CONTENT).sha256, entry("", "x").sha256);
    check(
        |_, entry| entry.sha256 = other,
        &[&format!("SHA-256 is {found}, expected {other}")],
    );
}

#[test]
fn one_byte_changed_is_seen() {
    let changed = CONTENT.replace("hello", "hallo");
    let (expected, found) = (entry("", CONTENT).sha256, entry("", &changed).sha256);
    check(
        |root, entry| std::fs::write(root.join(&entry.path), &changed).unwrap(),
        &[&format!("SHA-256 is {found}, expected {expected}")],
    );
}

#[test]
fn records_are_counted_across_blocks() {
    let content = format!("{}\n", "长".repeat(40_000)).repeat(5) + " \r\n\t\n" + "last";
    check(
        |root, entry| {
            write_private(&root.join("big"), &content);
            *entry = crate::entry("big", &content);
            assert_eq!(entry.record_count, 6);
        },
        &[],
    );
}

#[test]
fn a_missing_file_and_a_directory_are_told() {
    check(
        |_, entry| entry.path = "raw-sources/none".into(),
        &["file cannot be read: entity not found"],
    );
    check(|_, entry| entry.path = "raw-sources".into(), &["not a regular file"]);
    check(
        |root, _| std::fs::remove_dir_all(root).unwrap(),
        &["file cannot be read: entity not found"],
    );
}

#[test]
fn a_path_never_leads_out() {
    for path in ["", "/etc/hostname", "../secret", "raw-sources/../../secret"] {
        check(
            |root, entry| {
                write_private(&root.join("../secret"), CONTENT);
                entry.path = path.into();
            },
            &[&format!("path leads out of the archive: {path:?}")],
        );
    }
}

#[cfg(unix)]
#[test]
fn a_link_never_leads_out_but_may_lead_around_inside() {
    use std::os::unix::fs::symlink;
    let outside = "path leads out of the archive: \"raw-sources/link\"";
    check(
        |root, entry| {
            write_private(&root.join("../secret"), CONTENT);
            symlink("../../secret", root.join("raw-sources/link")).unwrap();
            entry.path = "raw-sources/link".into();
        },
        &[outside],
    );
    check(
        |root, entry| {
            std::fs::create_dir(root.join("../other")).unwrap();
            write_private(&root.join("../other/secret"), CONTENT);
            symlink("../../other", root.join("raw-sources/dir")).unwrap();
            entry.path = "raw-sources/dir/secret".into();
        },
        &["path leads out of the archive: \"raw-sources/dir/secret\""],
    );
    check(
        |root, entry| {
            symlink("会话.jsonl", root.join("raw-sources/link")).unwrap();
            entry.path = "raw-sources/link".into();
        },
        &[],
    );
}

#[cfg(unix)]
#[test]
fn access_of_others_is_told() {
    check(
        |root, entry| set_mode(&root.join(&entry.path), 0o644),
        &["permissions are 644, expected 600"],
    );
}
