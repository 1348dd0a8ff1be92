//! The values that the calls of one Provider Turn share.

use std::sync::Arc;

use opencode_location::secret::Redactor;
use opencode_schema::id::{MessageID, SessionID};
use tokio_util::sync::CancellationToken;

use crate::bounding::OutputLimits;
use crate::contract::folders::FileScope;
use crate::contract::tool::{Commitment, ToolContext};
use crate::ports::permission::Permissions;
use crate::ports::progress::Progress;
use crate::ports::source::CallSource;
use crate::ports::turn::TurnPorts;

/// The values that the calls of one Provider Turn share. The runtime makes one for each turn. Each call of the turn gets
/// its own [`ToolContext`].
#[derive(Clone)]
pub struct TurnContext {
    /// The session of the turn.
    pub session_id: SessionID,
    /// The agent of the turn.
    pub agent: String,
    /// The assistant message that contains the calls.
    pub message_id: MessageID,
    /// The place of file tools.
    pub files: Arc<FileScope>,
    /// Cancelled when the calls are interrupted.
    pub cancel: CancellationToken,
    /// Decides about the actions of the calls.
    pub permissions: Arc<dyn Permissions>,
    /// Receives the progress of the calls.
    pub progress: Arc<dyn Progress>,
    /// The ports of single tools.
    pub ports: TurnPorts,
    /// Limits on the settlements for the model.
    pub output_limits: OutputLimits,
    /// Removes secrets from the results of the calls.
    pub secrets: Redactor,
}

impl TurnContext {
    /// Returns the context of a call that has begun no change.
    pub(crate) fn of_call(&self, call_id: &str) -> ToolContext {
        ToolContext {
            source: CallSource {
                session_id: self.session_id.clone(),
                agent: self.agent.clone(),
                message_id: self.message_id.clone(),
                call_id: call_id.to_owned(),
            },
            files: Arc::clone(&self.files),
            cancel: self.cancel.clone(),
            commitment: Commitment::default(),
            permissions: Arc::clone(&self.permissions),
            progress: Arc::clone(&self.progress),
        }
    }
}
