use proptest::prelude::*;

use super::*;
use crate::{Resource, SourceDecl, codes};

/// A member at a location, with front matter fields.
fn member(location: &str, rank: u32, front: &str) -> Member {
    let text = format!("---\n{front}\n---\nbody of {location}\n");
    Member {
        location: location.to_owned(),
        rank,
        meta: Resource::from_markdown(location, &text, &SourceDecl::default())
            .unwrap()
            .meta,
    }
}

/// Shows a memory line by line: every member, then the manifest, then what was bent.
fn show(members: Vec<Member>) -> String {
    let memory = match EffectiveMemory::resolve(members) {
        Ok(memory) => memory,
        Err(error) => return error.problems.iter().map(|problem| format!("{problem}\n")).collect(),
    };
    let members = memory.members.iter().map(|(member, standing)| {
        let standing = match standing {
            Standing::Live => "live".to_owned(),
            Standing::Overlaid { by_location } => format!("below {by_location}"),
            Standing::Superseded { by, live, retracted } => {
                format!(
                    "{} by {by}, see {live}",
                    if *retracted { "retracted" } else { "superseded" }
                )
            }
        };
        format!("{} = {}: {standing}\n", member.location, member.meta.id)
    });
    let entries = memory
        .manifest
        .entries()
        .iter()
        .map(|entry| format!("> {} {}\n", entry.scope, entry.id));
    let degradations = memory
        .degradations
        .iter()
        .map(|degradation| format!("! {degradation}\n"));
    members.chain(entries).chain(degradations).collect()
}

#[test]
fn an_upper_source_wins_an_equal_id() {
    insta::assert_snapshot!(show(vec![
        member("base/a.md", 0, "{id: a, supersedes: b}"),
        member("base/b.md", 0, "id: b"),
        member("user/a.md", 2, "{id: a, scope: user}"),
        member("over/a.md", 1, "id: a"),
        member("over/also-a.md", 1, "id: a"),
    ]));
}

#[test]
fn chains_lead_to_their_live_end() {
    insta::assert_snapshot!(show(vec![
        member("1.md", 0, "id: 旧"),
        member("2.md", 0, "{id: 中, supersedes: 旧}"),
        member("3.md", 0, "{id: 新, retracts: 中}"),
        member("other.md", 0, ""),
    ]));
}

#[test]
fn an_entry_may_be_the_path_of_a_file_with_another_id() {
    let told = show(vec![
        member("决定/old.md", 0, "id: queue-1"),
        member("决定/new.md", 0, "supersedes: [决定/old.md, queue-1]"),
        member("own.md", 0, "{id: own, retracts: own.md}"),
        member("re\u{301}.md", 0, "id: accented"),
        member("wrong.md", 0, "retracts: re\u{301}.md"),
    ]);
    assert_eq!(told, "own.md supersedes itself\n");
    insta::assert_snapshot!(show(vec![
        member("决定/old.md", 0, "id: queue-1"),
        member("决定/new.md", 0, "supersedes: [决定/old.md, queue-1]"),
        member("re\u{301}.md", 0, "id: accented"),
        member("wrong.md", 0, "retracts: re\u{301}.md"),
        // An id comes first, whatever lies at that path.
        member("a.md", 0, "id: b.md"),
        member("b.md", 0, "id: c"),
        member("c.md", 0, "supersedes: b.md"),
    ]));
}

#[test]
fn of_two_successors_the_later_is_taken() {
    insta::assert_snapshot!(show(vec![
        member("old.md", 0, ""),
        member("a.md", 0, "{supersedes: old.md, observed_at: 1970-01-03}"),
        member("b.md", 0, "{retracts: old.md, observed_at: 1970-01-02}"),
        member("c.md", 0, "supersedes: old.md"),
    ]));
}

#[test]
fn successors_with_one_end_are_no_trouble() {
    insta::assert_snapshot!(show(vec![
        member("old.md", 0, ""),
        member("next.md", 0, "supersedes: old.md"),
        member("last.md", 0, "supersedes: [old.md, next.md]"),
    ]));
}

#[test]
fn all_problems_are_told_at_once() {
    insta::assert_snapshot!(show(vec![
        member("a.md", 0, "{id: a, supersedes: [b, gone, missing]}"),
        member("b.md", 0, "{id: b, supersedes: c}"),
        member("c.md", 0, "{id: c, retracts: a}"),
        member("d.md", 0, "{id: d, supersedes: d}"),
        member("e.md", 0, "{id: e, supersedes: f}"),
        member("f.md", 0, "{id: f, supersedes: [e, a]}"),
        member("g.md", 0, "{id: g, supersedes: [a, e, 没有]}"),
    ]));
}

