//! Delegation of work to another agent. The implementation of the trait manages the sessions.

use futures::future::BoxFuture;
use opencode_schema::id::SessionID;
use tokio_util::sync::CancellationToken;

use crate::failure::ToolFailure;

/// Runs tasks, each in a child session.
pub trait Tasks: Send + Sync + 'static {
    /// True if an agent with this id exists and accepts tasks.
    fn accepts(&self, agent: &str) -> bool;

    /// Returns the ids of the agents to which the rules allow tasks, sorted.
    fn agents(&self) -> Vec<String>;

    /// Runs a task to its end. If it is cancelled, its session is interrupted and this returns after
    /// the session has settled. Dropping the future also interrupts the session, but does not wait.
    fn run(&self, task: TaskRequest) -> BoxFuture<'_, Result<TaskOutcome, TaskError>>;
}

/// A task for another agent.
#[derive(Clone, Debug)]
pub struct TaskRequest {
    /// A short name for the task.
    pub description: String,
    /// The prompt for the session of the task.
    pub prompt: String,
    /// The agent that does the task.
    pub agent: String,
    /// The session of an earlier task to continue; `None` starts a new session.
    pub session_id: Option<SessionID>,
    /// Cancelled when the caller no longer waits for the task.
    pub cancel: CancellationToken,
}

/// The result of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskOutcome {
    /// The session of the task.
    pub session_id: SessionID,
    /// The last text of that session; empty if it ended without one.
    pub text: String,
    /// The reason why the newest answer is not complete.
    pub incomplete: Option<Incomplete>,
}

/// The reason why an answer is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// It reached a limit of its length.
    Length,
    /// The provider withheld its rest.
    ContentFilter,
}

impl Incomplete {
    /// Returns the reason for this `finish` of a message.
    #[must_use]
    pub fn of(finish: &str) -> Option<Self> {
        let all = [Self::Length, Self::ContentFilter];
        all.into_iter().find(|it| it.finish() == finish)
    }

    /// Returns the `finish` of a message.
    #[must_use]
    pub const fn finish(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::ContentFilter => "content-filter",
        }
    }
}

/// Reason why a task has no outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// The maximum nesting of sessions is reached.
    #[error(
        "tasks may be nested {limit} levels deep, and this session is that deep; do the work here"
    )]
    TooDeep {
        /// Maximum number of levels below a session that was not created by a task.
        limit: usize,
    },
    /// The maximum number of tasks of the session runs already.
    #[error("{limit} tasks of this session run, and no more may; call it again when one has ended")]
    TooMany {
        /// Maximum number of tasks of one session at the same time.
        limit: usize,
    },
    /// The session to continue does not belong to a task of this session.
    #[error("{0} is no session of a task that this session gave")]
    NotAChild(SessionID),
    /// The host could not run the task.
    #[error("{0}")]
    Unavailable(String),
    /// The session of the task ended before the work was done.
    #[error("its session {session_id} ended before the work did: {reason}")]
    Failed {
        /// The session.
        session_id: SessionID,
        /// The reason.
        reason: String,
    },
    /// The caller was interrupted.
    #[error("the task was interrupted")]
    Interrupted,
}

impl TaskError {
    /// Returns the failure of a call without an outcome. `refused` is the tool's generic text.
    #[must_use]
    pub fn into_failure(self, refused: &str) -> ToolFailure {
        match self {
            Self::Interrupted => ToolFailure::Interrupted,
            other => ToolFailure::new(format!("{refused}: {other}")),
        }
    }
}
