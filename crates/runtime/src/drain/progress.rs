//! The progress of the calls of one Provider Turn.

use std::sync::Arc;

use opencode_schema::Record;
use opencode_schema::event::ToolReported;
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::message::ToolContent;
use opencode_tools::Progress;

use crate::live::Announcer;

/// Publishes the progress of the calls of one turn.
pub(super) struct TurnProgress {
    pub(super) announcer: Arc<Announcer>,
    pub(super) session: SessionID,
    pub(super) location: LocationRef,
    pub(super) message_id: MessageID,
}

impl Progress for TurnProgress {
    fn report(&self, call_id: &str, structured: Record, content: Vec<ToolContent>) {
        let reported = ToolReported {
            assistant_message_id: self.message_id.clone(),
            call_id: call_id.to_owned(),
            structured,
            content,
        };
        self.announcer
            .announce(&self.session, Some(&self.location), &reported.into());
    }
}
