//! JSON helpers that several parts of the crate share.

use serde::Serialize;
use serde_json::Value;

use crate::canonical::request::JsonMap;

/// Appends the JSON text of `value`.
pub fn write(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(out, value)
        .expect("plain data with string keys always serialises into memory");
}

/// Appends the JSON text of a string without its quotes, to continue an open string.
pub fn write_unquoted(out: &mut Vec<u8>, text: &str) {
    let start = out.len();
    write(out, text);
    out.remove(start);
    out.pop();
}

/// Merges `over` into `base`. Objects merge member by member; all other values are replaced.
pub fn deep_merge(base: &mut JsonMap, over: &JsonMap) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(more)) => deep_merge(inner, more),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

/// The largest plausible token count. No reply has a billion tokens. With this limit, the sums of a
/// session stay exact in JavaScript for millions of replies.
const MAX_COUNT: u64 = 1_000_000_000;

/// Returns the token counts of a report, which some servers put into a list.
pub fn report(value: &Value) -> Option<&JsonMap> {
    match value {
        Value::Array(reports) => reports.iter().find_map(Value::as_object),
        report => report.as_object(),
    }
}

/// Returns a count from 0 to `MAX_COUNT`. Accepts a zero fraction and a text, which some servers write.
/// Returns `None` for any other value.
pub fn count(value: Option<&Value>) -> Option<u64> {
    let value = value?;
    let written = || value.as_str()?.trim().parse().ok();
    let count = value.as_u64().or_else(written).or_else(|| {
        let number = value.as_f64()?;
        let is_count = number.fract() == 0.0 && (0.0..=MAX_COUNT as f64).contains(&number);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number within the bounds of a count"
        )]
        is_count.then_some(number as u64)
    });
    count.filter(|count| *count <= MAX_COUNT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_merge_joins_objects_and_replaces_other_values() {
        let mut base = json!({"a": {"x": 1, "y": [1]}, "b": 1});
        let over = json!({"a": {"y": [2], "z": {"q": 1}}, "b": {"c": 2}, "d": null});
        deep_merge(base.as_object_mut().unwrap(), over.as_object().unwrap());
        assert_eq!(
            base,
            json!({"a": {"x": 1, "y": [2], "z": {"q": 1}}, "b": {"c": 2}, "d": null})
        );
    }

    #[test]
    fn an_unquoted_text_continues_an_open_string() {
        let mut out = b"\"a".to_vec();
        write_unquoted(&mut out, "\n\"b\"");
        out.push(b'"');
        assert_eq!(out, b"\"a\\n\\\"b\\\"\"");
    }

    #[test]
    fn a_count_outside_its_bounds_is_absent() {
        for (value, expected) in [
            (json!(0), Some(0)),
            (json!(100.0), Some(100)),
            (json!(-0.0), Some(0)),
            (json!(1_000_000_000), Some(1_000_000_000)),
            (json!(1_000_000_001), None),
            (json!(u64::MAX), None),
            (json!(i64::MIN), None),
            (json!(1e300), None),
            (json!(-1.0), None),
            (json!(0.5), None),
            (json!("5"), Some(5)),
            (json!(" 5 "), Some(5)),
            (json!("-5"), None),
            (json!("5 tokens"), None),
            (json!([5]), None),
            (json!(null), None),
        ] {
            assert_eq!(count(Some(&value)), expected, "{value}");
        }
    }
}
