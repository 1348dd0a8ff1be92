//! Reads single values, and objects of single values, as they are declared.

use std::collections::BTreeMap;

use opencode_declaration::configuration::DOCUMENT;
use opencode_declaration::vocabulary::{Default as Declared, Kind, Member, Number, Object, Older};
use serde_json::Value;

use super::decode::{
    Decoded, Invalid, at_most, boolean, count, number, object, optional, text, texts,
};

/// The values of one or several documents, by path, such as `compaction.keep.tokens`. A path consists of newer names.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Values(BTreeMap<String, Single>);

/// A value.
#[derive(Debug, Clone, PartialEq)]
enum Single {
    Boolean(bool),
    Number(u64),
    Text(String),
    Texts(Vec<String>),
}

impl Values {
    /// Reads the value of a key. An older name gives the value of its newer one.
    pub(super) fn read(&mut self, key: &'static Member, value: &Value) -> Decoded<()> {
        match &key.kind {
            Some(kind) => self.read_kind(newer_name(key).to_owned(), kind, value),
            None => Ok(()),
        }
    }

    fn read_kind(&mut self, path: String, kind: &'static Kind, value: &Value) -> Decoded<()> {
        let Kind::Object(declared) = kind else {
            self.0.insert(path, single(kind, value)?);
            return Ok(());
        };
        let source = object(value)?;
        let (newer, older): (Vec<_>, Vec<_>) =
            declared.members.iter().partition(|it| it.older.is_none());
        // A newer name comes later, so that it overrides the older one.
        for member in older.into_iter().chain(newer) {
            let path = format!("{path}.{}", newer_name(member));
            if let Some(kind) = &member.kind {
                optional(source, member.name, |value| {
                    self.read_kind(path, kind, value)
                })?;
            }
        }
        Ok(())
    }

    /// Adds the values of a stronger document. Lists are joined, other values are replaced.
    pub(super) fn overlay(&mut self, over: &Self) {
        for (path, value) in &over.0 {
            match (self.0.get_mut(path), value) {
                (Some(Single::Texts(texts)), Single::Texts(more)) => {
                    for text in more {
                        if !texts.contains(text) {
                            texts.push(text.clone());
                        }
                    }
                }
                _ => {
                    self.0.insert(path.clone(), value.clone());
                }
            }
        }
    }

    /// The boolean at a path, or its declared default.
    pub(super) fn boolean(&self, path: &str) -> bool {
        match (self.0.get(path), default(path)) {
            (Some(Single::Boolean(value)), _) | (None, Declared::Boolean(value)) => *value,
            _ => false,
        }
    }

    /// The number at a path, or its declared default.
    pub(super) fn number(&self, path: &str) -> u64 {
        match (self.0.get(path), default(path)) {
            (Some(Single::Number(value)), _) | (None, Declared::Number(value)) => *value,
            _ => 0,
        }
    }

    /// The text at a path.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        match self.0.get(path) {
            Some(Single::Text(value)) => Some(value.clone()),
            _ => None,
        }
    }

    /// The texts at a path.
    pub(super) fn texts(&self, path: &str) -> Vec<String> {
        match self.0.get(path) {
            Some(Single::Texts(value)) => value.clone(),
            _ => Vec::new(),
        }
    }
}

fn newer_name(member: &Member) -> &'static str {
    member.older.map_or(member.name, Older::newer)
}

/// The declared default of the value at a path.
fn default(path: &str) -> &'static Declared {
    declared(&DOCUMENT, path).map_or(&Declared::Unsaid, |member| &member.default)
}

