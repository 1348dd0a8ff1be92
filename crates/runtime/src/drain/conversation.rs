//! State that one drain keeps for the next drain of its session: the history in the form for the model, and the
//! last request as it was written. With it, the cost of a turn does not grow with the length of the session.

use std::collections::{BTreeMap, HashMap};

use opencode_llm::PrefixCache;
use opencode_schema::id::SessionID;
use opencode_store::{HistoryChanges, HistoryRead, Reader, RecordedStep, SessionKey, StoreError};
use parking_lot::Mutex;

use super::prefix::Sent;
use super::request_size::UnknownRefusal;
use crate::compaction::Pause;
use crate::history::lowering::Target;
use crate::history::transcript::Transcript;

/// Maximum total size in bytes of the conversations of idle sessions. The least recently used ones are evicted
/// first; the next drain of such a session reads its history again.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Size in bytes that an empty conversation counts as.
const OVERHEAD: usize = 1024;

/// The history of one session in the form for the model.
#[derive(Default)]
pub(crate) struct Conversation {
    pub(crate) transcript: Transcript,
    pub(crate) prefix: PrefixCache,
    /// The last request that was sent.
    pub(crate) sent: Option<Sent>,
    /// Set while automatic compaction is paused, because it did not make a request smaller.
    pub(crate) pause: Option<Pause>,
    /// The refusal of the last turn, if its words are not known and the size of its request may be the cause.
    pub(crate) refused: Option<UnknownRefusal>,
}

/// The result of the read that brings a conversation up to date.
pub(crate) struct ConversationRead {
    history: HistoryRead,
    /// The last recorded request, if the conversation does not know one.
    recorded: Option<RecordedStep>,
    changes: HistoryChanges,
}

impl Conversation {
    /// Returns the read that brings the conversation up to date. It reads only the entries that the conversation does not have.
    pub(crate) fn reading(
        &self,
        target: &Target,
    ) -> impl FnOnce(&Reader<'_>, SessionKey) -> Result<ConversationRead, StoreError> + Send + use<>
    {
        let history = self.transcript.reading(target);
        let sent = self.sent.as_ref().map(|sent| sent.seq);
        move |reader, session| {
            let history = history(reader, session)?;
            let recorded = match sent {
                Some(_) => None,
                None => reader.recorded_step(session)?,
            };
            let since = sent.or(recorded.as_ref().map(|step| step.seq));
            let changes = since.map(|since| reader.history_changes(session, since));
            Ok(ConversationRead {
                history,
                recorded,
                changes: changes.transpose()?.unwrap_or_default(),
            })
        }
    }

    /// Applies the result of that read. Returns the changes of the history since the last request.
    pub(crate) fn update(&mut self, read: ConversationRead, target: Target) -> HistoryChanges {
        self.transcript.update(read.history, target);
        if let Some(step) = read.recorded {
            self.sent = Sent::recorded(step);
        }
        read.changes
    }

    /// Returns the approximate size in bytes: the messages, and the last request as it was written, with its tools.
    fn bytes(&self) -> usize {
        OVERHEAD + self.transcript.held_bytes() + self.prefix.bytes()
    }
}

/// The conversations of idle sessions. An outdated entry is harmless: the next drain reads the changes before it
/// uses the entry, and detects if they invalidate it.
pub(crate) struct Conversations {
    max_bytes: usize,
    /// Locked for one lookup or one eviction; never across an await.
    resting: Mutex<IdleConversations>,
}

#[derive(Default)]
struct IdleConversations {
    sessions: HashMap<SessionID, (u64, Conversation)>,
    /// Sessions by their last use, oldest first.
    order: BTreeMap<u64, SessionID>,
    uses: u64,
    bytes: usize,
}

impl Default for Conversations {
    fn default() -> Self {
        Self::with_max_bytes(MAX_BYTES)
    }
}

impl Conversations {
    fn with_max_bytes(max_bytes: usize) -> Self {
        let resting = Mutex::default();
        Self { max_bytes, resting }
    }

