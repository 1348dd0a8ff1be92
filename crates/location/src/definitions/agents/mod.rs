//! The agents of a directory: the built-in ones and those that configuration and Markdown files describe.

mod build;
mod builtin;
mod error;
mod ineffective;
mod misnamed;
mod restrictions;
mod unread;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use opencode_schema::agent::{AgentInfo, AgentMode};
use opencode_schema::catalogue::RequestSettings;
use opencode_schema::permission::{PermissionEffect, PermissionRule, Restriction, Ruleset};
use opencode_secrets::Secrets;

use unread::Unread;

pub use error::{AgentResolutionError, UnusableReason};
pub use misnamed::{MisnamedAction, meant_action, restricting_meant, unknown_actions};

use self::build::deciding;
use self::misnamed::Misnamed;
use crate::catalogue::hide;
use crate::directory::RealPatterns;
use crate::nearest::nearest;

/// The default agent of sessions if the configuration names no other one.
pub const DEFAULT_AGENT: &str = "build";

/// The agents of one directory. Immutable; a new configuration creates a new value.
pub struct Agents {
    /// Built-in agents first, then the others in the order of their first description.
    agents: Vec<Agent>,
    /// The public view of `agents`, in the same order.
    shown: Vec<AgentInfo>,
    /// Indices into `agents` by id.
    index: HashMap<String, usize>,
    /// Index of the default agent, or the reason why there is no default agent.
    default: Result<usize, AgentResolutionError>,
    /// The rules of an agent that is not described.
    unknown: Vec<PermissionRule>,
    /// Configuration that cannot be read and that could restrict agents.
    unread: Unread,
    /// Actions in rules that the host does not know.
    misnamed: Misnamed,
    /// Resolves links in the patterns of rules.
    real: Arc<RealPatterns>,
}

struct Agent {
    info: AgentInfo,
    /// Its request settings without the secrets that they may contain.
    shown: RequestSettings,
    /// The place in its permissions of the rule about repetition, which is not shown. `None` if it has none.
    repetition: Option<usize>,
    /// The rules that decide about its tool calls, with rules for the real paths of patterns with links.
    rules: Vec<PermissionRule>,
    /// Rules that no other rule can loosen.
    restrictions: Vec<Restriction>,
    /// Its rules that the host, the administrator or the user wrote.
    given: Arc<[PermissionRule]>,
    /// True if the agent is built in or a trusted source describes it.
    is_trusted: bool,
}

