//! Questions of tools to the user. The implementation of the trait reaches the user.

use futures::future::BoxFuture;
use opencode_schema::{
    message::ErrorKind,
    question::{QuestionAnswer, QuestionInfo},
};

use crate::failure::ToolFailure;
use crate::ports::source::CallSource;

/// Asks the user questions.
pub trait Questions: Send + Sync + 'static {
    /// Returns one list of chosen labels for each question, unchanged: there may be fewer lists, and
    /// labels that were not offered. Waits without a time limit if necessary. Dropping the future
    /// withdraws the questions.
    fn ask(
        &self,
        request: QuestionRequest,
    ) -> BoxFuture<'_, Result<Vec<QuestionAnswer>, QuestionError>>;
}

/// Questions that are asked together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionRequest {
    /// The call that asks.
    pub source: CallSource,
    /// The questions.
    pub questions: Vec<QuestionInfo>,
}

/// Reason why there are no answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// The user refused to answer. This ends the turn.
    #[error("the user refused to answer")]
    Rejected,
    /// No user is there to answer.
    #[error("no user is there to answer")]
    Unanswered,
}

impl QuestionError {
    /// Returns the failure of a call without answers. `refused` is the tool's generic text.
    #[must_use]
    pub fn into_failure(self, refused: &str) -> ToolFailure {
        match self {
            Self::Rejected => ToolFailure::Declined,
            Self::Unanswered => ToolFailure::Failed {
                message: format!("{refused}: {}", Self::Unanswered),
                kind: ErrorKind::Permission,
            },
        }
    }
}
