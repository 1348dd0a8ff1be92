//! The waits before automatic restarts.

use std::time::Duration;

/// The wait before the first restart. Each further wait is twice as long.
const FIRST: Duration = Duration::from_millis(500);

/// The longest wait.
const LONGEST: Duration = Duration::from_secs(30);

/// Maximum number of restarts in a row.
const MAX_RESTARTS: u32 = 5;

/// A connection that lasted this long ends the row.
const STABLE: Duration = Duration::from_secs(60);

/// Counts restarts in a row.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    restarts: u32,
}

impl Backoff {
    /// Returns the wait before the next restart, after a connection that lasted for this time. `None` if
    /// there were too many restarts.
    pub(crate) fn next(&mut self, lasted: Duration) -> Option<Duration> {
        if lasted >= STABLE {
            self.restarts = 0;
        }
        if self.restarts == MAX_RESTARTS {
            return None;
        }
        let wait = FIRST * 2_u32.pow(self.restarts);
        self.restarts += 1;
        Some(wait.min(LONGEST))
    }

    /// Forgets all restarts.
    pub(crate) fn reset(&mut self) {
        self.restarts = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_end() {
        let mut backoff = Backoff::default();
        let mut waits = || {
            let waits = std::iter::from_fn(|| backoff.next(Duration::from_secs(59)));
            let waits: Vec<_> = waits.map(|wait| wait.as_millis()).collect();
            backoff.reset();
            waits
        };
        assert_eq!(waits(), [500, 1000, 2000, 4000, 8000]);
        assert_eq!(waits().len(), 5);
    }

    #[test]
    fn a_stable_connection_ends_the_row() {
        let mut backoff = Backoff::default();
        while backoff.next(Duration::ZERO).is_some() {}
        assert_eq!(backoff.next(STABLE), Some(FIRST));
        assert_eq!(backoff.next(Duration::ZERO), Some(FIRST * 2));
    }
}
