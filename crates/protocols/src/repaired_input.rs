//! Repairs of tool input that is not JSON. Each applies only if the input has exactly one meaning.

use std::borrow::Cow;

use opencode_llm::surrogates;
use serde_json::{Deserializer, Value};

/// Reads the one object of a text, or returns `None` if its meaning is not certain.
///
/// The object may be in a code fence, contain raw control characters in strings and commas before
/// closing brackets, and be repeated without a change.
pub(super) fn read(text: &str) -> Option<Value> {
    let text = corrected(unfenced(text));
    let replaced = surrogates::repair(text.as_bytes());
    let bytes = replaced.as_ref().map_or(text.as_bytes(), |it| &it.text);
    let mut values = Deserializer::from_slice(bytes).into_iter::<Value>();
    let first = values.next()?.ok().filter(Value::is_object)?;
    let is_repeated = values.all(|next| next.is_ok_and(|next| next == first));
    is_repeated.then_some(first)
}

/// Returns the content of a code fence around the whole text, or the text.
fn unfenced(text: &str) -> &str {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let (fence, rest) = text.split_at(ticks);
    let Some(content) = rest.strip_suffix(fence).filter(|_| ticks > 0) else {
        return text;
    };
    let is_tag = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.');
    trimmed(content.trim_start_matches(is_tag))
}

/// Escapes raw control characters in strings, and removes a comma after the last member of an object
/// or a list.
fn corrected(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    // The text before this place is in `out`.
    let mut copied = 0;
    let mut is_string = false;
    let mut is_escaped = false;
    // The last character outside of strings and white space.
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        if is_string {
            if c < ' ' && !is_escaped {
                out.push_str(&text[copied..at]);
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
                copied = at + 1;
            }
            is_string = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
            continue;
        }
        if c == ',' && is_value_end(last) && is_closed_next(&text[at + 1..]) {
            out.push_str(&text[copied..at]);
            copied = at + 1;
            continue;
        }
        is_string = c == '"';
        if !c.is_ascii_whitespace() {
            last = c;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// True if a value can end with this character.
fn is_value_end(c: char) -> bool {
    matches!(c, '"' | '}' | ']') || c.is_ascii_alphanumeric()
}

fn is_closed_next(rest: &str) -> bool {
    rest.trim_start().starts_with(['}', ']'])
}

/// Removes white space and byte order marks around a text.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tool_input;

    #[test]
    fn input_with_one_meaning_is_read() {
        let rows = [
            ("", json!({})),
            (" \n\t", json!({})),
            ("\u{feff}", json!({})),
            (r#"{"path":"a.txt"}"#, json!({"path": "a.txt"})),
            ("\u{feff}{\"a\":1}\r\n", json!({"a": 1})),
            ("\u{a0}{\"a\":1}\u{3000}", json!({"a": 1})),
            ("```json\n{\"a\":1}\n```", json!({"a": 1})),
            ("```\n{\"a\":\"```\"}\n```\n", json!({"a": "```"})),
            ("``` {\"a\":1} ```", json!({"a": 1})),
            ("`{\"a\":1}`", json!({"a": 1})),
            ("\u{feff}```JSON\r\n{\"a\":1}\r\n```", json!({"a": 1})),
            ("{\"a\":\"x\ny\"}", json!({"a": "x\ny"})),
            (
                "{\"a\":\"x\r\n\ty\u{0}\u{1f}\"}",
                json!({"a": "x\r\n\ty\0\u{1f}"}),
            ),
            ("{\"a\nb\":\"\\\\\n\\\"\n\"}", json!({"a\nb": "\\\n\"\n"})),
            (r#"{"a":1,}"#, json!({"a": 1})),
            ("{\"a\":[1,2,\n],\n}", json!({"a": [1, 2]})),
            (r#"{"a":",}",}"#, json!({"a": ",}"})),
            (
                r#"{"a":true,"b":{"c":null,},}"#,
                json!({"a": true, "b": {"c": null}}),
            ),
            (r#"{"a":1}{"a":1}"#, json!({"a": 1})),
            ("{\"a\":1} \n{ \"a\" : 1 }\n{\"a\":1}", json!({"a": 1})),
            ("{}{}", json!({})),
            ("```json\n{\"a\":\"x\n\",}\n```", json!({"a": "x\n"})),
            ("{\"a\":\"\\ud83d\n\"}", json!({"a": "\u{fffd}\n"})),
            // A value of another type fails the call, because no tool accepts it.
            ("null", json!(null)),
            ("[]", json!([])),
            (r#""{\"a\":1}""#, json!(r#"{"a":1}"#)),
        ];
        for (text, expected) in rows {
            assert_eq!(tool_input::read(text), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn input_without_one_certain_meaning_fails_with_the_place() {
        let rows = [
            (
                r#"{"path": "a.txt""#,
                "EOF while parsing an object at line 1 column 16",
            ),
            (
                r#"{"path": "a.t"#,
                "EOF while parsing a string at line 1 column 13",
            ),
            ("{", "EOF while parsing an object at line 1 column 1"),
            (
                r"{'path': 'a.txt'}",
                "key must be a string at line 1 column 2",
            ),
            (
                r#"{path: "a.txt"}"#,
                "key must be a string at line 1 column 2",
            ),
            (
                r#"{"path": "src\d.txt"}"#,
                "invalid escape at line 1 column 15",
            ),
            (
                r#"{"a":1}{"a":2}"#,
                "trailing characters at line 1 column 8",
            ),
            (r#"{"a":1}{"a":1"#, "trailing characters at line 1 column 8"),
            (r#"{}{"a":1}"#, "trailing characters at line 1 column 3"),
            (r#"{"a":1}}"#, "trailing characters at line 1 column 8"),
            (
                r#"Here it is: {"a":1}"#,
                "expected value at line 1 column 1",
            ),
            (r#"{"a":1} done"#, "trailing characters at line 1 column 9"),
            ("```json\n{\"a\":1}", "expected value at line 1 column 1"),
            (
                "```json\n{\"a\":1}\n{\"a\":2}\n```",
                "expected value at line 1 column 1",
            ),
            ("```\n[1]\n```", "expected value at line 1 column 1"),
            (r#"{"a":1,,}"#, "key must be a string at line 1 column 8"),
            ("{,}", "key must be a string at line 1 column 2"),
            (r#"{"a":,}"#, "expected value at line 1 column 6"),
            ("[1,]", "trailing comma at line 1 column 4"),
            (r#"{"a" 1}"#, "expected `:` at line 1 column 6"),
            (
                "{\"a\":\"x\n}",
                "control character (\\u0000-\\u001F) found while parsing a string at line 2 column 0",
            ),
            (r#"{"a":True}"#, "expected value at line 1 column 6"),
            (r#"{"a":1e999}"#, "number out of range at line 1 column 10"),
            ("nullnull", "trailing characters at line 1 column 5"),
        ];
        for (text, expected) in rows {
            let reason = tool_input::read(text).unwrap_err();
            assert_eq!(reason, expected, "{text:?}");
        }
        for (levels, is_read) in [(99, true), (101, false), (500, false)] {
            let text = format!("{}{{}}{}", "{\"a\":".repeat(levels), "}".repeat(levels));
            assert_eq!(tool_input::read(&text).is_ok(), is_read, "{levels}");
        }
    }
}
