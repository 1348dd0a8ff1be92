//! Terminals: their start parameters, and the notices about them.

mod environment;

use std::sync::Arc;

use opencode_location::location::Location;
use opencode_pty::{
    Bounds, CreateTerminal, Environment, Terminals, TerminalsOptions, UpdateTerminal, default_shell,
};
use opencode_schema::clock::Clock;
use opencode_schema::id::{IdSource, PtyID, WorkspaceID};
use opencode_schema::location::LocationRef;
use opencode_schema::pty::Pty;
use tokio_util::sync::CancellationToken;

use crate::asks::permissions::check_size;
use crate::error::RuntimeError;
use crate::live::Announcer;
use crate::timer::Timer;

pub use environment::{AskEnvironment, NoEnvironment};

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

/// The terminals of a host, with the variables that the embedding program gives them.
pub(crate) struct HostTerminals {
    pub(crate) terminals: Terminals,
    program: Arc<dyn AskEnvironment>,
    timer: Arc<dyn Timer>,
    closing: CancellationToken,
}

impl HostTerminals {
    /// Creates the terminals. They notify connected clients of their changes.
    pub(crate) fn new(
        program: Arc<dyn AskEnvironment>,
        announcer: Arc<Announcer>,
        ids: Arc<IdSource>,
        clock: Arc<dyn Clock>,
        timer: Arc<dyn Timer>,
        closing: CancellationToken,
    ) -> Self {
        let terminals = Terminals::new(TerminalsOptions {
            ids,
            clock,
            bounds: Bounds::default(),
            notify: Box::new(move |place, notice| announcer.notify(Some(place), notice)),
        });
        Self {
            terminals,
            program,
            timer,
            closing,
        }
    }

    /// Starts a program in a terminal of a Location.
    pub(crate) async fn create(
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
        let reserved = self.terminals.reserve()?;
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
        let directory = &create.place.directory;
        let cwd = create.cwd();
        let cwd = cwd.to_string_lossy();
        let overlay = environment::environment_of(&*self.program, &*self.timer, directory, &cwd);
        let overlay = self.closing.run_until_cancelled(overlay).await;
        overlay.unwrap_or(Err(RuntimeError::Closed))
    }

    /// Changes a terminal. Ignores a new size if its program has ended.
    pub(crate) fn update(
        &self,
        place: &LocationRef,
        id: &PtyID,
        change: UpdateTerminal,
    ) -> Result<Pty, RuntimeError> {
        check_size(&change.title)?;
        Ok(self.terminals.update(place, id, change)?)
    }
}
