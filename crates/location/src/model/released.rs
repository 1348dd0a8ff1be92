//! Release dates.

/// Milliseconds since the Unix epoch at the start of `YYYY-MM-DD`, `YYYY-MM` or `YYYY`. `None` for any
/// other text.
pub(crate) fn released(date: &str) -> Option<i64> {
    const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1000;
    let mut parts = date.split('-');
    let year = digits(parts.next()?, 4)?;
    let month = parts.next().map_or(Some(1), |month| digits(month, 2))?;
    let day = parts.next().map_or(Some(1), |day| digits(day, 2))?;
    let plausible = (1..=12).contains(&month) && (1..=31).contains(&day) && parts.next().is_none();
    plausible.then(|| days_from_epoch(year, month, day) * MILLIS_PER_DAY)
}

fn digits(text: &str, length: usize) -> Option<i64> {
    let all_digits = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| text.parse().ok()).flatten()
}

/// Days of the Gregorian calendar since 1970-01-01. A year starts in March here, so that the leap day
/// is the last day of its year.
fn days_from_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // Days from March 1 of year 0 to the epoch.
    const EPOCH: i64 = 719_468;
    year * 365 + leap_days + day_of_year - EPOCH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_become_milliseconds() {
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
            ("2025-1-1", None),
            ("2025-01-01T00:00:00Z", None),
            ("+025-01-01", None),
            ("2025-01-01-01", None),
        ] {
            assert_eq!(released(date), expected, "{date}");
        }
    }
}
