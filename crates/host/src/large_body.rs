//! Cuts a large answer into lines, so that JavaScript reads it in steps instead of all at once.

use axum::body::Bytes;

/// Minimum number of bytes of an answer that is cut.
pub const LARGE_BODY: usize = 1024 * 1024;

/// Minimum number of bytes of a line, except the first and the last one.
const LINE: usize = 256 * 1024;

const BEGIN: &[u8] = br#"{"data":["#;

/// Returns the lines of a large answer whose `data` is an array: first the answer with an empty `data`, then arrays with
/// its elements, in order. `None` means that the answer is sent as it is.
#[must_use]
pub fn lines_of_large_body(body: &[u8]) -> Option<Vec<Bytes>> {
    if body.len() < LARGE_BODY || !body.starts_with(BEGIN) || body.contains(&b'\n') {
        return None;
    }
    let (lines, end) = elements(body)?;
    let first = [BEGIN, &body[end..], b"\n"].concat();
    let lines = lines.into_iter().map(|line| [b"[", line, b"]\n"].concat());
    Some([first].into_iter().chain(lines).map(Bytes::from).collect())
}

/// Returns the elements of the array in groups, and the position of its end.
fn elements(body: &[u8]) -> Option<(Vec<&[u8]>, usize)> {
    let mut lines = Vec::new();
    let mut depth = 0_usize;
    let (mut begin, mut at) = (BEGIN.len(), BEGIN.len());
    loop {
        match body.get(at)? {
            b'"' => at = end_of_text(body, at + 1)?,
            b'[' | b'{' => depth += 1,
            b']' if depth == 0 => break,
            b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 && at - begin >= LINE => {
                lines.push(&body[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    lines.push(&body[begin..at]);
    Some((lines, at))
}

/// Returns the position of the quote that ends a text.
fn end_of_text(body: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let special = body.get(at..)?.iter();
        at += special
            .take_while(|byte| !matches!(byte, b'"' | b'\\'))
            .count();
        match body.get(at)? {
            b'"' => return Some(at),
            _ => at += 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    /// Reads lines as JavaScript does.
    fn joined(lines: &[Bytes]) -> Value {
        let parsed = |line: &Bytes| -> Value { serde_json::from_slice(line).unwrap() };
        let mut answer = parsed(&lines[0]);
        for line in &lines[1..] {
            let Value::Array(mut elements) = parsed(line) else {
                panic!("a line that is no array");
            };
            answer["data"].as_array_mut().unwrap().append(&mut elements);
        }
        answer
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(Value::from),
            "[\\[\\]{},:\"\\\\a\u{e9}\n]{0,20}".prop_map(Value::from),
            Just(json!("x".repeat(50_000))),
            Just(Value::Null),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("[a\"\\]]", inner, 0..3)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn lines_contain_the_whole_answer(values in prop::collection::vec(any_value(), 1..40)) {
            let large = json!("y".repeat(LARGE_BODY));
            let data: Vec<_> = values.iter().chain([&large]).chain(&values).collect();
            let body = format!(r#"{{"data":{},"cursor":{{"next":"]"}}}}"#, json!(data));
            let lines = lines_of_large_body(body.as_bytes()).unwrap();
            prop_assert!(lines.len() > 1);
            prop_assert!(lines.iter().all(|line| line.ends_with(b"\n")));
            prop_assert!(lines.iter().all(|line| line.iter().filter(|it| **it == b'\n').count() == 1));
            prop_assert_eq!(joined(&lines), serde_json::from_str::<Value>(&body).unwrap());
        }
    }

    #[test]
    fn elements_share_a_line_until_it_is_long_enough() {
        let data: Vec<_> = (0..3_000).map(|_| "z".repeat(1_000)).collect();
        let body = json!({ "data": data }).to_string();
        let lines = lines_of_large_body(body.as_bytes()).unwrap();
        assert_eq!(
            lines.len(),
            1 + body.len() / LINE + usize::from(body.len() % LINE > 1_003)
        );
        assert!(lines.iter().all(|line| line.len() < LINE + 2_000));
    }

    #[test]
    fn other_answers_stay_whole() {
        let large = "x".repeat(LARGE_BODY);
        for body in [
            json!({ "data": ["x"] }).to_string(),
            json!({ "data": large }).to_string(),
            json!([large]).to_string(),
            format!("{{\"data\":[\n\"{large}\"]}}"),
            format!("{{\"data\":[\"{large}\""),
            format!("{{\"data\":[}}\"{large}\"]}}"),
        ] {
            assert_eq!(lines_of_large_body(body.as_bytes()), None);
        }
    }
}