    /// Removes and returns the conversation of a session that starts to run; an empty one if there was no entry.
    pub(crate) fn take(&self, session: &SessionID) -> Conversation {
        self.resting.lock().remove(session).unwrap_or_default()
    }

    /// Stores the conversation of a session that becomes idle.
    pub(crate) fn keep(&self, session: SessionID, conversation: Conversation) {
        let mut resting = self.resting.lock();
        resting.remove(&session);
        resting.insert(session, conversation);
        while resting.bytes > self.max_bytes && resting.remove_oldest() {}
    }
}

impl IdleConversations {
    fn insert(&mut self, session: SessionID, conversation: Conversation) {
        self.uses += 1;
        self.bytes += conversation.bytes();
        self.order.insert(self.uses, session.clone());
        self.sessions.insert(session, (self.uses, conversation));
    }

    fn remove(&mut self, session: &SessionID) -> Option<Conversation> {
        let (used, conversation) = self.sessions.remove(session)?;
        self.order.remove(&used);
        self.bytes -= conversation.bytes();
        Some(conversation)
    }

    /// Returns true if there was an entry to remove.
    fn remove_oldest(&mut self) -> bool {
        let oldest = self.order.values().next().cloned();
        oldest.is_some_and(|session| self.remove(&session).is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use opencode_llm::{LlmRequest, ProtocolId, ResolvedModel, ToolDefinition};
    use opencode_protocols::adapter;

    use super::*;

    fn id(name: &str) -> SessionID {
        SessionID::parse(&format!("ses_{name}")).unwrap()
    }

    /// Returns which of `a`, `b` and `c` are kept if there is room for two empty conversations.
    fn kept(story: &[(&str, bool)]) -> Vec<&'static str> {
        let conversations = Conversations::with_max_bytes(2 * OVERHEAD);
        for (name, takes) in story {
            let conversation = if *takes {
                conversations.take(&id(name))
            } else {
                Conversation::default()
            };
            conversations.keep(id(name), conversation);
        }
        let resting = conversations.resting.lock();
        assert_eq!(resting.bytes, resting.sessions.len() * OVERHEAD);
        assert_eq!(resting.order.len(), resting.sessions.len());
        let all = ["a", "b", "c"].into_iter();
        all.filter(|name| resting.sessions.contains_key(&id(name)))
            .collect()
    }

    #[test]
    fn the_last_used_conversations_stay_within_the_bound() {
        for (story, expected) in [
            (&[][..], &[][..]),
            (&[("a", false)], &["a"]),
            (&[("a", false), ("a", false), ("b", false)], &["a", "b"]),
            (&[("a", false), ("b", false), ("c", false)], &["b", "c"]),
            (
                &[("a", false), ("b", false), ("a", true), ("c", false)],
                &["a", "c"],
            ),
        ] {
            assert_eq!(kept(story), expected, "{story:?}");
        }
    }

    #[test]
    fn the_size_of_a_conversation_includes_its_encoded_request() {
        let conversation = Conversation::default();
        let protocol = ProtocolId::OpenAiChat;
        let model = ResolvedModel::new("p", "m", protocol, "http://127.0.0.1");
        let mut request = LlmRequest::new(Arc::new(model));
        request.prefix = conversation.prefix.clone();
        request.tools = Arc::from([ToolDefinition {
            name: "tool".to_owned(),
            description: "a".repeat(20_000),
            input_schema: serde_json::json!({}).into(),
        }]);
        let empty = conversation.bytes();
        adapter(protocol).prefix(&request, None).unwrap();
        assert!(conversation.bytes() > empty + 20_000);
    }

    #[test]
    fn a_conversation_larger_than_the_bound_is_not_cached() {
        let conversations = Conversations::with_max_bytes(OVERHEAD - 1);
        conversations.keep(id("a"), Conversation::default());
        let resting = conversations.resting.lock();
        assert_eq!((resting.sessions.len(), resting.bytes), (0, 0));
    }
}
