//! The best of many scored rows, ties settled by what a unit is and not by its row.

use casebook_chunker::UnitKey;
use rusqlite::Connection;

use crate::LaneHit;

const UNIT: &str = "SELECT u.unit_key, r.id, u.ord FROM search_units AS u JOIN search_resources AS r USING (location)
                    WHERE u.unit_rowid = ?1";

/// Returns the best units by falling score, ties by resource id and unit order. Only what can be among them is looked up.
pub(super) fn best(db: &Connection, mut scored: Vec<(i64, f32)>, limit: usize) -> rusqlite::Result<Vec<LaneHit>> {
    let falling = |left: &(i64, f32), right: &(i64, f32)| right.1.total_cmp(&left.1);
    if scored.len() > limit {
        let (_, &mut (_, last), _) = scored.select_nth_unstable_by(limit - 1, falling);
        scored.retain(|(_, score)| *score >= last);
    }
    let mut unit = db.prepare_cached(UNIT)?;
    let mut hits = Vec::with_capacity(scored.len());
    for (rowid, score) in scored {
        let (unit_key, resource, order) = unit.query_row([rowid], |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, u32>(2)?,
            ))
        })?;
        hits.push((score, resource, order, unit_key));
    }
    hits.sort_by(|left, right| {
        let places = (&left.1, left.2).cmp(&(&right.1, right.2));
        right.0.total_cmp(&left.0).then(places)
    });
    hits.truncate(limit);
    let hit = |(score, _, _, unit_key): (f32, String, u32, String)| LaneHit {
        unit_key: UnitKey::new(unit_key),
        score,
    };
    Ok(hits.into_iter().map(hit).collect())
}
