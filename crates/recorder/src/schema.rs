//! The schema of the history database. It is migrated for ever: a released step is never edited.

use casebook_storage::Migration;

/// Marks the file as a history database of ours.
pub(crate) const APPLICATION_ID: i32 = i32::from_be_bytes(*b"CbHi");

pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        sql: include_str!("schema/0001_log_and_runs.sql"),
    },
    Migration {
        sql: include_str!("schema/0002_weighted_fusion.sql"),
    },
    Migration {
        sql: include_str!("schema/0003_impact_lane.sql"),
    },
];

#[cfg(test)]
mod tests {
    use casebook_corpus::ContentHash;

    use super::*;

    #[test]
    fn released_migrations_are_never_edited() {
        let digests: Vec<String> = MIGRATIONS
            .iter()
            .map(|step| ContentHash::of(step.sql).to_string())
            .collect();
        assert_eq!(
            digests,
            [
                "8ee1691f7b0bd62a313b6e0eb3335e490b036f87fbada5d5663053748e627164",
                "9211959ffdcaf01d2da1d5ff3bdb67592f164c551fe061892201b2c4ca5df8ba",
                "cbe54066d4bf873d7fdf784f6de185f660c66bfc98b660884d3bb60d23430ac8"
            ]
        );
    }
}
