//! Checks sessions, their settings, imported logs, and the events that streams have shown.

use opencode_schema::session::SessionInfo;

use super::found::Found;
use crate::folder::Folder;
use crate::host::project;
use crate::ledger::Ledger;
use crate::line::{NO_REVERT, Setting};

pub(super) fn check(folder: &Folder, ledger: &Ledger, found: &Found, findings: &mut Vec<String>) {
    for id in &ledger.sessions {
        if !found.sessions.contains_key(id) {
            findings.push(format!("the acknowledged session {id} is gone"));
        }
    }
    for (id, import) in &ledger.imports {
        match found.sessions.get(id) {
            None if import.done => findings.push(format!("the imported session {id} is gone")),
            Some(session) if (session.entries.len() as u64) < import.entries => {
                findings.push(format!("the session {id} is imported in part"));
            }
            _ => {}
        }
    }
    for ((id, seq), shown) in &ledger.shown {
        let session = found.sessions.get(id);
        let entry = session.and_then(|session| session.entries.get(*seq as usize));
        if entry.is_none_or(|entry| entry.seq != *seq || entry.id != *shown) {
            findings.push(format!(
                "the event {seq} of {id} was shown as {shown} and is {entry:?}"
            ));
        }
    }
    for ((id, what), may) in &ledger.settings {
        let Some(session) = found.sessions.get(id) else {
            continue;
        };
        let began = match what {
            Setting::Directory => Some(project(folder.path(), 0)),
            Setting::Revert => Some(NO_REVERT.to_owned()),
            Setting::Agent | Setting::Model => None,
        };
        let is = now(&session.info, *what);
        let is_allowed = may.iter().any(|it| match it {
            Some(_) => *it == is,
            None => is == began || ledger.is_import(id),
        });
        if !is_allowed {
            findings.push(format!(
                "{what:?} of {id} is {is:?} instead of one of {may:?}"
            ));
        }
    }
}

fn now(info: &SessionInfo, what: Setting) -> Option<String> {
    match what {
        Setting::Agent => info.agent.clone(),
        Setting::Model => info.model.as_ref().map(|model| model.id.clone()),
        Setting::Directory => Some(info.location.directory.clone()),
        Setting::Revert => {
            let staged = info
                .revert
                .as_ref()
                .map(|revert| revert.message_id.as_str());
            Some(staged.unwrap_or(NO_REVERT).to_owned())
        }
    }
}
