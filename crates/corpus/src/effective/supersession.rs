//! Who replaces whom. Nothing here recurses: a chain may be as long as the memory.

use std::collections::HashSet;

use super::overlay::Overlay;
use crate::{Degradation, Member, SupersessionError, SupersessionProblem, codes};

/// What a replaced member leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Successor {
    /// The member that replaces it directly.
    pub(super) by: usize,
    /// The live end of the chain.
    pub(super) live: usize,
    /// Whether it was declared wrong.
    pub(super) retracted: bool,
}

/// One declared replacement, seen from the member that declares it.
#[derive(Clone, Copy, PartialEq)]
struct Edge {
    target: usize,
    retracts: bool,
}

/// Returns the successor of every member, by index; `None` where nothing replaces it. Where files were skipped, a target
/// that is not there may be one of them, and is no error.
pub(super) fn resolve(
    members: &[Member],
    overlay: &Overlay,
    files_were_skipped: bool,
    degradations: &mut Vec<Degradation>,
) -> Result<Vec<Option<Successor>>, SupersessionError> {
    let mut problems = Vec::new();
    let edges: Vec<Vec<Edge>> = (0..members.len())
        .map(|index| match overlay.upper(index) {
            None => declared(members, overlay, index, &mut problems),
            Some(_) => Vec::new(),
        })
        .collect();
    problems.extend(cycles(&edges).into_iter().map(|cycle| {
        let locations = cycle.iter().map(|&index| members[index].location.clone()).collect();
        (cycle[0], SupersessionProblem::Cycle { locations })
    }));
    if files_were_skipped {
        problems.retain(|(_, problem)| match problem {
            SupersessionProblem::Unknown { location, target } => {
                let detail = format!("supersedes {target}, which is not there; it may be one of the files skipped");
                degradations.push(Degradation::at(codes::SUPERSEDES_UNKNOWN, detail, location.as_str()));
                false
            }
            _ => true,
        });
    }
    if problems.is_empty() {
        return Ok(successors(members, &edges, degradations));
    }
    problems.sort_by_key(|&(index, _)| index);
    let problems = problems.into_iter().map(|(_, problem)| problem).collect();
    Err(SupersessionError { problems })
}

/// Returns what the member declares, each target once; a target that is retracted too counts as retracted.
fn declared(
    members: &[Member],
    overlay: &Overlay,
    index: usize,
    problems: &mut Vec<(usize, SupersessionProblem)>,
) -> Vec<Edge> {
    let Member { location, meta, .. } = &members[index];
    let location = || location.clone();
    let retracted = meta.retracts.iter().map(|id| (id, true));
    let superseded = meta.supersedes.iter().map(|id| (id, false));
    let mut named = HashSet::new();
    let mut targets = HashSet::new();
    let mut edges = Vec::new();
    for (id, retracts) in retracted.chain(superseded).filter(|(id, _)| named.insert(*id)) {
        match overlay.kept(id).or_else(|| overlay.kept_at(id.as_str())) {
            Some(target) if !targets.insert(target) => {}
            Some(target) if target == index => {
                problems.push((index, SupersessionProblem::Itself { location: location() }));
            }
            Some(target) => edges.push(Edge { target, retracts }),
            None => problems.push((
                index,
                SupersessionProblem::Unknown {
                    location: location(),
                    target: id.clone(),
                },
            )),
        }
    }
    edges
}

/// Returns at least one circle of every knot of members that replace each other, each from its first member on.
///
/// A depth-first search meets a member that is still open exactly where it closes a circle. Circles that share an end
/// with a reported one are left out: a knot may hold more of them than anyone could read.
fn cycles(edges: &[Vec<Edge>]) -> Vec<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; edges.len()];
    let mut reported = vec![false; edges.len()];
    let mut cycles = Vec::new();
    for start in 0..edges.len() {
        if states[start] != State::New {
            continue;
        }
        states[start] = State::Open;
        let mut path = vec![(start, 0)];
        while let Some((index, next)) = path.last_mut() {
            let index = *index;
            let Some(edge) = edges[index].get(*next) else {
                states[index] = State::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match states[edge.target] {
                State::New => {
                    states[edge.target] = State::Open;
                    path.push((edge.target, 0));
                }
                State::Open if !reported[index] && !reported[edge.target] => {
                    let from_end = path.iter().rev().take_while(|(open, _)| *open != edge.target).count();
                    let cycle = path[path.len() - from_end - 1..].iter().map(|&(open, _)| open);
                    let mut cycle: Vec<_> = cycle.inspect(|&open| reported[open] = true).collect();
                    let first = (0..cycle.len()).min_by_key(|&at| cycle[at]).unwrap_or(0);
                    cycle.rotate_left(first);
                    cycles.push(cycle);
                }
                State::Open | State::Done => {}
            }
        }
    }
    cycles
}

/// Chooses one successor for every replaced member and follows the chains to their ends. There are no circles.
fn successors(members: &[Member], edges: &[Vec<Edge>], degradations: &mut Vec<Degradation>) -> Vec<Option<Successor>> {
    let mut candidates: Vec<Vec<(usize, bool)>> = vec![Vec::new(); members.len()];
    for (index, declared) in edges.iter().enumerate() {
        for edge in declared {
            candidates[edge.target].push((index, edge.retracts));
        }
    }
    let chosen: Vec<Option<(usize, bool)>> = candidates
        .iter()
        .map(|of_one| {
            let order = |&&(index, _): &&(usize, bool)| (members[index].meta.observed_at, &members[index].meta.id);
            of_one.iter().max_by_key(order).copied()
        })
        .collect();
    let ends = ends(&chosen);
    for (target, of_one) in candidates.iter().enumerate() {
        let Some((by, _)) = chosen[target] else { continue };
        if of_one.iter().any(|&(index, _)| ends[index] != ends[by]) {
            let locations: Vec<_> = of_one
                .iter()
                .map(|&(index, _)| members[index].location.as_str())
                .collect();
            let detail = format!(
                "replaced by {}; {} is taken",
                locations.join(" and "),
                members[by].location
            );
            let path = members[target].location.clone();
            degradations.push(Degradation::at(codes::TWO_SUCCESSORS, detail, path));
        }
    }
    let successor = |(index, choice): (usize, Option<(usize, bool)>)| {
        choice.map(|(by, retracted)| Successor {
            by,
            live: ends[index],
            retracted,
        })
    };
    chosen.iter().copied().enumerate().map(successor).collect()
}

/// Returns the live end of every member's chain: itself where nothing replaces it.
fn ends(chosen: &[Option<(usize, bool)>]) -> Vec<usize> {
    let mut ends: Vec<Option<usize>> = vec![None; chosen.len()];
    let mut chain = Vec::new();
    for start in 0..chosen.len() {
        let mut index = start;
        let end = loop {
            if let Some(end) = ends[index] {
                break end;
            }
            chain.push(index);
            match chosen[index] {
                Some((by, _)) => index = by,
                None => break index,
            }
        };
        for index in chain.drain(..) {
            ends[index] = Some(end);
        }
    }
    ends.into_iter()
        .enumerate()
        .map(|(index, end)| end.unwrap_or(index))
        .collect()
}
