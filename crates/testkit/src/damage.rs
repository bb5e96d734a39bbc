//! Damage to files, as a disk, a crash or another program does it.
//!
//! The one thing a newcomer gets wrong: what another process has open must stay as it was, as after damage on a disk that
//! it read before. So a damaged file takes the place of the old one under its name.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of a page of SQLite's.
const PAGE: usize = 4096;

/// Returns all files below a folder, sorted; none where there is no folder.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.flat_map(|entry| match entry.path() {
        path if path.is_dir() => files_below(&path),
        path => vec![path],
    });
    let mut found: Vec<PathBuf> = found.collect();
    found.sort();
    found
}

/// Changes the content of a file. Panics where the file system refuses: a test cannot go on then.
pub fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("the file to damage can be read");
    change(&mut bytes);
    let aside = path.with_extension("aside");
    fs::write(&aside, bytes).expect("a file can be written beside the one to damage");
    fs::rename(aside, path).expect("a file can be replaced");
}

/// Flips a bit of the byte at a place.
pub fn flip(path: &Path, at: usize) {
    change(path, |bytes| bytes[at] ^= 0x10);
}

/// Keeps the first half alone.
pub fn cut_in_half(path: &Path) {
    change(path, |bytes| bytes.truncate(bytes.len() / 2));
}

/// Runs statements on a database that no connection of the test holds, past everything that would keep it whole.
pub fn sql(database: &Path, statements: &str) {
    let db = rusqlite::Connection::open(database).expect("the database to damage can be opened");
    db.execute_batch(statements).expect("the damage can be done");
}

/// Makes the root page of a table, or of an index, unreadable.
pub fn break_table(database: &Path, name: &str) {
    let db = rusqlite::Connection::open(database).expect("the database to damage can be opened");
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let root: usize = db.query_row(sql, [name], |row| row.get(0)).expect("the table is there");
    drop(db);
    change(database, |bytes| bytes[(root - 1) * PAGE..][..64].fill(0xEE));
}
