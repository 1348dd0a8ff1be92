//! Restricts the agents and commands of an untrusted project: only text and restrictions take effect.

use std::cell::Cell;

use opencode_schema::model::ModelRef;

use crate::catalogue::Catalogue;
use crate::config::{
    AgentPatch, CommandPatch, Configuration, Diagnostic, DiagnosticKind, untrusted,
};

/// Decides which models an untrusted project can choose: those of providers that the host or the user
/// configured, unless the host chooses the model itself.
pub(crate) struct UntrustedChoices<'c> {
    catalogue: &'c Catalogue,
    host_chooses: bool,
    /// Number of fields that can still be reported.
    left: Cell<usize>,
}

/// Default limit of Provider Turns per input for an agent without its own limit. It matches the default
/// of the runtime. An untrusted project cannot set a higher limit.
const USUAL_STEPS: u32 = 25;

/// Maximum number of reported fields without effect. Further reports would repeat the same reason.
const MAX_SHOWN: usize = 100;

/// The parts that were removed from a description.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Restricted {
    /// The fields that have no effect.
    pub fields: Vec<&'static str>,
    /// True if the whole description is left out.
    pub is_everything: bool,
}

impl Restricted {
    fn note(&mut self, field: &'static str, is_withheld: bool) {
        if is_withheld {
            self.fields.push(field);
        }
    }
}

impl<'c> UntrustedChoices<'c> {
    pub(crate) fn new(configuration: &Configuration, catalogue: &'c Catalogue) -> Self {
        Self {
            catalogue,
            host_chooses: configuration.host_names_model(),
            left: Cell::new(MAX_SHOWN),
        }
    }

    /// Returns diagnostics for the fields that were removed from a description.
    pub(crate) fn diagnostics_of(
        &self,
        restricted: &Restricted,
        origin: &str,
        key: &str,
        name: &str,
    ) -> Vec<Diagnostic> {
        let shown = restricted.fields.len().min(self.left.get());
        self.left.set(self.left.get() - shown);
        let diagnostic = |field: &&str| {
            let message = untrusted(&format!("{key}.{name}.{field} has no effect"));
            Diagnostic::new(origin, DiagnosticKind::Ignored, message, None)
        };
        restricted
            .fields
            .iter()
            .take(shown)
            .map(diagnostic)
            .collect()
    }

    /// Removes the fields of an agent that an untrusted project must not set. `known` is the agent as
    /// trusted sources describe it, or `None` if only untrusted files describe it.
    pub(crate) fn restrict_agent(
        &self,
        patch: &mut AgentPatch,
        known: Option<&KnownAgent>,
    ) -> Restricted {
        let mut out = Restricted::default();
        out.note(
            "model",
            self.take_model(&mut patch.model, &mut patch.variant),
        );
        out.note(
            "request",
            patch.headers.iter().next().is_some() || !patch.body.is_empty(),
        );
        patch.headers = Default::default();
        patch.body = Default::default();
        if known.is_some() {
            out.note("mode", patch.mode.take().is_some());
            out.note("hidden", patch.hidden.take().is_some());
            out.note(
                "disabled",
                patch.disabled.take().is_some_and(|disabled| disabled),
            );
        }
        let limit = known.and_then(|it| it.steps).unwrap_or(USUAL_STEPS);
        let is_more = |steps: &mut u32| *steps > limit;
        out.note("steps", patch.steps.take_if(is_more).is_some());
        out
    }

    /// Removes the fields of a command that an untrusted project must not set.
    pub(crate) fn restrict_command(&self, patch: &mut CommandPatch) -> Restricted {
        let mut out = Restricted::default();
        out.note(
            "model",
            self.take_model(&mut patch.model, &mut patch.variant),
        );
        let runs_programs = patch
            .template
            .as_deref()
            .is_some_and(|it| it.contains("!`"));
        out.note("template", runs_programs);
        out.is_everything = runs_programs;
        out
    }

    /// Removes a model that the project must not choose, and a variant without its model. True if anything was removed.
    fn take_model(&self, model: &mut Option<ModelRef>, variant: &mut Option<String>) -> bool {
        let is_free = |model: &ModelRef| !self.host_chooses && self.catalogue.offers(model);
        if model.as_ref().is_some_and(is_free) {
            return false;
        }
        let taken = model.take().is_some();
        variant.take().is_some() || taken
    }
}

/// An agent that is built in or that the host, the user or a trusted project describes.
pub(crate) struct KnownAgent {
    /// Its limit of Provider Turns.
    pub steps: Option<u32>,
}
