//! The changes that the steps of a session made to files, from the snapshots of its steps.
//!
//! The store collects the paths. Their lines are counted in the background, each path again only after another step
//! changed it, so the work depends on the files of the new steps.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use opencode_location::location::Locations;
use opencode_schema::event::{Notice, SessionDiffed, SessionEvent};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::session::FileDiff;
use opencode_snapshots::{SnapshotError, Snapshots};
use opencode_store::{Abort, Changes, Committed, CountedFile, SessionRow};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::SnapshotStores;
use crate::error::RuntimeError;
use crate::journal::Journal;

/// Maximum size of all patches of a diff in bytes. Files beyond the limit only have their line counts.
const MAX_PATCHES: usize = 512 * 1024;

/// Maximum number of files of a diff.
const MAX_FILES: usize = 10_000;

/// Number of files that are counted together. Other users of the snapshots run between two batches.
const TOGETHER: usize = 100;

const ELSEWHERE: &str =
    "The snapshots of the session's steps are not on this machine; it was imported or moved here";

/// Maximum number of sessions whose changes wait to be counted.
const QUEUE: usize = 1_024;

/// Receives the sessions whose steps changed files.
#[derive(Clone)]
pub(crate) struct ChangedSessions(mpsc::Sender<SessionID>);

impl ChangedSessions {
    pub(crate) fn new() -> (Self, mpsc::Receiver<SessionID>) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        (Self(sender), receiver)
    }

    /// Notes the sessions with new changes. Runs on the thread of the writer and never waits. A session that finds no
    /// place is counted after its next change.
    pub(crate) fn committed(&self, committed: &[Committed]) {
        for entry in committed {
            let has_changes = match &entry.event.payload {
                SessionEvent::StepEnded(ended) => {
                    ended.files.as_ref().is_some_and(|files| !files.is_empty())
                }
                SessionEvent::RevertCommitted(_) => true,
                _ => false,
            };
            if has_changes {
                let _ = self.0.try_send(entry.event.session_id.clone());
            }
        }
    }
}

/// The changes of files of a host's sessions.
pub(crate) struct SessionChanges {
    pub(crate) journal: Arc<Journal>,
    pub(crate) locations: Arc<Locations>,
    pub(crate) snapshots: Arc<SnapshotStores>,
    pub(crate) running: Counting,
    /// Ends the counting.
    pub(crate) closing: CancellationToken,
}

/// The sessions whose files are being counted. The value is true if another step ended meanwhile.
#[derive(Default)]
pub(crate) struct Counting(Mutex<HashMap<SessionID, bool>>);

impl Counting {
    /// Returns true if the caller must begin to count.
    fn begin(&self, id: &SessionID) -> bool {
        let mut running = self.0.lock();
        match running.get_mut(id) {
            Some(again) => {
                *again = true;
                false
            }
            None => {
                running.insert(id.clone(), false);
                true
            }
        }
    }

    /// Returns true if the caller must count again.
    fn goes_on(&self, id: &SessionID) -> bool {
        let mut running = self.0.lock();
        match running.get_mut(id) {
            Some(again) if *again => {
                *again = false;
                true
            }
            _ => {
                running.remove(id);
                false
            }
        }
    }
}

impl SessionChanges {
    /// Returns the differences that the steps of a session made, or those of one prompt or one answer. Empty without
    /// snapshots.
    pub(crate) async fn diff(
        &self,
        id: &SessionID,
        message: Option<MessageID>,
    ) -> Result<Vec<FileDiff>, RuntimeError> {
        let (session, changes) = self.changes(id, message).await?;
        let Some(changes) = changes.filter(|changes| !changes.paths.is_empty()) else {
            return Ok(Vec::new());
        };
        let Some(snapshots) = self.snapshots_of(&session).await? else {
            return Ok(Vec::new());
        };
        let Changes { start, end, paths } = &changes;
        let diff = snapshots.diff(start, end, paths, MAX_PATCHES).await;
        diff.map_err(|error| match error {
            SnapshotError::Missing(_) => RuntimeError::Unavailable {
                service: "session.diff",
                message: ELSEWHERE.into(),
            },
            other => other.into(),
        })
    }

