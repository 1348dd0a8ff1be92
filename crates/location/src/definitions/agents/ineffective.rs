//! Agents and permission actions that the configuration can name but that have no effect.

use opencode_schema::permission::PermissionRule;

use crate::config::{AgentPatch, Diagnostic, DiagnosticKind};

/// Agents that no operation runs.
const AGENTS: [&str; 1] = ["summary"];

/// Actions that no tool requests.
const ACTIONS: [&str; 2] = ["plan_enter", "plan_exit"];

/// True if no operation runs the agent with this id.
pub(super) fn is_agent(id: &str) -> bool {
    AGENTS.contains(&id)
}

/// True if no tool requests the action of the rule.
pub(super) fn is_rule(rule: &PermissionRule) -> bool {
    ACTIONS.contains(&rule.action.as_str())
}

/// Returns the diagnostics for the description of an agent. Disabling an agent without effect gives no diagnostic.
pub(super) fn in_agent(origin: &str, id: &str, patch: &AgentPatch) -> Vec<Diagnostic> {
    if !is_agent(id) {
        return in_rules(origin, &patch.permissions);
    }
    if patch.disabled == Some(true) {
        return Vec::new();
    }
    let message = format!("The agent {id} has no effect, because no operation runs it; remove it");
    vec![ignored(origin, message)]
}

/// Returns the diagnostics for permission rules: one for each action without effect.
pub(super) fn in_rules(origin: &str, rules: &[PermissionRule]) -> Vec<Diagnostic> {
    let named = |action: &&&str| rules.iter().any(|rule| rule.action == **action);
    let actions = ACTIONS.iter().filter(named);
    let messages = actions.map(|action| {
        format!("The permission {action} has no effect, because no tool asks for it; remove it")
    });
    messages.map(|message| ignored(origin, message)).collect()
}

fn ignored(origin: &str, message: String) -> Diagnostic {
    Diagnostic::new(origin, DiagnosticKind::Ignored, message, None)
}
