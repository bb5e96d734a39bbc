use std::path::Path;
use std::sync::Barrier;

use casebook_storage::{
    DatabaseError, Migration, OpenOptions, Synchronous, is_corrupt, is_unwritable, migrate, open, open_read_only,
};
use rusqlite::Connection;

const OPTIONS: OpenOptions = OpenOptions::new(0x4353_4254, Synchronous::Normal);
const FIRST: Migration = Migration {
    sql: "CREATE TABLE notes (text TEXT NOT NULL) STRICT; INSERT INTO notes VALUES ('一');",
};
const SECOND: Migration = Migration {
    sql: "ALTER TABLE notes ADD COLUMN done INTEGER NOT NULL DEFAULT 0;",
};

fn open_at(path: &Path, migrations: &[Migration]) -> Result<Connection, DatabaseError> {
    let mut db = open(path, &OPTIONS)?;
    migrate(&mut db, migrations)?;
    Ok(db)
}

fn ask<T: rusqlite::types::FromSql>(db: &Connection, sql: &str) -> T {
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn opens_twice_and_migrates_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/notes.db");
    drop(open_at(&path, &[FIRST]).unwrap());
    for _ in 0..2 {
        let db = open_at(&path, &[FIRST, SECOND]).unwrap();
        assert_eq!(ask::<i64>(&db, "SELECT count(*) FROM notes WHERE done = 0"), 1);
        assert_eq!(ask::<i64>(&db, "PRAGMA user_version"), 2);
        assert_eq!(ask::<String>(&db, "PRAGMA journal_mode"), "wal");
        assert_eq!(ask::<i64>(&db, "PRAGMA foreign_keys"), 1);
        assert_eq!(ask::<i64>(&db, "PRAGMA trusted_schema"), 0);
        assert_eq!(ask::<i64>(&db, "PRAGMA synchronous"), 1);
        assert_eq!(ask::<i32>(&db, "PRAGMA application_id"), OPTIONS.application_id);
    }
}

#[test]
fn a_newer_database_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    drop(open_at(&path, &[FIRST, SECOND]).unwrap());
    let refused = open_at(&path, &[FIRST]).unwrap_err();
    assert!(
        matches!(refused, DatabaseError::Newer { found: 2, known: 1 }),
        "{refused}"
    );
    assert_eq!(
        ask::<i64>(&open_at(&path, &[FIRST, SECOND]).unwrap(), "PRAGMA user_version"),
        2
    );
}

#[test]
fn a_step_that_fails_leaves_the_version_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    let broken = Migration {
        sql: "ALTER TABLE notes ADD COLUMN half INTEGER; SELECT nonsense;",
    };
    assert!(open_at(&path, &[FIRST, broken]).is_err());
    let db = open_at(&path, &[FIRST, SECOND]).unwrap();
    assert_eq!(ask::<i64>(&db, "SELECT count(*) FROM pragma_table_info('notes')"), 2);
}

#[test]
fn what_is_not_ours_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.db");
    std::fs::write(&text, "这不是数据库 ".repeat(1000)).unwrap();
    match open(&text, &OPTIONS).unwrap_err() {
        DatabaseError::Sqlite(error) => assert!(is_corrupt(&error), "{error}"),
        other => panic!("{other}"),
    }
    let foreign = folder.path().join("foreign.db");
    drop(open(&foreign, &OpenOptions::new(7, Synchronous::Full)).unwrap());
    let refused = open(&foreign, &OPTIONS).unwrap_err();
    assert!(matches!(refused, DatabaseError::Foreign { found: 7, .. }), "{refused}");
}

#[test]
fn many_open_a_new_database_at_once() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        let start = Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    let db = open_at(&path, &[FIRST, SECOND]).unwrap();
                    db.execute("INSERT INTO notes (text) VALUES ('x')", []).unwrap();
                });
            }
        });
        let db = open_at(&path, &[FIRST, SECOND]).unwrap();
        assert_eq!(ask::<i64>(&db, "SELECT count(*) FROM notes"), 9);
    }
}

#[cfg(unix)]
#[test]
fn the_database_and_its_log_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let db = open_at(&folder.path().join("notes.db"), &[FIRST]).unwrap();
    db.execute("INSERT INTO notes (text) VALUES ('x')", []).unwrap();
    for name in ["notes.db", "notes.db-wal", "notes.db-shm"] {
        let mode = folder.path().join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn what_cannot_be_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    // Nothing in a name is a part of a URI.
    let path = folder.path().join("笔记 50%?mode=rwc#x.db");
    let writer = open_at(&path, &[FIRST]).unwrap();
    let read = || open_read_only(&path, OPTIONS.application_id);
    let text = |db: &Connection| ask::<String>(db, "SELECT text FROM notes");
    let beside = read().unwrap();
    assert_eq!(text(&beside), "一", "beside a log");
    drop((beside, writer));
    let before = std::fs::read_dir(folder.path()).unwrap().count();
    let db = read().unwrap();
    assert_eq!(text(&db), "一");
    let refused = db.execute("INSERT INTO notes VALUES ('二')", []).unwrap_err();
    assert!(is_unwritable(&refused.into()));
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        before,
        "nothing is made beside it"
    );
    assert!(matches!(open_read_only(&path, 7), Err(DatabaseError::Foreign { .. })));
    assert!(open_read_only(&folder.path().join("none.db"), 7).is_err());
}
