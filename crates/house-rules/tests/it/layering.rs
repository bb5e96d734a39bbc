//! The layers depend on each other as the table says, and every manifest is made the same way.

use cargo_metadata::{DependencyKind, Package, TargetKind};
use casebook_house_rules::{Dependency, Member, broken_edges, broken_pins, clippy_gaps, manifest_problems};

use crate::repository::{FILES, METADATA, assert_none, root, text};

/// Crates that take values and return values; each bans I/O in a `clippy.toml` of its own.
const PURE: &[&str] = &["chunker", "ranker"];

fn members() -> Vec<Member> {
    let dependencies = |package: &Package| {
        let all = package.dependencies.iter();
        all.map(|dependency| Dependency {
            name: dependency.name.clone(),
            dev: dependency.kind == DependencyKind::Development,
        })
        .collect()
    };
    let packages = METADATA.packages.iter();
    packages
        .map(|package| Member {
            name: package.name.to_string(),
            dependencies: dependencies(package),
        })
        .collect()
}

#[test]
fn our_crates_depend_on_each_other_as_the_table_says() {
    assert!(members().len() > 10, "the members were not found");
    assert_none(broken_edges(&members()));
}

#[test]
fn third_party_crates_stay_in_their_places() {
    assert_none(broken_pins(&members()));
}

#[test]
fn manifests_inherit_from_the_workspace() {
    let manifests = METADATA.packages.iter().map(|package| package.manifest_path.as_str());
    let problems = manifests.flat_map(|path| {
        let found = manifest_problems(&std::fs::read_to_string(path).unwrap());
        found.into_iter().map(move |problem| format!("{path}: {problem}"))
    });
    assert_none(problems.collect());
}

#[test]
fn a_crate_is_named_after_its_folder() {
    let problems = METADATA.packages.iter().filter_map(|package| {
        let folder = package.manifest_path.parent()?.strip_prefix(root()).unwrap().as_str();
        let expected = match folder {
            "crates/daemon" => "casebook".to_owned(),
            _ => format!("casebook-{}", folder.trim_start_matches("crates/")),
        };
        (*package.name != expected).then(|| format!("{folder} holds {}, not {expected}", package.name))
    });
    assert_none(problems.collect());
}

#[test]
fn cargo_run_knows_what_to_run() {
    let defaults = METADATA.workspace_default_packages();
    let targets = defaults.iter().flat_map(|package| &package.targets);
    let programs = targets
        .filter(|target| target.kind.contains(&TargetKind::Bin))
        .map(|target| target.name.as_str());
    assert_eq!(
        programs.collect::<Vec<_>>(),
        ["casebook"],
        "set `default-members` in Cargo.toml"
    );
}

#[test]
fn clippy_files_of_crates_repeat_the_roots() {
    let root_file = text("clippy.toml").unwrap();
    let own = FILES
        .iter()
        .filter(|path| path.starts_with("crates/") && path.ends_with("/clippy.toml"));
    let problems = own.flat_map(|path| {
        let gaps = clippy_gaps(&root_file, &text(path).unwrap());
        gaps.into_iter().map(move |gap| format!("{path}: {gap}"))
    });
    assert_none(problems.collect());
    let missing = PURE
        .iter()
        .map(|name| format!("crates/{name}/clippy.toml"))
        .filter(|path| !FILES.contains(path));
    assert_none(missing.collect());
}
