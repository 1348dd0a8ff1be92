//! Permission checks for the calls of one Provider Turn. They use the agent and the Location that the turn was sampled
//! with, even if the session changes them in the meantime.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use opencode_schema::id::{PermissionID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::permission::{PermissionEffect, PermissionRequest, PermissionSource};
use opencode_tools::{self as tools, PermissionError};

use super::Permissions;
use super::request::{Pending, RuleScope};

/// Answers the permission requests of the tools of one turn.
pub(crate) struct TurnPermissions {
    pub(crate) permissions: Arc<Permissions>,
    /// The Location of the session.
    pub(crate) place: LocationRef,
    /// The agent, Location and session whose rules apply.
    pub(crate) rule_scope: RuleScope,
}

impl tools::Permissions for TurnPermissions {
    fn assert(
        &self,
        request: tools::PermissionRequest,
    ) -> BoxFuture<'_, Result<(), PermissionError>> {
        let pending = self.pending(request);
        Box::pin(self.permissions.assert_permission(pending))
    }

    fn denies(&self, request: tools::PermissionRequest) -> BoxFuture<'_, bool> {
        let mut pending = self.pending(request);
        Box::pin(async move {
            pending.resolve_links().await;
            let effect = self.permissions.decide(&pending).await;
            matches!(effect, Ok(PermissionEffect::Deny))
        })
    }
}

impl TurnPermissions {
    /// Returns true if the rules or the saved permissions allow something without a question.
    /// `other_names` are further names by which the action reaches the resource.
    pub(crate) async fn allows(
        &self,
        session: &SessionID,
        action: &str,
        resource: String,
        other_names: Vec<String>,
    ) -> bool {
        let mut pending = Pending {
            other_names: [(resource.clone(), other_names)].into(),
            request: PermissionRequest {
                id: PermissionID::generate(&self.permissions.journal.ids),
                session_id: session.clone(),
                action: action.to_owned(),
                resources: vec![resource],
                save: None,
                metadata: None,
                source: None,
            },
            location: self.place.clone(),
            rule_scope: self.rule_scope.clone(),
        };
        pending.resolve_links().await;
        matches!(
            self.permissions.decide(&pending).await,
            Ok(PermissionEffect::Allow)
        )
    }

    /// Returns once the user or the rules allow something that the host does for the session, outside of a tool call.
    /// Dropping the future withdraws the request.
    pub(crate) async fn ask(
        &self,
        session: &SessionID,
        action: &str,
        resources: Vec<String>,
        save: Option<Vec<String>>,
    ) -> Result<(), PermissionError> {
        let pending = Pending {
            request: PermissionRequest {
                id: PermissionID::generate(&self.permissions.journal.ids),
                session_id: session.clone(),
                action: action.to_owned(),
                resources,
                save,
                metadata: None,
                source: None,
            },
            other_names: BTreeMap::new(),
            location: self.place.clone(),
            rule_scope: self.rule_scope.clone(),
        };
        self.permissions.assert_permission(pending).await
    }

    fn pending(&self, asked: tools::PermissionRequest) -> Pending {
        let present = |metadata: &opencode_schema::Record| !metadata.is_empty();
        Pending {
            request: PermissionRequest {
                id: PermissionID::generate(&self.permissions.journal.ids),
                session_id: asked.session_id,
                action: asked.action,
                resources: asked.resources,
                save: Some(asked.save).filter(|save| !save.is_empty()),
                metadata: Some(asked.metadata).filter(present),
                source: Some(PermissionSource::Tool {
                    message_id: asked.source.message_id.to_string(),
                    call_id: asked.source.call_id,
                }),
            },
            other_names: asked.other_names,
            location: self.place.clone(),
            rule_scope: self.rule_scope.clone(),
        }
    }
}

impl Permissions {
    /// Returns once the request is allowed. Dropping the future withdraws the request.
    async fn assert_permission(&self, mut pending: Pending) -> Result<(), PermissionError> {
        pending.resolve_links().await;
        let before = self.times_saved();
        let effect = self.decide(&pending).await.unwrap_or_else(|error| {
            // Asks the user, although a saved permission may already allow it.
            tracing::warn!(%error, "the saved permissions cannot be read");
            PermissionEffect::Ask
        });
        match effect {
            PermissionEffect::Allow => return Ok(()),
            PermissionEffect::Deny => return Err(PermissionError::Blocked),
            PermissionEffect::Ask => {}
        }
        let location = pending.location.clone();
        let project = pending.project().to_owned();
        let timeout = self.timeout.wait();
        let asked = match self.waiting.ask(pending) {
            Ok(asked) => asked,
            Err(reason) => {
                tracing::warn!(?reason, "a permission cannot be asked for");
                return Err(PermissionError::Blocked);
            }
        };
        self.catch_up(before, &location, &project).await;
        let answer = asked.answer(timeout).await;
        answer.unwrap_or(Err(PermissionError::Blocked))
    }
}
