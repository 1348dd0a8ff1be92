//! Automatic compaction in a Provider Turn: before a request that is estimated not to fit, and after
//! a request that the provider refused because of its size.
//!
//! A turn is compacted at most once for each of the two reasons. If the compaction before the request
//! fails, the request is sent anyway. The checkpoint contains the inputs that the turn promoted, so
//! the turn starts again without a promotion.

use opencode_llm::{LlmRequest, ResolvedModel};
use opencode_location::catalogue::{ResolvedModelOutcome, request_domains};
use opencode_schema::message::{CompactionReason, ErrorKind};
use tokio_util::sync::CancellationToken;

use super::boundary::Boundary;
use super::sample::Sampled;
use super::summariser::summariser;
use super::{DrainStop, Runner};
use crate::compaction::{CompactionInput, Compactor, Failure, Outcome, Pause};
use crate::history::estimate::{Budget, request_tokens};
use crate::json::json_size;
use crate::provider::{Fence, LearntWindows};

/// State of the automatic compaction of one turn.
#[derive(Default)]
pub(super) struct CompactionAttempts {
    by_estimate: bool,
    by_overflow: bool,
    /// Estimated tokens of the request.
    size: u64,
    /// Estimated tokens of the request before the newest checkpoint.
    before: Option<u64>,
}

impl CompactionInput {
    pub(crate) fn of(
        fence: &Fence,
        sampled: &Sampled,
        resolved: &ResolvedModelOutcome,
        windows: &LearntWindows,
    ) -> Self {
        let model = &resolved.model;
        let session = fence.session();
        let settings = &sampled.location.configuration.settings;
        let agent = sampled.agent().map(|agent| &agent.request.body);
        let agent = agent.map(|body| request_domains(body, model.protocol).generation);
        let asked = agent.and_then(|generation| generation.max_tokens);
        let budget = Budget::of(model, asked.or(model.generation.max_tokens), settings);
        let mut input = Self {
            session: session.clone(),
            fence: fence.clone(),
            summariser: summariser(&session.info, sampled, resolved, budget),
            budget,
            keep: budget.kept(settings.compaction.keep_tokens),
            secrets: sampled.location.secrets.clone(),
            is_after_refusal: false,
        };
        input.apply(windows, model);
        input
    }

    /// Applies the windows that providers have named by now.
    pub(crate) fn apply(&mut self, windows: &LearntWindows, model: &ResolvedModel) {
        self.budget = self.budget.within(windows.of(model));
        self.keep = self.budget.kept(self.keep);
        if let Ok(summariser) = &mut self.summariser {
            let named = windows.of(&summariser.model);
            summariser.budget = summariser.budget.within(named);
        }
    }
}

impl CompactionAttempts {
    /// True if the turn can still recover from a refusal because of the request's size.
    pub(super) fn recovers(&self, boundary: &Boundary) -> bool {
        is_automatic(&boundary.sampled) && !self.by_overflow
    }

    /// Compacts because the provider refused the request. Returns true if the turn starts again.
    pub(super) async fn recover(
        &mut self,
        compactor: &Compactor,
        input: &CompactionInput,
        stopped: &CancellationToken,
    ) -> Result<bool, DrainStop> {
        // An estimate has no further effect on a history that has just been compacted.
        (self.by_overflow, self.by_estimate) = (true, true);
        let compacted = compact(compactor, input, stopped).await;
        let outcome = compacted.inspect_err(|_| self.by_overflow = false)?;
        Ok(self.record_outcome(&outcome))
    }

    /// Returns true if there is a new checkpoint, and notes the size to compare the next request with.
    fn record_outcome(&mut self, outcome: &Outcome) -> bool {
        let is_completed = *outcome == Outcome::Completed;
        self.before = is_completed.then_some(self.size);
        is_completed
    }
}

