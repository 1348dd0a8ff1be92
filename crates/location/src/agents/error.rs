//! Why a session has no agent.

use crate::nearest::{did_you_mean, listed};

/// Why the agent of a session cannot be had. The same choice may succeed once the configuration has
/// changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentResolutionError {
    /// No document and no file describes the agent that was chosen, or it is disabled.
    #[error(
        "There is no agent {id:?}.{} {}",
        did_you_mean(.meant.as_deref()),
        choose("Choose", .known)
    )]
    Unknown {
        /// The agent asked for.
        id: String,
        /// An agent of nearly this id.
        meant: Option<String>,
        /// The agents that people may choose.
        known: Vec<String>,
    },
    /// The agent that configuration names for sessions that choose none cannot be one.
    #[error(
        "The default agent {id:?} cannot be used and no other one is used instead: {reason}.{} {}",
        did_you_mean(.meant.as_deref()),
        choose("Set default_agent to", .known)
    )]
    UnusableDefault {
        /// The agent that is named.
        id: String,
        /// What stands in the way.
        reason: UnusableReason,
        /// An agent of nearly this id.
        meant: Option<String>,
        /// The agents that people may choose.
        known: Vec<String>,
    },
    /// Neither the session nor configuration names an agent, and there is none to choose.
    #[error(
        "No agent is selected and there is none to use by default: all are disabled, hidden or subagents. Choose one, or configure one of the mode \"primary\""
    )]
    NotSelected,
}

/// Why an agent cannot be the default one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnusableReason {
    /// There is none of that id.
    #[error("there is no such agent")]
    Unknown,
    /// User interfaces leave it out.
    #[error("it is hidden")]
    Hidden,
    /// Only other agents may choose it.
    #[error("it is a subagent")]
    Subagent,
}

fn choose(action: &str, known: &[String]) -> String {
    match known {
        [] => "No agent can be chosen here".to_owned(),
        [only] => format!("{action} {only}"),
        names => format!("{action} one of {}", listed(names)),
    }
}
