//! The right shape of a value, shown where a caller wrote a common wrong one.

use opencode_schema::check::{Issue, Segment};
use serde_json::Value;

/// Longest text of a caller that is shown as a part of the right shape, in bytes.
const MAX_SHOWN: usize = 60;

/// The issue, with the right shape where a text stands in the place of a prompt or a model.
pub(crate) fn with_right_shape(issue: Issue, input: &Value) -> Issue {
    let Some((key, text)) = text_at(input, &issue.path) else {
        return issue;
    };
    let (expected, shape) = if issue.message.starts_with("Expected PromptInput") {
        ("PromptInput", format!("{{ text: {} }}", shown(text)))
    } else if issue.message.starts_with("Expected ModelRef") {
        ("ModelRef", model(text))
    } else {
        return issue;
    };
    let got = if text.len() <= MAX_SHOWN {
        shown(text)
    } else {
        "a string".to_owned()
    };
    let message = format!("Expected {expected}, got {got}; write {key}: {shape}");
    let mut shaped = Issue::new(message);
    shaped.path = issue.path;
    shaped
}

fn model(text: &str) -> String {
    let (provider, id) = text.split_once('/').unwrap_or(("...", text));
    format!("{{ providerID: {}, id: {} }}", shown(provider), shown(id))
}

fn shown(text: &str) -> String {
    Value::from(if text.len() <= MAX_SHOWN { text } else { "..." }).to_string()
}

/// The text at the end of a path, and the name of the member that it is.
fn text_at<'a>(input: &'a Value, path: &'a [Segment]) -> Option<(&'a str, &'a str)> {
    let found = path.iter().try_fold(input, |value, segment| match segment {
        Segment::Key(key) => value.get(key),
        Segment::Index(index) => value.get(index),
    });
    match (path.last()?, found?) {
        (Segment::Key(key), Value::String(text)) => Some((key, text)),
        _ => None,
    }
}
