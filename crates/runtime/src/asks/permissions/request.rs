//! A permission request, with the rules that apply to it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter;
use std::sync::Arc;

use opencode_location::definitions::agents::{restricting_meant, unknown_actions};
use opencode_location::location::Location;
use opencode_schema::display::DisplayText;
use opencode_schema::event::Notice;
use opencode_schema::id::{PermissionID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::permission::{
    NamedResource, PermissionEffect, PermissionReplied, PermissionReply, PermissionRequest,
    PermissionRule, Ruleset, SavedPermission, action_of_tool, decide, decide_by_tool, denying_rule,
    matches,
};
use opencode_tools::PermissionError;
use serde_json::Value;

use super::protected::Protected;
use super::rules::rules;
use super::tool_names::NamesOfNow;
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
            session: restricting_meant(session),
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

    /// True if both have the same rules.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.location, &other.location)
            && self.agent == other.agent
            && self.session == other.session
    }

    /// Returns the rules that neither a project nor the built-in agents contain.
    pub(super) fn given_rules(&self) -> &[PermissionRule] {
        self.location.agents.given_rules(&self.agent)
    }

    /// Adds rules for the real paths of patterns with links to the rules of the session, as the rules of agents have
    /// them already.
    pub(super) async fn resolve_links(&mut self) {
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
#[derive(Clone)]
pub(crate) struct Pending {
    pub(crate) request: PermissionRequest,
    /// The Location of the session when it asked.
    pub(crate) location: LocationRef,
    /// The rules with which the request began.
    pub(crate) rule_scope: RuleScope,
    /// True if the agent is the one that the session has chosen, whichever that is. A turn keeps its agent.
    pub(crate) follows_session: bool,
    /// Other names by which the action reaches a resource, by the resource.
    pub(crate) other_names: BTreeMap<String, Vec<String>>,
    /// Resources that not every rule can allow.
    pub(super) protected: Protected,
    /// The name of the tool that asks, if rules about it restrict the action as well.
    pub(super) tool: Option<String>,
    /// The names of the tools of the Location, if a tool asks.
    pub(super) tool_names: Option<NamesOfNow>,
    /// True if the action names no resource, so that it may use every one.
    pub(super) is_about_all: bool,
}

impl Pending {
    /// Creates a request of a turn. Users read `*` where it names no resource.
    pub(super) fn new(
        mut request: PermissionRequest,
        other_names: BTreeMap<String, Vec<String>>,
        location: LocationRef,
        rule_scope: RuleScope,
    ) -> Self {
        let resources = &mut request.resources;
        let is_about_all = resources.is_empty() || resources.iter().any(String::is_empty);
        resources.retain(|resource| !resource.is_empty());
        if is_about_all && !resources.iter().any(|it| it == "*") {
            resources.push("*".to_owned());
        }
        Self {
            request,
            location,
            rule_scope,
            follows_session: false,
            other_names,
            protected: Protected::default(),
            tool: None,
            tool_names: None,
            is_about_all,
        }
    }

    /// Returns the decision of the rules with which the request began, of the rules of now, and of the permissions that
    /// the project has saved.
    pub(super) fn decide(&self, now: &RuleScope, saved: &[SavedPermission]) -> PermissionEffect {
        let began = self.decide_by(&self.rule_scope, saved);
        if now.is_same(&self.rule_scope) {
            return began;
        }
        began.stricter(self.decide_by(now, saved))
    }

    fn decide_by(&self, scope: &RuleScope, saved: &[SavedPermission]) -> PermissionEffect {
        let action = self.request.action.as_str();
        let effect = self.by(action, scope, saved);
        let effect = effect.stricter(self.by_tool(scope, saved));
        let effect = effect.stricter(self.by_misspelt(scope, saved));
        let meant = action_of_tool(action);
        if meant == action {
            return effect;
        }
        // A client, or a tool of the program with the name of a built-in one, asks by the name of the tool.
        let of_tool = saved.iter().filter(|it| matches(&it.action, action));
        let of_tool = of_tool.map(|it| SavedPermission {
            action: meant.to_owned(),
            ..it.clone()
        });
        effect.stricter(self.by(meant, scope, &of_tool.collect::<Vec<_>>()))
    }

    fn by(&self, action: &str, scope: &RuleScope, saved: &[SavedPermission]) -> PermissionEffect {
        let effect = decide(action, self.resources(), &scope.rules(), saved);
        let given = scope.given_rules();
        let protected = &self.protected;
        effect.stricter(protected.effect(action, |it| self.named(it), given, saved))
    }

    /// Returns the action and the resource of a rule that denies the request.
    pub(super) fn denied_by(&self, now: &RuleScope) -> Option<String> {
        let rules = now.rules();
        let action = self.request.action.as_str();
        let protected = |action| {
            let given = now.given_rules();
            self.protected.denied_by(action, |it| self.named(it), given)
        };
        let denying = |action| {
            let rule = denying_rule(action, self.resources(), &rules).cloned();
            rule.or_else(|| protected(action))
        };
        if let Some(rule) = denying(action).or_else(|| denying(action_of_tool(action))) {
            return Some(format!("{} {}", rule.action, rule.resource));
        }
        let names = self.tool.clone().into_iter().chain(self.misspelt(now));
        let denies = |name: &String| self.by_name(name, now, &[]) == PermissionEffect::Deny;
        names.into_iter().find(denies)
    }

    fn by_tool(&self, scope: &RuleScope, saved: &[SavedPermission]) -> PermissionEffect {
        self.tool.as_ref().map_or(PermissionEffect::Allow, |tool| {
            self.by_name(tool, scope, saved)
        })
    }

    /// Returns the effect of the rules with a misspelt name of the tool that asks, or of its action.
    fn by_misspelt(&self, scope: &RuleScope, saved: &[SavedPermission]) -> PermissionEffect {
        let names = self.misspelt(scope).into_iter();
        let effects = names.map(|name| self.by_name(&name, scope, saved));
        effects.fold(PermissionEffect::Allow, PermissionEffect::stricter)
    }

    fn misspelt(&self, scope: &RuleScope) -> Vec<String> {
        let rules = scope.rules();
        let names = self.tool_names.as_ref();
        let names = names.filter(|_| unknown_actions(&rules).next().is_some());
        let asked = iter::once(&self.request.action).chain(&self.tool);
        let asked: Vec<_> = asked.map(String::as_str).collect();
        names.map_or_else(Vec::new, |names| names().misspelt(&rules, &asked))
    }

    fn by_name(
        &self,
        name: &str,
        scope: &RuleScope,
        saved: &[SavedPermission],
    ) -> PermissionEffect {
        let (action, resources) = (&self.request.action, self.resources());
        decide_by_tool(name, action, resources, &scope.rules(), saved)
    }

    fn resources(&self) -> impl Iterator<Item = NamedResource<'_>> {
        let named = self.request.resources.iter().map(|name| self.named(name));
        named.filter(|_| !self.is_about_all)
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

/// The origin of a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllowedBy {
    /// A user allowed this request.
    User,
    /// An approval for another request covers this one. It may be removed until the call begins.
    Approval,
}

impl Request for Pending {
    type Id = PermissionID;
    type Answer = Result<AllowedBy, PermissionError>;

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
