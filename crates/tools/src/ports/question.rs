//! How a tool asks people what they want. Who they are, and how they are reached, is not known here.

use futures::future::BoxFuture;
use opencode_schema::{
    id::SessionID,
    message::ErrorKind,
    question::{QuestionAnswer, QuestionInfo, QuestionTool},
};

use crate::failure::ToolFailure;

/// Puts questions to people.
pub trait Questions: Send + Sync + 'static {
    /// Returns one list of chosen labels for each question, as they were given: there may be fewer
    /// lists, and labels nobody offered. Waits without a time limit if need be. Dropping the future
    /// withdraws the questions.
    fn ask(
        &self,
        request: QuestionRequest,
    ) -> BoxFuture<'_, Result<Vec<QuestionAnswer>, QuestionError>>;
}

/// Questions that are asked together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionRequest {
    /// The session of the call.
    pub session_id: SessionID,
    /// The call that asks.
    pub source: QuestionTool,
    /// The questions.
    pub questions: Vec<QuestionInfo>,
}

/// Why there are no answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// A person refused to answer; this ends the turn.
    #[error("the user refused to answer")]
    Rejected,
    /// Nobody is there to answer.
    #[error("nobody is there to answer")]
    Unanswered,
}

impl QuestionError {
    /// The failure of a call without answers, where `refused` is the tool's generic text.
    #[must_use]
    pub fn into_failure(self, refused: &str) -> ToolFailure {
        match self {
            Self::Rejected => ToolFailure::Declined,
            Self::Unanswered => ToolFailure::Failed {
                message: refused.to_owned(),
                kind: ErrorKind::Permission,
            },
        }
    }
}
