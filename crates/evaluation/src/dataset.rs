//! Data sets on disk: `corpus.jsonl`, `queries.jsonl` and `qrels.tsv` in a folder, or a folder of such folders, which are
//! projects that are searched apart and averaged together.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use casebook_corpus::{BodySpan, ContentHash, Fidelity, Layer, Resource, ResourceId, ResourceMeta, Scope, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{DataSetError, LineError};

/// Projects that are searched apart; their queries are averaged together.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSet {
    /// Name in reports and file names.
    pub name: String,
    /// The projects, in order of their folders' names.
    pub projects: Vec<Project>,
}

/// Documents and the queries over them.
#[derive(Clone, Debug, PartialEq)]
pub struct Project {
    /// Name of the folder.
    pub name: String,
    /// The documents, in order of the file.
    pub documents: Vec<Document>,
    /// The queries that have a relevant document, in order of the file.
    pub queries: Vec<Query>,
}

/// A document: one memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Identity, without blanks.
    pub id: String,
    /// Path that its file would have.
    pub path: String,
    /// Title; may be empty.
    pub title: String,
    /// The text.
    pub text: String,
    /// Whose memory it is, where that is said.
    pub scope: Option<String>,
    /// When it was observed, where that is said.
    pub observed_at: Option<Timestamp>,
}

/// A query with what answers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Identity, without blanks.
    pub id: String,
    /// What is asked.
    pub text: String,
    /// Its language.
    pub lang: String,
    /// What sort of question it is; empty where that is not said.
    pub kind: String,
    /// The scope it belongs to, where there is one.
    pub scope: Option<String>,
    /// Ids of the documents that answer it; never empty.
    pub relevant: BTreeSet<String>,
}

impl DataSet {
    /// Loads data sets. Each is named by its folder, with as many folders above it as it takes to tell them apart.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line.
    pub fn load_all(folders: &[PathBuf]) -> Result<Vec<Self>, DataSetError> {
        let paths = canonical(folders)?;
        let named = paths.iter().enumerate();
        named
            .map(|(place, path)| Self::load(path, shortest_name(place, &paths)))
            .collect()
    }

    fn load(folder: &Path, name: String) -> Result<Self, DataSetError> {
        let mut projects = Vec::new();
        for folder in project_folders(folder)? {
            projects.push(Project::load(&folder)?);
        }
        let mut ids = HashSet::new();
        for project in &projects {
            if let Some(query) = project.queries.iter().find(|query| !ids.insert(query.id.as_str())) {
                return Err(DataSetError::SharedQuery {
                    project: project.name.clone(),
                    query: query.id.clone(),
                });
            }
        }
        Ok(Self { name, projects })
    }
}

/// Returns the folders' real paths: `.` is no name, and one folder has many spellings.
fn canonical(folders: &[PathBuf]) -> Result<Vec<PathBuf>, DataSetError> {
    let mut paths = Vec::new();
    for folder in folders {
        let path = folder.canonicalize().map_err(|source| read_error(folder, source))?;
        if paths.contains(&path) {
            return Err(DataSetError::GivenTwice { path: folder.clone() });
        }
        paths.push(path);
    }
    Ok(paths)
}

/// Returns the shortest name of a path that no other could have; where there is none (`x/y` beside `x-y`) its number helps.
fn shortest_name(place: usize, paths: &[PathBuf]) -> String {
    let path = &paths[place];
    let depths = |path: &Path| 1..=path.components().count();
    let others = paths.iter().filter(|other| *other != path);
    let taken: HashSet<_> = others
        .flat_map(|other| depths(other).map(|depth| name(other, depth)))
        .collect();
    let own = depths(path)
        .map(|depth| name(path, depth))
        .find(|name| !taken.contains(name));
    own.unwrap_or_else(|| format!("{}-{}", place + 1, name(path, 1)))
}

/// Joins the last `depth` parts of a path.
fn name(path: &Path, depth: usize) -> String {
    let parts: Vec<_> = path
        .iter()
        .map(|part| part.to_string_lossy())
        .filter(|part| part != "/")
        .collect();
    parts[parts.len().saturating_sub(depth)..].join("-")
}

/// Returns the folder itself where it is a project, else the projects in it.
fn project_folders(folder: &Path) -> Result<Vec<PathBuf>, DataSetError> {
    let is_project = |folder: &Path| folder.join("corpus.jsonl").is_file();
    if is_project(folder) {
        return Ok(vec![folder.to_owned()]);
    }
    let mut folders = Vec::new();
    for entry in folder.read_dir().map_err(|source| read_error(folder, source))? {
        let path = entry.map_err(|source| read_error(folder, source))?.path();
        if is_project(&path) {
            folders.push(path);
        }
    }
    folders.sort();
    if folders.is_empty() {
        let path = folder.to_owned();
        return Err(DataSetError::Empty { path });
    }
    Ok(folders)
}

impl Project {
    fn load(folder: &Path) -> Result<Self, DataSetError> {
        let documents: Vec<Document> = read_rows(&folder.join("corpus.jsonl"), DocumentRow::check)?;
        let queries: Vec<Query> = read_rows(&folder.join("queries.jsonl"), QueryRow::check)?;
        let mut judged = read_judgements(&folder.join("qrels.tsv"), &documents, &queries)?;
        let queries = queries.into_iter().filter_map(|mut query| {
            query.relevant = judged.remove(&query.id)?;
            Some(query)
        });
        Ok(Self {
            name: name(folder, 1),
            queries: queries.collect(),
            documents,
        })
    }
}

