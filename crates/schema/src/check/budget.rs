//! The number of steps that a check may take.

use std::cell::Cell;

use super::Issue;

/// Maximum number of steps of one check. The largest bodies and arguments need a fourth of it.
const MAX_STEPS: usize = 1 << 22;

/// Maximum number of steps of all comparisons of a conversion.
const MAX_CONVERSION_STEPS: usize = 1 << 16;

/// The steps that are left. A step is one schema that is compared with one value.
pub(super) struct Budget {
    left: Cell<usize>,
    /// True if the caller reads the problem.
    pub(super) reports: bool,
}

impl Budget {
    /// The steps of one check.
    pub(super) fn of_check() -> Self {
        Self {
            left: Cell::new(MAX_STEPS),
            reports: true,
        }
    }

    /// The steps of one conversion.
    pub(super) fn of_conversion() -> Self {
        Self {
            left: Cell::new(MAX_CONVERSION_STEPS),
            reports: false,
        }
    }

    /// Takes a step. False if none is left.
    pub(super) fn step(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// True if no step is left.
    pub(super) fn is_exceeded(&self) -> bool {
        self.left.get() == 0
    }

    /// The problem of a value whose check needs more steps.
    #[expect(clippy::unused_self, reason = "only a budget can be exceeded")]
    pub(super) fn exceeded(&self) -> Issue {
        Issue::new(format!(
            "The schema needs more than {MAX_STEPS} steps to check this value; make the value or the schema simpler"
        ))
    }
}
