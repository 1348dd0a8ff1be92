//! The rules for one action, to decide about many resources: the files of a search.

use std::sync::Arc;

use opencode_schema::permission::{
    NamedResource, PermissionEffect, Ruleset, SavedPermission, decide,
};
use opencode_tools::ActionRules;

use super::Permissions;
use super::request::{Pending, RuleScope};
use super::rules::rules;
use crate::error::RuntimeError;

impl Permissions {
    /// Returns the rules with which the request began and those of now, which are read once. If they cannot be read, the
    /// user has to be asked about each resource.
    pub(super) async fn rules_for_many(&self, mut pending: Pending) -> Arc<dyn ActionRules> {
        pending.rule_scope.resolve_links().await;
        match self.read_rules_for_many(pending).await {
            Ok(rules) => Arc::new(rules),
            Err(error) => {
                tracing::warn!(%error, "the rules of a search cannot be read");
                Arc::new(AskAlways)
            }
        }
    }

    async fn read_rules_for_many(&self, pending: Pending) -> Result<RulesForMany, RuntimeError> {
        let now = Box::pin(self.rules_of_now(&pending)).await?;
        let project = now.location.approvals().to_owned();
        let saved = self.saved_permissions(project).await?;
        Ok(RulesForMany::new(pending, now, saved))
    }
}

/// Joins the rules of agent and session once, not for each resource.
fn joined(mut scope: RuleScope) -> RuleScope {
    if scope.resolved.is_none() {
        let joined = rules(&scope.location, &scope.agent, &scope.session);
        scope.resolved = Some(joined.rules.into_owned().into());
    }
    scope
}

pub(super) struct RulesForMany {
    action: String,
    /// The rules with which the request began, and those of now if they differ.
    scopes: Vec<RuleScope>,
    saved: Vec<SavedPermission>,
    /// True if the built-in rules allow nothing.
    is_given_only: bool,
}

impl RulesForMany {
    pub(super) fn new(pending: Pending, now: RuleScope, saved: Vec<SavedPermission>) -> Self {
        let is_same = now.is_same(&pending.rule_scope);
        let scopes = [Some(pending.rule_scope), (!is_same).then_some(now)];
        Self {
            scopes: scopes.into_iter().flatten().map(joined).collect(),
            is_given_only: !pending.protected.given_only.is_empty(),
            action: pending.request.action,
            saved,
        }
    }
}

impl ActionRules for RulesForMany {
    fn effect(&self, resource: &str, others: &[String]) -> PermissionEffect {
        let named = NamedResource {
            name: resource,
            others,
        };
        let by = |rules: &Ruleset<'_>| decide(&self.action, [named], rules, &self.saved);
        let effects = self.scopes.iter().map(|scope| {
            let effect = by(&scope.rules());
            if self.is_given_only {
                effect.stricter(by(&Ruleset::of(scope.given_rules())))
            } else {
                effect
            }
        });
        effects.fold(PermissionEffect::Allow, PermissionEffect::stricter)
    }
}

/// The rules if they cannot be read.
struct AskAlways;

impl ActionRules for AskAlways {
    fn effect(&self, _resource: &str, _others: &[String]) -> PermissionEffect {
        PermissionEffect::Ask
    }
}
