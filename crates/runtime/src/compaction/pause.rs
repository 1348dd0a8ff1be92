//! Pause of automatic compaction after a checkpoint without effect.

use crate::history::estimate::{Budget, UNITS_PER_TOKEN};

/// Divisor of the window that gives the required growth.
const GROWTH: u64 = 8;

/// Range of history sizes for which compaction pauses, in UTF-16 units of the text for the model. It
/// begins at the size at which a checkpoint had no effect. Until the history has grown by more than
/// stays verbatim anyway, another checkpoint would have no effect either, and cost a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pause {
    from: u64,
    to: u64,
}

impl Pause {
    /// Begins a pause at a history of `units` UTF-16 units, of which `keep` tokens stay verbatim.
    pub(crate) fn at(units: u64, keep: u64, budget: &Budget) -> Self {
        let growth = keep.max(budget.window / GROWTH).max(1);
        Self {
            from: units,
            to: units.saturating_add(growth.saturating_mul(UNITS_PER_TOKEN)),
        }
    }

    /// True if it lasts for a history of `units` units. A smaller history was cut by another operation.
    pub(crate) const fn lasts(&self, units: u64) -> bool {
        self.from <= units && units < self.to
    }

    /// Returns the number of tokens by which the history must grow.
    pub(crate) const fn growth(&self) -> u64 {
        (self.to - self.from) / UNITS_PER_TOKEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_when_the_history_grows_or_shrinks() {
        let pause = |keep, window| {
            let budget = Budget {
                window,
                reserve: 0,
                summary: 0,
            };
            Pause::at(1_000, keep, &budget)
        };
        for (keep, window, growth) in [(100, 400, 100), (10, 400, 50), (0, 0, 1)] {
            let pause = pause(keep, window);
            assert_eq!(pause.growth(), growth);
            let end = 1_000 + 4 * growth;
            let sizes = [999, 1_000, end - 1, end];
            assert_eq!(
                sizes.map(|units| pause.lasts(units)),
                [false, true, true, false]
            );
        }
    }
}
