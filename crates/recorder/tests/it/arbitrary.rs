//! Arbitrary values of everything that is stored. Floats are never NaN: what is not equal to itself proves nothing.

use casebook_corpus::{ContentHash, Degradation, EffectiveHash, Fidelity, ResourceId, Scope, Timestamp};
use casebook_ranker::{
    Activation, ActivationRequest, ActivationState, BudgetUse, Candidate, DeltaAction, DenseSource, Disposition,
    EvidenceShape, Fragment, Fusion, FusionWeights, HeldFragment, HistoryMode, Language, LexicalWeights, Locator,
    RankedScore, RankerConfig, Redirect, Removed, RevisionId, Role, Stage, StageLatency, StageScores, TimeLabel,
    UnitKey, WordMatch,
};
use casebook_recorder::RunFailure;
use casebook_testkit::word_text;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

fn text() -> impl Strategy<Value = String> + Clone {
    prop_oneof![Just(String::new()), word_text(), any::<String>()]
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    vec(text(), 0..3)
}

fn id<T: From<Id> + std::fmt::Debug>() -> impl Strategy<Value = T> {
    text().prop_map(|text| T::from(Id(text)))
}

/// What every id is made from.
struct Id(String);

/// Declares how the ids are made.
macro_rules! ids {
    ($($name:ty),+) => {
        $(impl From<Id> for $name {
            fn from(Id(text): Id) -> Self {
                Self::new(text)
            }
        })+
    };
}

ids!(ResourceId, Scope, RevisionId, UnitKey);

fn hash() -> impl Strategy<Value = ContentHash> {
    any::<[u8; 32]>().prop_map(ContentHash::from_bytes)
}

fn memory() -> impl Strategy<Value = EffectiveHash> {
    any::<[u8; 32]>().prop_map(EffectiveHash::from_bytes)
}

fn time() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(Timestamp::from_unix_millis)
}

fn one_of<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    select(all)
}

fn state() -> impl Strategy<Value = ActivationState> {
    let held = (id(), hash()).prop_map(|(unit_key, content_hash)| HeldFragment { unit_key, content_hash });
    vec(held, 0..4).prop_map(|held| ActivationState { held })
}

pub(crate) fn request() -> impl Strategy<Value = ActivationRequest> {
    (
        text(),
        state(),
        option::of(time()),
        vec(id(), 0..3),
        texts(),
        texts(),
        texts(),
    )
        .prop_map(
            |(query, state, as_of, scopes, topics, entities, audiences)| ActivationRequest {
                query,
                state,
                as_of,
                scopes,
                topics,
                entities,
                audiences,
            },
        )
}

pub(crate) fn config() -> impl Strategy<Value = RankerConfig> {
    let fusions = select(&[Fusion::Rrf, Fusion::Weighted][..]);
    let modes = select(&[HistoryMode::Off, HistoryMode::Attach][..]);
    (
        text(),
        any::<[usize; 7]>(),
        any::<[f32; 12]>(),
        modes,
        fusions,
        any::<u64>(),
    )
        .prop_map(|(profile, counts, floats, history, fusion, deadline_ms)| RankerConfig {
            profile,
            lexical_limit: counts[0],
            lexical_weights: LexicalWeights {
                impact: floats[4] / 2.0,
                fts5: floats[4],
                tantivy: floats[5],
                other: floats[6],
            },
            dense_limit: counts[1],
            fusion,
            fusion_weights: FusionWeights {
                dense: floats[8],
                contextual_dense: floats[11],
                foreign_dense: floats[9],
                foreign_lexical: floats[10],
            },
            rrf_k: floats[0],
            fused_keep: counts[2],
            rerank_depth: counts[3],
            rerank_weight: floats[1],
            phrase_bonus: floats[7],
            min_relevance: floats[2],
            relevance_share: floats[2],
            max_overlap: floats[3],
            per_resource: counts[4],
            token_budget: counts[5],
            fragment_limit: counts[6],
            history,
            deadline_ms,
        })
}

pub(crate) fn failure() -> impl Strategy<Value = RunFailure> {
    (
        option::of("[a-z_]{0,64}"),
        "[a-z_]{0,64}",
        "\\PC{0,500}",
        option::of(id()),
        option::of(memory()),
    )
        .prop_map(|(stage, code, summary, revision, effective_hash)| RunFailure {
            stage,
            code,
            summary,
            revision,
            effective_hash,
        })
}