impl Runner {
    /// Compacts if the request is estimated to leave too little of the model's context window free.
    /// Returns true if the turn starts again.
    pub(super) async fn compact_if_needed(
        &mut self,
        boundary: &Boundary,
        request: &LlmRequest,
        input: &CompactionInput,
        attempts: &mut CompactionAttempts,
    ) -> Result<bool, DrainStop> {
        if !is_automatic(&boundary.sampled) {
            return Ok(false);
        }
        attempts.size = self.estimate(request);
        if let Some(before) = attempts.before.take() {
            self.record_checkpoint(before, attempts.size, input);
        }
        if attempts.by_estimate || self.is_paused() || !input.budget.is_exceeded_by(attempts.size) {
            return Ok(false);
        }
        attempts.by_estimate = true;
        let compacted = compact(&self.services.compactor, input, self.stopper.stopped()).await;
        let outcome = compacted.inspect_err(|_| attempts.by_estimate = false)?;
        if let Outcome::Failed(_) = outcome {
            self.compaction_pause = Some(self.pause(input));
        }
        Ok(attempts.record_outcome(&outcome))
    }

    /// Returns the estimated tokens of a request with this history.
    pub(super) fn estimate(&self, request: &LlmRequest) -> u64 {
        let transcript = &self.conversation.transcript;
        // The closing messages of an agent's last turn are not part of the history.
        let closing = request.closing.iter();
        let more: u64 = closing.map(|message| json_size(message).units + 1).sum();
        let tools = self.shared.offer.units(&request.tools);
        request_tokens(&request.system, transcript.units() + more, tools)
    }

    fn is_paused(&self) -> bool {
        let units = self.conversation.transcript.units();
        let pauses = [self.compaction_pause, self.conversation.pause];
        pauses.iter().flatten().any(|pause| pause.lasts(units))
    }

    fn pause(&self, input: &CompactionInput) -> Pause {
        let units = self.conversation.transcript.units();
        Pause::at(units, input.keep, &input.budget)
    }

    /// Records the result of a checkpoint. Automatic compaction pauses after a checkpoint that did not make the request
    /// smaller, and, within this activity, after one that did not make it small enough.
    fn record_checkpoint(&mut self, before: u64, after: u64, input: &CompactionInput) {
        let pause = self.pause(input);
        let is_smaller = after < before;
        self.conversation.pause = (!is_smaller).then_some(pause);
        self.compaction_pause = input.budget.is_exceeded_by(after).then_some(pause);
        if !is_smaller {
            let (session, growth) = (&self.session, pause.growth());
            let message = format!(
                "The compaction of {session} did not make its request smaller: about {before} tokens before, {after} after. Automatic compaction rests until the history has grown by {growth}"
            );
            let failure = Failure::new(ErrorKind::Unknown, message);
            report(&self.services.compactor, input, failure);
        }
    }
}

fn is_automatic(sampled: &Sampled) -> bool {
    sampled.location.configuration.settings.compaction.auto
}

/// Makes an automatic checkpoint. If that fails, the turn continues without one.
async fn compact(
    compactor: &Compactor,
    input: &CompactionInput,
    stopped: &CancellationToken,
) -> Result<Outcome, DrainStop> {
    let outcome = compactor.compact(input, CompactionReason::Auto, stopped);
    let outcome = outcome.await?;
    match &outcome {
        Outcome::Interrupted => return Err(DrainStop::Interrupted),
        Outcome::Outdated => return Err(DrainStop::Outdated),
        Outcome::Failed(failure) => {
            let message = format!(
                "The history of {} was not compacted: {}",
                input.session.info.id, failure.message
            );
            let cause = failure.cause.clone();
            report(compactor, input, Failure { message, cause });
        }
        Outcome::Completed | Outcome::Nothing => {}
    }
    Ok(outcome)
}

/// Reports a failed compaction to the log and to connected clients. The turn itself does not fail because of it, so no
/// event of the session records it.
fn report(compactor: &Compactor, input: &CompactionInput, failure: Failure) {
    let info = &input.session.info;
    let Failure { message, cause } = failure;
    tracing::warn!(session_id = %info.id, "{message}");
    compactor
        .journal
        .announcer
        .announce_failure(&info.id, Some(&info.location), message, cause);
}
