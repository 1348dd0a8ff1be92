//! Services that every part of the engine uses: storage, time, ids and the live stream.

use std::sync::Arc;

use opencode_llm::{ModelClient, RetryPolicy};
use opencode_location::locations::Locations;
use opencode_pty::Terminals;
use opencode_schema::clock::{Clock, Millis};
use opencode_schema::event::{
    LiveEvent, NamedError, NamedErrorData, NamedErrorTag, Notice, SessionError, SessionIdle,
    SessionStatus, SessionStatusChanged,
};
use opencode_schema::id::{EventID, IdSource, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::message::ErrorCause;
use opencode_schema::{envelope, event::SessionEvent};
use opencode_store::{Draft, SessionRow, Store, StoreError, Transaction};
use opencode_tools::{Registry, SearchServices, Web};

use crate::error::{DrainError, RuntimeError};
use crate::limits::Limits;
use crate::live::LiveEvents;
use crate::metrics::Metrics;
use crate::permissions::Permissions;
use crate::questions::Questions;
use crate::revert::Reverts;
use crate::snapshots::SnapshotStores;
use crate::sources::Sources;
use crate::tail::Followed;
use crate::tasks::RunningTasks;
use crate::terminals::Overlays;
use crate::todos::TodoUpdates;
use crate::transfer::ImportBudget;
use crate::unanswered::{Timer, Unanswered};
use crate::unknown_agents::UnknownAgents;

/// The services of one host.
pub(crate) struct Core {
    pub(crate) store: Store,
    pub(crate) live: Arc<LiveEvents>,
    pub(crate) ids: Arc<IdSource>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) locations: Arc<Locations>,
    pub(crate) sources: Sources,
    pub(crate) tools: Arc<Registry>,
    pub(crate) permissions: Permissions,
    pub(crate) questions: Questions,
    pub(crate) snapshots: SnapshotStores,
    pub(crate) reverts: Reverts,
    pub(crate) running_tasks: RunningTasks,
    pub(crate) unknown_agents: UnknownAgents,
    pub(crate) unanswered: Unanswered,
    pub(crate) timer: Arc<dyn Timer>,
    pub(crate) todo_updates: TodoUpdates,
    pub(crate) web: Arc<dyn Web>,
    pub(crate) search: Arc<SearchServices>,
    pub(crate) model: Arc<dyn ModelClient>,
    pub(crate) retry: RetryPolicy,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    pub(crate) imports: ImportBudget,
    pub(crate) followed: Followed,
    pub(crate) terminals: Terminals,
    pub(crate) overlays: Overlays,
}

impl Core {
    pub(crate) fn now(&self) -> Millis {
        self.clock.now()
    }

    /// Returns the session. Fails if it does not exist.
    pub(crate) async fn session(&self, id: &SessionID) -> Result<SessionRow, RuntimeError> {
        let wanted = id.clone();
        let found = self
            .store
            .read(move |reader| reader.session(&wanted))
            .await?;
        found.ok_or_else(|| RuntimeError::SessionNotFound(id.clone()))
    }

    /// Commits events of a running turn together, in order, and adds the directories that its calls read. If the
    /// session moved in the meantime, its explored directories were cleared, and the directories are not added.
    pub(crate) async fn commit(
        &self,
        session: &SessionRow,
        drafts: Vec<Draft>,
        explored: Vec<String>,
    ) -> Result<(), DrainError> {
        let (key, id) = (session.key, session.info.id.clone());
        let location = session.info.location.clone();
        let committed = self.store.write(move |transaction| {
            for draft in drafts {
                if let Err(conflict) = transaction.append(&id, Some(&location), draft)? {
                    return Ok(Err(conflict));
                }
            }
            if !explored.is_empty() && lives_at(transaction, &id, &location)? {
                for directory in &explored {
                    transaction.add_explored(key, directory)?;
                }
            }
            Ok(Ok(()))
        });
        committed
            .await?
            .map_err(|conflict| DrainError::Internal(conflict.to_string()))
    }

    /// Publishes a live event that is never stored.
    pub(crate) fn announce(&self, session: &SessionID, location: &LocationRef, event: LiveEvent) {
        self.live.publish(|| {
            let id = EventID::generate(&self.ids);
            envelope::live_text(&id, session, self.now(), Some(location), &event)
        });
    }

    /// Notifies connected clients of the reason why a session did not run.
    pub(crate) fn announce_failure(
        &self,
        session: &SessionID,
        location: Option<&LocationRef>,
        message: String,
        cause: ErrorCause,
    ) {
        let error = NamedError {
            name: NamedErrorTag::UnknownError,
            data: NamedErrorData { message },
            cause: Some(cause),
        };
        let failure = Notice::SessionError(SessionError {
            session_id: session.clone(),
            error,
        });
        self.notify(location, &failure);
    }

    /// Notifies connected clients that a session became busy or idle.
    pub(crate) fn announce_status(&self, session: &SessionID, active: bool) {
        let status = if active {
            SessionStatus::Busy { silent_ms: None }
        } else {
            SessionStatus::Idle
        };
        self.announce_status_change(session, status);
        if !active {
            let session_id = session.clone();
            self.notify(None, &Notice::SessionIdle(SessionIdle { session_id }));
        }
    }

    /// Notifies connected clients of the status of a session.
    pub(crate) fn announce_status_change(&self, session: &SessionID, status: SessionStatus) {
        let session_id = session.clone();
        let changed = SessionStatusChanged { session_id, status };
        self.notify(None, &Notice::SessionStatusChanged(changed));
    }

    /// Sends connected clients a notice that is never stored.
    pub(crate) fn notify(&self, location: Option<&LocationRef>, notice: &Notice) {
        notify(&self.live, &self.ids, location, notice);
    }
}

/// Sends connected clients a notice that is never stored.
pub(crate) fn notify(
    live: &LiveEvents,
    ids: &IdSource,
    location: Option<&LocationRef>,
    notice: &Notice,
) {
    live.publish(|| envelope::notice_text(&EventID::generate(ids), location, notice));
}

fn lives_at(
    transaction: &Transaction<'_>,
    id: &SessionID,
    location: &LocationRef,
) -> Result<bool, StoreError> {
    let session = transaction.reader().session(id)?;
    Ok(session.is_some_and(|session| session.info.location == *location))
}

/// Appends an event that a caller requested. A conflict here means that newly generated ids are already in use; it
/// is returned as a failure of the database.
pub(crate) fn append(
    transaction: &mut Transaction<'_>,
    session: &SessionRow,
    timestamp: Millis,
    payload: impl Into<SessionEvent>,
) -> Result<u64, StoreError> {
    let location = session.info.location.clone();
    let draft = Draft::new(timestamp, payload);
    transaction
        .append(&session.info.id, Some(&location), draft)?
        .map_err(|conflict| StoreError::Database(conflict.to_string()))
}
