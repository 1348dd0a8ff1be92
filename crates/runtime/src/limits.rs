//! Limits that a host sets.

/// Limits on the input of a session and on the work that it may give to other sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of Admitted Prompts of one session that wait for promotion; 10,000 by default. A prompt beyond it
    /// is refused with [`Backlog`](crate::RuntimeError::Backlog) and is not stored.
    pub inbox: u64,
    /// Maximum number of steers that one Safe Provider-Turn Boundary promotes, oldest first; 10,000 by default. The
    /// others stay pending until the following boundaries. 0 counts as 1: otherwise a drain would make turns for steers
    /// that it never promotes.
    pub steer_batch: usize,
    /// Maximum depth of child sessions below a session that no task created; 3 by default.
    pub subagent_depth: usize,
    /// Maximum number of tasks of one session that run at the same time; 8 by default.
    pub subagents: usize,
    /// The limits of the tool calls of one answer.
    pub tool_calls: CallLimits,
}

/// Limits of the tool calls of one answer. Calls that the provider runs itself do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// Maximum number of calls; 200 by default. A further call fails with the reason.
    pub per_turn: usize,
    /// Maximum number of calls that run at the same time; 32 by default. Further calls wait.
    pub at_once: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            per_turn: 200,
            at_once: 32,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            inbox: 10_000,
            steer_batch: 10_000,
            subagent_depth: 3,
            subagents: 8,
            tool_calls: CallLimits::default(),
        }
    }
}
