//! The possible ends of a Provider Turn and of the provider's stream.

use opencode_llm::{FinishReason, LlmError, LlmEvent, Usage};
use serde_json::Value;

use super::fallback::FallbackStep;
use super::limit::TurnLimit;

/// The end of the provider's stream.
pub(super) enum StreamEnd {
    /// The stream ended with a finish, or with a failure that the provider reported in it.
    Complete,
    /// The connection or the protocol failed.
    Failed(LlmError),
    /// The provider refused the request because of its size, before it produced output, and the turn
    /// can still be made smaller.
    Overflow(Refusal),
    /// The provider refused the request before it produced output, and another model can take over.
    Refused(Refusal),
    /// A caller interrupted the session.
    Interrupted,
}

/// The data that a provider sends at the end of its answer.
pub(super) struct Finish {
    pub(super) reason: FinishReason,
    pub(super) usage: Option<Usage>,
    /// The provider paused the answer, and the next turn continues it.
    pub(super) is_paused: bool,
    /// Explains why the provider refused to answer.
    pub(super) refusal: Option<Value>,
}

/// The form in which a provider refused a request.
pub(super) enum Refusal {
    Error(LlmError),
    /// The refusal is an event in the stream.
    Event(LlmEvent),
}

/// The work that a turn leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Followed {
    /// None.
    Nothing,
    /// The model waits for results, or must continue its answer, so another turn must follow.
    Turn,
    /// The model called tools, and this was the last turn that the prompt may take. The step records it.
    Limit(TurnLimit),
}

/// The outcome of a turn.
pub(super) enum TurnOutcome {
    /// The turn has its durable outcome.
    Settled(Followed),
    /// The turn starts again: there is a new checkpoint, or the session differs from the state that the
    /// turn was prepared for. No request was sent, or the provider refused it because of its size.
    PrepareAgain,
    /// Another model takes over.
    FallBack(Box<FallbackStep>),
}
