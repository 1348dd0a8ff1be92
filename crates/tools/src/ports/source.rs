//! The origin of a call.

use opencode_schema::id::{MessageID, SessionID};

/// The origin of a call. Its permission requests and its questions carry it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSource {
    /// The session of the call.
    pub session_id: SessionID,
    /// The agent of the Provider Turn that issued the call. It never changes afterwards.
    pub agent: String,
    /// The assistant message that contains the call.
    pub message_id: MessageID,
    /// The provider's id for the call. A later message may use it again.
    pub call_id: String,
}
