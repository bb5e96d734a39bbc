//! A build looks before it takes the lock.

use casebook_corpus::Scan;

use crate::RevisionId;
use crate::builder::known::Known;
use crate::builder::plan::scan_degradations;
use crate::builder::run::Run;
use crate::builder::{BuildReport, BuildRequest, word_index};
use crate::index::Shared;
use crate::store::{self, Head};

/// What a look without the lock found.
pub(super) enum Look {
    /// The head holds the memory as it is.
    Current(Box<BuildReport>),
    /// It does not.
    Changed(Looked),
}

/// A scan against what one head holds; of use to a build that starts from the same head.
pub(super) struct Looked {
    pub(super) head: Option<RevisionId>,
    pub(super) known: Known,
    pub(super) scan: Scan,
}

/// Looks for something to do without the lock. Whatever goes wrong is for the build itself to find and tell.
pub(super) fn look(shared: &Shared, request: &BuildRequest<'_>, started: u64) -> Option<Look> {
    if request.full || shared.is_suspect() {
        return None;
    }
    let mut run = Run::open(shared, request, started).ok()?;
    let known = {
        // One transaction, so that the head and what it holds are of one moment.
        let moment = run.db.unchecked_transaction().ok()?;
        run.head = store::head(&moment).ok()?;
        Known::load(&moment).ok()?
    };
    let scan = run.scan(&known).ok()?;
    let at_head = |head: &Head| word_index::is_at(shared, &head.revision.id);
    let is_known = known.is_unchanged(&scan) && !known.has_other_stamps(&scan);
    let is_current = is_known && run.head.as_ref().is_some_and(at_head) && run.is_current().ok()?;
    if is_current && run.has_whole_segments().ok()? {
        run.counts.bytes_read = scan.bytes_read;
        run.counts.degradations = scan_degradations(&known, &scan);
        return run.unchanged().ok().map(|report| Look::Current(Box::new(report)));
    }
    let head = run.head.map(|head| head.revision.id);
    Some(Look::Changed(Looked { head, known, scan }))
}
