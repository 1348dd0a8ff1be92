//! The agent, the Location and the own permission rules of sessions, kept in memory, because every tool call is decided by
//! them.
//!
//! SQLite itself tells which sessions changed: triggers of the writing connection. A changed session is forgotten after
//! the commit and before its caller receives the result. So a decision that begins after the answer reads the new rules.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use opencode_schema::id::SessionID;
use opencode_schema::permission::PermissionRule;
use parking_lot::Mutex;
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use crate::error::StoreError;
use crate::integer::SessionKey;
use crate::view::reader::Reader;

/// Maximum number of sessions whose rules are kept.
const SESSIONS: usize = 1_024;

/// Number of changes that a read which takes place at the same time can miss and still be kept.
const CHANGES: usize = 64;

/// The part of a session that decides about its tool calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRules {
    key: SessionKey,
    /// The chosen agent.
    pub agent: Option<String>,
    /// The directory of the Location.
    pub directory: String,
    /// The permission rules of the session itself.
    pub permission: Arc<[PermissionRule]>,
}

impl Reader<'_> {
    /// Reads the rules of a session.
    pub(crate) fn session_rules(&self, id: &SessionID) -> Result<Option<SessionRules>, StoreError> {
        let session = self.session(id)?;
        Ok(session.map(|session| SessionRules {
            key: session.key,
            agent: session.info.agent,
            directory: session.info.location.directory,
            permission: session.permission.into(),
        }))
    }
}

/// The rules of the sessions that were decided about last.
#[derive(Clone, Default)]
pub(crate) struct KnownRules(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    rules: HashMap<SessionID, Arc<SessionRules>>,
    /// Number of committed changes so far.
    changes: u64,
    /// The sessions of the last changes, the newest last.
    changed: VecDeque<SessionKey>,
    /// Sessions that the open transaction changed, and those before it that were rolled back.
    uncommitted: HashSet<SessionKey>,
}

/// The number of committed changes at the begin of a read.
#[derive(Clone, Copy)]
pub(crate) struct ReadBegin(u64);

impl KnownRules {
    /// Follows the changes that the writing connection makes.
    pub(crate) fn follow(&self, connection: &Connection) -> rusqlite::Result<()> {
        let state = Arc::clone(&self.0);
        connection.create_scalar_function(
            "session_rules_changed",
            1,
            FunctionFlags::SQLITE_UTF8,
            move |context| {
                state.lock().uncommitted.insert(context.get(0)?);
                Ok(true)
            },
        )?;
        connection.execute_batch(
            "CREATE TEMP TRIGGER session_rules_updated
               AFTER UPDATE OF agent, directory, permission ON main.session
               BEGIN SELECT session_rules_changed(OLD.aggregate); END;
             CREATE TEMP TRIGGER session_rules_removed AFTER DELETE ON main.session
               BEGIN SELECT session_rules_changed(OLD.aggregate); END;",
        )
    }

    pub(crate) fn get(&self, id: &SessionID) -> Result<Arc<SessionRules>, ReadBegin> {
        let state = self.0.lock();
        let known = state.rules.get(id).cloned();
        known.ok_or(ReadBegin(state.changes))
    }

    /// Keeps rules that were read, unless the session changed after the begin of the read.
    pub(crate) fn keep(&self, id: SessionID, rules: &Arc<SessionRules>, begin: ReadBegin) {
        let mut state = self.0.lock();
        let missed = (state.changes - begin.0) as usize;
        let mut newest = state.changed.iter().rev().take(missed);
        if missed > CHANGES || newest.any(|changed| *changed == rules.key) {
            return;
        }
        if state.rules.len() >= SESSIONS {
            let any = state.rules.keys().next().cloned();
            any.and_then(|any| state.rules.remove(&any));
        }
        state.rules.insert(id, Arc::clone(rules));
    }

    /// Forgets the sessions that the last transaction changed.
    pub(crate) fn forget_changed(&self) {
        let mut state = self.0.lock();
        let changed = std::mem::take(&mut state.uncommitted);
        if changed.is_empty() {
            return;
        }
        state.rules.retain(|_, rules| !changed.contains(&rules.key));
        for key in changed {
            state.changes += 1;
            state.changed.push_back(key);
            if state.changed.len() > CHANGES {
                state.changed.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(key: i64) -> Arc<SessionRules> {
        Arc::new(SessionRules {
            key: SessionKey(key),
            agent: None,
            directory: "/".into(),
            permission: Arc::new([]),
        })
    }

    fn id(number: i64) -> SessionID {
        SessionID::parse(&format!("ses_{number:026}")).expect("valid")
    }

    fn change(known: &KnownRules, key: i64) {
        known.0.lock().uncommitted.insert(SessionKey(key));
        known.forget_changed();
    }

    fn begin(known: &KnownRules, session: &SessionID) -> ReadBegin {
        known.get(session).expect_err("not known")
    }

    #[test]
    fn a_read_that_missed_a_change_of_its_session_is_not_kept() {
        let known = KnownRules::default();
        let before = begin(&known, &id(1));
        change(&known, 1);
        change(&known, 2);
        known.keep(id(1), &rules(1), before);
        let between = begin(&known, &id(1));
        change(&known, 2);
        known.keep(id(1), &rules(1), between);
        assert_eq!(known.get(&id(1)).ok(), Some(rules(1)));
        change(&known, 1);
        begin(&known, &id(1));
    }

    #[test]
    fn a_read_that_missed_more_changes_than_are_noted_is_not_kept() {
        let known = KnownRules::default();
        for (changes, is_kept) in [(CHANGES, true), (CHANGES + 1, false)] {
            let session = id(changes as i64);
            let before = begin(&known, &session);
            for _ in 0..changes {
                change(&known, 7);
            }
            known.keep(session.clone(), &rules(1), before);
            assert_eq!(known.get(&session).is_ok(), is_kept, "{changes} changes");
        }
    }

    #[test]
    fn the_number_of_sessions_is_limited() {
        let known = KnownRules::default();
        for number in 0..2 * SESSIONS as i64 {
            let session = id(number);
            let before = begin(&known, &session);
            known.keep(session, &rules(number), before);
        }
        assert_eq!(known.0.lock().rules.len(), SESSIONS);
    }
}
