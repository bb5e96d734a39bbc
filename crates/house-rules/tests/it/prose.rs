//! No file says what it should not.

use casebook_house_rules::{lock_problems, rust_problems, text_problems, unlisted_tests};

use crate::repository::{FILES, assert_none, text, texts};

#[test]
fn no_file_speaks_of_one_machine_or_of_unfinished_work() {
    assert!(FILES.len() > 50, "the files were not found");
    let checked = FILES.iter().filter(|path| *path != "Cargo.lock");
    let problems = checked.flat_map(|path| text(path).map(|text| text_problems(path, &text)).unwrap_or_default());
    assert_none(problems.collect());
}

#[test]
fn locked_dependencies_come_from_the_public_registry() {
    assert_none(lock_problems(&text("Cargo.lock").unwrap()));
}

#[test]
fn rust_files_keep_the_rules() {
    assert_none(
        texts(".rs")
            .iter()
            .flat_map(|(path, source)| rust_problems(path, source))
            .collect(),
    );
}

#[test]
fn every_integration_test_runs() {
    let mains = FILES
        .iter()
        .filter(|path| path.contains("/tests/") && path.ends_with("/main.rs"));
    let problems = mains.flat_map(|main| {
        let folder = main.strip_suffix("main.rs").unwrap();
        let beside = FILES
            .iter()
            .filter_map(|path| path.strip_prefix(folder))
            .filter(|rest| !rest.contains('/'));
        let unlisted = unlisted_tests(&text(main).unwrap(), &beside.collect::<Vec<_>>());
        unlisted
            .into_iter()
            .map(move |name| format!("{main} does not list {name}"))
            .collect::<Vec<_>>()
    });
    assert_none(problems.collect());
}

#[test]
fn a_crate_has_one_integration_binary() {
    let loose = FILES.iter().filter(|path| {
        let parts: Vec<_> = path.split('/').collect();
        matches!(parts[..], ["crates", _, "tests", file] if file.ends_with(".rs"))
    });
    assert_none(loose.map(|path| format!("{path}: belongs into tests/it")).collect());
}
