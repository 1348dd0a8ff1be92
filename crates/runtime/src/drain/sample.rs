//! Agent and model of a Provider Turn, sampled at one moment. They hold for the whole turn: its tools,
//! executions and permissions are all those of the same agent.

use std::path::PathBuf;
use std::sync::Arc;

use opencode_location::catalogue::{ModelResolutionError, ResolvedModelOutcome};
use opencode_location::definitions::agents::AgentResolutionError;
use opencode_location::location::Location;
use opencode_schema::agent::AgentInfo;
use opencode_schema::id::SessionID;
use opencode_schema::model::ModelRef;
use opencode_schema::permission::{PermissionRule, is_denied_everywhere};
use opencode_schema::session::{SessionChoice, SessionInfo};
use opencode_store::SessionRow;
use opencode_tools::{Materialized, Registry, SessionOutputs, SharedFolders};

use super::services::Services;
use super::settings::ActiveSettings;
use crate::asks::permissions::RuleScope;
use crate::error::DrainError;
use crate::sessions::{is_unconfirmed, unconfirmed_choice};
use crate::subagents::subagents;

/// Maximum number of configuration diagnostics in a failure.
const MAX_DIAGNOSTICS: usize = 10;

/// The reason that a turn cannot be sampled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SampleError {
    /// The session has no agent.
    #[error(transparent)]
    Agent(#[from] AgentResolutionError),
    /// Its model cannot be called.
    #[error(transparent)]
    Model(#[from] ModelResolutionError),
    /// Its model cannot produce the structured output of a prompt.
    #[error(
        "The model {0} cannot produce a structured output: it calls no tools, and its server accepts no format of the answer"
    )]
    Output(String),
    /// Its agent or its model comes from an import, and no caller has confirmed it.
    #[error("{0}")]
    Unconfirmed(String),
}

/// Agent, model and Location of one turn.
pub(crate) struct Sampled {
    /// The agent's name, even if the agent does not exist.
    pub(super) id: String,
    /// The reason that the agent does not exist, or cannot be the default one.
    missing: Option<AgentResolutionError>,
    /// The refusal of an agent or a model that only an import names.
    unconfirmed: Option<String>,
    /// The session's choice, else the agent's choice. `None` leaves the choice to the Location.
    pub(super) model: Option<ModelRef>,
    pub(super) location: Arc<Location>,
    /// The permission rules of the session itself.
    permission: Arc<[PermissionRule]>,
    /// The settings of the activity.
    pub(super) settings: Option<ActiveSettings>,
    /// The root of the session tree.
    root: SessionID,
}

impl Sampled {
    /// Samples a session for an activity with these settings. `tolerates_unknown` lets a session run although its agent
    /// does not exist.
    pub(crate) fn of(
        session: &SessionRow,
        location: Arc<Location>,
        tolerates_unknown: bool,
        settings: Option<ActiveSettings>,
    ) -> Self {
        let own = settings.as_ref().and_then(|it| it.values.agent.as_deref());
        let wanted = own.or(session.info.agent.as_deref());
        let id = location.agents.id_of(wanted);
        let agent = location.agents.resolve(wanted);
        let chosen = || agent.as_ref().ok()?.model.clone();
        let mut model = session.info.model.clone().or_else(chosen);
        let by_agent = own.is_none();
        let by_session = settings.as_ref().is_none_or(|it| it.values.model.is_none());
        let unconfirmed = by_agent
            .then(|| unconfirmed_agent(&session.info, &location))
            .flatten();
        let unconfirmed = unconfirmed.or_else(|| {
            by_session
                .then(|| unconfirmed_model(&session.info, chosen(), &location))
                .flatten()
        });
        if let Some(settings) = &settings {
            let default = || Some(location.catalogue.resolve(None).ok()?.selection);
            model = settings.model(model, default);
        }
        Self {
            id,
            missing: agent.err().filter(|error| {
                let is_unknown = matches!(error, AgentResolutionError::Unknown { .. });
                !(is_unknown && tolerates_unknown)
            }),
            unconfirmed,
            model,
            location,
            permission: Arc::from(&*session.permission),
            settings,
            root: session.info.id.clone(),
        }
    }

    /// Returns the same turn for a session in the tree with this root.
    pub(crate) fn in_tree(self, root: SessionID) -> Self {
        Self { root, ..self }
    }

    /// Returns the directories that the session shares with others.
    pub(crate) fn folders(&self, services: &Services) -> SharedFolders {
        let references = self.location.references.list();
        SharedFolders {
            outputs: SessionOutputs {
                directory: services.tools.managed_output(),
                root: self.root.clone(),
            },
            copies: Arc::clone(&self.location.copies),
            references: references
                .iter()
                .map(|it| PathBuf::from(&it.path))
                .collect(),
        }
    }

