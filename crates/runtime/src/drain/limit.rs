//! The maximum number of Provider Turns for one prompt.

/// Maximum number of turns if the agent sets none. Turns that need no tool, such as further parts of a paused answer,
/// have the same limit.
const TURN_ALLOWANCE: u32 = 25;

/// The place of a turn in the work on a prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct TurnPlace {
    /// Number of the turn since the newest input.
    step: u32,
    /// Maximum number of turns that the agent allows.
    allowed: Option<u32>,
}

/// A limit that ends the work on a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TurnLimit {
    /// The number of turns.
    pub(super) turns: u32,
    /// True if the agent sets it.
    pub(super) is_of_agent: bool,
}

impl TurnPlace {
    pub(super) const fn new(step: u32, allowed: Option<u32>) -> Self {
        Self { step, allowed }
    }

    /// True if this is the last turn that the agent allows. It has no tools.
    pub(super) fn is_last(self) -> bool {
        self.allowed.is_some_and(|allowed| self.step >= allowed)
    }

    /// Returns the limit that keeps another turn from following. `is_refused` if the model called tools that it did not
    /// have in its last turn.
    pub(super) fn limit(self, continues: bool, is_refused: bool) -> Option<TurnLimit> {
        if let Some(turns) = self.allowed.filter(|_| is_refused && self.is_last()) {
            return Some(TurnLimit {
                turns,
                is_of_agent: true,
            });
        }
        let turns = self.allowed.unwrap_or_default().max(TURN_ALLOWANCE);
        (continues && self.step >= turns).then_some(TurnLimit {
            turns,
            is_of_agent: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_turn_that_wants_another_one_reaches_a_limit() {
        for (step, allowed, continues, is_refused, expected) in [
            (24, None, true, false, None),
            (25, None, true, false, Some((25, false))),
            (25, None, false, false, None),
            (1, Some(2), true, false, None),
            (2, Some(2), false, true, Some((2, true))),
            (2, Some(2), false, false, None),
            // The provider paused its answer, or refused output of the structure follows.
            (2, Some(2), true, false, None),
            (25, Some(2), true, false, Some((25, false))),
            (30, Some(40), true, false, None),
            (40, Some(40), false, true, Some((40, true))),
            (40, Some(40), true, false, Some((40, false))),
        ] {
            let limit = TurnPlace::new(step, allowed).limit(continues, is_refused);
            let found = limit.map(|it| (it.turns, it.is_of_agent));
            assert_eq!(found, expected, "turn {step} of {allowed:?}");
        }
    }
}
