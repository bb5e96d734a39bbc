//! What the hub says of a repository at one revision: its commit, its files, its licence.

use serde::Deserialize;
use serde_json::Value;

use super::client::{Client, Trouble, gated_advice};
use super::endpoint::encode_segment;
use super::patience::{Patience, stop_if_asked};
use super::spec::{is_commit, is_hex};
use super::verify::Checksum;
use super::{HubError, HubOptions, HubProgress, HubSpec, HubStep};

/// The longest listing: some forty thousand files.
const MAX_LISTING: u64 = 8 << 20;
/// The longest name of a licence.
const MAX_LICENCE: usize = 100;

/// A repository at one commit.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) commit: String,
    pub(super) files: Vec<ListedFile>,
    pub(super) licence: Option<String>,
}

/// A file of a repository; its name is a relative path that stays inside.
#[derive(Clone, Debug)]
pub(super) struct ListedFile {
    pub(super) name: String,
    pub(super) size: Option<u64>,
    pub(super) checksum: Checksum,
}

#[derive(Deserialize)]
struct Answer {
    sha: String,
    siblings: Vec<Sibling>,
    #[serde(rename = "cardData")]
    card: Option<Value>,
    tags: Option<Vec<String>>,
    gated: Option<Value>,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    lfs: Option<Lfs>,
    #[serde(rename = "blobId")]
    blob_id: Option<String>,
}

#[derive(Deserialize)]
struct Lfs {
    sha256: String,
    size: u64,
}

/// Asks the hub which files a model has.
pub(super) fn ask(
    client: &Client<'_>,
    spec: &HubSpec,
    options: &HubOptions<'_>,
    progress: &mut dyn HubProgress,
) -> Result<Listing, HubError> {
    let revision = encode_segment(spec.revision());
    let path = format!("/api/models/{}/revision/{revision}?blobs=true", spec.repository());
    let mut patience = Patience::default();
    let bytes = loop {
        stop_if_asked(options)?;
        progress.step(HubStep::Asking);
        let asked = client.get(spec, &path, &[("accept", "application/json")]);
        match asked.and_then(|answer| answer.read_all(MAX_LISTING)) {
            Ok(bytes) => break bytes,
            Err(Trouble::Fatal(error)) => return Err(error),
            Err(Trouble::Passing { error, wait }) => patience.pause(error, wait, options, progress)?,
        }
    };
    let wrong = |why: String| HubError::Answer {
        host: client.host().to_owned(),
        why,
    };
    let answer: Answer = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    let gated = !matches!(answer.gated, None | Some(Value::Null | Value::Bool(false)));
    if gated && options.token.is_none() {
        let page = options.endpoint.at(&format!("/{}", spec.repository()));
        return Err(HubError::Denied {
            repository: spec.repository(),
            advice: gated_advice(&page, false),
        });
    }
    read(answer, spec).map_err(wrong)
}

fn read(answer: Answer, spec: &HubSpec) -> Result<Listing, String> {
    if !is_commit(&answer.sha) {
        return Err("it names no commit".to_owned());
    }
    if is_commit(spec.revision()) && spec.revision() != answer.sha {
        return Err(format!("asked for {} it names {}", spec.revision(), answer.sha));
    }
    let licence = licence_of_card(answer.card.as_ref()).or_else(|| licence_of_tags(answer.tags.as_deref()));
    let mut files = answer
        .siblings
        .into_iter()
        .map(ListedFile::read)
        .collect::<Result<Vec<_>, _>>()?;
    files.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(pair) = files.windows(2).find(|pair| pair[0].name == pair[1].name) {
        return Err(format!("it lists {:?} twice", pair[0].name));
    }
    Ok(Listing {
        commit: answer.sha,
        files,
        licence,
    })
}

impl ListedFile {
    fn read(sibling: Sibling) -> Result<Self, String> {
        let name = sibling.rfilename;
        if !stays_inside(&name) {
            return Err(format!("it lists a file {name:?} outside of its folder"));
        }
        let Some(lfs) = sibling.lfs else {
            let blob = sibling.blob_id.filter(|id| is_hex(id, 40));
            return Ok(Self {
                name,
                size: sibling.size,
                checksum: blob.map_or(Checksum::SizeOnly, Checksum::GitBlob),
            });
        };
        if !is_hex(&lfs.sha256, 64) {
            return Err(format!("the checksum of {name:?} is none"));
        }
        if sibling.size.is_some_and(|size| size != lfs.size) {
            return Err(format!("it tells two sizes of {name:?}"));
        }
        Ok(Self {
            name,
            size: Some(lfs.size),
            checksum: Checksum::Sha256(lfs.sha256),
        })
    }
}

/// Returns whether a path is relative and every part of it a plain name, on every system.
fn stays_inside(path: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    !path.contains(['\\', ':']) && !path.chars().any(char::is_control) && path.split('/').all(plain)
}

