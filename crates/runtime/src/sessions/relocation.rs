//! Moves a session to another directory of its project.

use opencode_location::directory::normalise;
use opencode_location::location::LocationError;
use opencode_schema::event::Moved;
use opencode_schema::id::SessionID;
use opencode_schema::location::LocationRef;
use opencode_schema::session::{SessionChoice, SessionInfo};
use opencode_store::Abort;

use super::Sessions;
use crate::error::RuntimeError;
use crate::journal::append;

impl Sessions {
    /// Moves a session and ends its Context Epoch: its next Provider Turn starts with a complete Baseline System
    /// Context of the new Location. Records nothing if the session is already there, except that a caller confirms the
    /// directory of an import.
    ///
    /// A running turn settles in the old Location, and its drain continues in the new one. An idle session is not
    /// woken. No files are changed.
    pub(crate) async fn relocate(
        &self,
        id: &SessionID,
        destination: LocationRef,
    ) -> Result<SessionInfo, RuntimeError> {
        let session = self.journal.session(id).await?;
        let directory = normalise(&destination.directory).map_err(LocationError::from)?;
        let destination = LocationRef {
            directory,
            ..destination
        };
        if session.info.location == destination {
            return self.confirm_place(id, destination).await;
        }
        let projects = self.locations.projects();
        let project = projects.resolve(&destination.directory).await;
        if project.id != session.info.project_id {
            return Err(RuntimeError::OtherProject {
                directory: destination.directory,
                found: project.id,
                project: session.info.project_id,
            });
        }
        let subpath = project.subpath(&destination.directory);
        let moved = Moved {
            location: destination,
            subdirectory: Some(subpath).filter(|path| !path.is_empty()),
        };
        self.record_move(id, moved).await
    }

    /// Records that a caller chose the place where the session is already.
    async fn confirm_place(
        &self,
        id: &SessionID,
        place: LocationRef,
    ) -> Result<SessionInfo, RuntimeError> {
        let id = id.clone();
        let confirmed = self.journal.store.write(move |transaction| {
            let session = transaction.reader().session(&id)?;
            let session = session.ok_or_else(|| RuntimeError::SessionNotFound(id.clone()));
            let session = session.map_err(Abort::Refused)?;
            if session.info.location == place {
                transaction.confirm(session.key, SessionChoice::Directory)?;
            }
            let session = transaction.reader().session(&id)?;
            let session = session.ok_or(Abort::Refused(RuntimeError::SessionNotFound(id)))?;
            Ok(session.info)
        });
        Ok(confirmed.await?)
    }

    async fn record_move(&self, id: &SessionID, moved: Moved) -> Result<SessionInfo, RuntimeError> {
        let (id, now) = (id.clone(), self.journal.now());
        let recorded = self.journal.store.write(move |transaction| {
            // Another caller may have moved or removed the session in the meantime.
            let Some(session) = transaction.reader().session(&id)? else {
                return Err(Abort::Refused(RuntimeError::SessionNotFound(id)));
            };
            if session.info.location == moved.location {
                return Ok(session.info);
            }
            append(transaction, &session, now, moved)?;
            let moved = transaction.reader().session(&id)?;
            let moved = moved.ok_or(Abort::Refused(RuntimeError::SessionNotFound(id)))?;
            Ok(moved.info)
        });
        Ok(recorded.await?)
    }
}