fn declared(object: &'static Object, path: &str) -> Option<&'static Member> {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    let member = object.member(name)?;
    match rest {
        "" => Some(member),
        rest => declared(member.kind.as_ref()?.object()?, rest),
    }
}

/// Reads a value of a kind that is no object.
fn single(kind: &Kind, value: &Value) -> Decoded<Single> {
    match kind {
        Kind::Boolean => boolean(value).map(Single::Boolean),
        Kind::Number(bounds) => bounded(bounds, value).map(Single::Number),
        Kind::Text => text(value).map(Single::Text),
        Kind::Words(words) => word(words, value).map(Single::Text),
        Kind::List {
            of: Kind::Text,
            most,
        } => {
            most.map_or(Ok(()), |most| at_most(most, value))?;
            texts(value).map(Single::Texts)
        }
        _ => Err(Invalid::new("has a kind that needs a reader of its own")),
    }
}

/// Reads one of these words.
pub(super) fn word(words: &[&str], value: &Value) -> Decoded<String> {
    let text = text(value)?;
    if words.contains(&text.as_str()) {
        return Ok(text);
    }
    let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
    Err(Invalid::new(match words.as_slice() {
        [most @ .., last] if !most.is_empty() => format!("must be {} or {last}", most.join(", ")),
        _ => format!("must be {}", words.concat()),
    }))
}

/// Reads a count within bounds. Rounds it down.
fn bounded(bounds: &Number, value: &Value) -> Decoded<u64> {
    let given = number(value)?;
    if bounds.is_whole && given.fract() != 0.0 {
        return Err(Invalid::new("must be a whole number"));
    }
    match bounds {
        Number {
            least: Some(least), ..
        } if given < f64::from(*least) => Err(Invalid::new(format!(
            "must be a number of at least {least}"
        ))),
        Number {
            most: Some(most), ..
        } if given > f64::from(*most) => {
            Err(Invalid::new(format!("must be a number of at most {most}")))
        }
        _ => count(value),
    }
}

#[cfg(test)]
mod tests {
    use opencode_declaration::configuration::keys;
    use serde_json::json;

    use super::*;

    fn read(name: &str, value: &Value) -> Result<Values, String> {
        let key = keys().find(|key| key.name == name).expect(name);
        let mut values = Values::default();
        let read = values.read(key, value);
        read.map(|()| values).map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn both_forms_configure_the_kept_part_of_compaction() {
        assert_eq!(read("compaction", &json!({})), Ok(Values::default()));
        let newer = json!({"auto": false, "prune": true, "keep": {"tokens": 12.9}, "buffer": 7});
        let older = json!({
            "auto": false, "prune": true, "preserve_recent_tokens": 12, "reserved": 7,
        });
        let both = json!({
            "auto": false, "prune": true, "keep": {"tokens": 12}, "preserve_recent_tokens": 1,
            "buffer": 7, "reserved": 1,
        });
        for value in [newer, older, both] {
            let values = read("compaction", &value).unwrap();
            assert!(!values.boolean("compaction.auto"), "{value}");
            assert!(values.boolean("compaction.prune"), "{value}");
            assert_eq!(values.number("compaction.keep.tokens"), 12, "{value}");
            assert_eq!(values.number("compaction.buffer"), 7, "{value}");
        }
    }

    #[test]
    fn an_older_key_gives_the_value_of_its_newer_name() {
        let image = json!({"image": {"max_width": 5}});
        for name in ["attachment", "media", "attachments"] {
            let values = read(name, &image).unwrap();
            assert_eq!(values.number("attachments.image.max_width"), 5, "{name}");
        }
        assert!(
            !read("snapshot", &json!(false))
                .unwrap()
                .boolean("snapshots")
        );
    }

    #[test]
    fn the_strongest_value_counts_and_lists_are_joined() {
        let mut values = read("watcher", &json!({"ignore": ["a", "b"]})).unwrap();
        values.overlay(&read("shell", &json!("sh")).unwrap());
        values.overlay(&read("watcher", &json!({"ignore": ["b", "c"]})).unwrap());
        values.overlay(&read("shell", &json!("bash")).unwrap());
        assert_eq!(values.texts("watcher.ignore"), ["a", "b", "c"]);
        assert_eq!(values.text("shell").as_deref(), Some("bash"));
        assert_eq!(values.text("username"), None);
    }

    #[test]
    fn a_value_outside_of_its_bounds_is_refused() {
        for (value, complaint) in [
            (
                json!({"max_lines": 0}),
                "max_lines must be a number of at least 1",
            ),
            (
                json!({"max_bytes": -1}),
                "max_bytes must be a number of at least 1",
            ),
            (
                json!({"max_bytes": "1"}),
                "max_bytes must be a number, found a string",
            ),
            (json!([]), "The document must be an object, found an array"),
        ] {
            assert_eq!(read("tool_output", &value), Err(complaint.to_owned()));
        }
    }
}
