//! Imports the logs into an empty store, and expects the same sessions and the same logs. Only the end of open work
//! follows the log.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use futures::stream;
use opencode_runtime::{DatabasePath, ImportChoices, Recovery, Runtime};
use opencode_schema::id::SessionID;
use opencode_schema::session::SessionInfo;
use opencode_testkit::ScriptedModel;

use super::CheckError;
use super::found::{Found, Session, done};
use crate::folder::Folder;
use crate::host::{Host, HostOptions};

/// The events that end open work.
const ENDS: &[&str] = &[
    "prompt.withdrawn",
    "tool.failed",
    "shell.ended",
    "step.failed",
    "interrupted",
];

/// More sessions than one generation changes.
const SESSIONS: usize = 24;

pub(super) async fn check(
    folder: &Folder,
    found: &Found,
    findings: &mut Vec<String>,
) -> Result<(), CheckError> {
    let host = empty(folder.path()).await?;
    for (index, (id, session)) in found.newest(SESSIONS).into_iter().enumerate() {
        let entries = session.entries.len() as u64;
        // Imports some of them again, which must change nothing.
        for expected in [(entries, 0), (0, entries)]
            .iter()
            .take(1 + usize::from(index % 4 == 0))
        {
            let applied = import(&host.runtime, session).await?;
            if applied != *expected {
                findings.push(format!(
                    "the import of {id} did {applied:?}, not {expected:?}"
                ));
            }
        }
        compare(&host.runtime, id, session, findings).await?;
    }
    host.runtime.close().await;
    Ok(())
}

async fn empty(folder: &Path) -> Result<Host, CheckError> {
    let host = Host::open(HostOptions {
        folder,
        database: DatabasePath::Memory,
        model: Arc::new(ScriptedModel::new()),
        tools: Vec::new(),
        test_hook: None,
        recovery: Recovery::Manual,
    });
    Ok(host.await?)
}

/// The numbers of applied and skipped entries.
async fn import(runtime: &Runtime, session: &Session) -> Result<(u64, u64), CheckError> {
    let lines = session.lines.clone().into_iter().map(Ok::<_, Infallible>);
    let choices = ImportChoices::default();
    let imported = runtime.import(stream::iter(lines), choices).await;
    let imported = done("import", imported)?;
    Ok((imported.applied, imported.skipped))
}

async fn compare(
    runtime: &Runtime,
    id: &SessionID,
    session: &Session,
    findings: &mut Vec<String>,
) -> Result<(), CheckError> {
    let replayed = Session::read(runtime, id).await?;
    let kept = replayed.lines.len().min(session.lines.len());
    let ended: Vec<_> = replayed.entries[session.entries.len().min(replayed.entries.len())..]
        .iter()
        .map(|entry| entry.name())
        .collect();
    for (what, same) in [
        (
            "record",
            without_local(&replayed.info) == without_local(&session.info),
        ),
        (
            "messages",
            !ended.is_empty() || replayed.messages == session.messages,
        ),
        ("inbox", replayed.inbox.is_empty()),
        ("log", replayed.lines[..kept] == session.lines),
        ("end", ended.iter().all(|name| ENDS.contains(name))),
    ] {
        if !same {
            findings.push(format!(
                "replayed into an empty store, {id} has another {what}"
            ));
        }
    }
    Ok(())
}

/// Returns a record without the values that no log carries: counts from the snapshots of a host, the address of its
/// shared copy, and its origin.
fn without_local(info: &SessionInfo) -> SessionInfo {
    SessionInfo {
        summary: None,
        share: None,
        imported: None,
        ..info.clone()
    }
}
