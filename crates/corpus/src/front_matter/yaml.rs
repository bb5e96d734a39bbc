//! YAML into typed fields.
//!
//! It is read twice. Typed reading keeps a scalar's text as it was written (`no`, `1.10`, `2026-03-01`), but must know
//! beforehand whether a scalar or a list comes, and untyped reading turns those texts into other values. So the first
//! pass finds the shapes, and the second reads by them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{FrontMatter, FrontMatterError, near};
use crate::{Fidelity, Layer, ResourceId, Timestamp, check_label};

/// Reads a block. `None` where it is YAML, but no mapping: then it is text between two rules.
pub(super) fn parse(block: &str) -> Result<Option<FrontMatter>, FrontMatterError> {
    let field = RefCell::new(None);
    let failed = |error: serde_saphyr::Error| describe(block, &error, field.take());
    let shapes = match read(block, RootShape).map_err(failed)? {
        Root::Mapping(shapes) => shapes,
        Root::Empty => return Ok(Some(FrontMatter::default())),
        Root::Other => return Ok(None),
    };
    let fields = Fields {
        shapes: &shapes,
        current: &field,
    };
    read(block, fields).map(Some).map_err(failed)
}

/// Reads one value with little room for nesting, aliases and repetition.
fn read<'a, S: DeserializeSeed<'a>>(block: &'a str, seed: S) -> Result<S::Value, serde_saphyr::Error> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 16,
            flow_nesting_limit: 16,
            max_nodes: 10_000,
            max_events: 30_000,
            max_aliases: 100,
            max_anchors: 100,
            max_recorded_anchor_events: 10_000,
            max_recorded_anchor_bytes: 256 * 1024,
            max_total_scalar_bytes: 256 * 1024,
            max_documents: 1,
        },
        non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    };
    serde_saphyr::with_deserializer_from_str_with_options(block, options, |deserializer| seed.deserialize(deserializer))
}

/// Names the line of the file, which has one line before the block.
fn describe(block: &str, error: &serde_saphyr::Error, field: Option<String>) -> FrontMatterError {
    let located = error
        .location()
        .map(|location| location.line() as usize)
        .filter(|&line| line > 0);
    let of_field = || {
        let field = field.as_ref()?;
        let starts = |line: &str| {
            line.strip_prefix(field.as_str())
                .is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        Some(1 + block.lines().position(starts)?)
    };
    let message = error.render_with_formatter(&serde_saphyr::UserMessageFormatter);
    let problem = message.lines().next().unwrap_or_default();
    // The place that the message ends with counts from the block's start, not from the file's.
    let problem = problem.rsplit_once(" at line ").map_or(problem, |(problem, _)| problem);
    FrontMatterError {
        line: 1 + located.or_else(of_field).unwrap_or(0),
        problem: problem.chars().take(300).collect(),
        field,
    }
}

/// What a value is, without its content.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Null,
    Scalar,
    List,
    Mapping,
}

enum Root {
    Mapping(HashMap<String, Shape>),
    Empty,
    Other,
}

/// Declares what a visitor that looks at shapes only answers to every kind of scalar.
macro_rules! scalars {
    ($answer:expr; $($visit:ident: $type:ty),+) => {
        $(fn $visit<E>(self, _: $type) -> Result<Self::Value, E> { Ok($answer) })+
    };
}

struct RootShape;

impl<'de> DeserializeSeed<'de> for RootShape {
    type Value = Root;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Root, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RootShape {
    type Value = Root;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    scalars!(Root::Other; visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_i128: i128, visit_u128: u128,
        visit_f64: f64, visit_str: &str);

    fn visit_unit<E>(self) -> Result<Root, E> {
        Ok(Root::Empty)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Root, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Root::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Root, A::Error> {
        let mut shapes = HashMap::new();
        while let Some(key) = entries.next_key::<String>()? {
            shapes.insert(key, entries.next_value_seed(ValueShape)?);
        }
        Ok(Root::Mapping(shapes))
    }
}

struct ValueShape;

impl<'de> DeserializeSeed<'de> for ValueShape {
    type Value = Shape;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Shape, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueShape {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    scalars!(Shape::Scalar; visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_i128: i128, visit_u128: u128,
        visit_f64: f64, visit_str: &str);

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Shape::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Shape, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Shape::Mapping)
    }
}

/// Reads the known fields by their shapes and passes over all others. Leaves the field it is at in `current`.
struct Fields<'a> {
    shapes: &'a HashMap<String, Shape>,
    current: &'a RefCell<Option<String>>,
}

impl<'de> DeserializeSeed<'de> for Fields<'_> {
    type Value = FrontMatter;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<FrontMatter, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = FrontMatter;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<FrontMatter, A::Error> {
        let mut fields = FrontMatter::default();
        while let Some(key) = entries.next_key::<String>()? {
            let shape = self.shapes.get(&key).copied().unwrap_or(Shape::Null);
            self.current.replace(Some(key.clone()));
            read_field(&mut fields, &key, shape, &mut entries)?;
            self.current.replace(None);
        }
        Ok(fields)
    }
}

