//! Changes of the title, the archive, the permission rules and the budget of a session.

use opencode_schema::event::{RecordedRule, SessionRecord, SessionUpdated};
use opencode_schema::id::SessionID;
use opencode_schema::permission::PermissionRule;
use opencode_schema::session::{SessionBudget, SessionInfo};
use opencode_store::Abort;

use super::Sessions;
use super::fields::{check_budget, check_permission, check_title, limits_of};
use crate::error::RuntimeError;
use crate::journal::append;

/// A request to change a session. Absent fields stay.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UpdateSession {
    /// The new title.
    pub title: Option<String>,
    /// True to archive the session, false to take it back.
    pub archived: Option<bool>,
    /// The new permission rules of the session itself. Limits that a task set stay.
    pub permission: Option<Vec<PermissionRule>>,
    /// The new limits on its work. Empty limits remove the budget.
    pub budget: Option<SessionBudget>,
}

impl Sessions {
    /// Changes a session. Records nothing if nothing changes: an archived session keeps the time of its archiving.
    pub(crate) async fn update(
        &self,
        id: &SessionID,
        request: UpdateSession,
    ) -> Result<SessionInfo, RuntimeError> {
        request.title.as_deref().map_or(Ok(()), check_title)?;
        request
            .permission
            .as_deref()
            .map_or(Ok(()), check_permission)?;
        request.budget.as_ref().map_or(Ok(()), check_budget)?;
        let (id, now) = (id.clone(), self.journal.now());
        let updated = self.journal.store.write(move |transaction| {
            let reader = transaction.reader();
            let Some(session) = reader.session(&id)? else {
                return Err(Abort::Refused(RuntimeError::SessionNotFound(id)));
            };
            // The log has nothing that belongs to this host alone: no address of a shared copy, no counts of its snapshots.
            let mut info = SessionRecord {
                share: None,
                summary: None,
                ..reader.whole_session_record(&session)?
            };
            let before = SessionRecord {
                budget: None,
                ..info.clone()
            };
            if let Some(title) = request.title {
                info.title = title;
            }
            match request.archived {
                Some(true) => info.time.archived = info.time.archived.or(Some(now)),
                Some(false) => info.time.archived = None,
                None => {}
            }
            let current = info.budget.take();
            let budget = request.budget.map(Box::new);
            let budget =
                budget.filter(|it| **it != current.as_deref().copied().unwrap_or_default());
            let permission = request
                .permission
                .map(|rules| [rules, limits_of(&session.permission)].concat());
            let permission = permission.filter(|rules| *rules != session.permission);
            if info == before && permission.is_none() && budget.is_none() {
                return Ok(session.info);
            }
            if let Some(rules) = permission {
                // An empty list is recorded, because an absent one would keep the former rules.
                info.permission = Some(rules.into_iter().map(RecordedRule::from).collect());
            }
            // Empty limits are recorded, because absent ones would keep the former budget.
            info.budget = budget.or(current);
            info.time.updated = now;
            append(transaction, &session, now, SessionUpdated { info })?;
            let updated = transaction.reader().session(&id)?;
            let updated = updated.ok_or(Abort::Refused(RuntimeError::SessionNotFound(id)))?;
            Ok(updated.info)
        });
        Ok(updated.await?)
    }
}
