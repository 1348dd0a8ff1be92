//! The choices of an import that its caller confirms: directory, agent and model.
//!
//! The author of the lines chose them. So the session does not work with them until a caller of this host has named
//! them: with the options of the import, or with a later move or switch.

use opencode_location::directory::normalise;
use opencode_location::location::{LocationError, Locations};
use opencode_location::project::Project;
use opencode_schema::clock::Millis;
use opencode_schema::event::{AgentSwitched, ModelSwitched, Moved, SessionUpdated};
use opencode_schema::location::LocationRef;
use opencode_schema::model::ModelRef;
use opencode_schema::session::SessionChoice;
use opencode_store::{Abort, SessionRow, Transaction};

use crate::error::RuntimeError;
use crate::journal::append;
use crate::sessions::{check_agent, check_model};

/// The choices of the caller of an import.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportChoices {
    /// The directory of the session. The session moves there if the import names another one.
    pub directory: Option<String>,
    /// The agent of the session.
    pub agent: Option<String>,
    /// The model of the session.
    pub model: Option<ModelRef>,
    /// True to confirm the directory, the agent and the model that the import names.
    pub confirm: bool,
}

/// Checked choices of a caller.
pub(crate) struct Chosen {
    /// The directory of the caller itself. An import that names it needs no confirmation of it.
    own: String,
    /// The chosen directory and its project.
    place: Option<(String, Project)>,
    agent: Option<String>,
    model: Option<ModelRef>,
    confirm: bool,
}

impl Chosen {
    /// Checks the choices. `own` is the directory of the host.
    pub(super) async fn of(
        choices: ImportChoices,
        own: &str,
        locations: &Locations,
    ) -> Result<Self, RuntimeError> {
        choices.agent.as_deref().map_or(Ok(()), check_agent)?;
        choices.model.as_ref().map_or(Ok(()), check_model)?;
        let place = match choices.directory {
            Some(directory) => {
                let directory = normalise(&directory).map_err(LocationError::from)?;
                let project = locations.projects().resolve(&directory).await;
                Some((directory, project))
            }
            None => None,
        };
        Ok(Self {
            own: own.to_owned(),
            place,
            agent: choices.agent,
            model: choices.model,
            confirm: choices.confirm,
        })
    }

    /// Applies the choices to the imported session.
    pub(super) fn apply(
        self,
        transaction: &mut Transaction<'_>,
        session: &SessionRow,
        now: Millis,
    ) -> Result<(), Abort<RuntimeError>> {
        let info = &session.info;
        match self.place {
            Some((directory, project)) if directory != info.location.directory => {
                move_to(transaction, session, directory, &project, now)?;
            }
            Some(_) => transaction.confirm(session.key, SessionChoice::Directory)?,
            None if self.confirm || info.location.directory == self.own => {
                transaction.confirm(session.key, SessionChoice::Directory)?;
            }
            None => {}
        }
        match self.agent {
            Some(agent) if info.agent.as_ref() != Some(&agent) => {
                let message_id = transaction.message_id();
                append(
                    transaction,
                    session,
                    now,
                    AgentSwitched { message_id, agent },
                )?;
            }
            None if !self.confirm => {}
            _ => transaction.confirm(session.key, SessionChoice::Agent)?,
        }
        let is_same = |model: &ModelRef| {
            info.model
                .as_ref()
                .is_some_and(|it| it.same_selection(model))
        };
        match self.model {
            Some(model) if !is_same(&model) => {
                let message_id = transaction.message_id();
                append(
                    transaction,
                    session,
                    now,
                    ModelSwitched { message_id, model },
                )?;
            }
            None if !self.confirm => {}
            _ => transaction.confirm(session.key, SessionChoice::Model)?,
        }
        Ok(())
    }
}

/// Moves the session to a directory that the caller chose, and to its project.
fn move_to(
    transaction: &mut Transaction<'_>,
    session: &SessionRow,
    directory: String,
    project: &Project,
    now: Millis,
) -> Result<(), Abort<RuntimeError>> {
    if project.id != session.info.project_id {
        transaction.add_project(&project.id, &project.directory, now)?;
        let mut info = transaction.reader().session_record(session)?;
        info.project_id.clone_from(&project.id);
        info.time.updated = now;
        append(transaction, session, now, SessionUpdated { info })?;
    }
    let subpath = project.subpath(&directory);
    let location = LocationRef {
        directory,
        workspace_id: None,
    };
    let moved = Moved {
        location,
        subdirectory: Some(subpath).filter(|path| !path.is_empty()),
    };
    append(transaction, session, now, moved)?;
    Ok(())
}
