//! The log of members of streams that have another type than the documented one.
//!
//! Reading a frame only notes its deviations, because the types of its members know neither the model nor the frame.
//! The log gets one entry for each model and kind of deviation.

use std::cell::RefCell;

use opencode_llm::sources::Sources;
use serde_json::Value;

/// Maximum number of deviations that are noted of one frame.
const MAX_NOTED: usize = 8;

/// Maximum length in characters of the described form of a frame.
const MAX_FORM: usize = 400;

/// A type in place of another one.
type Deviation = (&'static str, &'static str);

thread_local! {
    static NOTED: RefCell<Vec<Deviation>> = const { RefCell::new(Vec::new()) };
}

/// Notes a deviation of the frame that this thread reads.
pub(super) fn note(expected: &'static str, found: &'static str) {
    NOTED.with_borrow_mut(|noted| {
        let deviation = (expected, found);
        if noted.len() < MAX_NOTED && !noted.contains(&deviation) {
            noted.push(deviation);
        }
    });
}

/// Logs the noted deviations of a frame, unless the log has them.
pub(super) fn log_noted(model: &str, sources: &Sources, data: &[u8]) {
    let noted = NOTED.with_borrow_mut(|noted| match noted.is_empty() {
        true => Vec::new(),
        false => std::mem::take(noted),
    });
    for (expected, found) in noted {
        let fact = format!("{found} in place of {expected}");
        if sources.is_news(model, &fact) {
            let form = form_of(data);
            tracing::warn!(
                model,
                form,
                "an event of the answer has {fact}; it is used as far as its meaning is certain"
            );
        }
    }
}

/// Describes a frame by the names and the types of its members. The words of the model are not for the log.
fn form_of(data: &[u8]) -> String {
    fn write(value: &Value, out: &mut String) {
        if out.len() > MAX_FORM {
            return;
        }
        match value {
            Value::Object(members) => {
                out.push('{');
                for (n, (name, value)) in members.iter().enumerate() {
                    if n > 0 {
                        out.push_str(", ");
                    }
                    out.push_str(name);
                    out.push_str(": ");
                    write(value, out);
                }
                out.push('}');
            }
            Value::Array(values) => {
                out.push('[');
                for (n, value) in values.iter().enumerate() {
                    if n > 0 {
                        out.push_str(", ");
                    }
                    write(value, out);
                }
                out.push(']');
            }
            scalar => out.push_str(type_of(scalar)),
        }
    }
    let mut form = String::new();
    if let Ok(value) = serde_json::from_slice(data) {
        write(&value, &mut form);
    }
    form.chars().take(MAX_FORM).collect()
}

/// Returns the name of a type for the log.
pub(super) const fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_frame_has_no_words_of_the_model() {
        let data = br#"{"choices": [{"delta": {"content": ["secret", 1, null]}}], "done": true}"#;
        let form = "{choices: [{delta: {content: [a text, a number, null]}}], done: true or false}";
        assert_eq!(form_of(data), form);
        assert_eq!(form_of(b"not JSON"), "");
        let long = format!("[{}]", ["\"x\""; 1000].join(","));
        assert_eq!(form_of(long.as_bytes()).chars().count(), MAX_FORM);
    }
}
