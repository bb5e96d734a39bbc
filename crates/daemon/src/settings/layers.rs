//! The layers, with where each value comes from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::keys::{KEYS, Key, Kind};
use crate::failure::Failure;

/// Start of the names of environment variables.
const PREFIX: &str = "CASEBOOK_";
/// Variables with that start that are no settings.
const OTHER_VARIABLES: &[&str] = &["CASEBOOK_DATA_DIR"];

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Built in.
    Default,
    /// A file.
    File(PathBuf),
    /// An environment variable.
    Environment(String),
    /// A flag of the command.
    Flag(&'static str),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => write!(f, "${name}"),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// Values by key, each from its last layer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers {
    values: BTreeMap<&'static str, (Value, Place)>,
}

impl Layers {
    /// Reads the user's file, the project's file and the environment, in this order. A missing file is an empty one.
    pub(crate) fn read(
        user_file: Option<&Path>,
        project_file: &Path,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, Failure> {
        let mut layers = Self::default();
        for file in user_file.into_iter().chain([project_file]) {
            layers.add_file(file)?;
        }
        let mut variables: Vec<_> = environment.filter(|(name, _)| name.starts_with(PREFIX)).collect();
        variables.sort_unstable();
        for (name, value) in variables {
            layers.add_variable(name, &value)?;
        }
        Ok(layers)
    }

    fn add_file(&mut self, file: &Path) -> Result<(), Failure> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                let message = format!("{} cannot be read: {error}", file.display());
                return Err(Failure::input("config_unreadable", message));
            }
        };
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            Failure::input(
                "config_invalid",
                format!("{} is not valid TOML:\n{error}", file.display()),
            )
        })?;
        self.add_table(&table, "", file)
    }

    fn add_table(&mut self, table: &Table, prefix: &str, file: &Path) -> Result<(), Failure> {
        for (name, value) in table {
            let dotted = format!("{prefix}{name}");
            if let Some(key) = find(&dotted) {
                check_kind(key, value, &file.display().to_string())?;
                self.set(key, value.clone(), Place::File(file.to_owned()));
            } else if let (Value::Table(inner), true) = (value, is_section(&dotted)) {
                self.add_table(inner, &format!("{dotted}."), file)?;
            } else {
                let names: Vec<_> = KEYS.iter().map(|key| key.name).collect();
                return Err(unknown_key(
                    &first_leaf(dotted, value),
                    &names,
                    &file.display().to_string(),
                ));
            }
        }
        Ok(())
    }

    pub(super) fn add_variable(&mut self, name: String, text: &str) -> Result<(), Failure> {
        if OTHER_VARIABLES.contains(&name.as_str()) {
            return Ok(());
        }
        let variables: Vec<_> = KEYS.iter().map(variable).collect();
        let Some(position) = variables.iter().position(|variable| *variable == name) else {
            let names: Vec<_> = variables
                .iter()
                .map(String::as_str)
                .chain(OTHER_VARIABLES.iter().copied())
                .collect();
            return Err(unknown_key(&name, &names, "the environment"));
        };
        let key = &KEYS[position];
        let value = parse_variable(key, text).ok_or_else(|| wrong_value(&name, key.kind.expected(), text))?;
        self.set(key, value, Place::Environment(name));
        Ok(())
    }

    /// Sets a value from a flag.
    pub(crate) fn add_flag(&mut self, flag: &'static str, name: &str, value: impl Into<Value>) {
        let key = find(name).expect("flags name keys of the table");
        self.set(key, value.into(), Place::Flag(flag));
    }

    fn set(&mut self, key: &'static Key, value: Value, place: Place) {
        self.values.insert(key.name, (value, place));
    }

    /// Returns a value and where it comes from, unless it is the default.
    pub(crate) fn get(&self, name: &str) -> Option<&(Value, Place)> {
        debug_assert!(find(name).is_some(), "{name} is not in the table of keys");
        self.values.get(name)
    }

    /// Returns where a value comes from.
    pub(crate) fn place(&self, name: &str) -> Place {
        self.values.get(name).map_or(Place::Default, |(_, place)| place.clone())
    }

    /// Returns an error about a value, with where it comes from.
    pub(crate) fn wrong(&self, name: &str, expected: &str, found: &str) -> Failure {
        let place = self.place(name);
        wrong_value(&format!("{name} ({place})"), expected, found)
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        self.read_as(name, |value| value.as_str().map(ToOwned::to_owned))
    }

    pub(crate) fn texts(&self, name: &str) -> Result<Option<Vec<String>>, Failure> {
        self.read_as(name, |value| {
            value
                .as_array()?
                .iter()
                .map(|item| item.as_str().map(ToOwned::to_owned))
                .collect()
        })
    }

    pub(crate) fn tables(&self, name: &str) -> Result<Option<Vec<Table>>, Failure> {
        self.read_as(name, |value| {
            value.as_array()?.iter().map(|item| item.as_table().cloned()).collect()
        })
    }

    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, Failure> {
        self.read_as(name, Value::as_bool)
    }

    pub(crate) fn unsigned(&self, name: &str) -> Result<Option<u64>, Failure> {
        self.read_as(name, |value| u64::try_from(value.as_integer()?).ok())
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "weights need no more than f32"
    )]
    pub(crate) fn number(&self, name: &str) -> Result<Option<f32>, Failure> {
        self.read_as(name, |value| match value {
            Value::Float(number) => Some(*number as f32),
            Value::Integer(number) => Some(*number as f32),
            _ => None,
        })
    }

    fn read_as<T>(&self, name: &str, convert: impl FnOnce(&Value) -> Option<T>) -> Result<Option<T>, Failure> {
        let Some((value, _)) = self.get(name) else {
            return Ok(None);
        };
        let expected = find(name).map_or("another value", |key| key.kind.expected());
        convert(value)
            .map(Some)
            .ok_or_else(|| self.wrong(name, expected, &value.to_string()))
    }
}

fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

fn is_section(name: &str) -> bool {
    KEYS.iter()
        .any(|key| key.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

/// Returns the dotted name of the first value below a table: the whole name is nearer to a known one.
fn first_leaf(dotted: String, value: &Value) -> String {
    match value.as_table().and_then(|table| table.iter().next()) {
        Some((name, inner)) => first_leaf(format!("{dotted}.{name}"), inner),
        None => dotted,
    }
}

/// Returns the environment variable of a key.
pub(super) fn variable(key: &Key) -> String {
    format!("{PREFIX}{}", key.name.replace('.', "_").to_uppercase())
}

fn parse_variable(key: &Key, text: &str) -> Option<Value> {
    Some(match key.kind {
        Kind::Flag => Value::Boolean(text.parse().ok()?),
        Kind::Unsigned => Value::Integer(i64::try_from(text.parse::<u64>().ok()?).ok()?),
        Kind::Number => Value::Float(text.parse().ok()?),
        Kind::Text => Value::String(text.to_owned()),
        Kind::Texts => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Value::Array(items.map(|item| Value::String(item.to_owned())).collect())
        }
        Kind::Tables => return None,
    })
}

fn check_kind(key: &Key, value: &Value, place: &str) -> Result<(), Failure> {
    let fits = match key.kind {
        Kind::Flag => value.is_bool(),
        Kind::Unsigned => value.as_integer().is_some_and(|number| number >= 0),
        Kind::Number => value.is_float() || value.is_integer(),
        Kind::Text => value.is_str(),
        Kind::Texts => value.as_array().is_some_and(|items| items.iter().all(Value::is_str)),
        Kind::Tables => value.as_array().is_some_and(|items| items.iter().all(Value::is_table)),
    };
    if fits {
        Ok(())
    } else {
        Err(wrong_value(
            &format!("{} ({place})", key.name),
            key.kind.expected(),
            &value.to_string(),
        ))
    }
}

fn wrong_value(name: &str, expected: &str, found: &str) -> Failure {
    Failure::input("config_invalid", format!("{name} must be {expected}, found {found}"))
}

/// Returns the error for a key that nobody knows, with the nearest one that is known.
pub(crate) fn unknown_key(name: &str, known: &[&str], place: &str) -> Failure {
    let nearest = known
        .iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .filter(|(similarity, _)| *similarity > 0.75)
        .map_or_else(
            || "`casebook config show` lists them".to_owned(),
            |(_, candidate)| format!("did you mean {candidate}?"),
        );
    Failure::input(
        "config_unknown_key",
        format!("unknown key {name} in {place}; {nearest}"),
    )
}