fn read_field<'de, A: MapAccess<'de>>(
    fields: &mut FrontMatter,
    key: &str,
    shape: Shape,
    entries: &mut A,
) -> Result<(), A::Error> {
    let mut value = Value { shape, entries };
    let stated = &mut fields.stated;
    match key {
        "id" => fields.id = value.label()?.map(ResourceId::new),
        "scope" => stated.scope = value.label()?.map(|label| label.as_str().into()),
        "kind" => stated.kind = value.label()?,
        "layer" => stated.layer = value.parsed::<Layer>()?,
        "title" => stated.title = value.text()?,
        "description" => stated.description = value.text()?,
        "topics" => stated.topics = value.texts()?,
        "entities" => stated.entities = value.texts()?,
        "fidelity" => stated.fidelity = value.parsed::<Fidelity>()?,
        "importance" => stated.importance = value.importance()?,
        "sensitivity" => stated.sensitivity = value.label()?,
        "audience" => stated.audience = value.labels()?,
        "sources" => stated.sources = value.texts()?,
        "supersedes" => stated.supersedes = value.ids()?,
        "retracts" => stated.retracts = value.ids()?,
        "observed_at" => stated.observed_at = value.parsed::<Timestamp>()?,
        "valid_from" => stated.valid_from = value.parsed::<Timestamp>()?,
        "valid_to" => stated.valid_to = value.parsed::<Timestamp>()?,
        "last_confirmed_at" => stated.last_confirmed_at = value.parsed::<Timestamp>()?,
        "reviewed_at" => stated.reviewed_at = value.parsed::<Timestamp>()?,
        "expected_resolution_at" => stated.expected_resolution_at = value.parsed::<Timestamp>()?,
        // What was likely meant to restrict who may see the file is not passed over.
        _ if near::restricts(key) => return Err(A::Error::custom("is unknown; the keys are audience and sensitivity")),
        _ => {
            value.entries.next_value::<IgnoredAny>()?;
            let meant = near::meant(key).map(|meant| format!("key {key:?} is unknown: did you mean {meant}?"));
            fields.near_misses.extend(meant);
        }
    }
    Ok(())
}

/// The value of one field, still to be read.
struct Value<'a, A> {
    shape: Shape,
    entries: &'a mut A,
}

impl<'de, A: MapAccess<'de>> Value<'_, A> {
    fn text(&mut self) -> Result<Option<String>, A::Error> {
        match self.shape {
            Shape::Null => self.entries.next_value::<IgnoredAny>().map(|_| None),
            Shape::Scalar => self
                .entries
                .next_value()
                .map(|text: String| Some(text.trim().to_owned())),
            Shape::List | Shape::Mapping => Err(A::Error::custom("expected one text")),
        }
    }

    /// The items of a list, blank ones too; a scalar is a list of one.
    fn items(&mut self) -> Result<Vec<String>, A::Error> {
        match self.shape {
            Shape::Null | Shape::Scalar => self.text().map(|text| text.into_iter().collect()),
            Shape::List => {
                let items = self.entries.next_value::<Vec<Option<String>>>()?;
                Ok(items
                    .into_iter()
                    .map(|item| item.unwrap_or_default().trim().to_owned())
                    .collect())
            }
            Shape::Mapping => Err(A::Error::custom("expected a text or a list of texts")),
        }
    }

    fn texts(&mut self) -> Result<Vec<String>, A::Error> {
        let mut items = self.items()?;
        items.retain(|item| !item.is_empty());
        Ok(items)
    }

    fn label(&mut self) -> Result<Option<String>, A::Error> {
        self.text()?.map(checked_label).transpose()
    }

    /// A blank item is an error: dropped from an audience of one, it would leave a file for everyone.
    fn labels(&mut self) -> Result<Vec<String>, A::Error> {
        self.items()?.into_iter().map(checked_label).collect()
    }

    fn ids(&mut self) -> Result<Vec<ResourceId>, A::Error> {
        Ok(self.labels()?.into_iter().map(ResourceId::new).collect())
    }

    fn parsed<T: std::str::FromStr<Err: fmt::Display>>(&mut self) -> Result<Option<T>, A::Error> {
        let text = self.text()?;
        text.map(|text| text.parse().map_err(A::Error::custom)).transpose()
    }

    fn importance(&mut self) -> Result<Option<f32>, A::Error> {
        let Some(text) = self.text()? else { return Ok(None) };
        match text.parse::<f32>() {
            Ok(number) if (0.0..=1.0).contains(&number) => Ok(Some(number.abs())),
            _ => Err(A::Error::custom("expected a number from 0 to 1")),
        }
    }
}

fn checked_label<E: Error>(label: String) -> Result<String, E> {
    check_label(&label).map_err(E::custom)?;
    Ok(label)
}
