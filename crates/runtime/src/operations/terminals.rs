//! Terminals: the operations of a host.

use opencode_location::directory::normalise;
use opencode_location::location::{Location, LocationError};
use opencode_pty::{Terminals, UpdateTerminal};
use opencode_schema::id::{PtyID, WorkspaceID};
use opencode_schema::location::LocationRef;
use opencode_schema::pty::Pty;

use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::terminals::TerminalRequest;

impl Runtime {
    /// Returns the terminals of this host, by their Location.
    pub fn terminals(&self) -> &Terminals {
        &self.terminals.terminals
    }

    /// Returns a Location with its directory in normal form. Does not open it.
    ///
    /// # Errors
    ///
    /// `Location` if the directory has no normal form.
    pub fn place(&self, named: &LocationRef) -> Result<LocationRef, RuntimeError> {
        let directory = normalise(&named.directory).map_err(LocationError::from)?;
        Ok(LocationRef {
            directory,
            workspace_id: named.workspace_id.clone(),
        })
    }

    /// Starts a program in a terminal of a Location.
    ///
    /// # Errors
    ///
    /// `Terminal` if the program does not start, `Unavailable` if its variables are not available, `RequestTooLarge` if
    /// the request is too large for a notice to clients.
    pub async fn create_terminal(
        &self,
        location: &Location,
        workspace_id: Option<WorkspaceID>,
        request: TerminalRequest,
    ) -> Result<Pty, RuntimeError> {
        self.terminals.create(location, workspace_id, request).await
    }

    /// Changes a terminal. Ignores a new size if its program has ended.
    ///
    /// # Errors
    ///
    /// `Terminal` if the terminal does not exist, `RequestTooLarge` if the title is too large for a notice to clients.
    pub fn update_terminal(
        &self,
        place: &LocationRef,
        id: &PtyID,
        change: UpdateTerminal,
    ) -> Result<Pty, RuntimeError> {
        self.terminals.update(place, id, change)
    }
}
