//! Keys that stand more than once in one object.
//!
//! The last value of such a key is the value of the document. The earlier values restrict as well: an author who wrote
//! a rule twice must not lose one of them.

use serde_json::{Map, Value};

use super::step::Step;

/// Maximum number of repeated keys that are read. Each needs a copy of its document.
const MAX_REPEATS: usize = 16;

/// A value with all members of its objects, in the order of the text. `P` is the position of a key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node<P> {
    /// A value without members and elements.
    Plain(Value),
    /// An array.
    List(Vec<Node<P>>),
    /// An object.
    Object(Vec<Member<P>>),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member<P> {
    /// Its name.
    pub name: String,
    /// The position of the name.
    pub at: P,
    /// Its value.
    pub value: Node<P>,
}

/// An earlier occurrence of a key that stands more than once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Repeat<P> {
    /// The path of the key.
    pub path: Vec<Step>,
    /// The position of this occurrence.
    pub first: P,
    /// The position of the last occurrence.
    pub last: P,
    /// The whole document, with the value of this occurrence.
    pub document: Value,
}

/// The repeated keys of a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Repeats<P> {
    /// The first of them, in the order of the text.
    pub found: Vec<Repeat<P>>,
    /// True if there are more.
    pub is_cut: bool,
}

impl<P> Default for Repeats<P> {
    fn default() -> Self {
        Self {
            found: Vec::new(),
            is_cut: false,
        }
    }
}

impl<P: Copy> Node<P> {
    /// The value, with the last of several members of one name.
    pub(crate) fn last(&self) -> Value {
        self.through(&[])
    }

    /// The repeated keys.
    pub(crate) fn repeats(&self) -> Repeats<P> {
        let mut search = Search {
            choice: Vec::new(),
            path: Vec::new(),
            found: Vec::new(),
            is_cut: false,
        };
        search.visit(self);
        let found = search.found.into_iter();
        Repeats {
            found: found
                .map(|found| Repeat {
                    path: found.path,
                    first: found.first,
                    last: found.last,
                    document: self.through(&found.choice),
                })
                .collect(),
            is_cut: search.is_cut,
        }
    }

    /// The value with the chosen members, and with the last ones where nothing is chosen. `choice` has the index of a
    /// member or an element for each level.
    fn through(&self, choice: &[usize]) -> Value {
        let (chosen, rest) = match choice.split_first() {
            Some((chosen, rest)) => (Some(*chosen), rest),
            None => (None, choice),
        };
        let below = |index| {
            if chosen == Some(index) { rest } else { &[] }
        };
        match self {
            Self::Plain(value) => value.clone(),
            Self::List(elements) => {
                let elements = elements.iter().enumerate();
                Value::Array(
                    elements
                        .map(|(index, element)| element.through(below(index)))
                        .collect(),
                )
            }
            Self::Object(members) => {
                let mut read = Map::with_capacity(members.len());
                for member in members {
                    read.insert(member.name.clone(), Value::Null);
                }
                for (index, member) in members.iter().enumerate() {
                    read.insert(member.name.clone(), member.value.through(below(index)));
                }
                if let Some((index, member)) = chosen.and_then(|at| Some((at, members.get(at)?))) {
                    read.insert(member.name.clone(), member.value.through(below(index)));
                }
                Value::Object(read)
            }
        }
    }
}

/// A search for repeated keys.
struct Search<P> {
    choice: Vec<usize>,
    path: Vec<Step>,
    found: Vec<Found<P>>,
    is_cut: bool,
}

struct Found<P> {
    choice: Vec<usize>,
    path: Vec<Step>,
    first: P,
    last: P,
}

impl<P: Copy> Search<P> {
    fn visit(&mut self, node: &Node<P>) {
        match node {
            Node::Plain(_) => {}
            Node::List(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    self.enter(index, Step::Index(index), |search| search.visit(element));
                }
            }
            Node::Object(members) => {
                let mut last = std::collections::HashMap::with_capacity(members.len());
                for (index, member) in members.iter().enumerate() {
                    last.insert(member.name.as_str(), (index, member.at));
                }
                for (index, member) in members.iter().enumerate() {
                    let (last, at) = last[member.name.as_str()];
                    self.enter(index, Step::Key(member.name.clone()), |search| {
                        if last != index {
                            search.note(member.at, at);
                        }
                        search.visit(&member.value);
                    });
                }
            }
        }
    }

    fn enter(&mut self, index: usize, step: Step, visit: impl FnOnce(&mut Self)) {
        if self.is_cut {
            return;
        }
        self.choice.push(index);
        self.path.push(step);
        visit(self);
        self.choice.pop();
        self.path.pop();
    }

    fn note(&mut self, first: P, last: P) {
        if self.found.len() == MAX_REPEATS {
            self.is_cut = true;
            return;
        }
        self.found.push(Found {
            choice: self.choice.clone(),
            path: self.path.clone(),
            first,
            last,
        });
    }
}

/// The message about a key that stands at two places.
pub(crate) fn message(path: &[Step], lines: (u32, u32), restricts: bool) -> String {
    let name = super::decode::Invalid::new(String::new())
        .about(path)
        .place();
    let (first, last) = lines;
    let effect = if restricts {
        "; the last one holds, and the rules of both restrict"
    } else {
        "; the last one holds"
    };
    if first == last {
        format!("The key {name} stands twice in line {first}{effect}")
    } else {
        format!("The key {name} stands twice, in the lines {first} and {last}{effect}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain(value: u32) -> Node<u32> {
        Node::Plain(value.into())
    }

    fn object(members: Vec<(&str, Node<u32>)>) -> Node<u32> {
        let members = members.into_iter().zip(1..);
        Node::Object(
            members
                .map(|((name, value), at)| Member {
                    name: name.to_owned(),
                    at,
                    value,
                })
                .collect(),
        )
    }

    #[test]
    fn each_earlier_occurrence_has_a_document() {
        let inner = object(vec![("x", plain(1)), ("x", plain(2))]);
        let list = Node::List(vec![object(vec![("y", plain(3)), ("y", plain(4))])]);
        let document = object(vec![
            ("a", inner),
            ("b", list),
            ("a", plain(5)),
            ("c", plain(6)),
        ]);
        assert_eq!(document.last(), json!({"a": 5, "b": [{"y": 4}], "c": 6}));
        let repeats = document.repeats();
        let documents: Vec<_> = repeats.found.iter().map(|it| &it.document).collect();
        assert_eq!(
            documents,
            [
                &json!({"a": {"x": 2}, "b": [{"y": 4}], "c": 6}),
                &json!({"a": {"x": 1}, "b": [{"y": 4}], "c": 6}),
                &json!({"a": 5, "b": [{"y": 3}], "c": 6}),
            ]
        );
        assert_eq!((repeats.found[0].first, repeats.found[0].last), (1, 3));
        assert!(!repeats.is_cut);
    }

    #[test]
    fn the_number_of_repeated_keys_is_bounded() {
        let members = (0..MAX_REPEATS as u32 + 1).map(|value| ("a", plain(value)));
        let repeats = object(members.clone().collect()).repeats();
        assert_eq!((repeats.found.len(), repeats.is_cut), (MAX_REPEATS, false));
        let repeats = object(members.chain([("a", plain(99))]).collect()).repeats();
        assert_eq!((repeats.found.len(), repeats.is_cut), (MAX_REPEATS, true));
    }
}
