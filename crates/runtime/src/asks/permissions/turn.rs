//! Permission checks for the calls of one Provider Turn. They use the agent and the Location that the turn was sampled
//! with, even if the session changes them in the meantime.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use opencode_schema::id::{PermissionID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::permission::{
    NamedResource, PermissionEffect, PermissionRequest, PermissionSource, Ruleset, SavedPermission,
    decide,
};
use opencode_tools::{self as tools, PermissionError};

use super::Permissions;
use super::request::{Pending, Protected, RuleScope};
use super::rules::rules;

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

    fn rules(
        &self,
        request: tools::PermissionRequest,
    ) -> BoxFuture<'_, Arc<dyn tools::ActionRules>> {
        let mut pending = self.pending(request);
        Box::pin(async move {
            pending.resolve_links().await;
            let project = pending.project().to_owned();
            let saved = self.permissions.saved_permissions(project).await;
            let saved = saved.unwrap_or_else(|error| {
                tracing::warn!(%error, "the saved permissions cannot be read");
                Vec::new()
            });
            let rules: Arc<dyn tools::ActionRules> = Arc::new(TurnRules::new(pending, saved));
            rules
        })
    }
}

/// The rules for one action, for many resources.
struct TurnRules {
    action: String,
    /// Contains its resolved rules.
    scope: RuleScope,
    saved: Vec<SavedPermission>,
    /// True if the built-in rules allow nothing.
    is_given_only: bool,
}

impl TurnRules {
    fn new(pending: Pending, saved: Vec<SavedPermission>) -> Self {
        let mut scope = pending.rule_scope;
        if scope.resolved.is_none() {
            // The rules of agent and session are joined once, not for each resource.
            let joined = rules(&scope.location, &scope.agent, &scope.session);
            scope.resolved = Some(joined.rules.into_owned().into());
        }
        Self {
            is_given_only: !pending.protected.given_only.is_empty(),
            action: pending.request.action,
            scope,
            saved,
        }
    }
}

impl tools::ActionRules for TurnRules {
    fn effect(&self, resource: &str, others: &[String]) -> PermissionEffect {
        let named = NamedResource {
            name: resource,
            others,
        };
        let effect = decide(&self.action, [named], &self.scope.rules(), &self.saved);
        if !self.is_given_only {
            return effect;
        }
        let given = self.scope.location.agents.given_rules(&self.scope.agent);
        let given = decide(&self.action, [named], &Ruleset::of(given), &self.saved);
        effect.stricter(given)
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
        let protected = Protected::default();
        self.allows_protected(session, action, resource, other_names, protected)
            .await
    }

    /// Returns true if the use of a directory outside of the Location is allowed without a question. With
    /// `is_given_only`, the built-in rules do not allow it.
    pub(crate) async fn allows_outside(
        &self,
        session: &SessionID,
        pattern: String,
        other_names: Vec<String>,
        is_given_only: bool,
    ) -> bool {
        let protected = Protected {
            given_only: is_given_only.then(|| pattern.clone()).into_iter().collect(),
            ..Protected::default()
        };
        self.allows_protected(
            session,
            "external_directory",
            pattern,
            other_names,
            protected,
        )
        .await
    }

    async fn allows_protected(
        &self,
        session: &SessionID,
        action: &str,
        resource: String,
        other_names: Vec<String>,
        protected: Protected,
    ) -> bool {
        let mut pending = Pending {
            other_names: [(resource.clone(), other_names)].into(),
            protected,
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
            protected: Protected::default(),
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
            protected: Protected {
                given_only: asked.given_only,
                guarded: asked.guarded,
            },
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
