//! A call of a tool, as its caller sees it.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use opencode_schema::message::ToolContent;
use opencode_schema::question::{QuestionAnswer, QuestionInfo};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// The context of a tool call.
#[derive(Clone)]
pub struct CallContext {
    /// The session that calls. A question of the server goes to the only session that calls it.
    pub session: String,
    /// Interrupts the call.
    pub cancel: CancellationToken,
    /// Called with each progress report of the server, in their order and before the result. It must not
    /// block.
    pub progress: OnProgress,
    /// Answers questions of the server.
    pub ask: Arc<dyn Ask>,
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// A function that receives progress reports.
pub type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// A progress report of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The work that is done.
    pub progress: f64,
    /// All of the work, if the server knows it.
    pub total: Option<f64>,
    /// A description of the present work.
    pub message: Option<String>,
}

/// Puts the questions of a server to a user.
pub trait Ask: Send + Sync + 'static {
    /// Asks all questions together. Returns one answer for each. Dropping the future withdraws them.
    fn ask(
        &self,
        questions: Vec<QuestionInfo>,
    ) -> BoxFuture<'_, Result<Vec<QuestionAnswer>, AskRefused>>;
}

/// The reason why there are no answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskRefused {
    /// The user does not want to answer.
    #[error("the user declined to answer")]
    Declined,
    /// No user can answer.
    #[error("no user can answer")]
    Unavailable,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallOutput {
    /// The result for programs, if the server gave one.
    pub structured: Option<Value>,
    /// The result for models.
    pub content: Vec<ToolContent>,
}

/// The failure of a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The server or the tool failed, with the reason.
    #[error("{0}")]
    Failed(String),
    /// The caller interrupted the call.
    #[error("the call was interrupted")]
    Interrupted,
}
