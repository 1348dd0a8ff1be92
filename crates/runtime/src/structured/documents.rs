//! The JSON documents in a text. Models put code fences, explanations and other things around the document that they
//! were asked for.

use serde_json::Value;

/// Maximum number of different documents that are looked at.
const MAX_DOCUMENTS: usize = 16;

/// Returns the different documents of a text: the text itself if it is one, otherwise the objects and lists in it. The
/// content of a document is no document, also if the outer one is broken.
///
/// # Errors
///
/// Fails with the problem, for the model, if there is none or if there are too many.
pub(super) fn documents(text: &str) -> Result<Vec<Value>, String> {
    let whole = text.trim_matches(|letter: char| letter == '\u{feff}' || letter.is_whitespace());
    let problem = match serde_json::from_str(whole) {
        Ok(document) => return Ok(vec![document]),
        Err(error) => format!("the answer is not JSON: {error}"),
    };
    let mut found: Vec<Value> = Vec::new();
    let mut rest = whole;
    while let Some(at) = rest.find(['{', '[']) {
        rest = &rest[at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        if let Some(Ok(document)) = values.next() {
            rest = &rest[values.byte_offset()..];
            if !found.contains(&document) {
                found.push(document);
            }
            if found.len() > MAX_DOCUMENTS {
                return Err(format!(
                    "the answer contains more than {MAX_DOCUMENTS} JSON documents"
                ));
            }
        } else if is_object(rest) {
            match end_of_object(rest) {
                Some(end) => rest = &rest[end..],
                None => break,
            }
        } else {
            rest = &rest[1..];
        }
    }
    if found.is_empty() {
        return Err(problem);
    }
    Ok(found)
}

/// True if the text begins like an object, not like another use of a brace.
fn is_object(text: &str) -> bool {
    let inner = text.strip_prefix('{').map(str::trim_start);
    inner.is_some_and(|inner| inner.starts_with(['"', '\'']))
}

/// Returns the end of a broken object, by its braces outside of strings.
fn end_of_object(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_documents_of_a_text_are_found() {
        let one = json!({"a": 1});
        let found = |documents: &[Value]| Ok(documents.to_vec());
        for (text, expected) in [
            (r#"{"a":1}"#, found(std::slice::from_ref(&one))),
            ("\u{feff}{\"a\":1}", found(std::slice::from_ref(&one))),
            (" \r\n{\"a\":1}\n", found(std::slice::from_ref(&one))),
            ("```json\n{\"a\":1}\n```", found(std::slice::from_ref(&one))),
            (
                "~~~\n{\"a\":1}\n~~~\nDone.",
                found(std::slice::from_ref(&one)),
            ),
            (
                "Here {you} are [1: {\"a\":1} :-}",
                found(std::slice::from_ref(&one)),
            ),
            ("<json>{\"a\":1}</json>", found(std::slice::from_ref(&one))),
            ("{\"a\":1}{\"a\": 1}", found(std::slice::from_ref(&one))),
            (
                "{\"a\":1}\n{\"a\":2}",
                found(&[one.clone(), json!({"a": 2})]),
            ),
            ("See [1]. {\"a\":1}", found(&[json!([1]), one.clone()])),
            // The whole text is a document, so nothing in it is another one.
            (r#"[{"a":1}]"#, found(&[json!([{"a": 1}])])),
            (r#""{\"a\":1}""#, found(&[json!("{\"a\":1}")])),
            // An object in a broken object is not what the model means.
            (
                r#"{"b": {"a":1}, oops} {"a":1}"#,
                found(std::slice::from_ref(&one)),
            ),
            (
                r#"{'b': {"a":1}} and {"a":1}"#,
                found(std::slice::from_ref(&one)),
            ),
            ("{\"b\": <number>}: {\"a\":1}", found(&[one])),
        ] {
            assert_eq!(documents(text), expected, "{text}");
        }
        for text in [
            "",
            "```json\n```",
            "Fine.",
            r#"{"b": {"a":1}"#,
            r#"{"a":"{\"a\":1}"#,
            r#"{"b": {"a":1}, oops}"#,
        ] {
            let problem = documents(text).unwrap_err();
            assert!(problem.starts_with("the answer is not JSON: "), "{text}");
        }
        let many: String = (0..20).map(|n| format!("{{\"a\":{n}}} ")).collect();
        assert!(documents(&many).unwrap_err().contains("more than 16"));
    }
}
