//! Terminals: their start parameters, and the notices about them.

mod overlay;

use std::sync::Arc;

use futures::Stream;
use opencode_location::directory::normalise;
use opencode_location::location::{Location, LocationError};
use opencode_pty::{
    Bounds, CreateTerminal, Environment, Terminals, TerminalsOptions, UpdateTerminal, default_shell,
};
use opencode_schema::clock::Clock;
use opencode_schema::id::{IdSource, PtyID, WorkspaceID};
use opencode_schema::location::LocationRef;
use opencode_schema::pty::Pty;

use crate::attended::Attended;
use crate::core::notify;
use crate::error::RuntimeError;
use crate::live::LiveEvents;
use crate::permissions::check_size;
use crate::runtime::Runtime;

pub(crate) use overlay::Overlays;
pub use overlay::{EnvironmentAnswer, EnvironmentRequest};

/// A request to start a program in a terminal.
#[derive(Debug, Clone, Default)]
pub struct TerminalRequest {
    /// The program; `None` means the shell.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// The working directory of the program; `None` means the directory of the Location.
    pub directory: Option<String>,
    /// Title of the terminal.
    pub title: Option<String>,
    /// Environment variables. They override those of the host. The variables from the embedding program override them.
    pub environment: Environment,
}

/// Creates the terminals of a host. They notify connected clients of their changes.
pub(crate) fn open(
    live: &Arc<LiveEvents>,
    ids: &Arc<IdSource>,
    clock: &Arc<dyn Clock>,
) -> Terminals {
    let (live, naming) = (Arc::clone(live), Arc::clone(ids));
    Terminals::new(TerminalsOptions {
        ids: Arc::clone(ids),
        clock: Arc::clone(clock),
        bounds: Bounds::default(),
        tell: Box::new(move |place, notice| notify(&live, &naming, Some(place), notice)),
    })
}

impl Runtime {
    /// Returns the terminals of this host, by their Location.
    pub fn terminals(&self) -> &Terminals {
        &self.core.terminals
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
        check_size(&(
            &request.command,
            &request.args,
            &request.directory,
            &request.title,
        ))?;
        let reserved = self.terminals().reserve()?;
        let mut create = self.begin_with(location, workspace_id, request);
        let overlay = self.overlay(&create).await?;
        create.environment.extend(overlay);
        Ok(reserved.create(create).await?)
    }

    /// Returns the start parameters of a terminal, before the embedding program is asked for variables.
    fn begin_with(
        &self,
        location: &Location,
        workspace_id: Option<WorkspaceID>,
        request: TerminalRequest,
    ) -> CreateTerminal {
        let variables = &*location.command_variables;
        let configured = location.configuration.settings.shell.as_deref();
        let command = request
            .command
            .unwrap_or_else(|| default_shell(configured, variables));
        let mut environment = variables.clone();
        environment.extend(request.environment);
        CreateTerminal {
            place: LocationRef {
                directory: location.directory.clone(),
                workspace_id,
            },
            command,
            args: request.args,
            directory: request.directory,
            title: request.title,
            environment,
        }
    }

    /// Returns the variables from the embedding program. Fails when the host closes, without waiting for an answer.
    async fn overlay(&self, create: &CreateTerminal) -> Result<Environment, RuntimeError> {
        let directory = create.place.directory.clone();
        let cwd = create.cwd().to_string_lossy().into_owned();
        let overlay = self.core.overlays.of(&*self.core.timer, directory, cwd);
        let overlay = self.closing.run_until_cancelled(overlay).await;
        overlay.unwrap_or(Err(RuntimeError::Closed))
    }

    /// Returns the requests of terminals for variables from the embedding program, from now on. Only the latest caller
    /// receives them. Reports a request that ends without an answer. Ends when the host closes. Without a reader,
    /// terminals start without these variables.
    pub fn asked_environments(
        &self,
    ) -> impl Stream<Item = Attended<EnvironmentRequest, u32>> + Send + use<> {
        self.core.overlays.attend()
    }

    /// Answers one of these requests. Does nothing if the request does not wait.
    pub fn answer_environment(&self, id: u32, answer: EnvironmentAnswer) {
        self.core.overlays.answer(id, answer);
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
        check_size(&change.title)?;
        Ok(self.terminals().update(place, id, change)?)
    }
}
