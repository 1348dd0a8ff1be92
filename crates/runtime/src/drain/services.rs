//! The collaborators of a Session Drain.

use std::sync::Arc;

use opencode_location::location::{Location, Locations};
use opencode_schema::mcp::McpServerStatus;
use opencode_schema::model::ModelRef;
use opencode_tools::Registry;

use super::titles::Titles;
use crate::agents::unknown::UnknownAgents;
use crate::asks::permissions::{NamesOfNow, Permissions, ToolNames};
use crate::asks::questions::Questions;
use crate::budgets::Budgets;
use crate::compaction::Compactor;
use crate::hooks::Hooks;
use crate::journal::Journal;
use crate::limits::CallLimits;
use crate::mcp::McpServers;
use crate::metrics::Metrics;
use crate::provider::Provider;
use crate::revert::Reverts;
use crate::sessions::todos::TodoLists;
use crate::snapshots::SnapshotStores;
use crate::sources::Sources;
use crate::tasks::TaskSessions;

/// The services of the host that its drains use.
pub(crate) struct Services {
    pub(crate) journal: Arc<Journal>,
    pub(crate) locations: Arc<Locations>,
    pub(crate) unknown_agents: Arc<UnknownAgents>,
    pub(crate) sources: Sources,
    pub(crate) provider: Arc<Provider>,
    pub(crate) hooks: Arc<dyn Hooks>,
    pub(crate) compactor: Compactor,
    pub(crate) reverts: Arc<Reverts>,
    pub(crate) snapshots: Arc<SnapshotStores>,
    pub(crate) tools: Arc<Registry>,
    pub(crate) mcp: Arc<McpServers>,
    pub(crate) permissions: Arc<Permissions>,
    pub(crate) questions: Arc<Questions>,
    pub(crate) tasks: Arc<TaskSessions>,
    pub(crate) todos: Arc<TodoLists>,
    pub(crate) metrics: Metrics,
    pub(crate) titles: Titles,
    pub(crate) budgets: Arc<Budgets>,
    /// Models for turns that their provider refuses, best first.
    pub(crate) fallback: Arc<[ModelRef]>,
    /// True if the model is reminded of prompts that arrived during its work.
    pub(crate) reminders: bool,
    /// The limits of the tool calls of one answer.
    pub(crate) tool_calls: CallLimits,
    /// Largest number of steers that one boundary promotes.
    pub(crate) steer_batch: usize,
}

impl Services {
    /// Returns the names of the tools of a Location.
    pub(crate) fn tool_names(&self, location: &Location) -> ToolNames {
        tool_names(&self.tools, &self.mcp, location)
    }

    /// Returns a function that returns the names of the tools of a Location.
    pub(crate) fn names_of_now(&self, location: &Arc<Location>) -> NamesOfNow {
        let (tools, mcp) = (Arc::clone(&self.tools), Arc::clone(&self.mcp));
        let location = Arc::clone(location);
        Arc::new(move || tool_names(&tools, &mcp, &location))
    }
}

fn tool_names(tools: &Registry, mcp: &McpServers, location: &Location) -> ToolNames {
    let servers = mcp.of(location).map(|it| it.list()).unwrap_or_default();
    let unclear = servers
        .iter()
        .filter(|it| it.status != McpServerStatus::Connected);
    ToolNames {
        known: tools.names(&location.directory),
        unclear: unclear
            .map(|it| opencode_mcp::tool_name(&it.name, ""))
            .collect(),
    }
}
