//! Checks a whole document that a program gives: reports the values that the readers of the keys
//! reject, and all unknown names.

use serde_json::{Map, Value};

use super::decode::shown;
use super::document;
use super::keys::KEYS;
use super::shape::{DOCUMENT, Members, Shape};
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
            let key = KEYS.iter().find(|key| key.name == name);
            if let Some(Err(invalid)) = key.map(|key| document::check(key, value)) {
                let invalid = invalid.at(name);
                self.add(shown(&invalid.path()), invalid.message().to_owned());
            }
            self.member(&DOCUMENT, name, value);
        }
    }

    /// Checks a value that has a shape. The readers of the keys check the types of values.
    fn value(&mut self, shape: &Shape, value: &Value) {
        match (shape, value) {
            (Shape::Word(words), Value::String(text)) if !words.contains(&text.as_str()) => {
                let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
                self.report(format!("must be {}", words.join(" or ")));
            }
            (Shape::Either(one, other), _) => {
                self.value(one, value);
                self.value(other, value);
            }
            (Shape::List(element), Value::Array(elements)) => {
                for (index, value) in elements.iter().enumerate() {
                    self.within(Step::Index(index), |check| check.value(element, value));
                }
            }
            (Shape::Closed(_) | Shape::Open(..) | Shape::Each(_), Value::Object(members)) => {
                for (name, value) in members {
                    self.member(shape, name, value);
                }
            }
            _ => {}
        }
    }

    fn member(&mut self, shape: &Shape, name: &str, value: &Value) {
        let (members, others): (Members, _) = match shape {
            Shape::Closed(members) => (members, None),
            Shape::Open(members, others) => (members, Some(*others)),
            Shape::Each(others) => (&[], Some(*others)),
            _ => return,
        };
        let known = members.iter().find(|(known, _)| *known == name);
        let shape = known.map(|(_, shape)| *shape).or(others);
        self.within(Step::Key(name.to_owned()), |check| match shape {
            Some(shape) => check.value(shape, value),
            None => check.report(unknown(name, members)),
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

fn unknown(name: &str, members: Members) -> String {
    let names = members.iter().map(|(name, _)| *name);
    match nearest(name, names.clone()) {
        Some(meant) => format!("is unknown. Did you mean {meant}?"),
        None if members.len() <= MAX_NAMED => {
            let names: Vec<_> = names.collect();
            format!("is unknown. Known here: {}", names.join(", "))
        }
        None => "is unknown. The type OpenCodeConfig lists what is known here".to_owned(),
    }
}

#[cfg(test)]
mod tests;
