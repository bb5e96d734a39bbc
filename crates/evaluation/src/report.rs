//! What the lab measured, as plain data. The same data and code give the same report; times are kept apart.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{Arm, Judged, Metrics, Query};

/// All that one run of the lab measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LabReport {
    /// Revision of the encoder.
    pub encoder: String,
    /// Revision of the pair scorer.
    pub scorer: String,
    /// Name of the ranking profile.
    pub profile: String,
    /// The data sets, in the order given.
    pub sets: Vec<SetReport>,
}

/// One data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetReport {
    /// Its name.
    pub set: String,
    /// Projects that were searched apart.
    pub projects: usize,
    /// Documents in all of them.
    pub documents: usize,
    /// Units that they were cut into.
    pub units: u64,
    /// Queries asked.
    pub queries: usize,
    /// What did not work while queries were answered: how often, by code.
    pub degradations: BTreeMap<String, usize>,
    /// The arms, in the order given.
    pub arms: Vec<ArmReport>,
    /// How long it took; not part of the written results, which are the same for every run.
    #[serde(skip)]
    pub timings: Timings,
}

/// One arm over one data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmReport {
    /// Its name.
    pub arm: Arm,
    /// All queries first, then those of each kind, then those of each language.
    pub groups: Vec<GroupReport>,
}

/// One group of queries.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupReport {
    /// `all`, `kind:<kind>` or `lang:<language>`.
    pub group: String,
    /// Means over its queries.
    #[serde(flatten)]
    pub metrics: Metrics,
}

/// How long a data set took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Timings {
    /// Building all its indexes, in milliseconds.
    pub build_ms: u64,
    /// Answering a query through the whole chain: the median, in microseconds.
    pub query_p50_us: u64,
    /// The 95th percentile.
    pub query_p95_us: u64,
}

impl ArmReport {
    /// Averages over all queries, and over those of each kind and language.
    pub(crate) fn new(arm: Arm, judged: &[(&Query, Judged)]) -> Self {
        let mut groups = vec![group("all".into(), judged, |_| true)];
        for kind in distinct(judged, |query| &query.kind) {
            groups.push(group(format!("kind:{kind}"), judged, |query| query.kind == *kind));
        }
        for lang in distinct(judged, |query| &query.lang) {
            groups.push(group(format!("lang:{lang}"), judged, |query| query.lang == *lang));
        }
        Self { arm, groups }
    }
}

fn group(name: String, judged: &[(&Query, Judged)], belongs: impl Fn(&Query) -> bool) -> GroupReport {
    let of_group = judged.iter().filter(|(query, _)| belongs(query));
    GroupReport {
        group: name,
        metrics: Metrics::mean(of_group.map(|(_, judged)| judged)),
    }
}

fn distinct<'a>(judged: &'a [(&Query, Judged)], field: impl Fn(&'a Query) -> &'a String) -> BTreeSet<&'a String> {
    judged
        .iter()
        .map(|(query, _)| field(query))
        .filter(|text| !text.is_empty())
        .collect()
}

impl Timings {
    pub(crate) fn new(build_ms: u64, mut query_micros: Vec<u64>) -> Self {
        query_micros.sort_unstable();
        let percentile = |percent: usize| {
            let rank = (query_micros.len() * percent).div_ceil(100);
            query_micros.get(rank.saturating_sub(1)).copied().unwrap_or(0)
        };
        Self {
            build_ms,
            query_p50_us: percentile(50),
            query_p95_us: percentile(95),
        }
    }
}
