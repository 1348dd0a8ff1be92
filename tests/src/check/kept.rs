//! Checks the file of a session that works alone in its directory against the staged revert.

use std::fs;
use std::path::Path;

use opencode_schema::id::MessageID;
use opencode_schema::message::SessionMessage;

use super::found::{Found, Session};
use crate::host::is_kept;
use crate::ledger::Ledger;
use crate::model::{KEPT_FILE, kept_by};

/// A cleared revert has restored the files.
pub(super) fn check(ledger: &Ledger, found: &Found, findings: &mut Vec<String>) {
    for id in &ledger.young {
        let Some(session) = found.sessions.get(id) else {
            continue;
        };
        let mut entries = session.entries.iter();
        let is_cleared = entries.any(|entry| entry.name() == "revert.cleared");
        if is_cleared && session.info.revert.is_none() {
            compare(session, None, findings);
        }
    }
}

/// Compares the file with its expected content, given the boundary of the staged revert, if one is staged.
pub(super) fn compare(session: &Session, boundary: Option<&MessageID>, findings: &mut Vec<String>) {
    let directory = &session.info.location.directory;
    if !is_kept(directory) {
        return;
    }
    let content = fs::read_to_string(Path::new(directory).join(KEPT_FILE)).ok();
    let expected = expected(session, boundary);
    if content.as_deref() != expected {
        let id = &session.info.id;
        findings.push(format!(
            "the file of {id} is {content:?} instead of {expected:?}, going back to {boundary:?}"
        ));
    }
}

/// The content that the newest prompt before the boundary had written.
fn expected<'a>(session: &'a Session, boundary: Option<&MessageID>) -> Option<&'a str> {
    let messages = session.messages.iter();
    let prompts = messages.filter_map(|(_, message)| match message {
        SessionMessage::User { id, text, .. } => Some((id, kept_by(text)?)),
        _ => None,
    });
    let before = prompts.take_while(|(id, _)| Some(*id) != boundary);
    before.last().map(|(_, content)| content)
}
