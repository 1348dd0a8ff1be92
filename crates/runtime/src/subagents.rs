//! The agents that accept tasks, and the texts about them for a model.

use opencode_schema::agent::{AgentInfo, AgentMode};
use opencode_schema::permission::{PermissionEffect, evaluate};

use crate::asks::permissions::RuleScope;

/// Maximum number of listed agents. The list is part of the prefix of each request, so it stays short.
const MAX_LISTED: usize = 50;

/// Maximum number of characters of a mentioned name that are repeated.
const MAX_NAME: usize = 200;

/// Maximum number of characters of a description.
const MAX_DESCRIPTION: usize = 300;

/// True if the agent accepts tasks.
pub(crate) fn takes_tasks(agent: &AgentInfo) -> bool {
    agent.mode != AgentMode::Primary && !agent.hidden
}

/// Returns the agents that take tasks, without those that the rules deny, sorted by their ids.
pub(crate) fn offered(rule_scope: &RuleScope) -> Vec<&AgentInfo> {
    let rules = rule_scope.rules();
    let is_denied = |id: &str| evaluate("task", id, &rules) == PermissionEffect::Deny;
    let agents = rule_scope.location.agents.list().iter();
    let mut agents: Vec<_> = agents
        .filter(|agent| takes_tasks(agent) && !is_denied(&agent.id))
        .collect();
    agents.sort_unstable_by(|one, other| one.id.cmp(&other.id));
    agents
}

/// Returns the list of agents for the description of the tool `task`: agents that take tasks, without those that the
/// rules deny. Equal agents and rules give equal text, because the text is part of the prefix of every request.
pub(crate) fn subagents(rule_scope: &RuleScope) -> String {
    let agents = offered(rule_scope);
    if agents.is_empty() {
        return "\n\nNo agent is available at the moment.".to_owned();
    }
    let mut text = "\n\nAvailable agents:".to_owned();
    for agent in agents.iter().take(MAX_LISTED) {
        text += &line(agent);
    }
    if agents.len() > MAX_LISTED {
        text += &format!("\n{} more", agents.len() - MAX_LISTED);
    }
    text
}

/// Returns the guidance for an agent that a prompt mentions.
pub(crate) fn mention(rule_scope: &RuleScope, name: &str) -> String {
    let agents = rule_scope.location.agents.list();
    let found = agents
        .iter()
        .find(|agent| agent.id == name && takes_tasks(agent));
    let name: String = name.chars().take(MAX_NAME).collect();
    let Some(agent) = found else {
        return format!(
            "The user mentions the agent {name:?}, but no agent of that name takes tasks."
        );
    };
    match evaluate("task", &agent.id, &rule_scope.rules()) {
        PermissionEffect::Deny => format!(
            "The user mentions the agent {name:?}, but the permission rules do not allow tasks for it."
        ),
        _ => format!(
            "The user mentions the agent {name:?}. Give it the work that the prompt asks of it, with the tool task."
        ),
    }
}

fn line(agent: &AgentInfo) -> String {
    let Some(description) = &agent.description else {
        return format!("\n- {}", agent.id);
    };
    let words: Vec<_> = description.split_whitespace().collect();
    let description: String = words.join(" ").chars().take(MAX_DESCRIPTION).collect();
    format!("\n- {}: {description}", agent.id)
}