impl Agents {
    fn new(agents: Vec<Agent>, unread: Unread, real: Arc<RealPatterns>) -> Self {
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
            misnamed: Misnamed::default(),
            real,
        }
    }

    /// The actions that rules of the configuration name and that the host does not know. A server or the program may have a
    /// tool with that name.
    pub fn misnamed_actions(&self) -> impl Iterator<Item = &MisnamedAction> {
        self.misnamed.actions()
    }

    /// Returns the agent with this id.
    pub fn get(&self, id: &str) -> Option<&AgentInfo> {
        Some(&self.agents[*self.index.get(id)?].info)
    }

    /// Returns the agent of a session: the chosen agent, or else the default agent. Fails if the chosen
    /// agent does not exist; it never returns a different agent instead.
    ///
    /// # Errors
    ///
    /// The reason why there is no agent, with similar ids if there are any.
    pub fn resolve(&self, chosen: Option<&str>) -> Result<&AgentInfo, AgentResolutionError> {
        let Some(id) = chosen else {
            let place = self.default.as_ref().map_err(Clone::clone)?;
            return Ok(&self.agents[*place].info);
        };
        self.get(id).ok_or_else(|| AgentResolutionError::Unknown {
            id: id.to_owned(),
            meant: self.similar_agent(id),
            known: self.choosable(),
        })
    }

    /// The request settings of all agents, including secrets.
    pub(crate) fn requests(&self) -> impl Iterator<Item = &RequestSettings> {
        self.agents.iter().map(|agent| &agent.info.request)
    }

    /// Replaces these secrets in the values that [`Agents::list`] returns.
    pub(crate) fn hide(&mut self, secrets: &Secrets) {
        for agent in &mut self.shown {
            hide(&mut agent.request.body, secrets);
        }
    }

    /// The public view of the agents, including hidden agents, without the secrets that request settings may contain.
    pub fn list(&self) -> &[AgentInfo] {
        &self.shown
    }

    /// The default agent. `None` if [`Agents::resolve`] fails without a choice.
    pub fn default_agent(&self) -> Option<&AgentInfo> {
        self.resolve(None).ok()
    }

    /// Returns the id of the agent that decides the rules of a session with this choice, even if that
    /// agent does not exist.
    pub fn id_of(&self, chosen: Option<&str>) -> String {
        let id = match (chosen, &self.default) {
            (Some(id), _) => id,
            (None, Ok(place)) => &self.agents[*place].info.id,
            (None, Err(AgentResolutionError::UnusableDefault { id, .. })) => id,
            (None, Err(_)) => DEFAULT_AGENT,
        };
        id.to_owned()
    }

    /// Returns the rules that decide what an agent may do, in order. An agent that is not described may do nothing.
    ///
    /// In addition to the permissions that [`Agents::get`] shows, they contain the rule that the user is asked about a
    /// built-in agent that repeats itself (`doom_loop`), unless a later rule overrides it.
    pub fn rules(&self, id: &str) -> Ruleset<'_> {
        match self.index.get(id) {
            Some(place) => Ruleset {
                restrictions: &self.agents[*place].restrictions,
                ..Ruleset::of(&self.agents[*place].rules)
            },
            None => Ruleset::of(&self.unknown),
        }
    }

    /// Returns the rules for an agent that the host, the administrator or the user wrote, without those of projects and of
    /// built-in agents.
    pub fn given_rules(&self, id: &str) -> &[PermissionRule] {
        let place = self.index.get(id);
        place.map_or(&[], |place| &self.agents[*place].given)
    }

    /// Returns the rules of an agent followed by those of a session, with rules for the real paths of patterns with
    /// links. Blocks on disk access. `None` for an agent that is not described.
    pub fn resolved_rules(
        &self,
        id: &str,
        session: &[PermissionRule],
    ) -> Option<Vec<PermissionRule>> {
        let agent = &self.agents[*self.index.get(id)?];
        let written = deciding(&agent.info, agent.repetition);
        Some(self.real.resolve(written.chain(session).cloned()))
    }

    /// The values and files that cannot be read and could restrict agents, with the reasons. The host
    /// asks the user before every action that they could restrict.
    pub fn unread(&self) -> &[String] {
        &self.unread.reasons
    }

    /// True if a file that could not be read has changed since then. Blocks on disk access.
    pub(crate) fn may_be_readable(&self) -> bool {
        self.unread.has_changed()
    }

    /// Sets the default agent to the one that the configuration names, and to no other. If the configuration names
    /// none, uses [`DEFAULT_AGENT`], or else the first agent that a user can choose. An agent that only an untrusted
    /// project describes becomes the default only if the configuration names it.
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
            meant: self
                .similar_agent(id)
                .filter(|_| reason == UnusableReason::Unknown),
            reason,
            known: self.choosable(),
        })
    }

    /// Returns an agent that a user can choose and that has a similar id.
    fn similar_agent(&self, id: &str) -> Option<String> {
        let agents = self.agents.iter().map(|agent| &agent.info);
        let names = agents.filter(|agent| is_choosable(agent));
        nearest(id, names.map(|agent| agent.id.as_str())).map(str::to_owned)
    }

    /// The agents that a user can choose.
    fn choosable(&self) -> Vec<String> {
        let agents = self.agents.iter().map(|agent| &agent.info);
        let choosable = agents.filter(|agent| is_choosable(agent));
        choosable.map(|agent| agent.id.clone()).collect()
    }
}

/// True if the agent can be the default agent and a user can choose it.
fn is_choosable(agent: &AgentInfo) -> bool {
    agent.mode != AgentMode::Subagent && !agent.hidden
}

/// Shows only the ids, because request settings may contain secrets.
impl fmt::Debug for Agents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.agents.iter().map(|agent| &agent.info.id);
        f.debug_set().entries(ids).finish()
    }
}
