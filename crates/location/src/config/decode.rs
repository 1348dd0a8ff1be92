//! Reads typed values from JSON and reports the path of the first wrong value.
//!
//! The readers are not derived, because a message must name the expected type and must not contain the
//! value: it may be a key that the author put in the wrong place.

use std::fmt;

use opencode_declaration::configuration::{MAX_FEW, MAX_TEXTS};
use serde_json::{Map, Value};

use super::step::Step;

/// A wrong value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invalid {
    /// The path of the value. The innermost step is first while the path is built.
    path: Vec<Step>,
    /// The requirement for the value.
    message: String,
}

/// The result of reading a value.
pub(crate) type Decoded<T> = Result<T, Invalid>;

impl Invalid {
    /// An error with a requirement and an empty path.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            path: Vec::new(),
            message: message.into(),
        }
    }

    /// Prepends the key of the enclosing object to the path.
    pub(crate) fn at(mut self, key: &str) -> Self {
        self.path.push(Step::Key(key.to_owned()));
        self
    }

    fn at_index(mut self, index: usize) -> Self {
        self.path.push(Step::Index(index));
        self
    }

    /// Replaces the path.
    pub(crate) fn about(mut self, path: &[Step]) -> Self {
        self.path = path.iter().rev().cloned().collect();
        self
    }

    /// The path as text: `provider.x.models[0]`.
    pub(crate) fn place(&self) -> String {
        shown(&self.path())
    }

    /// The path from the document's root.
    pub(crate) fn path(&self) -> Vec<Step> {
        self.path.iter().rev().cloned().collect()
    }

    /// The requirement for the value, as the end of a sentence that begins with the path.
    pub(super) fn message(&self) -> &str {
        &self.message
    }
}

/// `provider.x.models[0] must be …`.
impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_slice() {
            [] => f.write_str("The document")?,
            _ => f.write_str(&self.place())?,
        }
        write!(f, " {}", self.message)
    }
}

/// A path as text: `provider.x.models[0]`.
pub(super) fn shown(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) if text.is_empty() => text += key,
            Step::Key(key) => text.extend([".", key]),
            Step::Index(index) => text += &format!("[{index}]"),
        }
    }
    text
}

/// Reads member `key` if it is present.
pub(crate) fn optional<'v, T>(
    object: &'v Map<String, Value>,
    key: &str,
    read: impl FnOnce(&'v Value) -> Decoded<T>,
) -> Decoded<Option<T>> {
    object
        .get(key)
        .map(|value| read(value).map_err(|invalid| invalid.at(key)))
        .transpose()
}

/// Reads member `key`. Fails if it is missing.
pub(crate) fn required<'v, T>(
    object: &'v Map<String, Value>,
    key: &str,
    read: impl FnOnce(&'v Value) -> Decoded<T>,
) -> Decoded<T> {
    optional(object, key, read)?.ok_or_else(|| Invalid::new("is missing").at(key))
}

/// Reads every member of an object, in order.
pub(crate) fn entries<T>(
    value: &Value,
    mut read: impl FnMut(&str, &Value) -> Decoded<T>,
) -> Decoded<Vec<T>> {
    object(value)?
        .iter()
        .map(|(key, value)| read(key, value).map_err(|invalid| invalid.at(key)))
        .collect()
}

/// Reads every element of an array.
pub(crate) fn elements<T>(
    value: &Value,
    mut read: impl FnMut(&Value) -> Decoded<T>,
) -> Decoded<Vec<T>> {
    let array = value.as_array().ok_or_else(|| wrong("an array", value))?;
    array
        .iter()
        .enumerate()
        .map(|(index, element)| read(element).map_err(|invalid| invalid.at_index(index)))
        .collect()
}

/// Reads an object.
pub(crate) fn object(value: &Value) -> Decoded<&Map<String, Value>> {
    value.as_object().ok_or_else(|| wrong("an object", value))
}

/// Fails if an object or array has more than [`MAX_FEW`] members.
pub(crate) fn few(value: &Value) -> Decoded<()> {
    at_most(MAX_FEW, value)
}

/// Fails if an object or array has more members than this.
pub(crate) fn at_most(most: usize, value: &Value) -> Decoded<()> {
    let count = match value {
        Value::Object(members) => members.len(),
        Value::Array(elements) => elements.len(),
        _ => 0,
    };
    if count > most {
        return Err(Invalid::new(format!("must have at most {most} members")));
    }
    Ok(())
}

/// Fails if an object has more than [`MAX_TEXTS`] members.
pub(crate) fn bounded_members(value: &Value) -> Decoded<()> {
    at_most(MAX_TEXTS, value)
}

/// Reads a list of texts that is searched often. The list has at most [`MAX_TEXTS`] elements.
pub(crate) fn bounded_texts(value: &Value) -> Decoded<Vec<String>> {
    at_most(MAX_TEXTS, value)?;
    texts(value)
}

/// Reads a text.
pub(crate) fn text(value: &Value) -> Decoded<String> {
    value
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| wrong("a string", value))
}

/// Reads a boolean.
pub(crate) fn boolean(value: &Value) -> Decoded<bool> {
    value.as_bool().ok_or_else(|| wrong("true or false", value))
}

/// Reads a number.
pub(crate) fn number(value: &Value) -> Decoded<f64> {
    value.as_f64().ok_or_else(|| wrong("a number", value))
}

/// Reads a count. Truncates it to a whole number of at least 0.
pub(crate) fn count(value: &Value) -> Decoded<u64> {
    // The conversion from a float saturates at both ends.
    match value.as_u64() {
        Some(whole) => Ok(whole),
        None => number(value).map(|number| number as u64),
    }
}

/// Reads a list of texts.
pub(crate) fn texts(value: &Value) -> Decoded<Vec<String>> {
    elements(value, text)
}

/// The error for a value of the wrong type. Names the type that was found, never the value.
pub(crate) fn wrong(expected: &str, found: &Value) -> Invalid {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    Invalid::new(format!("must be {expected}, found {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_error_names_the_path_and_both_types() {
        let value = json!({"a": {"b": ["x", 5]}});
        let read = |value: &Value| {
            required(object(value)?, "a", |a| {
                required(object(a)?, "b", texts).map(drop)
            })
        };
        let invalid = read(&value).unwrap_err();
        assert_eq!(
            invalid.to_string(),
            "a.b[1] must be a string, found a number"
        );
        assert_eq!(
            invalid.path(),
            [Step::Key("a".into()), Step::Key("b".into()), Step::Index(1)]
        );
        assert_eq!(read(&json!({})).unwrap_err().to_string(), "a is missing");
        assert_eq!(
            read(&json!([])).unwrap_err().to_string(),
            "The document must be an object, found an array"
        );
    }

    #[test]
    fn counts_are_rounded_down_and_clamped() {
        for (value, expected) in [
            (json!(10.7), 10),
            (json!(-3), 0),
            (json!(-0.5), 0),
            (json!(1e300), u64::MAX),
            (json!(u64::MAX), u64::MAX),
        ] {
            assert_eq!(count(&value), Ok(expected), "{value}");
        }
    }
}
