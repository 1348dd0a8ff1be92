//! Reasons why a session has no agent.

use crate::nearest::{did_you_mean, listed};

/// The reason why the agent of a session cannot be resolved. The same choice may succeed after the
/// configuration has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentResolutionError {
    /// No document and no file describes the chosen agent, or it is disabled.
    #[error(
        "There is no agent {id:?}.{} {}",
        did_you_mean(.meant.as_deref()),
        choose("Choose", .known)
    )]
    Unknown {
        /// The requested agent.
        id: String,
        /// An agent with a similar id.
        meant: Option<String>,
        /// The agents that a user can choose.
        known: Vec<String>,
    },
    /// The configuration names a default agent that cannot be the default.
    #[error(
        "The default agent {id:?} cannot be used and no other one is used instead: {reason}.{} {}",
        did_you_mean(.meant.as_deref()),
        choose("Set default_agent to", .known)
    )]
    UnusableDefault {
        /// The configured agent.
        id: String,
        /// The reason why it cannot be used.
        reason: UnusableReason,
        /// An agent with a similar id.
        meant: Option<String>,
        /// The agents that a user can choose.
        known: Vec<String>,
    },
    /// Neither the session nor the configuration names an agent, and no agent can be the default.
    #[error(
        "No agent is selected and there is none to use by default: all are disabled, hidden or subagents. Choose one, or configure one of the mode \"primary\""
    )]
    NotSelected,
}

/// The reason why an agent cannot be the default agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnusableReason {
    /// No agent has this id.
    #[error("there is no such agent")]
    Unknown,
    /// The agent is hidden in user interfaces.
    #[error("it is hidden")]
    Hidden,
    /// Only other agents can choose it.
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