fn licence_of_card(card: Option<&Value>) -> Option<String> {
    let card = card?;
    match card.get("license")? {
        // A licence of its own has a name beside.
        Value::String(id) if id == "other" => clean(card.get("license_name").and_then(Value::as_str).unwrap_or(id)),
        Value::String(id) => clean(id),
        Value::Array(ids) => {
            let ids: Vec<_> = ids.iter().filter_map(Value::as_str).filter_map(clean).collect();
            (!ids.is_empty()).then(|| ids.join(" AND "))
        }
        _ => None,
    }
}

fn licence_of_tags(tags: Option<&[String]>) -> Option<String> {
    let mut found = tags?.iter().filter_map(|tag| tag.strip_prefix("license:"));
    found.next().and_then(clean)
}

/// Returns the licence of a `README.md`'s front matter, which is what the hub itself reads.
pub(super) fn licence_of_read_me(text: &str) -> Option<String> {
    let mut lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
    if lines.next()?.trim_end() != "---" {
        return None;
    }
    let block = lines.take_while(|line| line.trim_end() != "---");
    let mut values = block.filter_map(|line| line.strip_prefix("license:"));
    clean(values.next()?.trim().trim_matches(['"', '\'']))
}

fn clean(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = !text.is_empty() && text.len() <= MAX_LICENCE && !text.chars().any(char::is_control);
    fits.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    fn check(document: Value, expected: Result<Option<&str>, &str>) {
        let spec = "hf:a/b".parse().unwrap();
        let answer = serde_json::from_value(document.clone()).unwrap();
        let listing = read(answer, &spec);
        let licence = listing.as_ref().map(|listing| listing.licence.as_deref());
        match (&licence, expected) {
            (Ok(found), Ok(wanted)) => assert_eq!(*found, wanted, "{document}"),
            (Err(found), Err(wanted)) => assert!(found.contains(wanted), "{found}: {document}"),
            _ => panic!("{licence:?} for {document}"),
        }
    }

    #[test]
    fn a_licence_is_found_where_the_hub_tells_it() {
        let with = |card: Value, tags: Value| json!({"sha": COMMIT, "siblings": [], "cardData": card, "tags": tags});
        check(with(json!({"license": "mit"}), json!(["license:x"])), Ok(Some("mit")));
        check(
            with(json!({"license": ["mit", "apache-2.0"]}), json!([])),
            Ok(Some("mit AND apache-2.0")),
        );
        check(
            with(json!({"license": "other", "license_name": "own"}), json!([])),
            Ok(Some("own")),
        );
        check(with(json!({"license": "other"}), json!([])), Ok(Some("other")));
        check(
            with(json!({"license": []}), json!(["x", "license:mit"])),
            Ok(Some("mit")),
        );
        check(with(Value::Null, Value::Null), Ok(None));
        check(with(json!({"license": 7}), json!(["license:"])), Ok(None));
        check(with(json!({"license": "a\u{1b}b"}), json!([])), Ok(None));
        for (text, expected) in [
            ("---\nlanguage: zh\nlicense: \"mit\"\n---\n# M\n", Some("mit")),
            ("---\nlanguage: zh\n---\nlicense: mit\n", None),
            ("license: mit\n", None),
            ("", None),
        ] {
            assert_eq!(licence_of_read_me(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_listing_that_contradicts_itself_is_refused() {
        let with = |siblings: Value| json!({"sha": COMMIT, "siblings": siblings});
        check(with(json!([{"rfilename": "a"}])), Ok(None));
        check(json!({"sha": "main", "siblings": []}), Err("no commit"));
        check(
            with(json!([{"rfilename": "a"}, {"rfilename": "b"}, {"rfilename": "a"}])),
            Err("twice"),
        );
        for name in [
            "../x", "a/../b", "/etc/x", "a\\..\\b", "c:x", "", "a//b", "a/", "./a", "a\nb",
        ] {
            check(with(json!([{"rfilename": name}])), Err("outside"));
        }
        let lfs = json!({"sha256": "0".repeat(64), "size": 5});
        check(with(json!([{"rfilename": "a", "size": 5, "lfs": lfs}])), Ok(None));
        check(
            with(json!([{"rfilename": "a", "size": 6, "lfs": lfs}])),
            Err("two sizes"),
        );
        check(
            with(json!([{"rfilename": "a", "lfs": {"sha256": "x", "size": 5}}])),
            Err("checksum"),
        );
    }

    #[test]
    fn a_commit_that_was_asked_for_is_the_one_that_is_had() {
        let spec = format!("hf:a/b@{}", "1".repeat(40)).parse().unwrap();
        let answer = serde_json::from_value(json!({"sha": COMMIT, "siblings": []})).unwrap();
        assert!(read(answer, &spec).unwrap_err().contains(COMMIT));
    }
}
