//! The delta: what a caller that holds some state has to do to hold the new selection.

use std::collections::{BTreeMap, BTreeSet};

use casebook_corpus::ContentHash;
use casebook_index::UnitKey;

use crate::{Activation, ActivationState, DeltaAction, HeldFragment, Removed};

/// The caller's state, by unit. A unit that is held with two contents counts as held with another one: the caller cannot
/// be told to drop one of the two, so it gets the text again.
pub(crate) struct Held<'a>(BTreeMap<&'a UnitKey, Option<ContentHash>>);

impl<'a> Held<'a> {
    pub(crate) fn read(state: &'a ActivationState) -> Self {
        let mut held = BTreeMap::new();
        for fragment in &state.held {
            held.entry(&fragment.unit_key)
                .and_modify(|content: &mut Option<ContentHash>| {
                    *content = content.filter(|content| *content == fragment.content_hash);
                })
                .or_insert(Some(fragment.content_hash));
        }
        Self(held)
    }

    pub(crate) fn action(&self, unit_key: &UnitKey, content: ContentHash) -> DeltaAction {
        match self.0.get(unit_key) {
            None => DeltaAction::Add,
            Some(held) if *held == Some(content) => DeltaAction::Reuse,
            Some(_) => DeltaAction::Replace,
        }
    }
}

/// Returns what is held and not selected: each unit once, in the order held.
pub(crate) fn removed(old: &ActivationState, new: &ActivationState) -> Vec<Removed> {
    let mut settled: BTreeSet<_> = new.held.iter().map(|fragment| &fragment.unit_key).collect();
    let held = old.held.iter().map(|fragment| &fragment.unit_key);
    let leaving = held.filter(|unit_key| settled.insert(unit_key));
    leaving.cloned().map(|unit_key| Removed { unit_key }).collect()
}

/// Does what a caller does with an answer, and returns what it holds then.
///
/// `removed` units leave in all their copies. An `add` or a `replace` brings the fragment in, instead of every copy of
/// the unit; a `reuse` keeps the copy that is held. The order is that of the answer. For any old state, also a stale,
/// forged, duplicated or empty one, the outcome equals the answer's `state`.
pub fn apply_delta(old: &ActivationState, answer: &Activation) -> ActivationState {
    let gone: BTreeSet<_> = answer.removed.iter().map(|removed| &removed.unit_key).collect();
    let mut kept: Vec<&HeldFragment> = old.held.iter().filter(|held| !gone.contains(&held.unit_key)).collect();
    let mut held = Vec::new();
    for fragment in &answer.fragments {
        let copy = kept.iter().find(|held| held.unit_key == fragment.unit_key).copied();
        kept.retain(|held| held.unit_key != fragment.unit_key);
        held.extend(match fragment.action {
            DeltaAction::Reuse => copy.cloned(),
            DeltaAction::Add | DeltaAction::Replace => Some(HeldFragment {
                unit_key: fragment.unit_key.clone(),
                content_hash: fragment.content_hash,
            }),
        });
    }
    held.extend(kept.into_iter().cloned());
    ActivationState { held }
}