pub(crate) fn activation() -> impl Strategy<Value = Activation> {
    let head = (text(), text(), id(), memory(), time());
    let body = (vec(fragment(), 0..4), vec(id(), 0..3), state(), vec(candidate(), 0..5));
    let tail = (
        vec(degradation(), 0..3),
        vec(latency(), 0..7),
        any::<[usize; 4]>(),
        one_of(&Language::ALL),
        option::of((text(), any::<bool>())),
    );
    (head, body, tail).prop_map(|(head, body, tail)| Activation {
        query: head.0,
        query_language: tail.3,
        profile: head.1,
        revision: head.2,
        effective_hash: head.3,
        dense_source: tail.4.map(|(encoder, is_contextual)| DenseSource {
            encoder: encoder.as_str().into(),
            is_contextual,
        }),
        as_of: head.4,
        fragments: body.0,
        removed: body.1.into_iter().map(|unit_key| Removed { unit_key }).collect(),
        state: body.2,
        candidates: body.3,
        degradations: tail.0,
        latencies: tail.1,
        budget: BudgetUse {
            token_budget: tail.2[0],
            tokens_used: tail.2[1],
            fragment_limit: tail.2[2],
            fragments_used: tail.2[3],
        },
    })
}

fn fragment() -> impl Strategy<Value = Fragment> {
    let identity = (id(), id(), id(), text(), text(), texts(), text());
    let place = (any::<[usize; 4]>(), any::<usize>(), text());
    let labels = (
        select(
            &[
                Fidelity::VisibleTranscript,
                Fidelity::TranscriptSnapshot,
                Fidelity::HybridRecord,
                Fidelity::StructuredSummary,
                Fidelity::DerivedProjection,
            ][..],
        ),
        any::<bool>(),
        vec(one_of(TimeLabel::ALL), 0..4),
        one_of(EvidenceShape::ALL),
        one_of(Role::ALL),
        one_of(DeltaAction::ALL),
    );
    (identity, place, labels).prop_map(|(identity, (locator, token_count, text), labels)| Fragment {
        unit_key: identity.0,
        content_hash: ContentHash::of(&text),
        resource_id: identity.1,
        scope: identity.2,
        kind: identity.3,
        path: identity.4,
        heading_path: identity.5,
        locator: Locator {
            bytes: locator[0]..locator[1],
            first_line: locator[2],
            last_line: locator[3],
        },
        title: identity.6,
        fidelity: labels.0,
        quotable: labels.1,
        time_labels: labels.2,
        evidence_shape: labels.3,
        role: labels.4,
        token_count,
        text,
        action: labels.5,
    })
}

fn ranked() -> impl Strategy<Value = RankedScore> {
    (any::<u32>(), any::<f32>()).prop_map(|(rank, score)| RankedScore { rank, score })
}

fn scores() -> impl Strategy<Value = StageScores> {
    (vec(option::of(ranked()), 12), vec((text(), ranked()), 0..3)).prop_map(|(stages, other)| StageScores {
        exact: stages[0],
        lexical: stages[1],
        fts5: stages[2],
        tantivy: stages[3],
        dense: stages[4],
        sparse: stages[5],
        other,
        rrf: stages[6],
        fused: stages[7],
        reranker: stages[8],
        final_: stages[9],
        weighted: stages[10],
        impact: stages[11],
    })
}

fn candidate() -> impl Strategy<Value = Candidate> {
    let identity = (id(), id(), hash(), hash(), any::<usize>());
    let outcome = (
        option::of(any::<f32>()),
        one_of(Disposition::ALL),
        option::of((id(), one_of(Redirect::ALL))),
        option::of(one_of(DeltaAction::ALL)),
        one_of(&Language::ALL),
        vec(word_match(), 0..3),
        option::of(any::<f32>()),
    );
    (identity, scores(), outcome).prop_map(|(identity, scores, outcome)| Candidate {
        unit_key: identity.0,
        resource_id: identity.1,
        content_hash: identity.2,
        resource_hash: identity.3,
        token_count: identity.4,
        scores,
        pair_score: outcome.0,
        contrast: outcome.6,
        disposition: outcome.1,
        redirected_from: outcome.2,
        action: outcome.3,
        language: outcome.4,
        matches: outcome.5,
    })
}

fn word_match() -> impl Strategy<Value = WordMatch> {
    any::<([usize; 4], [f32; 2])>().prop_map(|(places, numbers)| WordMatch {
        query: places[0]..places[1],
        text: places[2]..places[3],
        nearness: numbers[0],
        share: numbers[1],
    })
}

fn degradation() -> impl Strategy<Value = Degradation> {
    ("[a-z_]{1,20}", text(), option::of(text())).prop_map(|(code, detail, path)| Degradation {
        code: code.into(),
        detail,
        path,
    })
}

fn latency() -> impl Strategy<Value = StageLatency> {
    (one_of(Stage::ALL), any::<u64>()).prop_map(|(stage, micros)| StageLatency { stage, micros })
}