    async fn changes(
        &self,
        id: &SessionID,
        message: Option<MessageID>,
    ) -> Result<(SessionRow, Option<Changes>), RuntimeError> {
        let wanted = id.clone();
        let read = self.journal.store.read(move |reader| {
            let Some(session) = reader.session(&wanted)? else {
                return Ok(None);
            };
            let Some(message) = message else {
                let changes = reader.changes(session.key, MAX_FILES)?;
                return Ok(Some((session, Ok(changes))));
            };
            let changes = match reader.message_seq(session.key, &message)? {
                Some(seq) => Ok(reader.changes_of_message(session.key, seq, MAX_FILES)?),
                None => Err(message),
            };
            Ok(Some((session, changes)))
        });
        let found = read.await?;
        let (session, changes) = found.ok_or_else(|| RuntimeError::SessionNotFound(id.clone()))?;
        match changes {
            Ok(changes) => Ok((session, changes)),
            Err(message_id) => Err(RuntimeError::MessageNotFound {
                session_id: id.clone(),
                message_id,
            }),
        }
    }

    /// Returns the snapshots of the session's Location, or `None` if it has none.
    async fn snapshots_of(&self, session: &SessionRow) -> Result<Option<Snapshots>, RuntimeError> {
        let location = self.locations.get(&session.info.location.directory).await?;
        if !location.configuration.settings.snapshots {
            return Ok(None);
        }
        Ok(self.snapshots.of(&location).await)
    }

    /// Counts the changed lines of these sessions until the host closes or is dropped. It does not keep the store
    /// open while it waits.
    pub(crate) async fn follow(
        changes: Weak<Self>,
        mut changed: mpsc::Receiver<SessionID>,
        tasks: TaskTracker,
        closing: CancellationToken,
    ) {
        while let Some(Some(id)) = closing.run_until_cancelled(changed.recv()).await
            && let Some(changes) = changes.upgrade()
        {
            changes.begin_count(&id, &tasks);
        }
    }

    /// Begins to count the changed lines of the session in the background. Never waits.
    fn begin_count(self: &Arc<Self>, id: &SessionID, tasks: &TaskTracker) {
        if !self.running.begin(id) {
            return;
        }
        let (changes, id) = (Arc::clone(self), id.clone());
        opencode_log::spawn_tracked(tasks, async move {
            loop {
                let counted = changes.closing.run_until_cancelled(changes.count(&id));
                if let Some(Err(error)) = counted.await {
                    tracing::warn!(session_id = %id, %error, "the changed lines were not counted");
                }
                if !changes.running.goes_on(&id) {
                    return;
                }
            }
        });
    }

    async fn count(&self, id: &SessionID) -> Result<(), RuntimeError> {
        let session = self.journal.session(id).await?;
        let Some(snapshots) = self.snapshots_of(&session).await? else {
            return Ok(());
        };
        let key = session.key;
        let stale = || {
            let read =
                move |reader: &opencode_store::Reader<'_>| reader.stale_changes(key, TOGETHER);
            self.journal.store.read(read)
        };
        while let Some(Changes { start, end, paths }) = stale().await? {
            let diff = snapshots.diff(&start, &end, &paths, 0).await?;
            let files = counted(paths, &diff);
            let stored = self.journal.store.write(move |transaction| {
                Ok::<_, Abort<RuntimeError>>(transaction.count_changes(key, &end, &files)?)
            });
            if stored.await?.is_none() {
                // A later step changed files, and its end begins the next count.
                return Ok(());
            }
        }
        self.announce(id).await
    }

    /// Announces the differences if a subscriber selects the event.
    async fn announce(&self, id: &SessionID) -> Result<(), RuntimeError> {
        let announcer = &self.journal.announcer;
        if !announcer.is_selected(SessionDiffed::NAME, id) {
            return Ok(());
        }
        let diff = self.diff(id, None).await?;
        let session = self.journal.session(id).await?;
        let session_id = id.clone();
        let notice = Notice::SessionDiff(SessionDiffed { session_id, diff });
        announcer.notify(Some(&session.info.location), &notice);
        Ok(())
    }
}

/// Returns the counts of these paths. A path without a difference has none.
fn counted(paths: Vec<String>, diff: &[FileDiff]) -> Vec<CountedFile> {
    let lines: HashMap<&str, (u64, u64)> = diff
        .iter()
        .map(|file| (file.path.as_str(), (file.additions, file.deletions)))
        .collect();
    let counted = paths.into_iter().map(|path| CountedFile {
        lines: lines.get(path.as_str()).copied(),
        path,
    });
    counted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_coalesced_while_one_runs() {
        let id = SessionID::parse("ses_a").unwrap();
        let counting = Counting::default();
        assert!(counting.begin(&id));
        assert!(!counting.begin(&id));
        assert!(!counting.begin(&id));
        assert!(counting.goes_on(&id));
        assert!(!counting.goes_on(&id));
        assert!(counting.begin(&id));
    }
}
