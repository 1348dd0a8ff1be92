//! What counts of the agents and commands that an untrusted project describes: text and caution.

use std::cell::Cell;

use opencode_schema::model::ModelRef;

use crate::catalogue::Catalogue;
use crate::config::{
    AgentPatch, CommandPatch, Configuration, Diagnostic, DiagnosticKind, untrusted,
};

/// Which models an untrusted project may choose: those of providers that the host or the user knows,
/// where the host chooses none itself.
pub(crate) struct UntrustedChoices<'c> {
    catalogue: &'c Catalogue,
    host_chooses: bool,
    /// How many fields may still be told of.
    left: Cell<usize>,
}

/// Provider Turns per input of an agent without a limit of its own, as the runtime counts them. An
/// untrusted project allows no more.
const USUAL_STEPS: u32 = 25;

/// Most fields without effect that are told of. The user has seen the reason by then.
const MAX_TOLD: usize = 100;

/// What was taken out of a description.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Restricted {
    /// The fields that have no effect.
    pub fields: Vec<&'static str>,
    /// Whether the whole description is left out.
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
            left: Cell::new(MAX_TOLD),
        }
    }

    /// Tells of the fields that were taken out of a description.
    pub(crate) fn tell(
        &self,
        restricted: &Restricted,
        origin: &str,
        key: &str,
        name: &str,
    ) -> Vec<Diagnostic> {
        let told = restricted.fields.len().min(self.left.get());
        self.left.set(self.left.get() - told);
        let tell = |field: &&str| {
            let message = untrusted(&format!("{key}.{name}.{field} has no effect"));
            Diagnostic::new(origin, DiagnosticKind::Ignored, message, None)
        };
        restricted.fields.iter().take(told).map(tell).collect()
    }

    /// Takes out of a description of an agent what an untrusted project may not say. `known` is the
    /// agent as others describe it; none if only untrusted files do.
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

    /// Takes out of a description of a command what an untrusted project may not say.
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

    /// Takes a model out that the project may not choose, and a variant without its model.
    fn take_model(&self, model: &mut Option<ModelRef>, variant: &mut Option<String>) -> bool {
        let is_free = |model: &ModelRef| !self.host_chooses && self.catalogue.offers(model);
        if model.as_ref().is_some_and(is_free) {
            return false;
        }
        let taken = model.take().is_some();
        variant.take().is_some() || taken
    }
}

/// An agent that is built in, or that the host, the user or a trusted project describes.
pub(crate) struct KnownAgent {
    /// Its limit of Provider Turns.
    pub steps: Option<u32>,
}
