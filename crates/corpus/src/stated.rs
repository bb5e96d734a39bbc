//! What a memory says of itself, before defaults: in a front matter, or in a pushed record.

use crate::{BodySpan, ContentHash, Fidelity, Layer, Resource, ResourceId, ResourceMeta, Scope, SourceDecl, Timestamp};

/// What a memory says of itself; `None` or empty where it says nothing. Stored by position: a new field goes to the end.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct StatedMeta {
    /// Whose memory it is.
    pub scope: Option<Scope>,
    /// What kind of memory it is.
    pub kind: Option<String>,
    /// Whether it may be edited.
    pub layer: Option<Layer>,
    /// Its title.
    pub title: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Topics it is filed under.
    pub topics: Vec<String>,
    /// Canonical ids of the entities it is about.
    pub entities: Vec<String>,
    /// How close to the original words it is.
    pub fidelity: Option<Fidelity>,
    /// 0 (trivial) to 1 (vital).
    pub importance: Option<f32>,
    /// Sensitivity label.
    pub sensitivity: Option<String>,
    /// Audiences that may see it.
    pub audience: Vec<String>,
    /// Provenance links.
    pub sources: Vec<String>,
    /// Ids of the resources that it replaces.
    pub supersedes: Vec<ResourceId>,
    /// Ids of the resources that it declares wrong.
    pub retracts: Vec<ResourceId>,
    /// When the observation was made.
    pub observed_at: Option<Timestamp>,
    /// Start of the interval in which it is known to hold.
    pub valid_from: Option<Timestamp>,
    /// End of that interval, where known.
    pub valid_to: Option<Timestamp>,
    /// Last explicit confirmation of the same state.
    pub last_confirmed_at: Option<Timestamp>,
    /// Last review of the collection.
    pub reviewed_at: Option<Timestamp>,
    /// When a result or a re-check was expected.
    pub expected_resolution_at: Option<Timestamp>,
}

/// What a memory is called and where it is, decided before its metadata is put together.
pub(crate) struct Named {
    pub(crate) id: ResourceId,
    /// In Unicode NFC.
    pub(crate) path: String,
    /// The name on disk where it differs from `path`.
    pub(crate) disk_path: Option<String>,
    /// The title of one that states none.
    pub(crate) title: String,
    pub(crate) body_span: BodySpan,
}

impl StatedMeta {
    /// Puts a resource together, with its content hash. What is not stated comes from `defaults`.
    pub(crate) fn into_resource(self, named: Named, body: String, defaults: &SourceDecl) -> Resource {
        let meta = ResourceMeta {
            id: named.id,
            scope: self.scope.unwrap_or_else(|| defaults.scope.clone()),
            kind: self.kind.unwrap_or_else(|| defaults.kind.clone()),
            layer: self.layer.unwrap_or(defaults.layer),
            path: named.path,
            disk_path: named.disk_path,
            title: self.title.filter(|title| !title.is_empty()).unwrap_or(named.title),
            description: self.description.unwrap_or_default(),
            topics: self.topics,
            entities: self.entities,
            fidelity: self.fidelity.unwrap_or(Fidelity::StructuredSummary),
            importance: self.importance.unwrap_or(0.5),
            sensitivity: self.sensitivity,
            audience: self.audience,
            sources: self.sources,
            supersedes: self.supersedes,
            retracts: self.retracts,
            observed_at: self.observed_at,
            valid_from: self.valid_from,
            valid_to: self.valid_to,
            last_confirmed_at: self.last_confirmed_at,
            reviewed_at: self.reviewed_at,
            expected_resolution_at: self.expected_resolution_at,
            body_span: named.body_span,
            content_hash: ContentHash::from_bytes([0; 32]),
        };
        let mut resource = Resource { meta, body };
        resource.meta.content_hash = resource.canonical_hash();
        resource
    }
}
