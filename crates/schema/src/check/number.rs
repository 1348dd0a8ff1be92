//! Whole numbers, of which JSON and Rust have different ideas.

use serde_json::Value;

/// Above this, neighbouring integers look the same to JavaScript.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// The integer a number stands for, if JavaScript can tell it from its neighbours.
pub(super) fn integer(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER).then_some(number as i64)
}

/// Writes `5.0` and `5e0`, wherever they stand in a value, as `5`. JSON has one kind of number, but
/// types of integers read only the last form. Walks without recursion, as checking does.
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
    fn whole_numbers_become_integers_wherever_they_stand() {
        let mut value = json!([5.0, {"a": -0.0, "b": [1e3, 1.5, "2.0", null]}, 9007199254740991.0]);
        normalise_integers(&mut value);
        let expected = json!([5, {"a": 0, "b": [1000, 1.5, "2.0", null]}, 9007199254740991_i64]);
        assert_eq!(value.to_string(), expected.to_string());
        normalise_integers(&mut value);
        assert_eq!(value.to_string(), expected.to_string());
    }

    #[test]
    fn numbers_that_no_integer_stands_for_stay() {
        let numbers = json!([9007199254740992.0, 1e300, -1e300, 0.1, u64::MAX, i64::MIN]);
        let mut value = numbers.clone();
        normalise_integers(&mut value);
        assert_eq!(value.to_string(), numbers.to_string());
    }
}
