//! Waits and rate limits in response headers.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use super::http::find_header;

/// Rate limits that a provider announces, by the name of each budget (`requests`, `tokens`, …).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// The size of each budget.
    pub limit: BTreeMap<String, String>,
    /// The remaining part of each budget.
    pub remaining: BTreeMap<String, String>,
    /// The time when each budget is full again, in the notation of the provider.
    pub reset: BTreeMap<String, String>,
}

impl RateLimits {
    /// Reads `x-ratelimit-<what>-<name>` and `anthropic-ratelimit-<name>-<what>`.
    pub(super) fn from_headers(headers: &[(String, String)]) -> Self {
        let mut limits = Self::default();
        for (header, value) in headers {
            let header = header.to_ascii_lowercase();
            let found = if let Some(rest) = header.strip_prefix("x-ratelimit-") {
                rest.split_once('-')
            } else if let Some(rest) = header.strip_prefix("anthropic-ratelimit-") {
                rest.rsplit_once('-').map(|(name, what)| (what, name))
            } else {
                None
            };
            let Some((what, name)) = found else { continue };
            let map = match what {
                "limit" => &mut limits.limit,
                "remaining" => &mut limits.remaining,
                "reset" => &mut limits.reset,
                _ => continue,
            };
            map.insert(name.to_owned(), value.clone());
        }
        limits
    }
}

/// Returns the wait that the provider asks for, in milliseconds: `retry-after-ms`, otherwise
/// `retry-after` as seconds or as a date.
pub(super) fn retry_after_ms(headers: &[(String, String)], now: SystemTime) -> Option<u64> {
    let exact = find_header(headers, "retry-after-ms").and_then(|value| millis(value, 1.0));
    exact.or_else(|| {
        let value = find_header(headers, "retry-after")?;
        millis(value, 1000.0).or_else(|| {
            let wait = parse_http_date(value)?
                .duration_since(now)
                .unwrap_or_default();
            u64::try_from(wait.as_millis()).ok()
        })
    })
}

fn millis(value: &str, factor: f64) -> Option<u64> {
    let number: f64 = value.trim().parse().ok()?;
    let millis = number * factor;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be finite and not negative; the cast saturates"
    )]
    (millis.is_finite() && millis >= 0.0).then_some(millis.round() as u64)
}

/// Parses an HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn parse_http_date(text: &str) -> Option<SystemTime> {
    let (_, date) = text.trim().split_once(", ")?;
    let mut fields = date.split(' ');
    let day: u64 = fields.next()?.parse().ok()?;
    let month = month_number(fields.next()?)?;
    let year: u64 = fields.next()?.parse().ok()?;
    let mut clock = fields.next()?.splitn(3, ':').map(str::parse::<u64>);
    let (hour, minute, second) = (
        clock.next()?.ok()?,
        clock.next()?.ok()?,
        clock.next()?.ok()?,
    );
    let plausible = fields.next() == Some("GMT")
        && (1970..=9999).contains(&year)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !plausible {
        return None;
    }
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

fn month_number(name: &str) -> Option<u64> {
    const NAMES: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let position = NAMES.iter().position(|known| *known == name)?;
    Some(position as u64 + 1)
}

/// Returns the days since 1 January 1970, for 1970 and later years.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    // If a year begins in March, the leap day is its last day. A linear formula then gives the days
    // before each month.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days_before_month = (153 * month + 2) / 5;
    // 719 468 days lie between 1 March of year 0 and 1 January 1970.
    year * 365 + leap_days + days_before_month + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(rows: &[(&str, &str)]) -> Vec<(String, String)> {
        rows.iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn http_dates_are_parsed() {
        let seconds = |text| {
            parse_http_date(text)
                .map(|at| at.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs())
        };
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(seconds("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(seconds("Tue, 29 Feb 2000 12:00:00 GMT"), Some(951_825_600));
        for bad in [
            "",
            "soon",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 99 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1969 08:49:37 GMT",
            "Sun, 06 Nov 18446744073709551615 08:49:37 GMT",
        ] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_most_precise_retry_header_decides() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        type Row<'a> = (&'a [(&'a str, &'a str)], Option<u64>);
        let rows: [Row<'_>; 9] = [
            (&[], None),
            (&[("retry-after", "2")], Some(2000)),
            (&[("Retry-After", "1.5")], Some(1500)),
            (
                &[("retry-after-ms", "120"), ("retry-after", "2")],
                Some(120),
            ),
            (
                &[("retry-after-ms", "soon"), ("retry-after", "2")],
                Some(2000),
            ),
            (
                &[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")],
                Some(7000),
            ),
            (&[("retry-after", "Sat, 05 Nov 1994 08:49:37 GMT")], Some(0)),
            (&[("retry-after", "-3")], None),
            (&[("retry-after", "NaN")], None),
        ];
        for (row, expected) in rows {
            assert_eq!(retry_after_ms(&headers(row), now), expected, "{row:?}");
        }
    }

    #[test]
    fn both_families_of_rate_limit_headers_are_read() {
        let limits = RateLimits::from_headers(&headers(&[
            ("x-ratelimit-limit-requests", "10"),
            ("x-ratelimit-reset-tokens", "6m0s"),
            ("anthropic-ratelimit-input-tokens-remaining", "5"),
            ("x-ratelimit-strange", "1"),
            ("content-type", "text/plain"),
        ]));
        let one = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
        assert_eq!(
            limits,
            RateLimits {
                limit: one("requests", "10"),
                remaining: one("input-tokens", "5"),
                reset: one("tokens", "6m0s"),
            }
        );
    }
}
