//! The System Context of a session: all sources, in the order in which the model is told.
//!
//! Each Safe Provider-Turn Boundary calls [`Sources::compose`]. The result is for one observation:
//! sources that read files share a single read of the disk.
//!
//! The order is
//!
//! 1. the contributions at the Location, by contribution key: `core/builtins` (environment, then
//!    date), `core/instructions`, and those that callers registered; then the session sources, by
//!    key,
//! 2. configured instructions, then those behind URLs, in the order in which they are configured,
//! 3. instructions found next to files that the session has read,
//! 4. the skills of the selected agent, the references of the project, the instructions of MCP servers, the reminder
//!    that the agent plans,
//! 5. the selected model.
//!
//! Agent and model are those of the turn. They are never part of a Location.

mod copies;
mod date;
mod environment;
mod instructions;
mod markup;
mod model;
mod plan;
mod references;
mod registries;
mod remote;
mod session_sources;
mod skills;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use opencode_context::{CombineError, RegisterError, Registration, SystemContext};
use opencode_location::config::Diagnostic;
use opencode_location::environment::Environment;
use opencode_location::location::Location;
use opencode_net::Fetch;
use opencode_schema::agent::AgentInfo;
use opencode_schema::clock::Clock;
use opencode_schema::model::ModelRef;
use opencode_schema::permission::PermissionRule;
use tokio_util::sync::CancellationToken;

use self::copies::Copies;
use self::date::HostDate;
use self::instructions::FileSources;
use self::plan::PlanReminder;
use self::references::ReferenceGuidance;
use self::registries::Registries;
use self::remote::RemoteTexts;
use self::session_sources::SessionSources;
use self::skills::SkillGuidance;

use crate::live::Announcer;
use crate::mcp::McpInstructions;

pub use self::registries::ContributionError;
pub use self::session_sources::{ObservedSession, SessionSource, SessionSourceRegistration};

/// The parts of which the System Contexts of a host's sessions are composed.
pub(crate) struct Sources {
    environment: Arc<Environment>,
    date: HostDate,
    remote: RemoteTexts,
    copies: Copies,
    registries: Registries,
    session_sources: SessionSources,
    /// True if the model is reminded that its agent plans.
    reminders: bool,
}

/// The inputs of a Provider Turn that determine its System Context.
pub(crate) struct Turn<'a> {
    pub(crate) location: &'a Arc<Location>,
    /// The session.
    pub(crate) session: ObservedSession<'a>,
    /// The selected agent. `None` if no configuration describes it.
    pub(crate) agent: Option<&'a AgentInfo>,
    /// The permission rules of the session itself.
    pub(crate) permission: &'a [PermissionRule],
    /// The selected model, with its ids in the catalogue.
    pub(crate) model: &'a ModelRef,
    /// Directories below the Location in which the session has read, and the directories between.
    pub(crate) nested: &'a [PathBuf],
    /// The instructions of the connected MCP servers, by server.
    pub(crate) mcp_instructions: BTreeMap<String, String>,
}

impl Sources {
    /// Cancelling `closing` ends requests in progress.
    pub(crate) fn new(
        environment: Arc<Environment>,
        clock: Arc<dyn Clock>,
        fetch: Arc<dyn Fetch>,
        announcer: Arc<Announcer>,
        closing: CancellationToken,
    ) -> Self {
        let copies = Copies::new(
            &environment,
            Arc::clone(&clock),
            Arc::clone(&fetch),
            announcer,
            closing.clone(),
        );
        Self {
            copies,
            date: HostDate::new(&environment, Arc::clone(&clock)),
            environment,
            remote: RemoteTexts::new(fetch, clock, closing),
            registries: Registries::default(),
            session_sources: SessionSources::default(),
            reminders: false,
        }
    }

    /// Sets whether the model is reminded that its agent plans.
    pub(crate) fn with_reminders(mut self, reminders: bool) -> Self {
        self.reminders = reminders;
        self
    }

    /// Returns the System Context of a turn.
    pub(crate) fn compose(&self, turn: Turn<'_>) -> Result<SystemContext, CombineError> {
        let location = turn.location;
        self.copies.keep(location);
        let files = FileSources::at(location, &self.environment, turn.nested);
        let timezone = location.configuration.settings.timezone.as_ref();
        let builtins = [
            SystemContext::make(environment::Environment::of(location))?,
            SystemContext::make(self.date.of_user(timezone))?,
        ];
        let own = [
            ("core/builtins", SystemContext::combine(builtins)?),
            ("core/instructions", SystemContext::make(files.general)?),
        ];
        let registry = self.registries.of(&location.directory);
        let contributed = registry.compose(own.map(|(key, context)| (key.to_owned(), context)))?;
        let mut contexts = vec![contributed];
        contexts.extend(self.session_sources.for_session(&turn.session)?);
        contexts.push(SystemContext::make(files.configured)?);
        let entries = location.configuration.instructions();
        for source in self.remote.sources(entries) {
            contexts.push(SystemContext::make(source)?);
        }
        contexts.push(SystemContext::make(files.nearby)?);
        if let Some(agent) = turn.agent {
            contexts.push(SystemContext::make(SkillGuidance::of(
                agent,
                turn.permission,
                location,
            ))?);
        }
        let references = ReferenceGuidance::of(location.references.list());
        contexts.push(SystemContext::make(references)?);
        let instructions = McpInstructions::of(turn.mcp_instructions);
        contexts.push(SystemContext::make(instructions)?);
        if self.reminders {
            let reminder = PlanReminder::of(turn.session.agent);
            contexts.push(SystemContext::make(reminder)?);
        }
        contexts.push(SystemContext::make(model::SelectedModel::of(turn.model))?);
        SystemContext::combine(contexts)
    }

    /// Adds a contribution to the System Context of a Location.
    pub(crate) fn contribute(
        &self,
        directory: String,
        key: &str,
        contribution: SystemContext,
    ) -> Result<Registration, RegisterError> {
        self.registries.register(directory, key, contribution)
    }

    /// Adds a source that depends on the session, for one Location or for all.
    pub(crate) fn add_session_source(
        &self,
        directory: Option<String>,
        source: Arc<dyn SessionSource>,
    ) -> Result<SessionSourceRegistration, RegisterError> {
        self.session_sources.register(directory, source)
    }

    pub(crate) fn diagnostics(&self, location: &Location) -> Vec<Diagnostic> {
        let configuration = &location.configuration;
        let entries = configuration.instructions();
        let mut diagnostics = configuration.diagnostics.clone();
        diagnostics.extend_from_slice(&location.skills.diagnostics());
        diagnostics.extend(self.remote.diagnostics(entries));
        diagnostics.extend(self.copies.diagnostics(location));
        diagnostics
    }

    /// Makes or updates the copies of references and skills that a Location names, in the background.
    pub(crate) fn keep_copies(&self, location: &Location) {
        self.copies.keep(location);
    }
}