    /// Returns the model to call. Never replaces the agent or the model by another one.
    pub(crate) fn resolve(&self) -> Result<ResolvedModelOutcome, SampleError> {
        if let Some(reason) = &self.unconfirmed {
            return Err(SampleError::Unconfirmed(reason.clone()));
        }
        if let Some(error) = &self.missing {
            return Err(error.clone().into());
        }
        let resolved = self.location.catalogue.resolve(self.model.as_ref())?;
        let settings = self.settings.as_ref();
        let wants_output = settings.is_some_and(|it| it.values.output.is_some());
        let model = &resolved.model;
        if wants_output && !model.capabilities.tools && !model.has_output_format() {
            let name = format!("{}/{}", model.provider_id, model.model_id);
            return Err(SampleError::Output(name));
        }
        Ok(resolved)
    }

    /// Returns the agent if it exists. A session with an unknown agent has neither agent text nor tools.
    pub(super) fn agent(&self) -> Option<&AgentInfo> {
        self.location.agents.get(&self.id)
    }

    /// Returns the Provider Turns that the agent allows per input. `None` leaves the limit to the runtime.
    pub(super) fn steps(&self) -> Option<u32> {
        self.agent()?.steps
    }

    /// Returns the tools that the agent is shown, or none if the turn offers none. A shown tool still
    /// needs authorisation.
    pub(super) fn tools(&self, tools: &Registry, offered: bool) -> Materialized {
        let rule_scope = self.rule_scope();
        let rules = rule_scope.rules();
        tools
            .materialize(&self.location.directory, |action| {
                offered && !is_denied_everywhere(action, &rules)
            })
            .keeping(|name| self.settings.as_ref().is_none_or(|it| it.offers(name)))
            .listing(subagents(&rule_scope))
    }

    /// True if the agent may give tasks to subagents.
    pub(super) fn delegates(&self) -> bool {
        !is_denied_everywhere("task", &self.rule_scope().rules())
    }

    /// The permission rules of the turn.
    pub(super) fn rule_scope(&self) -> RuleScope {
        RuleScope::new(
            Arc::clone(&self.location),
            self.id.clone(),
            Arc::clone(&self.permission),
        )
    }

    /// Explains a failed resolution, with the diagnostics of the configuration: an ignored document is
    /// the most likely cause.
    pub(crate) fn explain(&self, error: &SampleError) -> DrainError {
        let mut text = error.to_string();
        let diagnostics = &self.location.configuration.diagnostics;
        // A diagnostic about the default agent or model repeats the same text.
        let others = diagnostics.iter().filter(|it| !it.message.ends_with(&text));
        let diagnostics: Vec<_> = others.collect();
        for diagnostic in diagnostics.iter().take(MAX_DIAGNOSTICS) {
            text += &format!("\n{diagnostic}");
        }
        if diagnostics.len() > MAX_DIAGNOSTICS {
            let more = diagnostics.len() - MAX_DIAGNOSTICS;
            text += &format!("\n{more} more; location.diagnostics lists them all");
        }
        match error {
            SampleError::Unconfirmed(reason) => DrainError::Unconfirmed(reason.clone()),
            SampleError::Agent(_) => DrainError::Agent(text),
            SampleError::Model(_) | SampleError::Output(_) => DrainError::Model(text),
        }
    }
}

/// Returns the refusal of the agent of an import, unless it is the one that the session would have without a choice.
fn unconfirmed_agent(session: &SessionInfo, location: &Location) -> Option<String> {
    let agent = session.agent.as_deref()?;
    let usual = location.agents.default_agent();
    let is_usual = usual.is_some_and(|usual| usual.id == agent);
    let is_refused = is_unconfirmed(session, SessionChoice::Agent) && !is_usual;
    is_refused.then(|| unconfirmed_choice(session, ("agent", agent), "sessions.switchAgent"))
}

/// Returns the refusal of the model of an import, unless it is the one that the session would have without a choice.
fn unconfirmed_model(
    session: &SessionInfo,
    of_agent: Option<ModelRef>,
    location: &Location,
) -> Option<String> {
    let model = session.model.as_ref()?;
    if !is_unconfirmed(session, SessionChoice::Model) {
        return None;
    }
    let default = || Some(location.catalogue.resolve(None).ok()?.selection);
    let usual = of_agent.or_else(default);
    if usual.is_some_and(|usual| usual.same_selection(model)) {
        return None;
    }
    let name = format!("{}/{}", model.provider_id, model.id);
    Some(unconfirmed_choice(
        session,
        ("model", &name),
        "sessions.switchModel",
    ))
}
