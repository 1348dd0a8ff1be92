//! Sessions that run without tools if their agent does not exist.
//!
//! According to the API contract, a network client may give a session any agent, and a turn with an unknown agent has
//! neither prompt nor tools. The embedding program gets an error with suggestions instead. Therefore the client that
//! sent the last prompt decides. After a restart, every session is treated as one of the embedding program.

use std::collections::HashSet;

use opencode_schema::id::SessionID;
use parking_lot::Mutex;

/// Maximum number of remembered sessions. Other sessions fail if their agent does not exist.
const MAX_SESSIONS: usize = 10_000;

/// The sessions whose last prompt came from a network client.
#[derive(Default)]
pub(crate) struct UnknownAgents(Mutex<HashSet<SessionID>>);

impl UnknownAgents {
    /// Records if the client that prompts a session tolerates an unknown agent.
    pub(crate) fn note(&self, session: &SessionID, is_tolerated: bool) {
        let mut sessions = self.0.lock();
        if !is_tolerated {
            sessions.remove(session);
        } else if sessions.len() < MAX_SESSIONS {
            sessions.insert(session.clone());
        }
    }

    /// Returns true if the session may run although its agent does not exist.
    pub(crate) fn are_tolerated(&self, session: &SessionID) -> bool {
        self.0.lock().contains(session)
    }
}
