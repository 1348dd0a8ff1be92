//! The session of a task: made for it, or that of an earlier one.

use opencode_schema::event::{RecordedRule, SessionUpdated};
use opencode_schema::id::SessionID;
use opencode_schema::model::ModelRef;
use opencode_schema::permission::PermissionRule;
use opencode_schema::session::SessionInfo;
use opencode_store::{Abort, Reader, SessionRow, StoreError};
use opencode_tools::{TaskError, TaskRequest};

use super::{TaskSessions, TurnTasks, unavailable};
use crate::asks::permissions::limits;
use crate::error::RuntimeError;
use crate::journal::append;
use crate::sessions::{CreateSession, ParentLink};

/// Characters of a title that a task gives.
const MAX_TITLE: usize = 100;

impl TurnTasks {
    /// The session that carries the task out, with the agent that was asked for.
    pub(super) async fn child(&self, task: &TaskRequest) -> Result<SessionID, TaskError> {
        let limit = self.tasks.limits.subagent_depth;
        let is_deep = self.tasks.is_nested(&self.parent.info.id, limit).await;
        if is_deep.map_err(unavailable)? {
            return Err(TaskError::TooDeep { limit });
        }
        let model = self.judge.location.agents.get(&task.agent);
        let model = model.and_then(|agent| agent.model.clone());
        match &task.session_id {
            None => self.begin(task, model).await,
            Some(id) => self.go_on(id, &task.agent, model).await,
        }
    }

    async fn begin(
        &self,
        task: &TaskRequest,
        model: Option<ModelRef>,
    ) -> Result<SessionID, TaskError> {
        let parent = &self.parent.info;
        let request = CreateSession {
            id: None,
            agent: Some(task.agent.clone()),
            model: Some(model.unwrap_or_else(|| self.model.clone())),
            location: parent.location.clone(),
        };
        let descent = ParentLink {
            parent_id: parent.id.clone(),
            title: title(&task.description),
            permission: limits(&self.judge.rules()),
        };
        let created = self.tasks.sessions.create_child(request, descent).await;
        Ok(created.map_err(unavailable)?.id)
    }

    /// Goes on with an earlier task, with what is denied to the parent by now.
    async fn go_on(
        &self,
        id: &SessionID,
        agent: &str,
        model: Option<ModelRef>,
    ) -> Result<SessionID, TaskError> {
        let parent = self.parent.info.id.clone();
        let limits = limits(&self.judge.rules());
        let limited = self.tasks.limit_child(&parent, id, limits).await;
        let child = limited.map_err(unavailable)?;
        let child = child.ok_or_else(|| TaskError::NotAChild(id.clone()))?;
        if child.agent.as_deref() != Some(agent) {
            let switched = self.tasks.sessions.switch_agent(id, agent.to_owned());
            switched.await.map_err(unavailable)?;
            if let Some(model) = model {
                let switched = self.tasks.sessions.switch_model(id, model);
                switched.await.map_err(unavailable)?;
            }
        }
        Ok(child.id)
    }
}

impl TaskSessions {
    /// Whether a session has at least so many others above it.
    async fn is_nested(&self, id: &SessionID, levels: usize) -> Result<bool, RuntimeError> {
        let id = id.clone();
        let nested = self
            .journal
            .store
            .read(move |reader| is_nested(reader, id, levels))
            .await?;
        Ok(nested)
    }

    /// Puts limits in the place of those that a child session has. Nothing if it is no child of that
    /// parent.
    async fn limit_child(
        &self,
        parent: &SessionID,
        child: &SessionID,
        limits: Vec<PermissionRule>,
    ) -> Result<Option<SessionInfo>, RuntimeError> {
        let (parent, child, now) = (parent.clone(), child.clone(), self.journal.now());
        let limited = self.journal.store.write(move |transaction| {
            let session = transaction.reader().session(&child)?;
            let of_parent = |it: &SessionRow| it.info.parent_id.as_ref() == Some(&parent);
            let Some(session) = session.filter(of_parent) else {
                return Ok::<_, Abort<RuntimeError>>(None);
            };
            let own = session.permission.split(PermissionRule::is_limit).next();
            let rules = [own.unwrap_or_default(), &limits].concat();
            if rules != session.permission {
                let mut info = transaction.reader().session_record(&session)?;
                info.time.updated = now;
                info.permission = Some(rules.into_iter().map(RecordedRule::from).collect());
                append(transaction, &session, now, SessionUpdated { info })?;
            }
            Ok(Some(session.info))
        });
        Ok(limited.await?)
    }
}

fn is_nested(reader: &Reader<'_>, id: SessionID, levels: usize) -> Result<bool, StoreError> {
    let mut id = id;
    for _ in 0..levels {
        let session = reader.session(&id)?;
        match session.and_then(|session| session.info.parent_id) {
            Some(parent) => id = parent,
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// The first line of a description, if it says anything.
fn title(description: &str) -> Option<String> {
    let line = description
        .lines()
        .map(str::trim)
        .find(|it| !it.is_empty())?;
    Some(line.chars().take(MAX_TITLE).collect())
}
