//! Other models for a turn that its provider refuses.

use opencode_llm::{ErrorKind, LlmError, LlmEvent};
use opencode_schema::event::ModelFallback;
use opencode_schema::message::SessionErrorUnknown;
use opencode_schema::model::ModelRef;
use opencode_store::{Draft, SessionRow};

use super::boundary::Boundary;
use super::ends::Refusal;
use super::translate::step_error;
use super::{DrainStop, Runner};

/// A refused turn that another model can take over.
pub(super) struct FallbackStep {
    session: SessionRow,
    from: ModelRef,
    to: ModelRef,
    error: SessionErrorUnknown,
    /// Number of fallback models that are used up with this step.
    used: usize,
}

impl Runner {
    /// The fallback model that this activity uses now. `None` while it uses the model of the session.
    pub(super) fn fallback_model(&self) -> Option<ModelRef> {
        let at = self.fallbacks.checked_sub(1)?;
        self.services.fallback.get(at).cloned()
    }

    /// Returns the next fallback model that can be called and differs from the model of the turn, and its position
    /// from 1 on.
    pub(super) fn next_fallback(&self, boundary: &Boundary) -> Option<(ModelRef, usize)> {
        let current = &boundary.model.selection;
        let models = self.services.fallback.iter().enumerate();
        models
            .skip(self.fallbacks)
            .filter(|(_, model)| {
                (&model.id, &model.provider_id) != (&current.id, &current.provider_id)
            })
            .find(|(_, model)| {
                let catalogue = &boundary.sampled.location.catalogue;
                catalogue.resolve(Some(model)).is_ok()
            })
            .map(|(at, model)| (model.clone(), at + 1))
    }

    /// Records the change of the model. The next turn of the activity uses it.
    pub(super) async fn fall_back(&mut self, step: FallbackStep) -> Result<(), DrainStop> {
        let FallbackStep {
            session,
            from,
            to,
            error,
            used,
        } = step;
        let journal = &self.services.journal;
        let event = ModelFallback { from, to, error };
        let drafts = vec![Draft::new(journal.now(), event)];
        journal.commit(&session, drafts, Vec::new()).await?;
        self.fallbacks = used;
        Ok(())
    }
}

impl FallbackStep {
    /// Returns the step from the model of a turn to another one.
    pub(super) fn new(
        session: SessionRow,
        from: ModelRef,
        (to, used): (ModelRef, usize),
        refusal: &Refusal,
    ) -> Self {
        let error = match refusal {
            Refusal::Error(error) => step_error(error, &from.provider_id),
            Refusal::Event(event) => SessionErrorUnknown::of(
                crate::provider::kind_of(kind_of(event).unwrap_or(ErrorKind::Unknown)),
                message_of(event),
            ),
        };
        Self {
            session,
            from,
            to,
            error,
            used,
        }
    }
}

/// True if another model may answer: the provider is out of capacity or cannot be reached. A wrong key or a wrong
/// request is a mistake that the user must see.
pub(super) fn may_fall_back(error: &LlmError) -> bool {
    has_other_chance(error.kind())
}

/// The same for a failure inside of a stream.
pub(super) fn event_may_fall_back(event: &LlmEvent) -> bool {
    kind_of(event).is_some_and(has_other_chance)
}

const fn has_other_chance(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::RateLimit
            | ErrorKind::Quota
            | ErrorKind::Overloaded
            | ErrorKind::Transport
            | ErrorKind::Timeout
    )
}

const fn kind_of(event: &LlmEvent) -> Option<ErrorKind> {
    match event {
        LlmEvent::ProviderError { kind, .. } => Some(*kind),
        _ => None,
    }
}

fn message_of(event: &LlmEvent) -> String {
    match event {
        LlmEvent::ProviderError { message, .. } => message.clone(),
        _ => String::new(),
    }
}
