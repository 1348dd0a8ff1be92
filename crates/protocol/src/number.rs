//! Decimal numbers in queries.

/// Above this, a JavaScript client cannot distinguish neighbouring integers.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Parses a decimal number. NaN for other text. An empty text is 0, so a caller can write `after=`.
pub(crate) fn parse(text: &str) -> f64 {
    // Rust also reads words such as `inf`.
    let is_decimal = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    match text {
        "" => 0.0,
        _ if text.bytes().all(is_decimal) => text.parse().unwrap_or(f64::NAN),
        _ => f64::NAN,
    }
}

/// Returns the integer that equals a number, if clients can distinguish it from its neighbours.
pub(crate) fn integer(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER).then_some(number as i64)
}

/// Formats a number that is not a usable integer in the way of JavaScript.
pub(crate) fn format_number(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .into();
    }
    if number.abs() < 1e21 {
        return number.to_string();
    }
    format!("{number:e}").replace('e', "e+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_decimal_numbers_are_read() {
        for (text, number) in [
            ("", 0.0),
            ("10", 10.0),
            ("1e1", 10.0),
            ("-3", -3.0),
            ("+.5", 0.5),
            ("5.", 5.0),
            ("1e999", f64::INFINITY),
        ] {
            assert_eq!(parse(text), number, "{text:?}");
        }
        for text in [
            "abc", " 1", "1 2", "inf", "nan", "NaN", "Infinity", "1_0", "0x10", "0o17", "0B11",
            ".", "e5", "1n", "--1", "\u{feff}", "é", "0é",
        ] {
            assert!(parse(text).is_nan(), "{text:?}");
        }
    }

    #[test]
    fn only_safe_integers_are_integers() {
        for (number, value) in [
            (5.0, Some(5)),
            (-0.0, Some(0)),
            (MAX_SAFE_INTEGER, Some(9_007_199_254_740_991)),
            (MAX_SAFE_INTEGER + 1.0, None),
            (1.5, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
        ] {
            assert_eq!(integer(number), value, "{number}");
        }
    }

    #[test]
    fn numbers_are_shown_as_javascript_shows_them() {
        for (number, text) in [
            (1.5, "1.5"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
            (1e300, "1e+300"),
        ] {
            assert_eq!(format_number(number), text);
        }
    }
}
