//! Checks a whole document that a program gives: reports the values that the readers of the keys
//! reject, and all unknown names.

use opencode_declaration::configuration::{self, DOCUMENT};
use opencode_declaration::vocabulary::{Kind, Member};
use serde_json::{Map, Value};

use super::decode::shown;
use super::document;
use super::step::Step;
use crate::nearest::nearest;

/// Maximum number of names that a message lists.
const MAX_NAMED: usize = 12;

/// Maximum number of reported problems. A caller corrects the first ones and checks again.
const MAX_PROBLEMS: usize = 100;

/// Maximum number of characters in a path. Names come from the caller and can have any length.
const MAX_PATH: usize = 300;

/// A problem in a document. Neither text contains a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigurationProblem {
    /// The path of the problem, for example `permission.bash` or `permissions[0].effect`. Empty for the whole document.
    pub path: String,
    /// The problem, as the end of a sentence that begins with the path.
    pub message: String,
}

/// Returns all problems of a document, in its order: the first wrong value under each top-level key,
/// and all unknown names.
///
/// ```
/// # use opencode_location::config::problems;
/// let found = problems(&serde_json::json!({ "permision": { "bash": "deny" } }));
/// assert_eq!(found[0].path, "permision");
/// assert_eq!(found[0].message, "is unknown. Did you mean permission?");
/// ```
pub fn problems(config: &Value) -> Vec<ConfigurationProblem> {
    let mut check = Check::default();
    match config {
        Value::Object(root) => check.document(root),
        _ => check.report("must be an object".to_owned()),
    }
    check.found
}

/// State of the traversal of a document.
#[derive(Default)]
struct Check {
    /// The current path.
    path: Vec<Step>,
    found: Vec<ConfigurationProblem>,
}

impl Check {
    fn document(&mut self, root: &Map<String, Value>) {
        for (name, value) in root {
            let key = configuration::keys().find(|key| key.name == name);
            if let Some(Err(invalid)) = key.map(|key| document::check(key, value)) {
                let invalid = invalid.at(name);
                self.add(shown(&invalid.path()), invalid.message().to_owned());
            }
            self.member(&[&WHOLE], name, value);
        }
    }

    /// Checks the names within a value that may be of these kinds, and its words. The readers of the keys check the types
    /// of values.
    fn value(&mut self, kinds: &[&'static Kind], value: &Value) {
        match value {
            Value::String(text) => self.word(kinds, text),
            Value::Array(elements) => {
                let kinds: Vec<_> = kinds.iter().filter_map(|kind| element(kind)).collect();
                let kinds = alternatives(kinds);
                for (index, value) in elements.iter().enumerate() {
                    self.within(Step::Index(index), |check| check.value(&kinds, value));
                }
            }
            Value::Object(members) => {
                for (name, value) in members {
                    self.member(kinds, name, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Checks a text. Kinds that permit any text permit this one.
    fn word(&mut self, kinds: &[&'static Kind], text: &str) {
        let mut known = Vec::new();
        for kind in kinds {
            match kind {
                Kind::Words(words) => known.extend_from_slice(words),
                Kind::Text | Kind::Json | Kind::Unknown | Kind::Prefixed(_) => return,
                _ => {}
            }
        }
        if !known.is_empty() && !known.contains(&text) {
            let words: Vec<_> = known.iter().map(|word| format!("\"{word}\"")).collect();
            self.report(format!("must be {}", words.join(" or ")));
        }
    }

    /// Checks a member of an object that may be of these kinds. The objects among them have their members together.
    fn member(&mut self, kinds: &[&'static Kind], name: &str, value: &Value) {
        let mut members: Vec<&'static Member> = Vec::new();
        let mut others = Vec::new();
        for kind in kinds {
            match kind {
                Kind::Object(object) => {
                    members.extend(object.all_members());
                    others.extend(&object.others);
                }
                Kind::Map { of, .. } => others.push(*of),
                Kind::Json | Kind::Unknown => return,
                _ => {}
            }
        }
        if members.is_empty() && others.is_empty() {
            return;
        }
        let named = members.iter().filter(|member| member.name == name);
        let named: Vec<_> = named.filter_map(|member| member.kind.as_ref()).collect();
        let kinds = if named.is_empty() { others } else { named };
        self.within(Step::Key(name.to_owned()), |check| {
            if kinds.is_empty() {
                check.report(unknown(name, &members));
            } else {
                check.value(&alternatives(kinds), value);
            }
        });
    }

    fn within(&mut self, step: Step, look: impl FnOnce(&mut Self)) {
        self.path.push(step);
        look(self);
        self.path.pop();
    }

    fn report(&mut self, message: String) {
        self.add(shown(&self.path), message);
    }

    /// Adds a problem, unless the path already has one.
    fn add(&mut self, path: String, message: String) {
        let printable = path.chars().filter(|character| !character.is_control());
        let path: String = printable.take(MAX_PATH).collect();
        let is_new = self.found.iter().all(|problem| problem.path != path);
        if is_new && self.found.len() < MAX_PROBLEMS {
            self.found.push(ConfigurationProblem { path, message });
        }
    }
}

/// A whole document.
static WHOLE: Kind = Kind::Object(&DOCUMENT);

fn element(kind: &'static Kind) -> Option<&'static Kind> {
    match kind {
        Kind::List { of, .. } => Some(of),
        _ => None,
    }
}

fn alternatives(kinds: Vec<&'static Kind>) -> Vec<&'static Kind> {
    kinds.into_iter().flat_map(Kind::alternatives).collect()
}

fn unknown(name: &str, members: &[&'static Member]) -> String {
    let mut known: Vec<&str> = Vec::new();
    for member in members.iter().filter(|member| member.kind.is_some()) {
        // Several forms of an object may have a member of the same name.
        if !known.contains(&member.name) {
            known.push(member.name);
        }
    }
    let names = known.iter().copied();
    match nearest(name, names.clone()) {
        Some(meant) => format!("is unknown. Did you mean {meant}?"),
        None if known.len() <= MAX_NAMED => {
            let names: Vec<_> = names.collect();
            format!("is unknown. Known here: {}", names.join(", "))
        }
        None => "is unknown. The type OpenCodeConfig lists what is known here".to_owned(),
    }
}

#[cfg(test)]
mod declared;
#[cfg(test)]
mod tests;
