//! A hub with one model, a folder to download into, and a clock that stands still.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use casebook_index::Cancel;
use serde_json::{Value, json};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::super::*;
use super::server::{Asked, Reply, Server};

pub(super) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
pub(super) const TOKEN: &str = "hf_TESTSECRET";
pub(super) const WEIGHTS: &str = "model.safetensors";
pub(super) const SPEC: &str = "hf:owner/model@main";

/// A repository: name, content, whether it lies in large file storage.
#[derive(Clone)]
pub(super) struct Hub {
    pub(super) files: Vec<(String, Vec<u8>, bool)>,
    /// Put over the document that describes the repository.
    pub(super) says: Value,
}

impl Hub {
    /// A model that can become a pack, with weights of so many bytes.
    pub(super) fn model(weights: usize) -> Self {
        Self {
            files: Vec::new(),
            says: json!({}),
        }
        .with("config.json", br#"{"model_type": "bert"}"#, false)
        .with("tokenizer.json", "{\"词\": 1}".as_bytes(), false)
        .with("README.md", b"---\nlicense: mit\n---\n# Model\n", false)
        .with("1_Pooling/config.json", b"{}", false)
        .with("pytorch_model.bin", b"never", true)
        .with(WEIGHTS, &noise(weights), true)
    }

    pub(super) fn with(mut self, name: &str, content: &[u8], large: bool) -> Self {
        self.files.push((name.to_owned(), content.to_owned(), large));
        self
    }

    pub(super) fn saying(mut self, says: Value) -> Self {
        self.says = says;
        self
    }

    pub(super) fn without(mut self, name: &str) -> Self {
        self.files.retain(|(known, _, _)| known != name);
        self
    }

    pub(super) fn content(&self, name: &str) -> &[u8] {
        let found = self.files.iter().find(|(known, _, _)| known == name);
        &found.unwrap_or_else(|| panic!("no file {name}")).1
    }

    fn listing(&self) -> Value {
        let sibling = |(name, content, large): &(String, Vec<u8>, bool)| {
            let mut entry = json!({"rfilename": name, "size": content.len(), "blobId": git_blob(content)});
            if *large {
                // The blob of such a file is a pointer, not the content.
                entry["blobId"] = json!(git_blob(b"pointer"));
                entry["lfs"] = json!({"sha256": hex(&Sha256::digest(content)), "size": content.len()});
            }
            entry
        };
        let siblings: Vec<_> = self.files.iter().map(sibling).collect();
        let mut document = json!({
            "id": "owner/model", "sha": COMMIT, "siblings": siblings, "gated": false, "private": false,
            "tags": ["sentence-transformers"], "cardData": {"license": "apache-2.0", "language": ["zh", "en"]},
        });
        for (key, value) in self.says.as_object().unwrap() {
            document[key] = value.clone();
        }
        document
    }

    /// Answers as the hub does, ranges included.
    pub(super) fn reply(&self, asked: &Asked) -> Reply {
        if asked.path.starts_with("/api/models/") {
            return Reply::new(200, self.listing().to_string());
        }
        let prefix = format!("/owner/model/resolve/{COMMIT}/");
        let found = asked.path.strip_prefix(&prefix).and_then(|name| {
            let mut files = self.files.iter();
            files.find(|(known, _, _)| known == name)
        });
        match found {
            Some((_, content, _)) => ranged(asked, content),
            None => Reply::new(404, "").with("x-error-code", "EntryNotFound"),
        }
    }
}

/// Answers with a content, or the end of it, under its own entity tag.
pub(super) fn ranged(asked: &Asked, content: &[u8]) -> Reply {
    let tag = format!("\"{}\"", git_blob(content));
    let range = asked.header("range").and_then(|range| {
        let from = range.strip_prefix("bytes=")?.strip_suffix('-')?;
        from.parse::<usize>().ok()
    });
    let same = asked.header("if-range").is_none_or(|wanted| wanted == tag);
    match range.filter(|_| same) {
        None => Reply::new(200, content),
        Some(from) if from >= content.len() => Reply::new(416, ""),
        Some(from) => Reply::new(206, &content[from..]).with(
            "content-range",
            format!("bytes {from}-{}/{}", content.len() - 1, content.len()),
        ),
    }
    .with("etag", tag)
}

/// Bytes without a pattern, the same at each call.
pub(super) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..length).map(|_| next()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn git_blob(content: &[u8]) -> String {
    let start = Sha1::new_with_prefix(format!("blob {}\0", content.len()));
    hex(&start.chain_update(content).finalize())
}

/// Remembers pauses instead of making them.
#[derive(Default)]
pub(super) struct Slept(Mutex<Vec<u64>>);

impl Sleeper for Slept {
    fn sleep(&self, pause: Duration, _cancel: &dyn Cancel) {
        self.0.lock().unwrap().push(pause.as_secs());
    }
}

/// Remembers what it was told, in words.
#[derive(Default)]
pub(super) struct Told(pub(super) Vec<String>);

impl HubProgress for Told {
    fn step(&mut self, step: HubStep<'_>) {
        self.0.push(match step {
            HubStep::Receiving {
                file,
                done,
                total,
                all_done,
                all_total,
            } => format!("{file} {done}/{total} {all_done}/{all_total}"),
            HubStep::Asking => "asking".to_owned(),
            HubStep::Checking { file } => format!("checking {file}"),
            HubStep::Waiting { pause, why } => format!("waiting {pause:?} {}", why.code()),
        });
    }
}

/// A hub's server, and a folder to download into.
pub(super) struct Fixture {
    pub(super) server: Server,
    pub(super) folder: tempfile::TempDir,
    pub(super) slept: Slept,
}

impl Fixture {
    /// The hub as it should be.
    pub(super) fn new(hub: Hub) -> Self {
        Self::changed(hub, |_, _, usual| usual)
    }

    /// A hub whose answers are changed: given are the request, how many there were of its path before, and the answer as
    /// it should be.
    pub(super) fn changed(hub: Hub, change: impl Fn(&Asked, usize, Reply) -> Reply + Send + Sync + 'static) -> Self {
        let hub = Arc::new(hub);
        Self {
            server: Server::start(move |asked, nth| change(asked, nth, hub.reply(asked))),
            folder: tempfile::tempdir().unwrap(),
            slept: Slept::default(),
        }
    }

    pub(super) fn options(&self) -> HubOptions<'_> {
        HubOptions {
            endpoint: Endpoint::parse(&self.server.address()).unwrap(),
            token: Token::new(TOKEN, "a test").unwrap(),
            file: None,
            max_bytes: 64 << 20,
            connect: Duration::from_secs(10),
            silence: Duration::from_secs(10),
            slowness: Duration::from_secs(60),
            known: &|_| None,
            sleeper: &self.slept,
            cancel: &(),
        }
    }

    pub(super) fn fetch(&self) -> Result<FetchedModel, HubError> {
        self.fetch_with(&self.options())
    }

    pub(super) fn fetch_with(&self, options: &HubOptions<'_>) -> Result<FetchedModel, HubError> {
        self.fetch_telling(options, &mut Told::default())
    }

    /// Downloads unless it is refused.
    pub(super) fn fetch_unless(
        &self,
        options: &HubOptions<'_>,
        refuse: Refuse<'_>,
        progress: &mut dyn HubProgress,
    ) -> Result<FetchedModel, HubError> {
        fetch(&SPEC.parse().unwrap(), self.folder.path(), options, refuse, progress)
    }

    /// Downloads, and checks what holds for every outcome.
    pub(super) fn fetch_telling(
        &self,
        options: &HubOptions<'_>,
        progress: &mut dyn HubProgress,
    ) -> Result<FetchedModel, HubError> {
        let outcome = self.fetch_unless(options, &mut |_| Ok(()), progress);
        let shown = match &outcome {
            Ok(model) => format!("{model:?}"),
            Err(error) => format!("{error:?} {error}"),
        };
        for secret in [TOKEN, "Signature"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        let beside: Vec<_> = std::fs::read_dir(self.folder.path())
            .map(|entries| entries.map(|entry| entry.unwrap().file_name()).collect())
            .unwrap_or_default();
        assert!(beside.iter().all(|name| name == ".downloads"), "{beside:?}");
        outcome
    }

    /// The code of a failure.
    #[track_caller]
    pub(super) fn code(&self) -> &'static str {
        self.fetch().unwrap_err().code()
    }

    /// The paths that were asked for, without what is the same for all files.
    pub(super) fn paths(&self) -> Vec<String> {
        let prefix = format!("/owner/model/resolve/{COMMIT}/");
        let asked = self.server.asked().into_iter();
        asked.map(|asked| asked.path.replace(&prefix, "")).collect()
    }

    /// The requests for one file.
    pub(super) fn asked_for(&self, name: &str) -> Vec<Asked> {
        let asked = self.server.asked().into_iter();
        asked
            .filter(|asked| asked.path.ends_with(&format!("/{name}")))
            .collect()
    }

    pub(super) fn pauses(&self) -> Vec<u64> {
        self.slept.0.lock().unwrap().clone()
    }

    pub(super) fn part(&self, name: &str) -> PathBuf {
        self.folder
            .path()
            .join(format!(".downloads/owner--model--{COMMIT}/parts/{name}.part"))
    }
}

/// Returns the files below a folder with their contents, in order.
pub(super) fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
                found.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}
