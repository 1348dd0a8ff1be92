//! The kinds of messages and parts, as numbers in the database.

use opencode_schema::event::SessionEvent;

use crate::integer::stored_integer;

/// The kind of a message. A row of a damaged file can have any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageKind(i64);

stored_integer!(MessageKind);

impl MessageKind {
    pub(crate) const USER: Self = Self(1);
    pub(crate) const ASSISTANT: Self = Self(2);
    pub(crate) const SYSTEM: Self = Self(3);
    pub(crate) const SYNTHETIC: Self = Self(4);
    pub(crate) const SHELL: Self = Self(5);
    pub(crate) const COMPACTION: Self = Self(6);
    pub(crate) const AGENT_SWITCHED: Self = Self(7);
    pub(crate) const MODEL_SWITCHED: Self = Self(8);

    /// Returns the kind of the message that an entry creates.
    pub(crate) fn of(payload: &SessionEvent) -> Option<Self> {
        Some(match payload {
            SessionEvent::Prompted(_) => Self::USER,
            SessionEvent::StepStarted(_) => Self::ASSISTANT,
            SessionEvent::ContextUpdated(_) => Self::SYSTEM,
            SessionEvent::Synthetic(_) | SessionEvent::OutputRejected(_) => Self::SYNTHETIC,
            SessionEvent::ShellStarted(_) => Self::SHELL,
            SessionEvent::CompactionEnded(_) => Self::COMPACTION,
            SessionEvent::AgentSwitched(_) => Self::AGENT_SWITCHED,
            SessionEvent::ModelSwitched(_) => Self::MODEL_SWITCHED,
            _ => return None,
        })
    }
}

/// The kind of a part. A row of a damaged file can have any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartKind(i64);

stored_integer!(PartKind);

impl PartKind {
    pub(crate) const TEXT: Self = Self(0);
    pub(crate) const REASONING: Self = Self(1);
    pub(crate) const TOOL: Self = Self(2);
}
