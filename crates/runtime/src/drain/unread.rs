//! The sessions that were told that the host asks more often, because some configuration cannot be read.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use opencode_schema::id::SessionID;
use opencode_schema::message::{ErrorCause, ErrorKind};
use opencode_store::SessionRow;
use parking_lot::Mutex;

use super::Runner;
use super::sample::Sampled;

/// Maximum number of remembered sessions. If it is exceeded, sessions are told again.
const MAX_SESSIONS: usize = 10_000;

/// Maximum number of reasons in a message.
const MAX_REASONS: usize = 10;

/// The sessions that were told, each with a hash of the reasons.
#[derive(Default)]
pub(crate) struct NotifiedSessions(Mutex<HashMap<SessionID, u64>>);

impl NotifiedSessions {
    /// Returns true if the session must be told of these reasons. Without reasons, forgets earlier ones.
    fn note(&self, session: &SessionID, reasons: &[String]) -> bool {
        let mut notified = self.0.lock();
        if reasons.is_empty() {
            notified.remove(session);
            return false;
        }
        let mut hasher = DefaultHasher::new();
        reasons.hash(&mut hasher);
        let hash = hasher.finish();
        if notified.len() >= MAX_SESSIONS && !notified.contains_key(session) {
            notified.clear();
        }
        notified.insert(session.clone(), hash) != Some(hash)
    }

    pub(super) fn forget(&self, session: &SessionID) {
        self.0.lock().remove(session);
    }
}

impl Runner {
    /// Tells clients once that the host asks before actions that unreadable configuration might have
    /// restricted.
    pub(super) fn report_unread(&self, session: &SessionRow, sampled: &Sampled) {
        let reasons = sampled.location.agents.unread();
        if !self.shared.notified.note(&session.info.id, reasons) {
            return;
        }
        let mut message = "Some configuration cannot be read, so the host asks before everything that it might have restricted:".to_owned();
        for reason in reasons.iter().take(MAX_REASONS) {
            message += &format!("\n{reason}");
        }
        if reasons.len() > MAX_REASONS {
            let more = reasons.len() - MAX_REASONS;
            message += &format!("\n{more} more; location.diagnostics lists them all");
        }
        sampled.location.secrets.clean(&mut message);
        tracing::warn!(session_id = %session.info.id, "{message}");
        let cause = ErrorCause {
            kind: ErrorKind::Permission,
            status: None,
            retryable: false,
            retry_after_ms: None,
            provider_id: None,
        };
        let location = Some(&session.info.location);
        self.services.journal.announcer.announce_failure(
            &session.info.id,
            location,
            message,
            cause,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_reports_the_same_reasons_once() {
        let notified = NotifiedSessions::default();
        let session = SessionID::parse("ses_1").unwrap();
        let note = |reasons: &[&str]| {
            let reasons: Vec<_> = reasons.iter().map(|it| (*it).to_owned()).collect();
            notified.note(&session, &reasons)
        };
        assert!(!note(&[]));
        assert!(note(&["a"]));
        assert!(!note(&["a"]));
        assert!(note(&["a", "b"]));
        assert!(!note(&[]));
        assert!(note(&["a", "b"]));
    }
}
