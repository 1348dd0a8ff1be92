//! How a tool gives work to another agent. Sessions, and who runs them, are not known here.

use futures::future::BoxFuture;
use opencode_schema::id::SessionID;
use tokio_util::sync::CancellationToken;

use crate::failure::ToolFailure;

/// Runs tasks, each in a child session.
pub trait Tasks: Send + Sync + 'static {
    /// Whether there is an agent of this id that tasks can be given to.
    fn accepts(&self, agent: &str) -> bool;

    /// Runs a task to its end. When it is cancelled, its session is interrupted and this returns
    /// once that has settled; dropping the future interrupts the session as well, and waits for
    /// nothing.
    fn run(&self, task: TaskRequest) -> BoxFuture<'_, Result<TaskOutcome, TaskError>>;
}

/// A task for another agent.
#[derive(Clone, Debug)]
pub struct TaskRequest {
    /// A few words that name it.
    pub description: String,
    /// What its session is told.
    pub prompt: String,
    /// Who carries it out.
    pub agent: String,
    /// The session of an earlier task to go on with; none begins one.
    pub session_id: Option<SessionID>,
    /// Fires when nobody waits for it any more.
    pub cancel: CancellationToken,
}

/// What came of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskOutcome {
    /// Its session.
    pub session_id: SessionID,
    /// The last text of that session; empty if it ended without one.
    pub text: String,
}

/// Why a task has no outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// Sessions are nested as deeply as they may.
    #[error(
        "tasks may be nested {limit} levels deep, and this session is that deep; do the work here"
    )]
    TooDeep {
        /// Levels below a session that nobody's task made.
        limit: usize,
    },
    /// As many tasks of the session run as may.
    #[error("{limit} tasks of this session run, and no more may; call it again when one has ended")]
    TooMany {
        /// Tasks of one session that may run at the same time.
        limit: usize,
    },
    /// The session to go on with belongs to no task of this one.
    #[error("{0} is no session of a task that this session gave")]
    NotAChild(SessionID),
    /// The host could not do its part.
    #[error("{0}")]
    Unavailable(String),
    /// Its session ended before the work did.
    #[error("its session {session_id} ended before the work did: {reason}")]
    Failed {
        /// The session.
        session_id: SessionID,
        /// What happened.
        reason: String,
    },
    /// The one who waits for it was interrupted.
    #[error("the task was interrupted")]
    Interrupted,
}

impl TaskError {
    /// The failure of a call without an outcome, where `refused` is the tool's generic text.
    #[must_use]
    pub fn into_failure(self, refused: &str) -> ToolFailure {
        match self {
            Self::Interrupted => ToolFailure::Interrupted,
            other => ToolFailure::new(format!("{refused}: {other}")),
        }
    }
}
