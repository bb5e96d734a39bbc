//! How the encoders of an index stand.

use rusqlite::Connection;

use crate::store::{self, Encoding, Head};
use crate::{Coverage, EncoderRevision};

/// How one encoder stands at the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncoderStatus {
    /// Which.
    pub revision: EncoderRevision,
    /// Numbers in a vector; `None` where nothing says it.
    pub dimension: Option<usize>,
    /// Whether builds use it.
    pub base: bool,
    /// Whether it is the one that was filled last.
    pub chosen: bool,
    /// Whether it offers term weights.
    pub sparse: bool,
    /// How many units it has vectors of.
    pub coverage: Coverage,
}

/// How the encoders of an index stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FillStatus {
    /// That of the builds first, then every other one of which anything is kept, by revision.
    pub encoders: Vec<EncoderStatus>,
    /// Whether someone is filling now.
    pub filling: bool,
    /// Whether nobody may.
    pub paused: bool,
}

/// Returns the encoders; none before the first build.
pub(crate) fn encoders(db: &Connection) -> rusqlite::Result<Vec<EncoderStatus>> {
    let Some(head) = store::head(db)? else {
        return Ok(Vec::new());
    };
    let mut encoders: Vec<_> = base(db, &head)?.into_iter().collect();
    let is_base = head.revision.encoder_revision.as_ref();
    let kept = store::kept_beside(db, &[])?;
    for stored in store::encoders(db)? {
        let is_shown = stored.chosen || kept.contains(&stored.revision);
        if is_shown && Some(&stored.revision) != is_base {
            let coverage = Coverage::count(db, Some(&stored), head.seq, head.units_searched)?;
            encoders.push(EncoderStatus {
                revision: stored.revision,
                dimension: Some(stored.dimension),
                base: false,
                chosen: stored.chosen,
                sparse: stored.sparse,
                coverage,
            });
        }
    }
    Ok(encoders)
}

fn base(db: &Connection, head: &Head) -> rusqlite::Result<Option<EncoderStatus>> {
    let Some(revision) = head.revision.encoder_revision.clone() else {
        return Ok(None);
    };
    let (missing, refused) = match head.dimension {
        Some(dimension) => {
            let encoding = Encoding {
                encoder: &revision,
                dimension,
                sparse: false,
            };
            store::count_lacking(db, encoding)?
        }
        None => (head.vectors_missing, head.vectors_refused),
    };
    Ok(Some(EncoderStatus {
        revision,
        dimension: head.dimension,
        base: true,
        chosen: false,
        sparse: false,
        coverage: Coverage {
            total: head.units_searched,
            missing,
            refused,
            was_complete: missing == 0,
        },
    }))
}
