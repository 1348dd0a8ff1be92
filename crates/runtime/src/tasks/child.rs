//! The session of a task: a new one, or that of an earlier task.

use opencode_schema::display::DisplayText;
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
use crate::sessions::{CreateSession, MAX_ANCESTORS};

/// Maximum number of characters of a title that comes from a task.
const MAX_TITLE: usize = 100;

impl TurnTasks {
    /// Returns the session that carries out the task, with the requested agent.
    pub(super) async fn child(&self, task: &TaskRequest) -> Result<SessionID, TaskError> {
        let limit = self.tasks.limits.subagent_depth;
        let is_deep = self.tasks.is_nested(&self.parent.info.id, limit).await;
        if is_deep.map_err(unavailable)? {
            return Err(TaskError::TooDeep { limit });
        }
        let model = self.rule_scope.location.agents.get(&task.agent);
        let model = model.and_then(|agent| agent.model.clone());
        match &task.session_id {
            None => self.begin(task, model).await,
            Some(id) => self.continue_task(id, &task.agent, model).await,
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
            title: title(&task.description),
            parent_id: Some(parent.id.clone()),
            permission: limits(&self.rule_scope.rules()),
            // The budget of the parent includes the work of its tasks.
            budget: None,
        };
        let created = self.tasks.sessions.create_child(request).await;
        Ok(created.map_err(unavailable)?.id)
    }

    /// Continues an earlier task, with the permissions that are denied to the parent now.
    async fn continue_task(
        &self,
        id: &SessionID,
        agent: &str,
        model: Option<ModelRef>,
    ) -> Result<SessionID, TaskError> {
        let parent = self.parent.info.id.clone();
        let limits = limits(&self.rule_scope.rules());
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
    /// True if a session has at least `levels` ancestors.
    async fn is_nested(&self, id: &SessionID, levels: usize) -> Result<bool, RuntimeError> {
        let id = id.clone();
        let nested = self
            .journal
            .store
            .read(move |reader| is_nested(reader, id, levels))
            .await?;
        Ok(nested)
    }

    /// Replaces the permission limits of a child session. Returns `None` if it is not a child of that
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
            let of_parent =
                |it: &SessionRow| it.info.parent_id.as_ref() == Some(&parent) && !it.is_fork;
            let Some(session) = session.filter(of_parent) else {
                return Ok::<_, Abort<RuntimeError>>(None);
            };
            let (own, others) = PermissionRule::split_own(&session.permission);
            let mut rules = [own, &limits].concat();
            let is_restriction =
                |list: &&[PermissionRule]| list.first().is_some_and(PermissionRule::is_restriction);
            rules.extend(others.filter(is_restriction).flatten().cloned());
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

/// A fork is at the level of its source.
fn is_nested(reader: &Reader<'_>, id: SessionID, levels: usize) -> Result<bool, StoreError> {
    let (mut id, mut left) = (id, levels);
    for _ in 0..MAX_ANCESTORS {
        if left == 0 {
            break;
        }
        let Some(session) = reader.session(&id)? else {
            return Ok(false);
        };
        let Some(parent) = session.info.parent_id else {
            return Ok(false);
        };
        left -= usize::from(!session.is_fork);
        id = parent;
    }
    Ok(true)
}

/// Returns the first line of a description that is not empty.
fn title(description: &str) -> Option<String> {
    let line = description
        .lines()
        .map(str::trim)
        .find(|it| !it.is_empty())?;
    let line: String = line.chars().take(MAX_TITLE).collect();
    Some(DisplayText::line(line).into_string())
}
