//! The clock of the runtime, which the host injects. No other code of the runtime reads the wall
//! clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Epoch milliseconds, the unit of every time on the wire and in the database.
pub type Millis = i64;

/// The source of time of the runtime.
pub trait Clock: Send + Sync {
    /// Returns the current time in epoch milliseconds. The time can step backwards.
    fn now(&self) -> Millis;
}

/// The wall clock of the machine.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |elapsed| {
                elapsed.as_millis().min(i64::MAX as u128) as i64
            })
    }
}

/// Formats a time as `2026-11-20T12:55:02.123Z`, the form of times in titles.
pub fn iso8601(time: Millis) -> String {
    let days = time.div_euclid(86_400_000);
    let of_day = time.rem_euclid(86_400_000);
    let (year, month, day) = civil_from_days(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        of_day / 3_600_000,
        of_day / 60_000 % 60,
        of_day / 1000 % 60,
        of_day % 1000
    )
}

/// Returns the proleptic Gregorian date of a day counted from 1970-01-01, by era arithmetic.
pub fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * shifted_month + 2) / 5 + 1) as u32;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    } as u32;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc_with_milliseconds() {
        for (time, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_179_302_007, "2026-11-20T12:55:02.007Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(iso8601(time), text);
        }
    }
}
