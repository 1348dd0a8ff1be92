//! Sessions that run without tools where their agent does not exist.
//!
//! By the contract, a network client may give a session any agent, and a turn of an unknown one has
//! neither prompt nor tools. The embedding program gets a failure with suggestions instead. So the
//! client whose prompt came last decides. After a restart every session is the program's.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use opencode_schema::id::SessionID;

/// Most sessions that are remembered. Others fail where their agent does not exist.
const MAX_SESSIONS: usize = 10_000;

/// The sessions whose last prompt came from a client of the contract.
#[derive(Default)]
pub(crate) struct UnknownAgents(Mutex<HashSet<SessionID>>);

impl UnknownAgents {
    /// Notes who prompts a session.
    pub(crate) fn note(&self, session: &SessionID, is_tolerated: bool) {
        let mut sessions = self.lock();
        if !is_tolerated {
            sessions.remove(session);
        } else if sessions.len() < MAX_SESSIONS {
            sessions.insert(session.clone());
        }
    }

    /// Whether the session runs although its agent does not exist.
    pub(crate) fn are_tolerated(&self, session: &SessionID) -> bool {
        self.lock().contains(session)
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<SessionID>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
