//! A resource with everything a test does not care about filled in.

use casebook_corpus::{BodySpan, ContentHash, Fidelity, Layer, Resource, ResourceId, ResourceMeta, Scope, Timestamp};

/// Starts a resource as a file at `path` with this body and no front matter would give it; the id is the path.
pub fn resource(path: &str, body: &str) -> ResourceBuilder {
    let stem = path.rsplit('/').next().unwrap_or(path);
    let meta = ResourceMeta {
        id: ResourceId::new(path),
        scope: Scope::default(),
        kind: "note".to_owned(),
        layer: Layer::Mutable,
        path: path.to_owned(),
        disk_path: None,
        title: stem.trim_end_matches(".md").to_owned(),
        description: String::new(),
        topics: Vec::new(),
        entities: Vec::new(),
        fidelity: Fidelity::StructuredSummary,
        importance: 0.5,
        sensitivity: None,
        audience: Vec::new(),
        sources: Vec::new(),
        supersedes: Vec::new(),
        retracts: Vec::new(),
        observed_at: None,
        valid_from: None,
        valid_to: None,
        last_confirmed_at: None,
        reviewed_at: None,
        expected_resolution_at: None,
        body_span: BodySpan {
            byte_offset: 0,
            first_line: 1,
        },
        content_hash: ContentHash::from_bytes([0; 32]),
    };
    ResourceBuilder {
        resource: Resource {
            meta,
            body: body.to_owned(),
        },
    }
}

/// A resource in the making; ends with [`build`](Self::build).
#[derive(Clone, Debug)]
pub struct ResourceBuilder {
    resource: Resource,
}

/// Declares a setter per field that is given as one text.
macro_rules! texts {
    ($($field:ident),+) => {$(
        #[doc = concat!("Sets `", stringify!($field), "`.")]
        #[must_use]
        pub fn $field(self, text: &str) -> Self {
            self.with(|meta| meta.$field = text.into())
        }
    )+};
}

/// Declares a setter per field that is a list of texts.
macro_rules! lists {
    ($($field:ident),+) => {$(
        #[doc = concat!("Sets `", stringify!($field), "`.")]
        #[must_use]
        pub fn $field(self, items: &[&str]) -> Self {
            self.with(|meta| meta.$field = items.iter().map(|&item| item.into()).collect())
        }
    )+};
}

/// Declares a setter per point in time, in milliseconds since the Unix epoch.
macro_rules! times {
    ($($field:ident),+) => {$(
        #[doc = concat!("Sets `", stringify!($field), "`, in milliseconds since the Unix epoch.")]
        #[must_use]
        pub fn $field(self, millis: i64) -> Self {
            self.with(|meta| meta.$field = Some(Timestamp::from_unix_millis(millis)))
        }
    )+};
}

impl ResourceBuilder {
    texts!(id, scope, kind, title, description);
    lists!(topics, entities, audience, sources, supersedes, retracts);
    times!(
        observed_at,
        valid_from,
        valid_to,
        last_confirmed_at,
        reviewed_at,
        expected_resolution_at
    );

    /// Sets `layer`.
    #[must_use]
    pub fn layer(self, layer: Layer) -> Self {
        self.with(|meta| meta.layer = layer)
    }

    /// Sets `fidelity`.
    #[must_use]
    pub fn fidelity(self, fidelity: Fidelity) -> Self {
        self.with(|meta| meta.fidelity = fidelity)
    }

    /// Sets `importance`.
    #[must_use]
    pub fn importance(self, importance: f32) -> Self {
        self.with(|meta| meta.importance = importance)
    }

    /// Sets `sensitivity`.
    #[must_use]
    pub fn sensitivity(self, label: &str) -> Self {
        self.with(|meta| meta.sensitivity = Some(label.to_owned()))
    }

    /// Changes the metadata in a way that has no setter of its own.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut ResourceMeta)) -> Self {
        change(&mut self.resource.meta);
        self
    }

    /// Returns the resource, with the content hash of what it holds.
    pub fn build(mut self) -> Resource {
        self.resource.meta.content_hash = self.resource.canonical_hash();
        self.resource
    }
}
