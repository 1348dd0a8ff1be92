//! The Context Source `core/date`: the current date of the user.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use opencode_context::{Observation, Source};
use opencode_location::environment::Environment;
use opencode_schema::clock::Clock;
use serde_json::Value;

/// The calendar date of the user.
#[derive(Clone)]
pub(crate) struct HostDate {
    clock: Arc<dyn Clock>,
    zone: HostTimeZone,
}

/// The time zone of the host.
#[derive(Clone)]
enum HostTimeZone {
    /// The zone of the user, or the value of `TZ` in the host's environment.
    Named(TimeZone),
    /// The setting of the machine, which may change while the host runs.
    Machine,
}

impl HostDate {
    pub(crate) fn new(environment: &Environment, clock: Arc<dyn Clock>) -> Self {
        let zone = environment.variable("TZ").map(named);
        Self {
            clock,
            zone: zone.map_or(HostTimeZone::Machine, HostTimeZone::Named),
        }
    }

    /// Returns the date in the time zone of the user, if a document sets it.
    pub(crate) fn of_user(&self, zone: Option<&TimeZone>) -> Self {
        let mut date = self.clone();
        date.zone = zone.map_or(date.zone, |zone| HostTimeZone::Named(zone.clone()));
        date
    }

    async fn today(&self) -> String {
        let zone = match &self.zone {
            HostTimeZone::Named(zone) => zone.clone(),
            HostTimeZone::Machine => opencode_log::spawn_blocking(of_machine)
                .await
                .unwrap_or(TimeZone::UTC),
        };
        // A time outside the range of the calendar has no date, so the Unix epoch is used.
        let now = Timestamp::from_millisecond(self.clock.now()).unwrap_or_default();
        now.to_zoned(zone).strftime("%a %b %d %Y").to_string()
    }
}

impl Source for HostDate {
    fn key(&self) -> &str {
        "core/date"
    }

    fn load(&self) -> BoxFuture<'_, Observation> {
        let today = self.today();
        today
            .map(|today| Observation::Present(today.into()))
            .boxed()
    }

    fn is_valid(&self, value: &Value) -> bool {
        value.is_string()
    }

    fn baseline(&self, value: &Value) -> String {
        format!("Today is {}.", value.as_str().unwrap_or_default())
    }

    fn update(&self, _previous: &Value, current: &Value) -> String {
        format!("Today is now {}.", current.as_str().unwrap_or_default())
    }
}

/// Returns the zone for a value of `TZ`: a zone name, or a POSIX rule. Any other value means UTC, as
/// on most systems.
fn named(text: &str) -> TimeZone {
    let name = text.strip_prefix(':').unwrap_or(text);
    // Some systems set `TZ` to the path of the zone file.
    let name = name.split_once("zoneinfo/").map_or(name, |(_, name)| name);
    let zone = TimeZone::get(name).or_else(|_| TimeZone::posix(name));
    zone.unwrap_or_else(|_| {
        tracing::warn!("the time zone TZ={text:?} is not known; dates are those of UTC");
        TimeZone::UTC
    })
}

/// Returns the zone of the machine. Ignores `TZ` of the process, which other code may have set.
/// Blocks on the disk.
#[cfg(unix)]
fn of_machine() -> TimeZone {
    // Unix systems describe their zone in this file. Without it, the zone is UTC.
    let described = std::fs::read("/etc/localtime");
    let zone = described.map(|bytes| TimeZone::tzif("Local", &bytes));
    zone.ok().and_then(Result::ok).unwrap_or(TimeZone::UTC)
}

#[cfg(not(unix))]
fn of_machine() -> TimeZone {
    TimeZone::system()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use opencode_schema::clock::Millis;

    use super::*;

    struct At(Millis);

    impl Clock for At {
        fn now(&self) -> Millis {
            self.0
        }
    }

    /// 2026-11-20T23:30:00Z.
    const LATE: Millis = 1_795_217_400_000;

    fn date(zone: &str, now: Millis) -> HostDate {
        let environment = Environment {
            variables: BTreeMap::from([("TZ".to_owned(), zone.to_owned())]),
            ..Environment::default()
        };
        HostDate::new(&environment, Arc::new(At(now)))
    }

    #[tokio::test]
    async fn the_date_follows_the_time_zone_of_the_host() {
        for (zone, now, expected) in [
            ("UTC", LATE, "Fri Nov 20 2026"),
            ("Europe/Berlin", LATE, "Sat Nov 21 2026"),
            (":Europe/Berlin", LATE, "Sat Nov 21 2026"),
            ("/usr/share/zoneinfo/Asia/Tokyo", LATE, "Sat Nov 21 2026"),
            ("America/New_York", LATE, "Fri Nov 20 2026"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", LATE, "Sat Nov 21 2026"),
            ("Atlantis/Capital", LATE, "Fri Nov 20 2026"),
            ("UTC", 0, "Thu Jan 01 1970"),
            ("UTC", Millis::MAX, "Thu Jan 01 1970"),
        ] {
            assert_eq!(date(zone, now).today().await, expected, "{zone} at {now}");
        }
    }

    #[tokio::test]
    async fn the_zone_of_the_user_replaces_that_of_the_host() {
        let date = date("America/New_York", LATE);
        let zone = TimeZone::get("Asia/Tokyo").unwrap();
        let of_user = date.of_user(Some(&zone)).today().await;
        let of_host = date.of_user(None).today().await;
        assert_eq!([of_user, of_host], ["Sat Nov 21 2026", "Fri Nov 20 2026"]);
    }

    #[tokio::test]
    async fn without_a_configured_zone_the_machine_decides() {
        let date = HostDate::new(&Environment::default(), Arc::new(At(LATE)));
        assert!(matches!(date.zone, HostTimeZone::Machine));
        let day = date.today().await;
        assert!(
            ["Fri Nov 20 2026", "Sat Nov 21 2026"].contains(&&*day),
            "{day}"
        );
    }

    #[test]
    fn the_texts_state_the_day() {
        let (date, day) = (date("UTC", LATE), Value::from("Fri Nov 20 2026"));
        assert_eq!(date.baseline(&day), "Today is Fri Nov 20 2026.");
        let update = date.update(&"Thu Nov 19 2026".into(), &day);
        assert_eq!(update, "Today is now Fri Nov 20 2026.");
        assert_eq!(date.removed(&day), None);
    }
}
