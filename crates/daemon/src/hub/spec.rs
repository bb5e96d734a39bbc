//! `hf:owner/name@rev`: which model is meant.

use std::fmt;
use std::str::FromStr;

use super::HubError;

/// What a source on the hub begins with.
const SCHEME: &str = "hf:";
/// The hub's own limit of `owner/name`.
const MAX_REPOSITORY: usize = 96;
/// Longer than any branch, tag or commit that a person types.
const MAX_REVISION: usize = 200;

/// A model on the hub: owner, name and revision, each of a charset that is safe in an address and in a file name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HubSpec {
    owner: String,
    name: String,
    revision: String,
}

impl HubSpec {
    /// Returns whether a source of `models add` is meant for the hub; it may still be malformed.
    pub(crate) fn is_meant(source: &str) -> bool {
        source.starts_with(SCHEME)
    }

    pub(crate) fn owner(&self) -> &str {
        &self.owner
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The branch, tag or commit that is asked for.
    pub(crate) fn revision(&self) -> &str {
        &self.revision
    }

    /// `owner/name`.
    pub(crate) fn repository(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    /// `hf:owner/name`, without the revision.
    pub(crate) fn source(&self) -> String {
        format!("{SCHEME}{}/{}", self.owner, self.name)
    }
}

impl fmt::Display for HubSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}@{}", self.owner, self.name, self.revision)
    }
}

impl FromStr for HubSpec {
    type Err = HubError;

    fn from_str(text: &str) -> Result<Self, HubError> {
        let wrong = |why| HubError::Spec {
            text: text.to_owned(),
            why,
        };
        let rest = text
            .strip_prefix(SCHEME)
            .ok_or_else(|| wrong("it does not begin with `hf:`"))?;
        let (repository, revision) = rest.split_once('@').unwrap_or((rest, "main"));
        let (owner, name) = repository
            .split_once('/')
            .ok_or_else(|| wrong("the owner is missing"))?;
        if repository.len() > MAX_REPOSITORY {
            return Err(wrong("owner and name are too long"));
        }
        if !(is_name(owner) && is_name(name)) {
            return Err(wrong(
                "owner and name are letters, digits, `-`, `_` and `.`, and neither begin nor end with `-` or `.`",
            ));
        }
        if !is_revision(revision) {
            return Err(wrong("the revision is no branch, tag or commit"));
        }
        Ok(Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
            revision: revision.to_owned(),
        })
    }
}

/// The hub's rules for names. `--` is refused there and here: it joins owner and name in the name of a folder.
fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let edge = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = text.as_bytes();
    edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().copied().all(inner)
        && !text.contains("--")
        && !text.contains("..")
}

fn is_revision(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['.', '-'])
            && !part.contains("..")
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+'))
    };
    text.len() <= MAX_REVISION && text.split('/').all(part)
}

/// Returns whether this is a full commit.
pub(super) fn is_commit(text: &str) -> bool {
    is_hex(text, 40)
}

/// Returns whether this is a lower-case hexadecimal number of so many digits.
pub(super) fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, &str, &str)>) {
        let parsed = text.parse::<HubSpec>();
        let parts = parsed.as_ref().ok();
        let parts = parts.map(|spec| (spec.owner(), spec.name(), spec.revision()));
        assert_eq!(parts, expected, "{text}");
        if let Err(error) = &parsed {
            assert_eq!(error.code(), "hub_spec_invalid");
        }
    }

    #[test]
    fn owner_name_and_revision_are_read() {
        check(
            "hf:intfloat/multilingual-e5-small",
            Some(("intfloat", "multilingual-e5-small", "main")),
        );
        check("hf:BAAI/bge-m3@v1.0", Some(("BAAI", "bge-m3", "v1.0")));
        check("hf:a/b_@refs/pr/12", Some(("a", "b_", "refs/pr/12")));
        let spec: HubSpec = "hf:a/b@c".parse().unwrap();
        assert_eq!(
            (spec.to_string(), spec.source(), spec.repository()),
            ("hf:a/b@c".to_owned(), "hf:a/b".to_owned(), "a/b".to_owned())
        );
    }

    #[test]
    fn what_could_leave_its_place_is_refused() {
        for text in [
            "a/b",
            "HF:a/b",
            "hf:",
            "hf:b",
            "hf:/b",
            "hf:a/",
            "hf:a/b/c",
            "hf:../b",
            "hf:a/..",
            "hf:a/b@",
            "hf:a/b@..",
            "hf:a/b@x/../y",
            "hf:a/b@/x",
            "hf:a/b@x/",
            "hf:a/b@x//y",
            "hf:a/b@-x",
            "hf:a/b@x y",
            "hf:a/b@x?y",
            "hf:a/b@x#y",
            "hf:a/b@x%2e",
            "hf:a/b@x\\y",
            "hf:a/b@x@y",
            "hf:a--b/c",
            "hf:-a/b",
            "hf:a/b.",
            "hf:a/模型",
            "hf:a/b\n",
            "hf://a/b",
        ] {
            check(text, None);
        }
        check(&format!("hf:a/{}", "b".repeat(95)), None);
        check(&format!("hf:a/b@{}", "b".repeat(201)), None);
    }

    #[test]
    fn only_the_scheme_means_the_hub() {
        assert!(HubSpec::is_meant("hf:") && HubSpec::is_meant("hf:../x"));
        assert!(!HubSpec::is_meant("./hf:a/b") && !HubSpec::is_meant("https://huggingface.co/a/b"));
    }
}
