//! Reverts of a session: a revert is staged, and then cleared or committed.
//!
//! Staging is recorded before files change, with all data that is needed to undo it. If the process
//! dies, the session still records the planned state of the files: staging again or committing
//! completes the revert, clearing undoes it. Each of them leaves files unchanged that another process
//! or session changed.

mod files;
mod plan;

use std::collections::HashSet;
use std::sync::Arc;

use opencode_schema::clock::Millis;
use opencode_schema::event::{RevertCleared, RevertCommitted, RevertStaged};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::message::{AssistantPart, SessionMessage};
use opencode_schema::session::RevertState;
use opencode_snapshots::SnapshotError;
use opencode_store::{Abort, Sequence, SessionKey, SessionRow, StoreError, Transaction};
use parking_lot::{Mutex, MutexGuard};
use tracing::Span;

use self::files::Staging;
use self::plan::Plan;
use crate::error::RuntimeError;
use crate::journal::{Journal, append};
use crate::sessions::Sessions;
use crate::snapshots::SnapshotStores;

/// The boundary of a revert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageRevert {
    /// The session.
    pub session_id: SessionID,
    /// The message to go back to. It stays visible. An answer means its prompt, unless `exact` is set.
    pub message_id: MessageID,
    /// A part of that message: this part and everything after it are reverted. Without a text or a call before it, it
    /// means the whole message.
    pub part_id: Option<String>,
    /// True if an answer is the boundary itself.
    pub exact: bool,
    /// True to revert files as well.
    pub files: bool,
}

/// Staging, clearing and committing of reverts.
pub(crate) struct Reverts {
    journal: Arc<Journal>,
    sessions: Arc<Sessions>,
    snapshots: Arc<SnapshotStores>,
    /// The sessions whose staged revert this host has carried out on the files. For a revert that an earlier process
    /// staged, this is unknown.
    carried_out: Mutex<HashSet<SessionKey>>,
}

impl Reverts {
    pub(crate) fn new(sessions: Arc<Sessions>, snapshots: Arc<SnapshotStores>) -> Self {
        Self {
            journal: Arc::clone(&sessions.journal),
            sessions,
            snapshots,
            carried_out: Mutex::default(),
        }
    }

    fn carried_out(&self) -> MutexGuard<'_, HashSet<SessionKey>> {
        self.carried_out.lock()
    }
}

/// Records that the staged revert is committed.
pub(crate) fn record_reverted(
    transaction: &mut Transaction<'_>,
    session: &SessionRow,
    now: Millis,
    message_id: MessageID,
) -> Result<Sequence, StoreError> {
    match transaction.reader().message_seq(session.key, &message_id)? {
        Some(_) => append(transaction, session, now, RevertCommitted { message_id }),
        // The log was imported, and its revert names a message that it never contained.
        None => append(transaction, session, now, RevertCleared {}),
    }
}

impl Reverts {
    pub(crate) async fn stage_revert(
        &self,
        request: StageRevert,
    ) -> Result<RevertState, RuntimeError> {
        let session = self.journal.session(&request.session_id).await?;
        Span::current().record("location", &session.info.location.directory);
        let (message_id, part_id) = self.boundary(&session, &request).await?;
        let mut revert = RevertState {
            message_id,
            part_id,
            snapshot: None,
            diff: None,
            files: None,
            conflicts: None,
        };
        let plan = if request.files {
            self.plan(&session, &revert).await?
        } else {
            Plan::default()
        };
        let staging = self.prepare(&session, &plan).await?;
        if let Some(staging) = &staging {
            staging.describe(&mut revert);
        }
        self.record_staged(&session, &revert).await?;
        if let Some(staging) = staging {
            self.carry_out(&session, staging, &mut revert).await?;
        }
        Ok(revert)
    }

    /// Applies the staged revert to the files. Files that cannot be reverted are listed as conflicts.
    /// If the restore fails as a whole, the revert is cleared.
    async fn carry_out(
        &self,
        session: &SessionRow,
        mut staging: Staging,
        revert: &mut RevertState,
    ) -> Result<(), RuntimeError> {
        match staging.restore().await {
            Ok(()) => {}
            Err(SnapshotError::Restore(failed)) => {
                for (path, error) in &failed {
                    tracing::warn!(path, %error, "a file was not reverted");
                }
                staging.exclude(failed.into_iter().map(|(path, _)| path));
                staging.describe(revert);
                self.record_staged(session, revert).await?;
            }
            Err(error) => {
                if let Err(stays) = self.clear_revert(&session.info.id).await {
                    tracing::warn!(error = %stays, "a revert that failed stays staged");
                }
                return Err(error.into());
            }
        }
        self.carried_out().insert(session.key);
        Ok(())
    }

