//! Archives that were made to harm, or were harmed.

use std::io::{Cursor, Write};

use casebook_encoder::{ImportLimits, PackError, zip_listing};
use zip::unstable::write::FileOptionsExt;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::packs_fixture::{Files, Shelf, from, packed};

/// A good model and one more entry.
fn with_entry(add: impl FnOnce(&mut ZipWriter<Cursor<Vec<u8>>>)) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in &Files::bert().0 {
        zip.start_file(path.as_str(), packed()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    add(&mut zip);
    zip.finish().unwrap().into_inner()
}

#[track_caller]
fn refused(archive: &[u8], code: &str, words: &str) {
    let shelf = Shelf::new();
    shelf.refuses(&from(shelf.write("model.zip", archive)), code, words);
}

fn list(archive: &[u8]) -> Result<usize, PackError> {
    zip_listing(archive, &ImportLimits::default()).map(|entries| entries.len())
}

/// Puts other bytes wherever these are.
fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut changed = bytes.to_vec();
    let mut found = false;
    for at in 0..=bytes.len() - from.len() {
        if &bytes[at..at + from.len()] == from {
            changed[at..at + from.len()].copy_from_slice(to);
            found = true;
        }
    }
    assert!(found);
    changed
}

#[test]
fn names_that_lead_elsewhere() {
    let plain = with_entry(|zip| {
        zip.start_file("XXXXXXXXXX", packed()).unwrap();
        zip.write_all(b"x").unwrap();
    });
    assert_eq!(list(&plain).unwrap(), 8);
    for (name, words) in [
        ("../../evil", "leads out"),
        ("a/../../ev", "leads out"),
        ("/etc/passw", "absolute"),
        ("C:/windows", "absolute"),
        ("..\\..\\evil", "backslash"),
        ("a\u{1b}[2Jevils", "control"),
        ("a//evilevi", "empty part"),
        ("config.\0so", "control"),
    ] {
        refused(
            &replace(&plain, b"XXXXXXXXXX", name.as_bytes()),
            "pack_path_unsafe",
            words,
        );
    }
    refused(
        &replace(&plain, b"XXXXXXXXXX", b"\xff\xfeXXXXXXXX"),
        "pack_path_unsafe",
        "UTF-8",
    );
}

#[test]
fn names_that_are_there_twice() {
    let archive = with_entry(|zip| {
        zip.start_file("config.jsoN", packed()).unwrap();
        zip.write_all(b"{}").unwrap();
    });
    refused(&archive, "pack_path_unsafe", "twice");
    refused(
        &replace(&archive, b"config.jsoN", b"config.json"),
        "pack_path_unsafe",
        "\"config.json\" is refused: the archive has it twice",
    );
}

#[test]
fn links_and_devices() {
    let link = with_entry(|zip| zip.add_symlink("more", "/etc", SimpleFileOptions::default()).unwrap());
    refused(&link, "pack_path_unsafe", "symbolic link");
    // The kind of a file in the upper half of its attributes: a link becomes a FIFO.
    let attributes = |kind: u32| (kind | 0o777).wrapping_shl(16).to_le_bytes();
    let pipe = replace(&link, &attributes(0o120_000), &attributes(0o010_000));
    refused(&pipe, "pack_path_unsafe", "device");
}

#[test]
fn encrypted_entries() {
    let archive = with_entry(|zip| {
        let secret = packed().with_deprecated_encryption(b"password").unwrap();
        zip.start_file("secret", secret).unwrap();
        zip.write_all(b"x").unwrap();
    });
    refused(&archive, "pack_path_unsafe", "encrypted");
}

#[test]
fn bombs() {
    let archive = with_entry(|zip| {
        zip.start_file("zeros", packed()).unwrap();
        for _ in 0..4 {
            zip.write_all(&[0; 1 << 20]).unwrap();
        }
    });
    refused(&archive, "pack_too_large", "each packed byte of zeros");
    // Larger in all than allowed, though every file is small and dense.
    let limits = ImportLimits {
        total_bytes: 4 << 20,
        ratio: u64::MAX,
        ..ImportLimits::default()
    };
    assert_eq!(zip_listing(&archive, &limits).unwrap_err().code(), "pack_too_large");
}

/// What is declared bounds what is unpacked: an entry that goes on is cut off and refused.
#[test]
fn lengths_that_lie() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in &Files::bert().0 {
        zip.start_file(path.as_str(), packed()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    let archive = zip.finish().unwrap().into_inner();
    let real = Files::bert().0["tokenizer.json"].len() as u32;
    for declared in [real - 1, real + 1, 1] {
        let lie = replace(&archive, &real.to_le_bytes(), &declared.to_le_bytes());
        refused(&lie, "pack_archive_broken", "tokenizer.json");
    }
}

#[test]
fn archives_that_are_cut_off_or_damaged() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (path, bytes) in &Files::bert().0 {
        zip.start_file(path.as_str(), stored).unwrap();
        zip.write_all(bytes).unwrap();
    }
    let archive = zip.finish().unwrap().into_inner();
    for length in [2, 30, archive.len() / 2, archive.len() - 30] {
        refused(&archive[..length], "pack_archive_broken", "archive is broken");
    }
    // One letter in the licence's text: only the checksum sees it.
    let damaged = replace(&archive, b"\"model_type\":\"bert\"", b"\"model_type\":\"bErt\"");
    refused(&damaged, "pack_archive_broken", "config.json");
    let deflated = Files::bert().zip();
    let mut damaged = deflated.clone();
    for byte in &mut damaged[60..200] {
        *byte ^= 0x5a;
    }
    let shelf = Shelf::new();
    assert!(shelf.add(&from(shelf.write("model.zip", &damaged))).is_err());
    assert!(shelf.left().is_empty());
}

#[test]
fn entries_that_share_bytes() {
    let archive = with_entry(|zip| {
        zip.shallow_copy_file("model.safetensors", "again.bin").unwrap();
    });
    refused(&archive, "pack_archive_broken", "share bytes");
}
