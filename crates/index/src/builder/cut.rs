//! Cuts what changed, on every core.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use casebook_chunker::{Chunker, Unit};
use casebook_corpus::{ContentHash, Resource};
use rusqlite::Connection;

use crate::builder::failure::Step;
use crate::builder::plan::Target;
use crate::store;
use crate::{BuildError, BuildObserver, BuildStage};

/// The units of one resource that was cut.
#[derive(Debug)]
pub(crate) struct CutResource {
    /// Which target.
    pub(crate) target: usize,
    pub(crate) units: Vec<(Unit, ContentHash)>,
}

/// Cuts the targets that need it. A body that was not read anew comes from the database.
pub(crate) fn cut(
    db: &Connection,
    targets: &mut [Target],
    chunker: &Chunker,
    chunker_changed: bool,
    observer: &dyn BuildObserver,
) -> Step<Vec<CutResource>> {
    let mut work = Vec::new();
    for (index, target) in targets.iter_mut().enumerate() {
        if target.needs_cut(chunker_changed) {
            let read_anew = target.body.is_some();
            let body = match target.body.take() {
                Some(body) => body,
                None => store::body(db, target.location())?,
            };
            let meta = target.member.meta.clone();
            work.push((index, read_anew, Resource { meta, body }));
        }
    }
    let cut = cut_all(&work, chunker, observer)?;
    for (index, read_anew, resource) in work {
        targets[index].body = read_anew.then_some(resource.body);
    }
    Ok(cut)
}

fn cut_all(
    work: &[(usize, bool, Resource)],
    chunker: &Chunker,
    observer: &dyn BuildObserver,
) -> Result<Vec<CutResource>, BuildError> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(work.len()));
    let worker = || {
        while let Some((target, _, resource)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
            if observer.cancelled() {
                return;
            }
            let cut = CutResource {
                target: *target,
                units: with_input_hashes(chunker.chunk(resource), &resource.meta.path),
            };
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push(cut);
            observer.progress(BuildStage::Chunking, done.len(), Some(work.len()));
        }
    };
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(work.len());
    if threads > 1 {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(worker);
            }
        });
    } else {
        worker();
    }
    let mut cut = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    if cut.len() < work.len() {
        return Err(BuildError::Cancelled);
    }
    cut.sort_unstable_by_key(|cut| cut.target);
    Ok(cut)
}

fn with_input_hashes(units: Vec<Unit>, path: &str) -> Vec<(Unit, ContentHash)> {
    let hashed = units.into_iter().map(|unit| {
        let hash = input_hash(path, &unit.heading_path, &unit.text);
        (unit, hash)
    });
    hashed.collect()
}

/// Returns the identity of what an encoder is given: path, headings, text, each with its length before it.
fn input_hash(path: &str, heading_path: &[String], text: &str) -> ContentHash {
    let mut form = Vec::with_capacity(text.len() + path.len() + 64);
    let texts = [path]
        .into_iter()
        .chain(heading_path.iter().map(String::as_str))
        .chain([text]);
    for text in texts {
        form.extend((text.len() as u64).to_le_bytes());
        form.extend(text.as_bytes());
    }
    ContentHash::of(form)
}
