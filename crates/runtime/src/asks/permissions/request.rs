//! A permission request, with the rules that apply to it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use opencode_location::location::Location;
use opencode_schema::display::DisplayText;
use opencode_schema::event::Notice;
use opencode_schema::id::{PermissionID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::permission::{
    NamedResource, PermissionEffect, PermissionReplied, PermissionReply, PermissionRequest,
    PermissionRule, Ruleset, SavedPermission, decide, evaluate_names,
};
use opencode_tools::PermissionError;
use serde_json::Value;

use super::rules::rules;
use crate::asks::waiting::Request;

/// The agent, Location and session whose rules apply.
#[derive(Clone)]
pub(crate) struct RuleScope {
    /// The state of the Location when the turn was sampled.
    pub(crate) location: Arc<Location>,
    /// The agent; it may not exist.
    pub(crate) agent: String,
    /// The rules of the session.
    pub(crate) session: Arc<[PermissionRule]>,
    /// The rules of agent and session with rules for the real paths of patterns with links, once they are needed.
    pub(crate) resolved: Option<Arc<[PermissionRule]>>,
}

impl RuleScope {
    pub(crate) fn new(
        location: Arc<Location>,
        agent: String,
        session: Arc<[PermissionRule]>,
    ) -> Self {
        Self {
            location,
            agent,
            session,
            resolved: None,
        }
    }

    /// Returns the rules, in order.
    pub(crate) fn rules(&self) -> Ruleset<'_> {
        match &self.resolved {
            Some(resolved) => Ruleset {
                rules: Cow::Borrowed(resolved),
                ..self.location.agents.rules(&self.agent)
            },
            None => rules(&self.location, &self.agent, &self.session),
        }
    }

    async fn resolve_links(&mut self) {
        if !self.session.iter().any(PermissionRule::is_about_paths) {
            return;
        }
        let scope = self.clone();
        let resolving = opencode_log::spawn_blocking(move || {
            scope
                .location
                .agents
                .resolved_rules(&scope.agent, &scope.session)
        });
        // Without the disk, the rules hold as they are written.
        if let Ok(Some(resolved)) = resolving.await {
            self.resolved = Some(resolved.into());
        }
    }
}

/// A request that may have to wait.
pub(crate) struct Pending {
    pub(crate) request: PermissionRequest,
    /// The Location of the session when it asked.
    pub(crate) location: LocationRef,
    pub(crate) rule_scope: RuleScope,
    /// Other names by which the action reaches a resource, by the resource.
    pub(crate) other_names: BTreeMap<String, Vec<String>>,
    /// Resources that not every rule can allow.
    pub(crate) protected: Protected,
}

/// Resources of a request that not every rule can allow.
#[derive(Clone, Default)]
pub(crate) struct Protected {
    /// The built-in rules and those of projects do not allow them.
    pub(crate) given_only: BTreeSet<String>,
    /// Only a rule of the host or the user whose pattern names them allows them; the pattern contains the name. No saved
    /// permission answers for them.
    pub(crate) guarded: BTreeMap<String, String>,
}

impl Protected {
    /// Returns the effect of the rules that can allow the resources. The host asks if none of them does.
    fn effect<'a>(
        &'a self,
        action: &str,
        named: impl Fn(&'a String) -> NamedResource<'a>,
        given: &[PermissionRule],
        saved: &[SavedPermission],
    ) -> PermissionEffect {
        let mut effect = PermissionEffect::Allow;
        for resource in &self.given_only {
            let found = decide(action, [named(resource)], &Ruleset::of(given), saved);
            effect = effect.stricter(found);
        }
        for (resource, name) in &self.guarded {
            let naming = given
                .iter()
                .filter(|rule| rule.effect != PermissionEffect::Allow || rule.names(name));
            let naming: Vec<_> = naming.cloned().collect();
            let found = evaluate_names(action, named(resource), &Ruleset::of(&naming));
            effect = effect.stricter(found);
        }
        effect
    }
}

impl Pending {
    /// Adds rules for the real paths of patterns with links to the rules of the session, as the rules of agents have
    /// them already.
    pub(crate) async fn resolve_links(&mut self) {
        self.rule_scope.resolve_links().await;
    }

    /// Returns the decision of the rules and of the permissions that the project has saved.
    pub(crate) fn decide(&self, saved: &[SavedPermission]) -> PermissionEffect {
        let PermissionRequest {
            action, resources, ..
        } = &self.request;
        let named = |name| self.named(name);
        let resources = resources.iter().map(named);
        let effect = decide(action, resources, &self.rule_scope.rules(), saved);
        let RuleScope {
            location, agent, ..
        } = &self.rule_scope;
        let given = location.agents.given_rules(agent);
        effect.stricter(self.protected.effect(action, named, given, saved))
    }

    fn named<'a>(&'a self, name: &'a String) -> NamedResource<'a> {
        NamedResource {
            name,
            others: self.other_names.get(name).map_or(&[], Vec::as_slice),
        }
    }

    /// Returns the request as users read it. The decision uses the original names.
    pub(crate) fn shown(&self) -> PermissionRequest {
        let mut shown = self.request.clone();
        let secrets = &self.rule_scope.location.secrets;
        let block = |text: &String| DisplayText::block(secrets.verbatim(text)).into_string();
        shown.action = DisplayText::line(shown.action).into_string();
        shown.resources = shown.resources.iter().map(block).collect();
        shown.save = shown.save.map(|save| save.iter().map(block).collect());
        if let Some(metadata) = &mut shown.metadata {
            secrets.clean_members(metadata);
            metadata.values_mut().for_each(show);
        }
        shown
    }

    /// Returns the project whose saved permissions apply; for an untrusted project its worktree.
    pub(crate) fn project(&self) -> &str {
        self.rule_scope.location.approvals()
    }

    pub(crate) fn replied(&self, reply: PermissionReply) -> Notice {
        Notice::PermissionReplied(PermissionReplied {
            session_id: self.request.session_id.clone(),
            request_id: self.request.id.clone(),
            reply,
        })
    }
}

/// Escapes the characters that would change how the text around them is shown.
fn show(value: &mut Value) {
    match value {
        Value::String(text) => *text = DisplayText::block(std::mem::take(text)).into_string(),
        Value::Array(elements) => elements.iter_mut().for_each(show),
        Value::Object(members) => members.values_mut().for_each(show),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl Request for Pending {
    type Id = PermissionID;
    type Answer = Result<(), PermissionError>;

    fn id(&self) -> &PermissionID {
        &self.request.id
    }

    fn session_id(&self) -> &SessionID {
        &self.request.session_id
    }

    fn location(&self) -> &LocationRef {
        &self.location
    }

    fn asked_notice(&self) -> Notice {
        Notice::PermissionAsked(self.shown())
    }

    fn ended_notice(&self) -> Notice {
        self.replied(PermissionReply::Reject)
    }
}
