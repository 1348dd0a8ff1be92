//! When automatic compaction rests, because the newest checkpoint brought nothing.

use crate::history::estimate::{Budget, UNITS_PER_TOKEN};

/// What part of the window counts as growth.
const GROWTH: u64 = 8;

/// The history as it was when a checkpoint was found to bring nothing, in UTF-16 units of what the
/// model reads. Until there is more of it than stays in its own words anyway, another checkpoint
/// would bring nothing either, and cost a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pause {
    from: u64,
    to: u64,
}

impl Pause {
    /// From a history of so many units on, of which `keep` tokens stay in their own words.
    pub(crate) fn at(units: u64, keep: u64, budget: &Budget) -> Self {
        let growth = keep.max(budget.window / GROWTH).max(1);
        Self {
            from: units,
            to: units.saturating_add(growth.saturating_mul(UNITS_PER_TOKEN)),
        }
    }

    /// Whether it lasts for a history of so many units. A smaller one was cut by something else.
    pub(crate) const fn lasts(&self, units: u64) -> bool {
        self.from <= units && units < self.to
    }

    /// By how many tokens the history has to grow.
    pub(crate) const fn growth(&self) -> u64 {
        (self.to - self.from) / UNITS_PER_TOKEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_with_growth_and_with_a_cut() {
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
