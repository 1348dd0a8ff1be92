//! The entries of a fork: which entries of the source it gets, with new message ids.

use std::collections::{HashMap, HashSet};

use opencode_schema::event::{PrunedCall, SessionEvent};
use opencode_schema::id::MessageID;
use opencode_store::Sequence;

/// A boundary within an assistant message.
pub(super) struct PartBoundary {
    /// The message of the source.
    pub(super) message_id: MessageID,
    /// The entry that begins the first part that is left out.
    pub(super) from: Sequence,
}

/// The kind and the name of a part within its message.
type PartName = (&'static str, String);

/// Selects and changes the entries of the source, which must come in order.
pub(super) struct Remap {
    /// The new id of each message of the fork, by its id in the source.
    ids: HashMap<MessageID, MessageID>,
    boundary: Option<PartBoundary>,
    /// Parts of the boundary message that are left out. Entries name the last part of a name, so a name stays here.
    left_out: HashSet<PartName>,
    /// Running shell commands of the fork, by their run.
    shells: HashSet<String>,
}

impl Remap {
    pub(super) fn new(ids: HashMap<MessageID, MessageID>, boundary: Option<PartBoundary>) -> Self {
        Self {
            ids,
            boundary,
            left_out: HashSet::new(),
            shells: HashSet::new(),
        }
    }

    /// Returns the entry of the fork, or `None` if the fork does not get it.
    ///
    /// The fork gets every entry that belongs to one of its messages. Its creation states title, Location and rules, so
    /// changes of those are left out, and so are waiting prompts, reverts, recoveries and interruptions.
    pub(super) fn entry(&mut self, seq: Sequence, mut event: SessionEvent) -> Option<SessionEvent> {
        if let Some((message, part)) = part_of(&event)
            && self.leaves_out(seq, message, part, &event)
        {
            return None;
        }
        match &mut event {
            SessionEvent::AgentSwitched(it) => self.rename(&mut it.message_id)?,
            SessionEvent::ModelSwitched(it) => self.rename(&mut it.message_id)?,
            SessionEvent::PromptAdmitted(it) => self.rename(&mut it.message_id)?,
            SessionEvent::Prompted(it) => self.rename(&mut it.message_id)?,
            SessionEvent::PromptRedelivered(it) => self.rename(&mut it.message_id)?,
            SessionEvent::ContextUpdated(it) => self.rename(&mut it.message_id)?,
            SessionEvent::Synthetic(it) => self.rename(&mut it.message_id)?,
            SessionEvent::ShellStarted(it) => {
                self.rename(&mut it.message_id)?;
                self.shells.insert(it.call_id.clone());
            }
            SessionEvent::ShellEnded(it) => {
                self.shells.take(&it.call_id)?;
            }
            SessionEvent::StepStarted(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::StepEnded(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::StepFailed(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::TextStarted(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::TextEnded(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::ReasoningStarted(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::ReasoningEnded(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::ToolInputStarted(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::ToolInputEnded(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::ToolCalled(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::ToolProgress(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::ToolSuccess(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::ToolFailed(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::CompactionStarted(it) => self.rename(&mut it.message_id)?,
            SessionEvent::CompactionEnded(it) => self.rename(&mut it.message_id)?,
            SessionEvent::Pruned(it) => {
                it.calls = it
                    .calls
                    .drain(..)
                    .filter_map(|call| self.pruned(call))
                    .collect();
                if it.calls.is_empty() {
                    return None;
                }
            }
            // The fork does not get the end of a message at the boundary, which settles its output.
            SessionEvent::OutputProduced(it) if self.is_boundary(&it.assistant_message_id) => {
                return None;
            }
            SessionEvent::OutputFailed(it) if self.is_boundary(&it.assistant_message_id) => {
                return None;
            }
            SessionEvent::OutputProduced(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::OutputFailed(it) => self.rename(&mut it.assistant_message_id)?,
            SessionEvent::OutputRejected(it) => {
                self.rename(&mut it.assistant_message_id)?;
                if let Some(message) = &mut it.message_id {
                    self.rename(message)?;
                }
            }
            SessionEvent::SessionCreated(_)
            | SessionEvent::SessionUpdated(_)
            | SessionEvent::SessionDeleted(_)
            | SessionEvent::Moved(_)
            | SessionEvent::PromptWithdrawn(_)
            | SessionEvent::Retried(_)
            | SessionEvent::RevertStaged(_)
            | SessionEvent::RevertCleared(_)
            | SessionEvent::RevertCommitted(_)
            | SessionEvent::Interrupted(_)
            | SessionEvent::Paused(_) => return None,
            SessionEvent::ModelFallback(_) | SessionEvent::TodosUpdated(_) => {}
        }
        Some(event)
    }

    /// Gives a message its new id. `None` if the fork does not have the message.
    fn rename(&self, id: &mut MessageID) -> Option<()> {
        *id = self.ids.get(id)?.clone();
        Some(())
    }

    fn pruned(&self, mut call: PrunedCall) -> Option<PrunedCall> {
        let is_boundary = self.is_boundary(&call.assistant_message_id);
        if is_boundary && self.left_out.contains(&("tool", call.call_id.clone())) {
            return None;
        }
        self.rename(&mut call.assistant_message_id)?;
        Some(call)
    }

    fn is_boundary(&self, message: &MessageID) -> bool {
        let boundary = self.boundary.as_ref();
        boundary.is_some_and(|it| it.message_id == *message)
    }

    /// True if the entry belongs to a part that the fork does not get.
    fn leaves_out(
        &mut self,
        seq: Sequence,
        message: MessageID,
        part: PartName,
        event: &SessionEvent,
    ) -> bool {
        let Some(boundary) = self.boundary.as_ref().filter(|it| it.message_id == message) else {
            return false;
        };
        let begins = matches!(
            event,
            SessionEvent::TextStarted(_)
                | SessionEvent::ReasoningStarted(_)
                | SessionEvent::ToolInputStarted(_)
        );
        if begins && seq >= boundary.from {
            self.left_out.insert(part);
            return true;
        }
        self.left_out.contains(&part)
    }
}

/// Returns the message and the name of the part that an entry belongs to.
fn part_of(event: &SessionEvent) -> Option<(MessageID, PartName)> {
    let (message, kind, name) = match event {
        SessionEvent::TextStarted(it) => (&it.assistant_message_id, "text", &it.text_id),
        SessionEvent::TextEnded(it) => (&it.assistant_message_id, "text", &it.text_id),
        SessionEvent::ReasoningStarted(it) => {
            (&it.assistant_message_id, "reasoning", &it.reasoning_id)
        }
        SessionEvent::ReasoningEnded(it) => {
            (&it.assistant_message_id, "reasoning", &it.reasoning_id)
        }
        SessionEvent::ToolInputStarted(it) => (&it.assistant_message_id, "tool", &it.call_id),
        SessionEvent::ToolInputEnded(it) => (&it.assistant_message_id, "tool", &it.call_id),
        SessionEvent::ToolCalled(it) => (&it.assistant_message_id, "tool", &it.call_id),
        SessionEvent::ToolProgress(it) => (&it.assistant_message_id, "tool", &it.call_id),
        SessionEvent::ToolSuccess(it) => (&it.assistant_message_id, "tool", &it.call_id),
        SessionEvent::ToolFailed(it) => (&it.assistant_message_id, "tool", &it.call_id),
        _ => return None,
    };
    Some((message.clone(), (kind, name.clone())))
}
