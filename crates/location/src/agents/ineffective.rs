//! Agents and permission actions that configuration can name and that have no effect.

use opencode_schema::permission::PermissionRule;

use crate::config::{AgentPatch, Diagnostic, DiagnosticKind};

/// Agents that no operation runs.
const AGENTS: [&str; 2] = ["title", "summary"];

/// Actions that no tool asks for.
const ACTIONS: [&str; 2] = ["plan_enter", "plan_exit"];

/// Whether no operation runs the agent of that id.
pub(super) fn is_agent(id: &str) -> bool {
    AGENTS.contains(&id)
}

/// Whether no tool asks for the action of a rule.
pub(super) fn is_rule(rule: &PermissionRule) -> bool {
    ACTIONS.contains(&rule.action.as_str())
}

/// The diagnostics for the description of an agent. Disabling an agent that has no effect is fine.
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

/// The diagnostics for permission rules: one for each action without effect.
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
