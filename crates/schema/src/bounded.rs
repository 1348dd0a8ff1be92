//! Numbers from providers, limited to the range that JavaScript represents exactly.
//!
//! The host limits provider numbers before it stores them. These readers repair numbers that an
//! earlier version stored without a limit. Without them, one such number makes its session
//! unreadable.

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::Number;

/// The largest integer that JavaScript distinguishes from its neighbours: 2^53 - 1.
pub const MAX_SAFE_INTEGER: u64 = 9_007_199_254_740_991;

/// Returns the nearest integer between 0 and [`MAX_SAFE_INTEGER`]. Drops the fraction.
#[must_use]
pub fn nearest_count(number: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and no number becomes 0"
    )]
    let count = number as u64;
    count.min(MAX_SAFE_INTEGER)
}

/// Returns the nearest cost between 0 and [`MAX_SAFE_INTEGER`]. NaN becomes 0.
#[must_use]
pub fn nearest_cost(number: f64) -> f64 {
    if number.is_nan() {
        return 0.0;
    }
    number.clamp(0.0, MAX_SAFE_INTEGER as f64)
}

fn count_of(number: &Number) -> u64 {
    match number.as_u64() {
        Some(count) => count.min(MAX_SAFE_INTEGER),
        None => nearest_count(number.as_f64().unwrap_or(0.0)),
    }
}

/// Reads a count and limits it. Accepts any stored number.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(count_of(&Number::deserialize(deserializer)?))
}

/// Reads an optional count and limits it. Accepts any stored number.
pub(crate) fn optional_count<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    let number = Option::<Number>::deserialize(deserializer)?;
    Ok(number.as_ref().map(count_of))
}

/// Writes a number. Refuses one that is not finite: as JSON it would be null, which is no number.
pub(crate) fn finite<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match number.is_finite() {
        true => serializer.serialize_f64(*number),
        false => Err(S::Error::custom("a number is not finite")),
    }
}

/// Reads a cost and limits it. Accepts any stored number.
pub(crate) fn cost<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(nearest_cost(f64::deserialize(deserializer)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Tokens;

    #[test]
    fn stored_counts_are_read_within_bounds() {
        for (stored, expected) in [
            ("18446744073709551615", MAX_SAFE_INTEGER),
            ("9007199254740991", MAX_SAFE_INTEGER),
            ("1e300", MAX_SAFE_INTEGER),
            ("-5", 0),
            ("-1e300", 0),
            ("2.5", 2),
            ("7", 7),
        ] {
            let text = format!(
                r#"{{"input":{stored},"output":0,"reasoning":0,"cache":{{"read":{stored},"write":0}}}}"#
            );
            let tokens: Tokens = serde_json::from_str(&text).unwrap();
            assert_eq!((tokens.input, tokens.cache.read), (expected, expected));
        }
        assert!(serde_json::from_str::<Tokens>(r#"{"input":"7"}"#).is_err());
    }

    #[test]
    fn a_cost_is_finite_and_not_negative() {
        assert_eq!(nearest_cost(f64::NAN), 0.0);
        assert_eq!(nearest_cost(-1.0), 0.0);
        assert_eq!(nearest_cost(0.25), 0.25);
        assert_eq!(nearest_cost(f64::INFINITY), MAX_SAFE_INTEGER as f64);
    }
}
