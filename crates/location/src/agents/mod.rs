//! The agents of a directory: those that are built in and those that configuration and Markdown
//! files describe.

mod build;
mod builtin;
mod error;
mod ineffective;
mod restrictions;
mod unread;

use std::collections::HashMap;
use std::fmt;

use opencode_llm::redact::Secrets;
use opencode_schema::agent::{AgentInfo, AgentMode};
use opencode_schema::catalogue::RequestSettings;
use opencode_schema::permission::{PermissionEffect, PermissionRule, Restriction, Ruleset};

use unread::Unread;

pub use error::{AgentResolutionError, UnusableReason};

use crate::nearest::nearest;

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
    /// The place of the agent of sessions that choose none, or why there is none.
    default: Result<usize, AgentResolutionError>,
    /// The rules of an agent that nobody describes.
    unknown: Vec<PermissionRule>,
    /// What cannot be read and could have restricted agents.
    unread: Unread,
}

struct Agent {
    info: AgentInfo,
    /// Its settings of requests without the secrets they may hold.
    shown: RequestSettings,
    /// The rules that decide about its uses of tools.
    rules: Vec<PermissionRule>,
    /// Rules that no other rule loosens.
    restrictions: Vec<Restriction>,
    /// Whether it is built in, or a trusted source describes it.
    is_trusted: bool,
}

impl Agents {
    fn new(agents: Vec<Agent>, unread: Unread) -> Self {
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
            default: Err(AgentResolutionError::NotSelected),
            unknown: vec![nothing],
            unread,
        }
    }

    /// The agent of that id.
    pub fn get(&self, id: &str) -> Option<&AgentInfo> {
        Some(&self.agents[*self.index.get(id)?].info)
    }

    /// The agent of a session: the one that it has chosen, else the default one. A choice is taken at
    /// its word: where it cannot be satisfied this fails rather than answer with another agent.
    ///
    /// # Errors
    ///
    /// Why there is none, with the names that were probably meant.
    pub fn resolve(&self, chosen: Option<&str>) -> Result<&AgentInfo, AgentResolutionError> {
        let Some(id) = chosen else {
            let place = self.default.as_ref().map_err(Clone::clone)?;
            return Ok(&self.agents[*place].info);
        };
        self.get(id).ok_or_else(|| AgentResolutionError::Unknown {
            id: id.to_owned(),
            meant: self.meant(id),
            known: self.choosable(),
        })
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

    /// The agent of sessions that choose none; none if [`Agents::resolve`] says why.
    pub fn default_agent(&self) -> Option<&AgentInfo> {
        self.resolve(None).ok()
    }

    /// The id of the agent by whose rules a session is judged that has chosen this one or none, also
    /// where there is no such agent.
    pub fn id_of(&self, chosen: Option<&str>) -> String {
        let id = match (chosen, &self.default) {
            (Some(id), _) => id,
            (None, Ok(place)) => &self.agents[*place].info.id,
            (None, Err(AgentResolutionError::UnusableDefault { id, .. })) => id,
            (None, Err(_)) => DEFAULT_AGENT,
        };
        id.to_owned()
    }

    /// The rules that decide what an agent may do, in order. An agent that nobody describes may do
    /// nothing.
    ///
    /// Beside the permissions that [`Agents::get`] shows, these hold that somebody is asked about a
    /// built-in agent that repeats itself (`doom_loop`), unless a later rule says otherwise.
    pub fn rules(&self, id: &str) -> Ruleset<'_> {
        match self.index.get(id) {
            Some(place) => Ruleset {
                restrictions: &self.agents[*place].restrictions,
                ..Ruleset::of(&self.agents[*place].rules)
            },
            None => Ruleset::of(&self.unknown),
        }
    }

    /// The values and files that cannot be read and could have restricted agents, with the reasons.
    /// The host asks before everything that they might have restricted.
    pub fn unread(&self) -> &[String] {
        &self.unread.reasons
    }

    /// Whether a file that could not be read was changed since. Blocks on the disk.
    pub(crate) fn may_be_mended(&self) -> bool {
        self.unread.has_changed()
    }

    /// Takes the agent that configuration names and no other one. Where it names none, takes the
    /// usual one, else the first that people may choose. One that only an untrusted project
    /// describes has to be named.
    fn choose_default(&mut self, named: Option<&str>) {
        let fits = |place: &usize| {
            let agent = &self.agents[*place];
            agent.is_trusted && is_choosable(&agent.info)
        };
        let usual = || self.index.get(DEFAULT_AGENT).copied().filter(fits);
        self.default = match named {
            Some(id) => self.usable_default(id),
            None => usual()
                .or_else(|| (0..self.agents.len()).find(fits))
                .ok_or(AgentResolutionError::NotSelected),
        };
    }

    fn usable_default(&self, id: &str) -> Result<usize, AgentResolutionError> {
        let place = self.index.get(id).copied();
        let reason = match place.map(|place| (place, &self.agents[place].info)) {
            Some((place, agent)) if is_choosable(agent) => return Ok(place),
            Some((_, agent)) if agent.hidden => UnusableReason::Hidden,
            Some(_) => UnusableReason::Subagent,
            None => UnusableReason::Unknown,
        };
        Err(AgentResolutionError::UnusableDefault {
            id: id.to_owned(),
            meant: self.meant(id).filter(|_| reason == UnusableReason::Unknown),
            reason,
            known: self.choosable(),
        })
    }

    /// An agent that people may choose, of nearly this id.
    fn meant(&self, id: &str) -> Option<String> {
        let agents = self.agents.iter().map(|agent| &agent.info);
        let names = agents.filter(|agent| is_choosable(agent));
        nearest(id, names.map(|agent| agent.id.as_str())).map(str::to_owned)
    }

    /// The agents that people may choose.
    fn choosable(&self) -> Vec<String> {
        let agents = self.agents.iter().map(|agent| &agent.info);
        let choosable = agents.filter(|agent| is_choosable(agent));
        choosable.map(|agent| agent.id.clone()).collect()
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
