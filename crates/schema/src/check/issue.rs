//! The first problem of a value, as data and as text.

use std::fmt;

use serde_json::Value;

/// Maximum length of a description, in characters. Longer ones are cut.
const MAX_TEXT: usize = 1024;

/// The first problem that a check finds.
///
/// Its text is `Expected string, got 5`. A second line has the path if it is not the top:
/// `  at ["prompt"]["text"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Expected and actual value.
    pub message: String,
    /// Path from the top of the value to the problem.
    pub path: Vec<Segment>,
    /// Number of characters of the value that `message` omits.
    hidden: usize,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// A member of an object.
    Key(String),
    /// An item of an array.
    Index(usize),
}

impl Issue {
    /// Creates an issue at the top of the value.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            path: Vec::new(),
            hidden: 0,
        }
    }

    /// Creates an issue with the message `Expected <what>, got <value>`.
    pub fn expected(what: &str, got: &Value) -> Self {
        let (shown, hidden) = render(got);
        Self {
            hidden,
            ..Self::new(format!("Expected {what}, got {shown}"))
        }
    }

    /// Returns the issue as seen from one level above.
    pub fn at(mut self, segment: Segment) -> Self {
        self.path.insert(0, segment);
        self
    }

    /// Returns the issue as seen from the object that contains the member.
    pub fn at_key(self, key: &str) -> Self {
        self.at(Segment::Key(key.to_owned()))
    }
}

impl std::error::Error for Issue {}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.message.clone();
        for (index, segment) in self.path.iter().enumerate() {
            text.push_str(if index == 0 { "\n  at " } else { "" });
            match segment {
                Segment::Key(key) => text.push_str(&format!("[{}]", Value::from(key.as_str()))),
                Segment::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        match text.char_indices().nth(MAX_TEXT) {
            None => f.write_str(&text),
            Some((end, _)) => {
                let more = text[end..].chars().count() + self.hidden;
                write!(f, "{}... ({more} more chars)", &text[..end])
            }
        }
    }
}

/// Returns the value as compact JSON, cut to the maximum length of a description, and the number of
/// omitted characters. Walks without recursion, because a value can be deeper than the stack.
fn render(value: &Value) -> (String, usize) {
    enum Step<'a> {
        Value(&'a Value),
        Key(&'a str),
        Text(&'static str),
    }
    let (mut text, mut length, mut hidden) = (String::new(), 0, 0);
    let mut push = |part: &str| {
        for c in part.chars() {
            if length < MAX_TEXT {
                text.push(c);
                length += 1;
            } else {
                hidden += 1;
            }
        }
    };
    let mut steps = vec![Step::Value(value)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Text(part) => push(part),
            Step::Key(key) => push(&format!("{}:", Value::from(key))),
            Step::Value(Value::Array(items)) => {
                push("[");
                steps.push(Step::Text("]"));
                for (index, item) in items.iter().enumerate().rev() {
                    steps.push(Step::Value(item));
                    steps.push(Step::Text(if index == 0 { "" } else { "," }));
                }
            }
            Step::Value(Value::Object(members)) => {
                push("{");
                steps.push(Step::Text("}"));
                for (index, (key, member)) in members.iter().enumerate().rev() {
                    steps.push(Step::Value(member));
                    steps.push(Step::Key(key));
                    steps.push(Step::Text(if index == 0 { "" } else { "," }));
                }
            }
            Step::Value(scalar) => push(&scalar.to_string()),
        }
    }
    (text, hidden)
}
