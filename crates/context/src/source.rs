//! One thing worth telling the model.

use std::io;

use futures::future::BoxFuture;
use serde_json::Value;

/// Largest value of a source, in bytes of its JSON text. It is stored with every session that is
/// told it, and its text is part of every request.
pub const MAX_VALUE_BYTES: usize = 2 * 1024 * 1024;

/// What a source finds when it looks.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// There is something to tell.
    Present(Value),
    /// There is nothing to tell: as if the source took no part.
    Absent,
    /// It cannot be said now; the text says why, for the user.
    Unavailable(String),
}

/// One thing worth telling the model.
pub trait Source: Send + Sync {
    /// Its stable name, `<namespace>/<name>`: lower-case letters, digits and `._-`, in the name also
    /// `/`; both parts begin with a letter or a digit.
    fn key(&self) -> &str;

    /// Whether no Context Epoch may begin without it. One that is not required is left out of a
    /// baseline while it is unavailable and told once it can be observed.
    fn is_required(&self) -> bool {
        true
    }

    /// Observes it, once per call. An answer that takes longer than [`crate::LOAD_PATIENCE`] counts
    /// as unavailable.
    fn load(&self) -> BoxFuture<'_, Observation>;

    /// Whether this is a value of the source. What an earlier version stored may be none.
    fn is_valid(&self, value: &Value) -> bool;

    /// The complete text for a value, never empty.
    fn baseline(&self, value: &Value) -> String;

    /// The text that tells a model which knows `previous` that `current` holds now. It states what
    /// holds, never what held. The baseline is told in place of an empty one.
    fn update(&self, previous: &Value, current: &Value) -> String;

    /// The text that tells the model, once the source has gone, that what it said no longer holds.
    /// It is stored with the value. A source without one cannot go: the whole baseline is replaced.
    fn removed(&self, _value: &Value) -> Option<String> {
        None
    }
}

/// What a present source has to say.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) value: Value,
    pub(crate) baseline: String,
    pub(crate) removed: Option<String>,
}

impl Told {
    /// What the source says about its value, or how it breaks its contract.
    pub(crate) fn by(source: &dyn Source, value: Value) -> Result<Self, String> {
        if exceeds(&value, MAX_VALUE_BYTES) {
            return Err(format!(
                "what it has to tell is larger than {MAX_VALUE_BYTES} bytes"
            ));
        }
        if !source.is_valid(&value) {
            return Err("it observed something that it does not accept as its value".to_owned());
        }
        let baseline = source.baseline(&value);
        if is_blank(&baseline) {
            return Err(
                "its text is empty; a source with nothing to tell has to be absent".to_owned(),
            );
        }
        let removed = source.removed(&value);
        if removed.as_deref().is_some_and(is_blank) {
            return Err("its text for the case of its removal is empty".to_owned());
        }
        Ok(Self {
            value,
            baseline,
            removed,
        })
    }
}

pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

pub(crate) fn is_key(key: &str) -> bool {
    let begins_well =
        |part: &str| part.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
    key.split_once('/').is_some_and(|(namespace, name)| {
        begins_well(namespace)
            && namespace.chars().all(allowed)
            && begins_well(name)
            && name.chars().all(|c| allowed(c) || c == '/')
    })
}

/// Whether the JSON text of a value is longer than this; it is not written to find out.
fn exceeds(value: &Value, bytes: usize) -> bool {
    struct Room(usize);
    impl io::Write for Room {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let left = self.0.checked_sub(bytes.len());
            self.0 = left.ok_or(io::ErrorKind::FileTooLarge)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Room(bytes), value).is_err()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_have_a_namespace_and_a_name() {
        for (key, ok) in [
            ("core/a", true),
            ("core/nested/a.b-c_d", true),
            ("0/0", true),
            ("core", false),
            ("Core/a", false),
            ("core/", false),
            ("/a", false),
            ("core/A", false),
            ("core//a", false),
            ("core/.a", false),
            ("core/a b", false),
            ("", false),
        ] {
            assert_eq!(is_key(key), ok, "{key:?}");
        }
    }

    #[test]
    fn the_bound_counts_the_bytes_of_the_json_text() {
        let value = json!({ "a": ["ü", "\""] });
        let bytes = value.to_string().len();
        assert!(!exceeds(&value, bytes));
        assert!(exceeds(&value, bytes - 1));
    }
}