    pub(crate) async fn clear_revert(&self, id: &SessionID) -> Result<(), RuntimeError> {
        let session = self.journal.session(id).await?;
        Span::current().record("location", &session.info.location.directory);
        let Some(revert) = &session.info.revert else {
            return Ok(());
        };
        self.restore_unreverted(&session, revert).await?;
        self.write_revert(&session, |transaction, session, now| {
            append(transaction, session, now, RevertCleared {})
        })
        .await
    }

    /// Commits the staged revert of a session, if there is one. The caller must have exclusive access
    /// to the session.
    pub(crate) async fn commit_staged_revert(&self, id: &SessionID) -> Result<(), RuntimeError> {
        let session = self.journal.session(id).await?;
        Span::current().record("location", &session.info.location.directory);
        let Some(revert) = &session.info.revert else {
            return Ok(());
        };
        if !self.carried_out().contains(&session.key) {
            // The revert is committed even if the files cannot be reverted.
            if let Err(error) = self.finish(&session, revert).await {
                tracing::warn!(%error, session_id = %id, "files were not reverted");
            }
        }
        let message_id = revert.message_id.clone();
        self.write_revert(&session, move |transaction, session, now| {
            record_reverted(transaction, session, now, message_id)
        })
        .await
    }

    async fn record_staged(
        &self,
        session: &SessionRow,
        revert: &RevertState,
    ) -> Result<(), RuntimeError> {
        let revert = revert.clone();
        self.write_revert(session, move |transaction, session, now| {
            append(transaction, session, now, RevertStaged { revert })
        })
        .await
    }

    /// Records a change of the staged revert, and notes that it is not applied to the files yet.
    async fn write_revert(
        &self,
        session: &SessionRow,
        write: impl FnOnce(&mut Transaction<'_>, &SessionRow, Millis) -> Result<Sequence, StoreError>
        + Send
        + 'static,
    ) -> Result<(), RuntimeError> {
        let (session, now) = (session.clone(), self.journal.now());
        let key = session.key;
        let written = self.journal.store.write(move |transaction| {
            write(transaction, &session, now)?;
            Ok::<(), Abort<RuntimeError>>(())
        });
        written.await?;
        self.carried_out().remove(&key);
        Ok(())
    }

    /// Returns the message and the part to go back to. Fails if the session does not contain the message, or the message
    /// does not contain the part.
    async fn boundary(
        &self,
        session: &SessionRow,
        request: &StageRevert,
    ) -> Result<(MessageID, Option<String>), RuntimeError> {
        let boundary = self
            .sessions
            .message(&session.info.id, &request.message_id)
            .await?;
        let content = match &boundary {
            SessionMessage::Assistant(message) => &message.content[..],
            _ => &[],
        };
        let part = request.part_id.as_ref();
        let position = part.map(|part| content.iter().rposition(|it| part_id(it) == part));
        if let (Some(part), Some(None)) = (part, position) {
            return Err(RuntimeError::PartNotFound {
                message_id: request.message_id.clone(),
                part_id: part.clone(),
            });
        }
        let kept = &content[..position.flatten().unwrap_or(0)];
        let keeps = |it: &AssistantPart| !matches!(it, AssistantPart::Reasoning { .. });
        let is_answer = matches!(boundary, SessionMessage::Assistant(_));
        if is_answer
            && !request.exact
            && !kept.iter().any(keeps)
            && let Some(prompt) = self.prompt_of(session, &request.message_id).await?
        {
            return Ok((prompt, None));
        }
        Ok((request.message_id.clone(), request.part_id.clone()))
    }

    /// Returns the last prompt before an answer.
    async fn prompt_of(
        &self,
        session: &SessionRow,
        answer: &MessageID,
    ) -> Result<Option<MessageID>, RuntimeError> {
        let (key, answer) = (session.key, answer.clone());
        let found = self.journal.store.read(move |reader| {
            let seq = reader.message_seq(key, &answer)?;
            seq.map_or(Ok(None), |seq| reader.prompt_before(key, seq))
        });
        Ok(found.await?)
    }
}

fn part_id(part: &AssistantPart) -> &str {
    match part {
        AssistantPart::Text { id, .. }
        | AssistantPart::Reasoning { id, .. }
        | AssistantPart::Tool { id, .. } => id,
    }
}
