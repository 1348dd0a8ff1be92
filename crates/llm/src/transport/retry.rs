//! When to ask again.

use std::time::Duration;

use crate::error::LlmError;
use crate::sources::Sources;

/// Retries of a request that was refused before it produced anything. A reply that breaks in the
/// middle is never asked for again: what it produced is already recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Requests beyond the first.
    pub max_retries: u32,
    /// The first wait when the provider does not name one; it doubles every time.
    pub base: Duration,
    /// No wait is longer, whatever the provider asks for.
    pub cap: Duration,
    /// Waits of our own vary by this fraction in both directions, so that many clients do not come
    /// back at once.
    pub jitter: f64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 2,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(10),
            jitter: 0.2,
        }
    }
}

impl RetryPolicy {
    /// How long to wait before asking again; `None` when it should not be asked again.
    pub(super) fn wait(
        &self,
        error: &LlmError,
        retries: u32,
        sources: &Sources,
    ) -> Option<Duration> {
        if !error.retryable() || retries >= self.max_retries {
            return None;
        }
        let wait = match error.retry_after_ms() {
            Some(millis) => Duration::from_millis(millis),
            None => {
                let doubled = self.base.saturating_mul(2_u32.saturating_pow(retries));
                let factor = 1.0 + self.jitter * (sources.fraction() * 2.0 - 1.0);
                let seconds = doubled.min(self.cap).as_secs_f64() * factor;
                Duration::try_from_secs_f64(seconds).unwrap_or(self.cap)
            }
        };
        Some(wait.min(self.cap))
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::error::LlmErrorReason;

    fn rate_limit(retry_after_ms: Option<u64>) -> LlmError {
        LlmError::new(LlmErrorReason::RateLimit { retry_after_ms }, "slow down")
    }

    fn random(value: u64) -> Sources {
        Sources::new(move || value, || SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn waits() {
        let policy = RetryPolicy::default();
        let middle = random(1 << 63);
        let rows = [
            (rate_limit(None), 0, &middle, Some(500)),
            (rate_limit(None), 1, &middle, Some(1000)),
            (rate_limit(None), 2, &middle, None),
            (rate_limit(None), 0, &random(0), Some(400)),
            (rate_limit(Some(1000)), 1, &random(0), Some(1000)),
            (rate_limit(Some(60_000)), 0, &random(0), Some(10_000)),
            (rate_limit(Some(u64::MAX)), 0, &random(0), Some(10_000)),
            (LlmError::invalid_request("no"), 0, &middle, None),
        ];
        for (error, retries, sources, millis) in rows {
            assert_eq!(
                policy.wait(&error, retries, sources),
                millis.map(Duration::from_millis)
            );
        }
        let longest = policy
            .wait(&rate_limit(None), 0, &random(u64::MAX))
            .unwrap();
        assert!(longest > Duration::from_millis(599) && longest <= Duration::from_millis(600));
        let patient = RetryPolicy {
            max_retries: 200,
            ..policy
        };
        let capped = patient.wait(&rate_limit(None), 100, &random(u64::MAX));
        assert_eq!(capped, Some(Duration::from_secs(10)));
        let absurd = RetryPolicy {
            base: Duration::MAX,
            cap: Duration::MAX,
            jitter: f64::NAN,
            ..policy
        };
        let wait = absurd.wait(&rate_limit(None), 1, &random(0));
        assert_eq!(wait, Some(Duration::MAX));
    }
}
