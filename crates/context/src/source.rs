//! The trait of a Context Source.

use std::io;

use futures::future::BoxFuture;
use serde_json::Value;

/// Maximum size of the value of a source, in bytes of its JSON text. The value is stored with every
/// session that receives it, and its text is part of every request.
pub const MAX_VALUE_BYTES: usize = 2 * 1024 * 1024;

/// Result of observing a source.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// The source has a value.
    Present(Value),
    /// The source has no information, as if it were not part of the context.
    Absent,
    /// The value is not available now. The text is the reason, for the user.
    Unavailable(String),
}

/// A Context Source: one subject that the model is informed about.
pub trait Source: Send + Sync {
    /// The stable name of the source, `<namespace>/<name>`. Both parts consist of lower-case letters,
    /// digits and `._-`; the name may contain `/` too. Both parts begin with a letter or a digit.
    fn key(&self) -> &str;

    /// True if no Context Epoch may begin without the source. A source that is not required is left
    /// out of a baseline while it is unavailable. The model receives it once it can be observed.
    fn is_required(&self) -> bool {
        true
    }

    /// Observes the source, once per call. A source that takes longer than [`crate::LOAD_TIMEOUT`]
    /// counts as unavailable.
    fn load(&self) -> BoxFuture<'_, Observation>;

    /// True if the source accepts the value. It may reject a value that an earlier version stored.
    fn is_valid(&self, value: &Value) -> bool;

    /// The complete text for a value. Never empty.
    fn baseline(&self, value: &Value) -> String;

    /// The text for a model that knows `previous`, when `current` is the value now. It states only
    /// the current value, not the former one. If it is empty, the baseline text is sent instead.
    fn update(&self, previous: &Value, current: &Value) -> String;

    /// The text that tells the model, after the source is gone, that its information is no longer valid. It is
    /// stored with the value. If a source without this text is gone, a new baseline replaces the former one.
    fn removed(&self, _value: &Value) -> Option<String> {
        None
    }
}

/// The value and the texts of a present source.
#[derive(Debug)]
pub(crate) struct RenderedSource {
    pub(crate) value: Value,
    pub(crate) baseline: String,
    pub(crate) removed: Option<String>,
}

impl RenderedSource {
    /// Renders the texts of the source for a value. Fails with the rule of the contract that the source breaks.
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

/// True if a text has the form of the key of a source or of a contribution.
pub fn is_key(key: &str) -> bool {
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

/// True if the JSON text of a value is longer than `bytes`. The text is counted, not stored.
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
    fn the_size_limit_counts_the_bytes_of_the_json_text() {
        let value = json!({ "a": ["ü", "\""] });
        let bytes = value.to_string().len();
        assert!(!exceeds(&value, bytes));
        assert!(exceeds(&value, bytes - 1));
    }
}