#[test]
fn names_that_are_one_in_nfc_are_kept_apart() {
    let twins = || {
        vec![
            member("re\u{301}sume\u{301}.md", 0, ""),
            member("r\u{e9}sum\u{e9}.md", 0, ""),
            member("r\u{e9}sume\u{301}.md", 0, "id: own"),
            member("e\u{301}.md", 0, ""),
        ]
    };
    let shown = show(twins());
    insta::assert_snapshot!(shown.escape_unicode_marks());
    let backwards = twins().into_iter().rev().collect();
    assert_eq!(show(backwards), shown);
}

trait EscapeMarks {
    /// Shows combining marks, so that a reader can tell the names apart.
    fn escape_unicode_marks(&self) -> String;
}

impl EscapeMarks for str {
    fn escape_unicode_marks(&self) -> String {
        self.replace('\u{301}', "<U+0301>").replace('\u{e9}', "<U+00E9>")
    }
}

#[test]
fn a_chain_may_be_as_long_as_the_memory() {
    const LENGTH: usize = 100_000;
    let template = member("x.md", 0, "").meta;
    let link = |index: usize, target: usize| Member {
        location: format!("{index:06}"),
        rank: 0,
        meta: ResourceMeta {
            id: ResourceId::new(index.to_string()),
            path: index.to_string(),
            supersedes: vec![ResourceId::new(target.to_string())],
            ..template.clone()
        },
    };
    let mut members: Vec<_> = (1..LENGTH).map(|index| link(index, index - 1)).collect();
    members.push(Member {
        meta: ResourceMeta {
            supersedes: Vec::new(),
            ..link(0, 0).meta
        },
        ..link(0, 0)
    });
    let memory = EffectiveMemory::resolve(members.clone()).unwrap();
    assert_eq!(memory.manifest.entries().len(), 1);
    assert!(matches!(&memory.members[0].1, Standing::Superseded { live, .. } if live.as_str() == "99999"));

    members.pop();
    members.push(link(0, LENGTH - 1));
    let error = EffectiveMemory::resolve(members).unwrap_err();
    assert!(matches!(&error.problems[..], [SupersessionProblem::Cycle { locations }] if locations.len() == LENGTH));
}

fn small_memory() -> impl Strategy<Value = Vec<Member>> {
    let one = (
        0..6_u8,
        0..3_u32,
        proptest::collection::vec(0..6_u8, 0..2),
        any::<bool>(),
    );
    proptest::collection::vec(one, 0..8).prop_map(|all| {
        let numbered = all.into_iter().enumerate();
        numbered
            .map(|(index, (id, rank, targets, retracts))| {
                let field = if retracts { "retracts" } else { "supersedes" };
                member(
                    &format!("{index}.md"),
                    rank,
                    &format!("{{id: '{id}', {field}: {targets:?}}}"),
                )
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn the_order_of_members_does_not_matter(members in small_memory(), by in 0..8_usize) {
        let forward = EffectiveMemory::resolve(members.clone());
        let mut turned = members;
        turned.reverse();
        let by = by % turned.len().max(1);
        turned.rotate_left(by);
        prop_assert_eq!(EffectiveMemory::resolve(turned), forward);
    }

    #[test]
    fn what_is_replaced_leads_to_what_is_live(members in small_memory()) {
        let Ok(memory) = EffectiveMemory::resolve(members) else { return Ok(()) };
        let standing = |id: &ResourceId| {
            memory.members.iter().find(|(member, standing)| {
                member.meta.id == *id && !matches!(standing, Standing::Overlaid { .. })
            }).map(|(_, standing)| standing)
        };
        for (member, status) in &memory.members {
            let listed = memory.manifest.entries().iter().any(|entry| entry.id == member.meta.id);
            match status {
                Standing::Live => prop_assert!(listed),
                Standing::Superseded { by, live, .. } => {
                    prop_assert!(!listed);
                    prop_assert_eq!(standing(live), Some(&Standing::Live));
                    prop_assert!(standing(by).is_some() && by != &member.meta.id);
                }
                Standing::Overlaid { .. } => prop_assert!(standing(&member.meta.id).is_some()),
            }
        }
    }
}

/// The target may be one of the files that were skipped: one broken file does not stop all others.
#[test]
fn an_unknown_target_beside_skipped_files_is_told() {
    let members = vec![member("new.md", 0, "supersedes: old")];
    assert!(EffectiveMemory::resolve(members.clone()).is_err());
    let memory = EffectiveMemory::resolve_beside_skipped(members).unwrap();
    assert_eq!(memory.manifest.entries().len(), 1);
    assert_eq!(memory.degradations[0].code, codes::SUPERSEDES_UNKNOWN);
}
