//! Numbers in queries, read the way JavaScript's `Number()` reads text.

/// Above this, neighbouring integers look the same to a JavaScript client.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Returns the result of JavaScript's `Number(text)`: NaN for text that is not a number.
pub(crate) fn parse(text: &str) -> f64 {
    let text = text.trim_matches(is_space);
    if text.is_empty() {
        return 0.0;
    }
    let radix = match text.get(..2) {
        Some("0x" | "0X") => 16,
        Some("0o" | "0O") => 8,
        Some("0b" | "0B") => 2,
        _ => return decimal(text),
    };
    digits(&text[2..], radix).unwrap_or(f64::NAN)
}

/// The integer a number stands for, if clients can tell it from its neighbours.
pub(crate) fn integer(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER).then_some(number as i64)
}

/// Formats a number that is not a usable integer in the way of JavaScript.
pub(crate) fn show(number: f64) -> String {
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

fn decimal(text: &str) -> f64 {
    match text {
        "Infinity" | "+Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        // Rust reads the same decimal numbers as JavaScript, and words like `inf` besides.
        _ if text
            .bytes()
            .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b)) =>
        {
            text.parse().unwrap_or(f64::NAN)
        }
        _ => f64::NAN,
    }
}

fn digits(text: &str, radix: u32) -> Option<f64> {
    if text.is_empty() {
        return None;
    }
    text.chars().try_fold(0.0, |number, c| {
        Some(number * f64::from(radix) + f64::from(c.to_digit(radix)?))
    })
}

/// White space and line ends of JavaScript.
fn is_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_as_javascript_reads_it() {
        for (text, number) in [
            ("", 0.0),
            (" \u{feff}\n", 0.0),
            (" 1", 1.0),
            ("1e1", 10.0),
            ("0x10", 16.0),
            ("0B11", 3.0),
            ("0o17", 15.0),
            ("-3", -3.0),
            ("+.5", 0.5),
            ("5.", 5.0),
            ("Infinity", f64::INFINITY),
            ("1e999", f64::INFINITY),
        ] {
            assert_eq!(parse(text), number, "{text:?}");
        }
        for text in [
            "abc", "1 2", "inf", "nan", "NaN", "1_0", "0x", "-0x1", "0xg", ".", "e5", "1n", "--1",
            "\u{85}1", "é", "0é",
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
            assert_eq!(show(number), text);
        }
    }
}
