//! Facts about the checkout. Needs no git: an archive of the sources is checked as well.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cargo_metadata::{Metadata, MetadataCommand};

/// The members of the workspace, without their dependencies' own.
pub(crate) static METADATA: LazyLock<Metadata> = LazyLock::new(|| {
    let manifest = root().join("Cargo.toml");
    let command = MetadataCommand::new().manifest_path(manifest).no_deps().exec();
    command.expect("the workspace's manifests are valid")
});

/// Every file that is not ignored, relative to the root, with `/`, in order.
pub(crate) static FILES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let root = root();
    let walk = ignore::WalkBuilder::new(&root)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let mut files: Vec<String> = walk
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(|entry| {
            let path = entry.path().strip_prefix(&root).expect("the walk stays below its root");
            path.to_string_lossy().replace('\\', "/")
        })
        .collect();
    files.sort();
    files
});

/// Returns the root of the checkout.
pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the checkout is there")
}

/// Returns a file's text, or `None` where it is not UTF-8.
pub(crate) fn text(path: &str) -> Option<String> {
    let bytes = std::fs::read(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    String::from_utf8(bytes).ok()
}

/// Returns the files of an ending with their texts.
pub(crate) fn texts(ending: &str) -> Vec<(&'static str, String)> {
    let paths = FILES.iter().filter(|path| path.ends_with(ending));
    paths.filter_map(|path| Some((path.as_str(), text(path)?))).collect()
}

/// Fails with one problem a line.
pub(crate) fn assert_none(problems: Vec<String>) {
    assert!(
        problems.is_empty(),
        "{} problem(s):\n{}",
        problems.len(),
        problems.join("\n")
    );
}
