//! Translates the options of a package from its own spelling to the spelling of the wire.
//!
//! The older generation of the format uses the option names of the AI SDK. The package determines which
//! options are credentials and how the others are spelled on the wire. The package may be named in a
//! different document than the options, so this is decided while documents are merged.

use serde_json::{Map, Value};

use super::Platform;
use crate::config::options::snake_case;
use crate::secret::{Headers, Members};

/// Separates the options of a provider into headers, settings and body.
pub(in crate::catalogue) fn split(platform: &dyn Platform, options: &Members) -> Split {
    let mut split = Split::default();
    if !platform.knows_options() {
        split.body = options.clone();
        return split;
    }
    for (name, value) in options.iter() {
        match (platform.option_header(name), value.as_str()) {
            // An empty key, for example from an unset variable, counts as absent.
            (Some(_), Some("")) => {}
            (Some((header, prefix)), Some(text)) => {
                split.headers.set(header, &format!("{prefix}{text}"));
            }
            _ => {
                split.settings.insert(name.clone(), value.clone());
            }
        }
    }
    split
}

/// Returns the options of a model in the spelling of the request body.
pub(in crate::catalogue) fn respell(platform: &dyn Platform, options: &Members) -> Members {
    let mut body = Map::new();
    for (name, value) in options.iter() {
        platform.write_option(&mut body, name, value);
    }
    Members(body)
}

/// True if a member of a body groups options.
pub(in crate::catalogue) fn is_group(name: &str) -> bool {
    super::all().any(|platform| platform.groups().contains(&name))
}

/// The options of a provider, separated.
#[derive(Default)]
pub(in crate::catalogue) struct Split {
    /// Options that are sent as headers.
    pub headers: Headers,
    /// Options that configure the implementation.
    pub settings: Members,
    /// Options that go into the body of requests.
    pub body: Members,
}

/// Inserts a value at the end of a path of objects.
pub(super) fn insert(body: &mut Map<String, Value>, path: &[&str], value: Value) {
    let Some((last, groups)) = path.split_last() else {
        return;
    };
    let mut place = body;
    for group in groups {
        let slot = place.entry(*group).or_insert(Value::Null);
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        let Value::Object(members) = slot else { return };
        place = members;
    }
    match (place.get_mut(*last), value) {
        // An object of the wire may be given beside options that belong to it.
        (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
        (_, value) => {
            place.insert((*last).to_owned(), value);
        }
    }
}

/// The value with the names of its direct members in snake case.
pub(super) fn snake_members(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter();
            Value::from_iter(members.map(|(name, value)| (snake_case(name), value.clone())))
        }
        other => other.clone(),
    }
}
