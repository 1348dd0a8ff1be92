//! Bounds that a host chooses.

/// How much input a session takes, and how much work it may give to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Admitted Prompts of one session that may wait for their promotion; 10,000 by default. A
    /// prompt beyond it is refused with [`Backlog`](crate::RuntimeError::Backlog), and nothing of
    /// it is stored.
    pub inbox: u64,
    /// Steers that one Safe Provider-Turn Boundary promotes at most, the oldest first; 10,000 by
    /// default. The others stay pending and go at the following boundaries. 0 counts as 1: a drain
    /// would else make turns for steers that it never takes.
    pub steer_batch: usize,
    /// Levels of child sessions that tasks make below a session that none made; 3 by default.
    pub subagent_depth: usize,
    /// Tasks of one session that may run at the same time; 8 by default.
    pub subagents: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            inbox: 10_000,
            steer_batch: 10_000,
            subagent_depth: 3,
            subagents: 8,
        }
    }
}
