//! Decisions by the rules of now: those that the session, its agent and its Location have at the moment of the decision.
//!
//! A request may wait for hours. A rule that is set meanwhile restricts it. A rule that is looser than those with which
//! its turn began counts from the next turn on.

use std::sync::Arc;

use opencode_schema::id::SessionID;
use opencode_schema::permission::{PermissionEffect, PermissionRule};
use opencode_store::SessionRules;
use opencode_tools::PermissionError;

use super::Permissions;
use super::request::{Pending, RuleScope};
use super::rules::{limits, new_limits};
use crate::error::RuntimeError;

impl Permissions {
    /// Returns the decision about a request: the stricter one by the rules with which it began and by those of now.
    pub(super) async fn decide(&self, pending: &Pending) -> Result<PermissionEffect, RuntimeError> {
        let now = Box::pin(self.rules_of_now(pending)).await?;
        let configured = pending.decide(&now, &[]);
        if configured != PermissionEffect::Ask {
            return Ok(configured);
        }
        let project = now.location.approvals().to_owned();
        let saved = self.saved_permissions(project).await?;
        Ok(pending.decide(&now, &saved))
    }

    /// Fails if a rule of now denies a request that a user or an approval allowed.
    pub(super) async fn check_now(&self, pending: &Pending) -> Result<(), PermissionError> {
        match Box::pin(self.rules_of_now(pending)).await {
            Ok(now) => match pending.denied_by(&now) {
                Some(rule) => Err(PermissionError::Overruled { rule }),
                None => Ok(()),
            },
            Err(error) => {
                tracing::warn!(%error, "the rules of an allowed request cannot be read");
                Err(PermissionError::Blocked)
            }
        }
    }

    /// Returns the name under which approvals of a request are saved now. The host may have changed its trust in the
    /// project.
    pub(super) async fn project_of(&self, pending: &Pending) -> Result<String, RuntimeError> {
        let location = self.locations.get(&pending.location.directory).await?;
        Ok(location.approvals().to_owned())
    }

    /// Returns the rules of now. A turn keeps the name of its agent, but not the description of that agent.
    pub(super) async fn rules_of_now(&self, pending: &Pending) -> Result<RuleScope, RuntimeError> {
        let session = self.session_rules(&pending.request.session_id).await?;
        let location = self.locations.get(&pending.location.directory).await?;
        let began = &pending.rule_scope;
        let agent = if pending.follows_session {
            location.agents.id_of(session.agent.as_deref())
        } else {
            began.agent.clone()
        };
        let mut rules = Arc::clone(&session.permission);
        let limits = self.limits_of_givers(&pending.request.session_id).await?;
        let limits = new_limits(limits, &rules);
        if !limits.is_empty() {
            rules = [&*rules, &limits].concat().into();
        }
        let mut now = RuleScope::new(location, agent, rules);
        if now.is_same(began) {
            return Ok(began.clone());
        }
        now.resolve_links().await;
        Ok(now)
    }

    async fn session_rules(&self, id: &SessionID) -> Result<Arc<SessionRules>, RuntimeError> {
        let found = self.journal.store.session_rules(id).await?;
        found.ok_or_else(|| RuntimeError::SessionNotFound(id.clone()))
    }

    /// Returns the limits that the rules of now set for a task, by the turns that wait for it. The session contains those
    /// of the moment at which the task began.
    async fn limits_of_givers(
        &self,
        task: &SessionID,
    ) -> Result<Vec<PermissionRule>, RuntimeError> {
        let mut found = Vec::new();
        for giver in self.givers.above(task) {
            let session = self.session_rules(&giver.session).await?;
            let location = self.locations.get(&session.directory).await?;
            let scope = RuleScope::new(location, giver.agent, Arc::clone(&session.permission));
            found.extend(limits(&scope.rules()));
        }
        Ok(found)
    }
}