impl Document {
    /// Returns the memory that the document stands for.
    pub fn to_resource(&self) -> Resource {
        let meta = ResourceMeta {
            id: ResourceId::new(self.id.as_str()),
            scope: self.scope.as_deref().map_or_else(Scope::default, Scope::new),
            kind: "note".into(),
            layer: Layer::Mutable,
            path: self.path.clone(),
            disk_path: None,
            title: self.title.clone(),
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
            observed_at: self.observed_at,
            valid_from: None,
            valid_to: None,
            last_confirmed_at: None,
            reviewed_at: None,
            expected_resolution_at: None,
            body_span: BodySpan::default(),
            // The source of records computes it from all of the above.
            content_hash: ContentHash::from_bytes([0; 32]),
        };
        Resource {
            meta,
            body: self.text.clone(),
        }
    }
}

#[derive(Deserialize)]
struct DocumentRow {
    id: String,
    path: String,
    #[serde(default)]
    title: String,
    text: String,
    scope: Option<String>,
    observed_at: Option<String>,
}

impl DocumentRow {
    fn check(self, ids: &mut HashSet<String>) -> Result<Document, LineError> {
        check_id(&self.id, ids)?;
        let observed_at = self.observed_at.map(|time| time.parse()).transpose();
        Ok(Document {
            id: self.id,
            path: self.path,
            title: self.title,
            text: self.text,
            scope: self.scope,
            observed_at: observed_at.map_err(|source| LineError::Time {
                field: "observed_at",
                source,
            })?,
        })
    }
}

#[derive(Deserialize)]
struct QueryRow {
    id: String,
    text: String,
    #[serde(default)]
    lang: String,
    #[serde(default)]
    kind: String,
    scope: Option<String>,
}

impl QueryRow {
    fn check(self, ids: &mut HashSet<String>) -> Result<Query, LineError> {
        check_id(&self.id, ids)?;
        Ok(Query {
            id: self.id,
            text: self.text,
            lang: self.lang,
            kind: self.kind,
            scope: self.scope,
            relevant: BTreeSet::new(),
        })
    }
}

fn check_id(id: &str, ids: &mut HashSet<String>) -> Result<(), LineError> {
    if id.is_empty() || id.contains(char::is_whitespace) {
        return Err(LineError::Id { id: id.to_owned() });
    }
    if !ids.insert(id.to_owned()) {
        return Err(LineError::Repeated { id: id.to_owned() });
    }
    Ok(())
}

fn read_rows<R: DeserializeOwned, T>(
    path: &Path,
    check: impl Fn(R, &mut HashSet<String>) -> Result<T, LineError>,
) -> Result<Vec<T>, DataSetError> {
    let mut ids = HashSet::new();
    let mut rows = Vec::new();
    for_each_line(path, |text| {
        let row = serde_json::from_str(text).map_err(LineError::Json)?;
        rows.push(check(row, &mut ids)?);
        Ok(())
    })?;
    Ok(rows)
}

/// Returns the relevant documents of each query that has any.
fn read_judgements(
    path: &Path,
    documents: &[Document],
    queries: &[Query],
) -> Result<HashMap<String, BTreeSet<String>>, DataSetError> {
    let documents: HashSet<_> = documents.iter().map(|document| document.id.as_str()).collect();
    let queries: HashSet<_> = queries.iter().map(|query| query.id.as_str()).collect();
    let mut judged = HashMap::<String, BTreeSet<String>>::new();
    for_each_line(path, |text| {
        let (query, document, relevance) = judgement(text)?;
        for (what, id, known) in [("query", query, &queries), ("document", document, &documents)] {
            if !known.contains(id) {
                let id = id.to_owned();
                return Err(LineError::Unknown { what, id });
            }
        }
        if relevance > 0.0 {
            judged.entry(query.to_owned()).or_default().insert(document.to_owned());
        }
        Ok(())
    })?;
    Ok(judged)
}

fn judgement(text: &str) -> Result<(&str, &str, f64), LineError> {
    let wrong = || LineError::Judgement { found: text.to_owned() };
    let fields: Vec<_> = text.split_whitespace().collect();
    let [query, _, document, relevance] = fields[..] else {
        return Err(wrong());
    };
    let relevance = relevance.parse().map_err(|_| wrong())?;
    Ok((query, document, relevance))
}

/// Calls for each line that is not blank.
fn for_each_line(path: &Path, mut each: impl FnMut(&str) -> Result<(), LineError>) -> Result<(), DataSetError> {
    let file = std::fs::File::open(path).map_err(|source| read_error(path, source))?;
    for (index, text) in BufReader::new(file).lines().enumerate() {
        let text = text.map_err(|source| read_error(path, source))?;
        if !text.trim().is_empty() {
            each(&text).map_err(|source| DataSetError::Line {
                path: path.to_owned(),
                line: index + 1,
                source,
            })?;
        }
    }
    Ok(())
}

fn read_error(path: &Path, source: std::io::Error) -> DataSetError {
    DataSetError::Read {
        path: path.to_owned(),
        source,
    }
}
