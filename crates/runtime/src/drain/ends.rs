//! How a Provider Turn and the stream of its provider end.

use opencode_llm::{FinishReason, LlmError, LlmEvent, Usage};

/// How the provider's stream ended.
pub(super) enum StreamEnd {
    /// With a finish, or with a failure that the provider reported in it.
    Complete,
    /// The exchange broke.
    Failed(LlmError),
    /// The provider refused the request for its size, before it gave anything, and the turn may
    /// become smaller yet.
    Overflow(Refusal),
    /// A caller interrupted the session.
    Interrupted,
}

/// What a provider said at the end of its answer.
pub(super) struct Finish {
    pub(super) reason: FinishReason,
    pub(super) usage: Option<Usage>,
    /// It paused the answer, and the next turn goes on with it.
    pub(super) is_paused: bool,
}

/// How a provider refused a request.
pub(super) enum Refusal {
    Error(LlmError),
    /// Inside its stream.
    Event(LlmEvent),
}

/// How a turn ends.
pub(super) enum TurnOutcome {
    /// It has its durable outcome.
    Settled {
        /// The model waits for results, or to go on, so that another must follow.
        continues: bool,
    },
    /// Nothing was sent, or the provider refused it for its size, and the turn begins anew: there is
    /// a checkpoint now, or the session is not what the turn was prepared for.
    Anew,
}
