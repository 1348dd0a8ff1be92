//! Whole numbers, which JSON and Rust represent differently.

use serde_json::Value;

/// Above this limit, JavaScript does not distinguish neighbouring integers.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Returns the integer that a number represents, if JavaScript represents it exactly.
pub(super) fn integer(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER).then_some(number as i64)
}

/// Rewrites `5.0` and `5e0` as `5` everywhere in a value. JSON has one kind of number, but integer
/// types read only the last form. Walks without recursion, as [`check`](super::check) does.
pub fn normalise_integers(value: &mut Value) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Number(number) if number.is_f64() => {
                if let Some(integer) = number.as_f64().and_then(integer) {
                    *number = integer.into();
                }
            }
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => pending.extend(members.values_mut()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_numbers_become_integers_at_any_depth() {
        let mut value = json!([5.0, {"a": -0.0, "b": [1e3, 1.5, "2.0", null]}, 9007199254740991.0]);
        normalise_integers(&mut value);
        let expected = json!([5, {"a": 0, "b": [1000, 1.5, "2.0", null]}, 9007199254740991_i64]);
        assert_eq!(value.to_string(), expected.to_string());
        normalise_integers(&mut value);
        assert_eq!(value.to_string(), expected.to_string());
    }

    #[test]
    fn numbers_without_an_integer_form_stay() {
        let numbers = json!([9007199254740992.0, 1e300, -1e300, 0.1, u64::MAX, i64::MIN]);
        let mut value = numbers.clone();
        normalise_integers(&mut value);
        assert_eq!(value.to_string(), numbers.to_string());
    }
}
