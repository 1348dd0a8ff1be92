//! Creation of sessions, and changes of their agent or model.

mod confirmed;
mod fields;
mod reads;
mod relocation;
pub(crate) mod slug;
pub(crate) mod todos;
mod update;

use std::sync::Arc;

use opencode_location::directory::normalise;
use opencode_location::location::{LocationError, Locations};
use opencode_schema::event::{AgentSwitched, ModelSwitched, SessionCreated, SessionRecord};
use opencode_schema::id::SessionID;
use opencode_schema::location::LocationRef;
use opencode_schema::model::ModelRef;
use opencode_schema::permission::PermissionRule;
use opencode_schema::session::{
    SessionBudget, SessionChoice, SessionInfo, SessionTime, default_child_title, default_title,
};
use opencode_store::{Abort, Draft};

use crate::error::{RuntimeError, check_new_id};
use crate::journal::{Journal, append};
use fields::{check_permission, check_title, limits_of, recorded};
use slug::slug;

pub(crate) use confirmed::{check_directory, is_unconfirmed, unconfirmed_choice};
pub(crate) use fields::{check_agent, check_budget, check_model, check_name};
pub(crate) use reads::{MAX_ANCESTORS, root_of};
pub use update::UpdateSession;

/// A request to create a session.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateSession {
    /// The caller's id. If a session with this id exists, it is returned unchanged.
    pub id: Option<SessionID>,
    /// The initial agent.
    pub agent: Option<String>,
    /// The initial model.
    pub model: Option<ModelRef>,
    /// The Location of the session. The directory may not exist yet.
    pub location: LocationRef,
    /// The title. Without one, the session gets a default title.
    pub title: Option<String>,
    /// The parent session, which must exist.
    pub parent_id: Option<SessionID>,
    /// The session's own permission rules.
    pub permission: Vec<PermissionRule>,
    /// Limits on its work.
    pub budget: Option<SessionBudget>,
}

/// The origin of a request to create a session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Creator {
    /// A client. Its permission rules are checked, and the limits of the parent follow them.
    Client,
    /// A task of the parent session, with limits of its own.
    Task,
}

/// The sessions of a host: their creation, their choices and their lists.
pub(crate) struct Sessions {
    pub(crate) journal: Arc<Journal>,
    pub(crate) locations: Arc<Locations>,
}

impl Sessions {
    pub(crate) async fn create_session(
        &self,
        request: CreateSession,
    ) -> Result<SessionInfo, RuntimeError> {
        self.create(request, Creator::Client).await
    }

    /// Creates a session that carries out a task of another session.
    pub(crate) async fn create_child(
        &self,
        request: CreateSession,
    ) -> Result<SessionInfo, RuntimeError> {
        self.create(request, Creator::Task).await
    }

    async fn create(
        &self,
        request: CreateSession,
        creator: Creator,
    ) -> Result<SessionInfo, RuntimeError> {
        if let Some(id) = &request.id {
            let wanted = id.clone();
            let found = self
                .journal
                .store
                .read(move |reader| reader.session(&wanted))
                .await?;
            if let Some(session) = found {
                return Ok(session.info);
            }
            check_new_id(id.as_str())?;
        }
        request.agent.as_deref().map_or(Ok(()), check_agent)?;
        request.model.as_ref().map_or(Ok(()), check_model)?;
        if creator == Creator::Client {
            request.title.as_deref().map_or(Ok(()), check_title)?;
            check_permission(&request.permission)?;
            request.budget.as_ref().map_or(Ok(()), check_budget)?;
        }
        let directory = normalise(&request.location.directory).map_err(LocationError::from)?;
        let project = self.locations.projects().resolve(&directory).await;
        let now = self.journal.now();
        let title = request.title.unwrap_or_else(|| match request.parent_id {
            None => default_title(now),
            Some(_) => default_child_title(now),
        });
        let permission = request.permission;
        let mut record = SessionRecord {
            id: request
                .id
                .unwrap_or_else(|| SessionID::generate(&self.journal.ids)),
            slug: slug(&self.journal.ids),
            path: Some(project.subpath(&directory)).filter(|path| !path.is_empty()),
            project_id: project.id,
            workspace_id: request.location.workspace_id.clone(),
            directory: directory.clone(),
            parent_id: request.parent_id,
            title,
            agent: request.agent,
            model: request.model,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            time: SessionTime {
                created: now,
                updated: now,
                archived: None,
            },
            permission: None,
            budget: request.budget.filter(|it| !it.is_empty()).map(Box::new),
            cost: None,
            tokens: None,
            revert: None,
            share: None,
            summary: None,
        };
        let location = LocationRef {
            directory,
            workspace_id: request.location.workspace_id,
        };
        let created = self.journal.store.write(move |transaction| {
            let id = record.id.clone();
            // If several callers create a session with the same id, the first one creates it and the others get it.
            if let Some(session) = transaction.reader().session(&id)? {
                return Ok(session.info);
            }
            let mut permission = permission;
            if let Some(parent) = &record.parent_id {
                let Some(parent) = transaction.reader().session(parent)? else {
                    let parent = parent.clone();
                    return Err(Abort::Refused(RuntimeError::SessionNotFound(parent)));
                };
                if creator == Creator::Client {
                    permission.extend(limits_of(&parent.permission));
                }
            }
            record.permission = recorded(permission);
            transaction.add_project(&record.project_id, &project.directory, now)?;
            let draft = Draft::new(now, SessionCreated { info: record });
            let appended = transaction.append(&id, Some(&location), draft);
            appended.map_err(Abort::unexpected)?;
            let session = transaction.reader().session(&id)?;
            let session = session.ok_or(Abort::Refused(RuntimeError::SessionNotFound(id)))?;
            Ok(session.info)
        });
        Ok(created.await?)
    }

    /// Selects the agent from the next Provider Turn on. Recorded even if nothing changes.
    pub(crate) async fn switch_agent(
        &self,
        id: &SessionID,
        agent: String,
    ) -> Result<(), RuntimeError> {
        let (id, now) = (id.clone(), self.journal.now());
        let switched = self.journal.store.write(move |transaction| {
            let Some(session) = transaction.reader().session(&id)? else {
                return Err(Abort::Refused(RuntimeError::SessionNotFound(id)));
            };
            if let Err(error) = check_agent(&agent) {
                return Err(Abort::Refused(error));
            }
            let message_id = transaction.message_id();
            append(
                transaction,
                &session,
                now,
                AgentSwitched { message_id, agent },
            )?;
            Ok(())
        });
        Ok(switched.await?)
    }

    /// Selects the model from the next Provider Turn on. Not recorded if nothing changes.
    pub(crate) async fn switch_model(
        &self,
        id: &SessionID,
        model: ModelRef,
    ) -> Result<(), RuntimeError> {
        let (id, now) = (id.clone(), self.journal.now());
        let switched = self.journal.store.write(move |transaction| {
            let Some(session) = transaction.reader().session(&id)? else {
                return Err(Abort::Refused(RuntimeError::SessionNotFound(id)));
            };
            if let Err(error) = check_model(&model) {
                return Err(Abort::Refused(error));
            }
            let same = session
                .info
                .model
                .as_ref()
                .is_some_and(|it| it.same_selection(&model));
            if same {
                transaction.confirm(session.key, SessionChoice::Model)?;
            } else {
                let message_id = transaction.message_id();
                append(
                    transaction,
                    &session,
                    now,
                    ModelSwitched { message_id, model },
                )?;
            }
            Ok(())
        });
        Ok(switched.await?)
    }
}
