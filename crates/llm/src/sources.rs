//! External inputs other than the network, so that tests can control them.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;

/// Maximum number of facts about models that one client logs once.
const MAX_LOGGED: usize = 256;

/// Randomness (for retry jitter and for identifiers that a provider omits), the wall clock (for
/// a `retry-after` date), and the facts about models that are already in the log. Clones share all of them.
#[derive(Clone)]
pub struct Sources {
    random: Arc<dyn Fn() -> u64 + Send + Sync>,
    now: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    logged: Arc<Mutex<HashSet<(String, String)>>>,
}

impl Sources {
    /// Creates sources from functions of the caller.
    pub fn new(
        random: impl Fn() -> u64 + Send + Sync + 'static,
        now: impl Fn() -> SystemTime + Send + Sync + 'static,
    ) -> Self {
        Self {
            random: Arc::new(random),
            now: Arc::new(now),
            logged: Arc::default(),
        }
    }

    /// True the first time for a fact about a model, so that the log gets one entry. After many facts, it is false for
    /// all others.
    pub fn is_news(&self, model: &str, fact: &str) -> bool {
        let mut logged = self.logged.lock();
        logged.len() < MAX_LOGGED && logged.insert((model.to_owned(), fact.to_owned()))
    }

    /// Returns the current time of day.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        (self.now)()
    }

    /// Returns a random number in `0.0..1.0`.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        // An `f64` holds exactly 53 bits.
        let bits = (self.random)() >> 11;
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit an f64 exactly")]
        let numerator = bits as f64;
        numerator / 9_007_199_254_740_992.0
    }

    /// Returns a random identifier for a call. It has 37 characters, because some servers accept no more than 40.
    pub fn call_id(&self) -> String {
        format!("call_{}", self.uuid().replace('-', ""))
    }

    /// Returns a random identifier in the usual eight-four-four-four-twelve form.
    #[must_use]
    pub fn uuid(&self) -> String {
        let (high, low) = ((self.random)(), (self.random)());
        // Version 4 and the RFC variant, which strict readers require.
        let high = (high & !0xf000) | 0x4000;
        let low = (low & !(0b11 << 62)) | (0b10 << 62);
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }
}

impl Default for Sources {
    /// The randomness and the clock of the operating system.
    fn default() -> Self {
        // Both uses are not relevant to security, so a machine without entropy only loses the jitter.
        Self::new(|| getrandom::u64().unwrap_or(0), SystemTime::now)
    }
}

impl fmt::Debug for Sources {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Sources")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_have_version_4_and_its_variant() {
        let zero = Sources::new(|| 0, SystemTime::now);
        assert_eq!(zero.uuid(), "00000000-0000-4000-8000-000000000000");
        let ones = Sources::new(|| u64::MAX, SystemTime::now);
        assert_eq!(ones.uuid(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }

    #[test]
    fn each_fact_about_a_model_is_news_once_and_within_bounds() {
        let sources = Sources::default();
        assert!(sources.is_news("p/m", "a"));
        assert!(!sources.clone().is_news("p/m", "a"));
        assert!(sources.is_news("p/m", "b"));
        assert!(sources.is_news("p/n", "a"));
        for n in 0..2 * MAX_LOGGED {
            sources.is_news("p/m", &n.to_string());
        }
        assert_eq!(sources.logged.lock().len(), MAX_LOGGED);
    }

    #[test]
    fn fractions_stay_below_one() {
        assert!(Sources::new(|| u64::MAX, SystemTime::now).fraction() < 1.0);
        assert!(Sources::new(|| 0, SystemTime::now).fraction().abs() < f64::EPSILON);
    }
}
