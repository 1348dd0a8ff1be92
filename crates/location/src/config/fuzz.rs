//! Properties of documents, checked by the fuzzer.

use serde_json::Value;

use super::jsonc::{Jsonc, position};
use super::problems;
use super::step::Step;

/// Every text is either a value or an error with a position. Every valid JSON text has its JSON value.
pub(crate) fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let json = serde_json::from_str::<Value>(&text);
    let value = match Jsonc::parse(&text).and_then(|parsed| parsed.value()) {
        Ok(value) => value,
        Err(error) => {
            assert!(json.is_err(), "JSON is refused: {error:?}");
            assert!(error.at <= text.len(), "{error:?}");
            let place = position(&text, error.at);
            assert!(place.line >= 1 && place.column >= 1);
            return;
        }
    };
    if let Ok(json) = json {
        assert!(is_same(&json, value.as_ref().unwrap_or(&Value::Null)));
    }
    let Some(value) = value else {
        return;
    };
    let written = value.to_string();
    let again = Jsonc::parse(&written).and_then(|parsed| parsed.value());
    assert!(again.is_ok_and(|again| again.is_some_and(|again| is_same(&again, &value))));
    for problem in problems(&value) {
        assert!(!problem.message.is_empty(), "{problem:?}");
    }
    if let (Ok(parsed), Value::Object(members)) = (Jsonc::parse(&text), &value) {
        for name in members.keys() {
            assert!(parsed.offset(&[Step::Key(name.clone())]) < text.len());
        }
    }
}

/// True if the values are equal. Numbers may differ in the last digit.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (Some(a), Some(b)) = (a.as_f64(), b.as_f64()) else {
                return false;
            };
            (a - b).abs() <= a.abs() * 1e-14
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |(name, a)| b.get(name).is_some_and(|b| is_same(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::replay::replay;
    use super::check;

    #[test]
    fn stored_fuzz_inputs_satisfy_the_properties_of_documents() {
        replay("jsonc", check);
    }
}
