//! The event store with the clock, the ids and the announcements that commands need.

use std::sync::Arc;

use opencode_schema::clock::{Clock, Millis};
use opencode_schema::event::SessionEvent;
use opencode_schema::id::{IdSource, SessionID};
use opencode_schema::location::LocationRef;
use opencode_store::{
    Abort, Draft, Reader, Sequence, SessionKey, SessionRow, Store, StoreError, Transaction,
};

use crate::error::{DrainError, RuntimeError};
use crate::live::Announcer;

/// The event store of a host, with the sources of times and ids of its events.
pub(crate) struct Journal {
    pub(crate) store: Store,
    pub(crate) ids: Arc<IdSource>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) announcer: Arc<Announcer>,
}

impl Journal {
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
                transaction.append(&id, Some(&location), draft)?;
            }
            if !explored.is_empty() && is_in_location(transaction, &id, &location)? {
                for directory in &explored {
                    transaction.add_explored(key, directory)?;
                }
            }
            Ok(())
        });
        committed.await.map_err(|abort| match abort {
            Abort::Refused(conflict) => DrainError::Internal(conflict.to_string()),
            Abort::Failed(error) => error.into(),
        })
    }

    /// Runs one read of an existing session. The lookup of the session uses the same view of the database.
    pub(crate) async fn of_session<T: Send + 'static>(
        &self,
        id: &SessionID,
        read: impl FnOnce(&Reader<'_>, SessionKey) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, RuntimeError> {
        let wanted = id.clone();
        let found = self
            .store
            .read(move |reader| match reader.session(&wanted)? {
                Some(session) => read(reader, session.key).map(Some),
                None => Ok(None),
            })
            .await?;
        found.ok_or_else(|| RuntimeError::SessionNotFound(id.clone()))
    }
}

fn is_in_location(
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
) -> Result<Sequence, StoreError> {
    append_draft(transaction, session, Draft::new(timestamp, payload))
}

/// As [`append`], for an event with metadata.
pub(crate) fn append_draft(
    transaction: &mut Transaction<'_>,
    session: &SessionRow,
    draft: Draft,
) -> Result<Sequence, StoreError> {
    let location = session.info.location.clone();
    transaction
        .append(&session.info.id, Some(&location), draft)
        .map_err(Abort::unexpected)
}
