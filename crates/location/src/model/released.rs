//! Release dates.

use std::borrow::Cow;

use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Milliseconds since the Unix epoch at the start of `YYYY-MM-DD`, `YYYY-MM` or `YYYY`. `None` for any
/// other text.
pub(crate) fn released(date: &str) -> Option<i64> {
    // The lengths exclude the other notations of ISO 8601.
    let date: Cow<'_, str> = match date.len() {
        4 => format!("{date}-01-01").into(),
        7 => format!("{date}-01").into(),
        10 => date.into(),
        _ => return None,
    };
    let start = date.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(start.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn release_dates_become_milliseconds() {
        for (date, expected) in [
            ("1970-01-01", Some(0)),
            ("1969-12-31", Some(-86_400_000)),
            ("2000-02-29", Some(951_782_400_000)),
            ("2000-03-01", Some(951_868_800_000)),
            ("2026-01-01", Some(1_767_225_600_000)),
            ("2025-08", Some(1_754_006_400_000)),
            ("2025", Some(1_735_689_600_000)),
            ("", None),
            ("soon", None),
            ("2025-13-01", None),
            ("2025-00-01", None),
            ("2025-02-29", None),
            ("2025-1-1", None),
            ("2025-01-01T00:00:00Z", None),
            ("+025-01-01", None),
            ("+025", None),
            ("20250101", None),
            ("2025-W01-1", None),
            ("20250101T0", None),
            ("2025-01T00", None),
            ("2025010", None),
            ("2025-1-", None),
            ("2025-01-01-01", None),
        ] {
            assert_eq!(released(date), expected, "{date}");
        }
    }
}
