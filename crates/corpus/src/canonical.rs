//! The canonical form of a resource, which its content hash is taken over.

use sha2::{Digest, Sha256};

use crate::{ContentHash, Resource, Timestamp};

/// First bytes of the form; changed with every change of it, so that two forms never give one hash by chance.
const FORM: &[u8] = b"casebook.resource.v1";

impl Resource {
    /// Returns the SHA-256 of the canonical form: every field that the source determines, and the body.
    ///
    /// The form is the 20 bytes `casebook.resource.v1`, then in this order: id, scope, kind, layer, path, title,
    /// description, topics, entities, fidelity, importance, sensitivity, audience, sources, supersedes, retracts,
    /// observed_at, valid_from, valid_to, last_confirmed_at, reviewed_at, expected_resolution_at, body offset, body
    /// line, body. Encoding: a text is its length in bytes as a little-endian u64 and its bytes; a list is its length as
    /// a little-endian u64 and its texts in order; an optional value is one byte 0, or one byte 1 and the value; a time
    /// is its milliseconds as a little-endian i64; `importance` is its f32 bits, offset and line are u64, little-endian.
    ///
    /// The name on disk stays out: it differs between file systems that hold the same project. Where the body starts is
    /// part of it, because a unit's locator points into the file.
    pub fn canonical_hash(&self) -> ContentHash {
        let meta = &self.meta;
        let mut form = Form(Sha256::new());
        form.0.update(FORM);
        for text in [meta.id.as_str(), meta.scope.as_str(), &meta.kind, meta.layer.as_str()] {
            form.text(text);
        }
        for text in [&meta.path, &meta.title, &meta.description] {
            form.text(text);
        }
        form.list(&meta.topics);
        form.list(&meta.entities);
        form.text(meta.fidelity.as_str());
        form.0.update(meta.importance.to_bits().to_le_bytes());
        form.optional(meta.sensitivity.as_deref(), Form::text);
        form.list(&meta.audience);
        form.list(&meta.sources);
        form.list(&meta.supersedes);
        form.list(&meta.retracts);
        for time in [
            meta.observed_at,
            meta.valid_from,
            meta.valid_to,
            meta.last_confirmed_at,
            meta.reviewed_at,
            meta.expected_resolution_at,
        ] {
            form.optional(time, Form::time);
        }
        form.number(meta.body_span.byte_offset);
        form.number(meta.body_span.first_line);
        form.text(&self.body);
        ContentHash::from_bytes(form.0.finalize().into())
    }
}

/// Feeds the hash value by value.
struct Form(Sha256);

impl Form {
    fn number(&mut self, number: usize) {
        self.0.update((number as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.update(text);
    }

    fn list(&mut self, items: &[impl AsRef<str>]) {
        self.number(items.len());
        for item in items {
            self.text(item.as_ref());
        }
    }

    fn time(&mut self, time: Timestamp) {
        self.0.update(time.unix_millis().to_le_bytes());
    }

    fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.0.update([u8::from(value.is_some())]);
        if let Some(value) = value {
            write(self, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fidelity, Layer, SourceDecl};

    fn sample() -> Resource {
        let text = "---\nid: 部署\nkind: decision\ntopics: [a, b]\nimportance: 0.25\nsensitivity: internal\n\
                    observed_at: 1970-01-02\n---\n# 部署 deploy\n先备份。 Back up first.\n";
        Resource::from_markdown("notes/deploy.md", text, &SourceDecl::default()).unwrap()
    }

    #[test]
    fn the_form_is_frozen() {
        assert_eq!(
            sample().canonical_hash().to_string(),
            "8f8da9e3b0e5571736166717ace1d168f41d4a131d9464d7e917c65e36d104ad"
        );
    }

    type Change = fn(&mut Resource);

    #[test]
    fn every_field_counts() {
        fn text() -> String {
            "other".to_owned()
        }
        fn time() -> Option<Timestamp> {
            Some(Timestamp::from_unix_millis(1))
        }
        let changes: [(&str, Change); 26] = [
            ("id", |r| r.meta.id = "other".into()),
            ("scope", |r| r.meta.scope = "other".into()),
            ("kind", |r| r.meta.kind = text()),
            ("layer", |r| r.meta.layer = Layer::Immutable),
            ("path", |r| r.meta.path = text()),
            ("title", |r| r.meta.title = text()),
            ("description", |r| r.meta.description = text()),
            ("topics", |r| r.meta.topics = vec!["ab".to_owned()]),
            ("topics order", |r| r.meta.topics.reverse()),
            ("entities", |r| r.meta.entities = vec![text()]),
            ("fidelity", |r| r.meta.fidelity = Fidelity::HybridRecord),
            ("importance", |r| r.meta.importance = 0.26),
            ("sensitivity", |r| r.meta.sensitivity = None),
            ("audience", |r| r.meta.audience = vec![text()]),
            ("sources", |r| r.meta.sources = vec![text()]),
            ("supersedes", |r| r.meta.supersedes = vec!["other".into()]),
            ("retracts", |r| r.meta.retracts = vec!["other".into()]),
            ("observed_at", |r| r.meta.observed_at = time()),
            ("valid_from", |r| r.meta.valid_from = time()),
            ("valid_to", |r| r.meta.valid_to = time()),
            ("last_confirmed_at", |r| r.meta.last_confirmed_at = time()),
            ("reviewed_at", |r| r.meta.reviewed_at = time()),
            ("expected_resolution_at", |r| r.meta.expected_resolution_at = time()),
            ("byte_offset", |r| r.meta.body_span.byte_offset += 1),
            ("first_line", |r| r.meta.body_span.first_line += 1),
            ("body", |r| r.body.push('\n')),
        ];
        let mut hashes = std::collections::HashMap::from([(sample().canonical_hash(), "unchanged")]);
        for (field, change) in changes {
            let mut changed = sample();
            change(&mut changed);
            if let Some(same) = hashes.insert(changed.canonical_hash(), field) {
                panic!("{field} gives the hash of {same}");
            }
        }
    }

    #[test]
    fn the_name_on_disk_does_not_count() {
        let mut other = sample();
        other.meta.disk_path = Some("elsewhere".to_owned());
        other.meta.content_hash = ContentHash::of("not looked at");
        assert_eq!(other.canonical_hash(), sample().canonical_hash());
    }
}
