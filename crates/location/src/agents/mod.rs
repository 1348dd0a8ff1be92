//! The agents of a directory: those that are built in and those that configuration and Markdown
//! files describe.

mod build;
mod builtin;

use std::collections::HashMap;
use std::fmt;

use opencode_llm::redact::Secrets;
use opencode_schema::agent::{AgentInfo, AgentMode};
use opencode_schema::catalogue::RequestSettings;
use opencode_schema::permission::{PermissionEffect, PermissionRule};

use crate::catalogue::hide;

/// The agent of sessions that choose none, where configuration names no other.
pub const DEFAULT_AGENT: &str = "build";

/// The agents of one directory. Never changes; a new configuration gives new ones.
pub struct Agents {
    /// In the order in which they were first described, the built-in ones first.
    agents: Vec<Agent>,
    /// What reads show of them, in the same order.
    shown: Vec<AgentInfo>,
    /// Places by id.
    index: HashMap<String, usize>,
    /// The place of the agent of sessions that choose none.
    default: Option<usize>,
    /// The rules of an agent that nobody describes.
    unknown: Vec<PermissionRule>,
}

struct Agent {
    info: AgentInfo,
    /// Its settings of requests without the secrets they may hold.
    shown: RequestSettings,
    /// What its uses of tools are judged by.
    rules: Vec<PermissionRule>,
}

impl Agents {
    fn new(agents: Vec<Agent>) -> Self {
        let ids = agents.iter().enumerate();
        let index = ids
            .map(|(place, agent)| (agent.info.id.clone(), place))
            .collect();
        let nothing = PermissionRule {
            action: "*".to_owned(),
            resource: "*".to_owned(),
            effect: PermissionEffect::Deny,
        };
        Self {
            shown: agents
                .iter()
                .map(|agent| AgentInfo {
                    request: agent.shown.clone(),
                    ..agent.info.clone()
                })
                .collect(),
            agents,
            index,
            default: None,
            unknown: vec![nothing],
        }
    }

    /// The agent of that id. A session may name one that nobody describes: it has no prompt, no
    /// skills and no tools.
    pub fn get(&self, id: &str) -> Option<&AgentInfo> {
        Some(&self.agents[*self.index.get(id)?].info)
    }

    /// What the agents say of their requests, secrets included.
    pub(crate) fn requests(&self) -> impl Iterator<Item = &RequestSettings> {
        self.agents.iter().map(|agent| &agent.info.request)
    }

    /// Shows none of these from now on.
    pub(crate) fn hide(&mut self, secrets: &Secrets) {
        for agent in &mut self.shown {
            hide(&mut agent.request.body, secrets);
        }
    }

    /// The agents as reads show them, the hidden ones included: without the secrets that settings
    /// of requests may hold.
    pub fn list(&self) -> &[AgentInfo] {
        &self.shown
    }

    /// The agent of sessions that choose none; none if there is no agent people may choose. Such a
    /// session then has [`DEFAULT_AGENT`], which nobody describes.
    pub fn default_agent(&self) -> Option<&AgentInfo> {
        Some(&self.agents[self.default?].info)
    }

    /// The rules that decide what an agent may do, in order. An agent that nobody describes may do
    /// nothing.
    ///
    /// Beside the permissions that [`Agents::get`] shows, these hold that somebody is asked about a
    /// built-in agent that repeats itself (`doom_loop`), unless a later rule says otherwise.
    pub fn rules(&self, id: &str) -> &[PermissionRule] {
        match self.index.get(id) {
            Some(place) => &self.agents[*place].rules,
            None => &self.unknown,
        }
    }

    /// The agent that `named` says, else the usual one, else the first that people may choose.
    fn choose_default(&mut self, named: Option<&str>) {
        let fits = |place: &usize| is_choosable(&self.agents[*place].info);
        let known = |id: &str| self.index.get(id).copied().filter(fits);
        self.default = named
            .and_then(known)
            .or_else(|| known(DEFAULT_AGENT))
            .or_else(|| (0..self.agents.len()).find(fits));
    }
}

/// Whether sessions can have the agent without having chosen it.
fn is_choosable(agent: &AgentInfo) -> bool {
    agent.mode != AgentMode::Subagent && !agent.hidden
}

/// Shows the ids: settings of requests may hold secrets.
impl fmt::Debug for Agents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.agents.iter().map(|agent| &agent.info.id);
        f.debug_set().entries(ids).finish()
    }
}
