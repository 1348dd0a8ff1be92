//! Decides if and when a request is sent again after a temporary refusal by the provider.

use std::time::Duration;

/// Policy for retries of a request that failed before it produced output. An answer that breaks off
/// in the middle is never requested again, because its output is already recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Maximum time from the first request to the last one.
    pub max_elapsed: Duration,
    /// Maximum number of requests, including the first one.
    pub max_attempts: u32,
    /// The first wait if the provider names none. It doubles with every retry.
    pub base: Duration,
    /// The longest wait if the provider names none.
    pub max_delay: Duration,
    /// Waits that the provider does not name vary randomly by this fraction in both directions, so
    /// that many clients do not retry at the same time.
    pub jitter: f64,
}

/// The decision after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Send another request after this wait.
    After(Duration),
    /// Do not retry: the provider asks for a longer wait than the policy allows.
    TooLate(Duration),
    /// Do not retry.
    Never,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_elapsed: Duration::from_secs(5 * 60),
            max_attempts: u32::MAX,
            base: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
            jitter: 0.2,
        }
    }
}

impl RetryPolicy {
    /// A policy without retries.
    pub const NEVER: Self = Self {
        max_elapsed: Duration::ZERO,
        max_attempts: 1,
        base: Duration::ZERO,
        max_delay: Duration::ZERO,
        jitter: 0.0,
    };

    /// Returns the policy for failures that waiting does not resolve: at most three requests.
    #[must_use]
    pub fn with_few_attempts(self) -> Self {
        Self {
            max_attempts: self.max_attempts.min(3),
            ..self
        }
    }

    /// Decides after a temporary failure, from the number of retries and the elapsed time. `asked`
    /// is the wait that the provider names. `fraction` is a random number in `0.0..1.0`.
    #[must_use]
    pub fn next(
        &self,
        asked: Option<Duration>,
        retries: u32,
        elapsed: Duration,
        fraction: f64,
    ) -> Retry {
        if retries.saturating_add(1) >= self.max_attempts {
            return Retry::Never;
        }
        let wait = asked.unwrap_or_else(|| self.backoff(retries, fraction));
        if elapsed.saturating_add(wait) <= self.max_elapsed {
            return Retry::After(wait);
        }
        asked.map_or(Retry::Never, Retry::TooLate)
    }

    fn backoff(&self, retries: u32, fraction: f64) -> Duration {
        let doubled = self.base.saturating_mul(2_u32.saturating_pow(retries));
        let factor = 1.0 + self.jitter * (fraction * 2.0 - 1.0);
        let seconds = doubled.min(self.max_delay).as_secs_f64() * factor;
        let wait = Duration::try_from_secs_f64(seconds).unwrap_or(self.max_delay);
        wait.min(self.max_delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn waits_stay_within_the_policy() {
        let policy = RetryPolicy::default();
        let few = RetryPolicy {
            max_attempts: 3,
            ..policy
        };
        let rows = [
            (policy, None, 0, 0, Retry::After(Duration::from_millis(500))),
            (policy, None, 1, 0, Retry::After(seconds(1))),
            (policy, None, 100, 0, Retry::After(seconds(30))),
            (policy, None, 100, 271, Retry::Never),
            (policy, Some(120), 1, 10, Retry::After(seconds(120))),
            (policy, Some(300), 0, 0, Retry::After(seconds(300))),
            (policy, Some(300), 0, 1, Retry::TooLate(seconds(300))),
            (
                policy,
                Some(u64::MAX),
                0,
                1,
                Retry::TooLate(seconds(u64::MAX)),
            ),
            (few, Some(1), 1, 0, Retry::After(seconds(1))),
            (few, Some(1), 2, 0, Retry::Never),
            (
                policy.with_few_attempts(),
                None,
                1,
                0,
                Retry::After(seconds(1)),
            ),
            (policy.with_few_attempts(), None, 2, 0, Retry::Never),
            (
                RetryPolicy::NEVER.with_few_attempts(),
                None,
                0,
                0,
                Retry::Never,
            ),
            (RetryPolicy::NEVER, None, 0, 0, Retry::Never),
            (RetryPolicy::NEVER, Some(0), 0, 0, Retry::Never),
        ];
        for (policy, asked, retries, elapsed, expected) in rows {
            let asked = asked.map(seconds);
            let next = policy.next(asked, retries, seconds(elapsed), 0.5);
            assert_eq!(next, expected, "{asked:?} {retries} {elapsed}");
        }
    }

    #[test]
    fn waits_vary_and_absurd_policies_do_not_overflow() {
        let policy = RetryPolicy::default();
        let first = |fraction| policy.next(None, 0, Duration::ZERO, fraction);
        assert_eq!(first(0.0), Retry::After(Duration::from_millis(400)));
        let absurd = RetryPolicy {
            max_elapsed: Duration::MAX,
            base: Duration::MAX,
            max_delay: Duration::MAX,
            jitter: f64::NAN,
            ..policy
        };
        let wait = absurd.next(None, 1, Duration::ZERO, 0.0);
        assert_eq!(wait, Retry::After(Duration::MAX));
    }
}
