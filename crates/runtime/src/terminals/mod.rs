//! Terminals: what their programs begin with, and who hears of them.

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

/// A program that somebody wants to begin in a terminal.
#[derive(Debug, Clone, Default)]
pub struct TerminalRequest {
    /// The program; none means the shell.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// The directory it begins in; none means that of the Location.
    pub directory: Option<String>,
    /// Title of the terminal.
    pub title: Option<String>,
    /// Variables of its environment, over those of the host and under those that the program around
    /// the host gives.
    pub environment: Environment,
}

/// The terminals of a host, which tell connected clients what happens to them.
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
    /// The terminals of this host, by the Location they belong to.
    pub fn terminals(&self) -> &Terminals {
        &self.core.terminals
    }

    /// A Location by its name, the directory in normal form. Nothing is opened.
    ///
    /// # Errors
    ///
    /// `Location` when that is no name of a directory.
    pub fn place(&self, named: &LocationRef) -> Result<LocationRef, RuntimeError> {
        let directory = normalise(&named.directory).map_err(LocationError::from)?;
        Ok(LocationRef {
            directory,
            workspace_id: named.workspace_id.clone(),
        })
    }

    /// Begins a program in a terminal of a Location.
    ///
    /// # Errors
    ///
    /// `Terminal` says why it does not begin, `Unavailable` why it has not got its variables,
    /// `RequestTooLarge` that clients could not be told.
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

    /// What a terminal begins with, before the program around the host is asked.
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

    /// Closing the host waits for nobody's answer.
    async fn overlay(&self, create: &CreateTerminal) -> Result<Environment, RuntimeError> {
        let directory = create.place.directory.clone();
        let cwd = create.cwd().to_string_lossy().into_owned();
        let overlay = self.core.overlays.of(&*self.core.timer, directory, cwd);
        let overlay = self.closing.run_until_cancelled(overlay).await;
        overlay.unwrap_or(Err(RuntimeError::Closed))
    }

    /// The terminals that want variables of the program around the host, from now on: whoever calls
    /// this is asked alone. A request that ends without an answer is reported. Ends when the host
    /// closes. Without a reader, none wants any.
    pub fn asked_environments(
        &self,
    ) -> impl Stream<Item = Attended<EnvironmentRequest, u32>> + Send + use<> {
        self.core.overlays.attend()
    }

    /// Answers one of these requests. Nothing happens where none waits.
    pub fn answer_environment(&self, id: u32, answer: EnvironmentAnswer) {
        self.core.overlays.answer(id, answer);
    }

    /// Changes a terminal. One whose program has ended has no size.
    ///
    /// # Errors
    ///
    /// `Terminal` when there is none, `RequestTooLarge` that clients could not be told.
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
