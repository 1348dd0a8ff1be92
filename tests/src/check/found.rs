//! The stored data, read with the operations of the runtime.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use opencode_runtime::{Interrupted, Order, Runtime, RuntimeError, SessionFilter};
use opencode_schema::id::{EventID, SessionID};
use opencode_schema::message::{SessionMessage, TURN_LIMIT};
use opencode_schema::prompt::SessionInputAdmitted;
use opencode_schema::session::SessionInfo;
use serde::Deserialize;
use serde_json::Value;

use super::CheckError;
use crate::export;

/// More entries than any life has.
const ALL: usize = 1_000_000;

/// All stored data.
pub(super) struct Found {
    pub(super) sessions: BTreeMap<SessionID, Session>,
    pub(super) interrupted: Vec<Interrupted>,
}

/// The data of one session.
#[derive(Debug, PartialEq)]
pub(super) struct Session {
    pub(super) info: SessionInfo,
    pub(super) messages: Vec<(u64, SessionMessage)>,
    pub(super) inbox: Vec<SessionInputAdmitted>,
    /// The lines of its export. The first line describes the session.
    pub(super) lines: Vec<String>,
    pub(super) entries: Vec<Entry>,
}

/// An entry of the log in its exported form.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Entry {
    pub(super) id: EventID,
    pub(super) seq: u64,
    #[serde(rename = "type")]
    kind: String,
    pub(super) data: Value,
    #[serde(default)]
    metadata: Value,
}

impl Entry {
    /// True if it ends the last turn that its prompt may take, in which the model called tools.
    pub(super) fn has_limit(&self) -> bool {
        self.metadata.get(TURN_LIMIT).is_some()
    }

    /// The short name of the event: `prompted`, `step.ended`, `session.created`.
    pub(super) fn name(&self) -> &str {
        let name = self.kind.strip_prefix("session.next.");
        let name = name.unwrap_or(&self.kind);
        name.rsplit_once('.').map_or(name, |(name, _version)| name)
    }

    pub(super) fn text(&self, field: &str) -> &str {
        self.data[field].as_str().unwrap_or_default()
    }
}

impl Found {
    pub(super) async fn read(runtime: &Runtime) -> Result<Self, CheckError> {
        let listed = runtime.sessions(SessionFilter::default(), Order::Ascending, None, ALL);
        let mut sessions = BTreeMap::new();
        for info in done("sessions", listed.await)? {
            let id = info.id.clone();
            sessions.insert(id.clone(), Session::read(runtime, &id).await?);
        }
        let interrupted = done("interrupted", runtime.interrupted().await)?;
        Ok(Self {
            sessions,
            interrupted,
        })
    }

    /// The most recently changed sessions, at most `most`.
    pub(super) fn newest(&self, most: usize) -> Vec<(&SessionID, &Session)> {
        let mut sessions: Vec<_> = self.sessions.iter().collect();
        sessions.sort_by_key(|(_, session)| Reverse(session.changed()));
        sessions.truncate(most);
        sessions
    }
}

impl Session {
    /// Time of the newest entry.
    fn changed(&self) -> i64 {
        let times = self
            .entries
            .iter()
            .map(|entry| entry.data["timestamp"].as_i64());
        times.flatten().max().unwrap_or(self.info.time.created)
    }

    pub(super) async fn read(runtime: &Runtime, id: &SessionID) -> Result<Self, CheckError> {
        let lines = done("export", export::lines(runtime, id).await)?;
        let messages = runtime.messages(id, Order::Ascending, None, ALL);
        Ok(Self {
            info: done("session", runtime.session(id).await)?,
            messages: done("messages", messages.await)?
                .into_iter()
                .map(|(seq, message)| (seq.into(), message))
                .collect(),
            inbox: done("inbox", runtime.inbox(id).await)?,
            entries: lines.iter().skip(1).map(|line| entry(line)).collect(),
            lines,
        })
    }
}

fn entry(line: &str) -> Entry {
    serde_json::from_str(line).expect("a line of an export is an entry")
}

/// The answer of an operation that must not fail.
pub(super) fn done<T>(
    what: &'static str,
    answer: Result<T, RuntimeError>,
) -> Result<T, CheckError> {
    answer.map_err(|error| CheckError::Runtime(what, error))
}
