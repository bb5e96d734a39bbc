//! When a file counts as untouched, and when its stamp can be trusted to show the next edit.

use std::fs::Metadata;

use sha2::{Digest, Sha256};

use crate::{SourceDecl, Stamp, Timestamp};

/// Milliseconds after which a file system has moved on to another time. Kernels tick every 1 to 10.
pub(super) const TICK_MILLIS: u64 = 20;

/// The same on a file system that keeps whole seconds, or every other one.
const COARSE_TICK_MILLIS: i128 = 2_000;

const NANOS_PER_MILLI: i128 = 1_000_000;
const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// Changed whenever a file that did not change would be read as another resource.
const READING_VERSION: u64 = 1;

/// Whether an edit from now on is sure to change the stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settling {
    /// It is.
    Settled,
    /// It will be when a tick has passed.
    Soon,
    /// It will be in a second or two, which is too long to wait for.
    Later,
}

/// Returns the stamp of a file that is read in this way.
pub(super) fn of(metadata: &Metadata, reading: u64) -> Stamp {
    let (modified, changed, inode) = outside(metadata);
    Stamp::new([metadata.len(), modified as u64, changed as u64, inode ^ reading])
}

/// Returns how far the last change of a file lies back.
pub(super) fn settling(metadata: &Metadata, now: Timestamp) -> Settling {
    age(outside(metadata).1, now)
}

/// A change that lies in the future happened on a clock that is ahead of ours: just now, for all that we know.
fn age(changed: i128, now: Timestamp) -> Settling {
    let age = i128::from(now.unix_millis()) * NANOS_PER_MILLI - changed;
    if changed % NANOS_PER_SECOND == 0 {
        match age < COARSE_TICK_MILLIS * NANOS_PER_MILLI {
            true => Settling::Later,
            false => Settling::Settled,
        }
    } else {
        match age < i128::from(TICK_MILLIS) * NANOS_PER_MILLI {
            true => Settling::Soon,
            false => Settling::Settled,
        }
    }
}

/// Returns a digest of all that a file is read by beside its bytes.
pub(super) fn reading(decl: &SourceDecl, max_file_bytes: u64) -> u64 {
    let mut hasher = Sha256::new();
    for number in [READING_VERSION, max_file_bytes] {
        hasher.update(number.to_le_bytes());
    }
    for text in [decl.scope.as_str(), decl.layer.as_str(), &decl.kind] {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    let digest: [u8; 32] = hasher.finalize().into();
    digest.iter().take(8).fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Returns modification time, change time (both in nanoseconds since the Unix epoch) and inode.
#[cfg(unix)]
fn outside(metadata: &Metadata) -> (i128, i128, u64) {
    use std::os::unix::fs::MetadataExt;
    let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * NANOS_PER_SECOND + i128::from(nanos);
    let modified = nanos(metadata.mtime(), metadata.mtime_nsec());
    (modified, nanos(metadata.ctime(), metadata.ctime_nsec()), metadata.ino())
}

/// Returns modification time twice, in nanoseconds since the Unix epoch, and creation time instead of an inode.
#[cfg(not(unix))]
fn outside(metadata: &Metadata) -> (i128, i128, u64) {
    let nanos = |time: std::io::Result<std::time::SystemTime>| {
        let since = time
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        since.map_or(0, |since| since.as_nanos() as i128)
    };
    let modified = nanos(metadata.modified());
    (modified, modified, nanos(metadata.created()) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_settles_when_its_tick_is_over() {
        let check = |changed: i128, now: i64, expected| {
            assert_eq!(
                age(changed, Timestamp::from_unix_millis(now)),
                expected,
                "{changed} {now}"
            );
        };
        let fine = 7 * NANOS_PER_SECOND + 1;
        check(fine, 7_000, Settling::Soon);
        check(fine, 7_020, Settling::Soon);
        check(fine, 7_021, Settling::Settled);
        check(fine, 0, Settling::Soon);
        let coarse = 7 * NANOS_PER_SECOND;
        check(coarse, 7_021, Settling::Later);
        check(coarse, 8_999, Settling::Later);
        check(coarse, 9_000, Settling::Settled);
        check(coarse, 0, Settling::Later);
    }

    #[test]
    fn other_defaults_are_another_reading() {
        let decl = SourceDecl::default();
        let other = SourceDecl {
            kind: "journal".to_owned(),
            ..SourceDecl::default()
        };
        assert_eq!(
            reading(&decl, 1),
            reading(
                &SourceDecl {
                    path: "a".to_owned(),
                    ..decl.clone()
                },
                1
            )
        );
        assert_ne!(reading(&decl, 1), reading(&other, 1));
        assert_ne!(reading(&decl, 1), reading(&decl, 2));
    }
}
