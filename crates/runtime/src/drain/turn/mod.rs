//! One Provider Turn: the request, the answer, and the settlement of both.

use std::sync::Arc;

use futures::StreamExt;
use opencode_llm::{FinishReason, LlmError, LlmEvent};
use opencode_schema::event::StepEnded;
use opencode_schema::id::SessionID;
use opencode_schema::message::{ErrorKind, SessionErrorUnknown};
use opencode_schema::session::Tokens;
use opencode_tools::Registry;

use super::boundary::Boundary;
use super::call_context::turn_context;
use super::calls::{Calls, LocalCalls, Open};
use super::compacting::CompactionAttempts;
use super::ends::{Finish, Followed, Refusal, StreamEnd, TurnOutcome};
use super::fallback::{FallbackStep, event_may_fall_back, may_fall_back};
use super::files::StepFiles;
use super::limit::TurnPlace;
use super::output::{DueOutput, TurnOutput};
use super::publisher::Publisher;
use super::repetition::Repetition;
use super::request_size::{RequestSize, UnknownRefusal};
use super::translate::step_error;
use super::{DrainStop, INTERRUPTED_CALL, Runner};
use crate::budgets::{Budgets, tokens_of};
use crate::compaction::CompactionInput;
use crate::coordinator::Stopper;
use crate::error::DrainError;
use crate::history::estimate::tokens;
use crate::provider::{Answer, AskError, NO_FINISH, cause_of};
use crate::snapshots::StepSnapshot;

mod events;
mod generated;
mod invalid_calls;
mod output;

const INTERRUPTED_TURN: &str = "Provider turn interrupted";
/// Maximum size of one answer in bytes: an endless stream must not exhaust the memory.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
const NO_HOSTED_RESULT: &str = "Provider did not return a tool result";

/// State of a running turn.
struct Turn<'a> {
    /// Stops the drain if a call is declined.
    stopper: &'a Stopper,
    /// Detects repeated calls.
    repetition: &'a mut Repetition,
    place: TurnPlace,
    publisher: Publisher,
    calls: Calls,
    files: StepFiles,
    finish: Option<Finish>,
    /// The provider reported a failure inside its stream. Later events are ignored.
    provider_failed: bool,
    /// A refusal because of the request's size is not recorded yet, so that compaction can run.
    recovers: bool,
    size: RequestSize,
    /// A refusal inside of the stream whose words are not known.
    refused: Option<UnknownRefusal>,
    /// A refusal is not recorded, because another model can take over.
    falls_back: bool,
    /// The budgets of the host.
    budgets: Arc<Budgets>,
    /// Stores the files of the provider.
    registry: Arc<Registry>,
    /// The root of the session tree.
    root: SessionID,
    /// Bytes of text, reasoning and arguments so far.
    received: usize,
    /// Provider and protocol, for error messages.
    route: String,
    /// The provider's id in the catalogue.
    provider_id: String,
    /// The structured output that the turn asks for.
    output: Option<TurnOutput>,
}

impl Runner {
    /// Runs one turn. The last one that the agent allows has no tools.
    pub(super) async fn turn(
        &mut self,
        boundary: Boundary,
        place: TurnPlace,
        attempts: &mut CompactionAttempts,
    ) -> Result<TurnOutcome, DrainStop> {
        let (sampled, is_last) = (&boundary.sampled, place.is_last());
        let output = DueOutput::of(&boundary)?;
        let offered = boundary.offered(&self.services.tools, is_last, output.as_ref());
        let tools = Arc::new(offered);
        let windows = &self.services.provider.windows;
        let mut compaction =
            CompactionInput::of(&boundary.fence, sampled, &boundary.model, windows);
        let mut request = self.request(&boundary, &tools, is_last, output.as_ref());
        let hooks = self.apply_hooks(&boundary, &mut request, false).await?;
        let compacted = self.compact_if_needed(&boundary, &request, &compaction, attempts);
        if compacted.await? {
            return Ok(TurnOutcome::PrepareAgain);
        }
        let capturing = self.begin_step(&boundary.sampled.location);
        let report = self.report(&boundary, &request, hooks);
        let recovers = attempts.recovers(&boundary);
        let size = RequestSize {
            tokens: self.estimate(&request),
            history: tokens(self.conversation.transcript.units()),
            window: compaction.budget.window,
            earlier: self.conversation.refused.take(),
        };
        let model = Arc::clone(&boundary.model.model);
        let fallback = self.next_fallback(&boundary);
        let refused = (boundary.session.clone(), boundary.model.selection.clone());
        let cost = boundary.model.cost.clone();
        let (services, stopped) = (Arc::clone(&self.services), self.stopper.stopped().clone());
        let local = if is_last {
            LocalCalls::Refused
        } else {
            LocalCalls::Run(tools, self.shared.tasks.clone())
        };
        // The files are captured when everything else is ready, directly before the request is sent. An
        // interruption does not wait for the capture.
        let Some(found) = stopped.run_until_cancelled(capturing).await else {
            return Err(DrainStop::Interrupted);
        };
        self.pass(&boundary.fence).await?;
        // From here to the request there is no await: a change by a caller now applies to the next turn.
        self.conversation.sent = report.sent.or(self.conversation.sent.take());
        let fence = boundary.fence.clone();
        let secrets = boundary.sampled.location.secrets.clone();
        let began = services.journal.now();
        let mut turn = self.begun(boundary, local, recovers, size, output);
        turn.place = place;
        turn.falls_back = fallback.is_some();
        turn.publisher.remember_report(report.record);
        turn.begin(found);
        let stream = services.provider.ask(request, fence, secrets);
        let mut end = turn.follow(stream).await?;
        if let StreamEnd::Overflow(refusal) = end {
            // The refusal may have named the window.
            compaction.apply(&services.provider.windows, &model);
            compaction.is_after_refusal = true;
            compaction.keep = turn.size.kept_after_refusal(compaction.keep);
            let recovered = attempts.recover(&services.compactor, &compaction, &stopped);
            if recovered.await? {
                let refused = turn.size.unknown(&refusal);
                drop(turn);
                self.conversation.refused = refused;
                return Ok(TurnOutcome::PrepareAgain);
            }
            end = turn.end_of_refusal(refusal).await?;
        }
        if let StreamEnd::Refused(refusal) = end {
            let Some(to) = fallback else {
                return Err(DrainError::Internal("no model takes over".to_owned()).into());
            };
            let step = FallbackStep::new(refused.0, refused.1, to, &refusal);
            return Ok(TurnOutcome::FallBack(Box::new(step)));
        }
        let refused = turn.unknown_refusal(&end);
        let settled = turn.settle(end, |used| cost.of(used)).await;
        self.conversation.refused = refused;
        let took = services.journal.now().saturating_sub(began);
        services.budgets.add_turn(u64::try_from(took).unwrap_or(0));
        Ok(TurnOutcome::Settled(settled?))
    }

    /// Returns a turn in its initial state.
    fn begun(
        &mut self,
        boundary: Boundary,
        local: LocalCalls,
        recovers: bool,
        size: RequestSize,
        output: Option<DueOutput>,
    ) -> Turn<'_> {
        let route = boundary.model.model.route();
        let provider_id = boundary.model.model.provider_id.clone();
        let Boundary {
            session,
            sampled,
            model,
            model_ref,
            ..
        } = boundary;
        let publisher = Publisher::new(
            Arc::clone(&self.services.journal),
            session.clone(),
            sampled.id.clone(),
            model_ref,
            sampled.location.secrets.clone(),
        );
        let context = turn_context(
            &self.services,
            &session,
            &sampled,
            &model.selection,
            publisher.message_id(),
            &self.stopper,
        );
        let root = context.files.folders.outputs.root.clone();
        Turn {
            stopper: &self.stopper,
            repetition: &mut self.repetition,
            place: TurnPlace::new(1, None),
            publisher,
            calls: Calls::new(local, context, self.services.tool_calls),
            files: StepFiles::new(&self.services.snapshots, &self.shared.tasks),
            finish: None,
            provider_failed: false,
            recovers,
            size,
            refused: None,
            falls_back: false,
            budgets: Arc::clone(&self.services.budgets),
            registry: Arc::clone(&self.services.tools),
            root,
            received: 0,
            route,
            provider_id,
            output: output.map(TurnOutput::new),
        }
    }
}

impl Turn<'_> {
    /// Stores the state of the files before the step.
    fn begin(&mut self, found: Option<StepSnapshot>) {
        let snapshot = self.files.begin(found);
        self.publisher.remember_snapshot(snapshot);
    }

    /// Reads the stream to its end. Calls run and settle at the same time.
    async fn follow(&mut self, mut stream: Answer) -> Result<StreamEnd, DrainStop> {
        let cancelled = self.calls.cancelled().clone();
        loop {
            // A stream that always has data ready must not starve other tasks on its thread.
            tokio::task::coop::consume_budget().await;
            tokio::select! {
                biased;
                () = cancelled.cancelled() => {
                    drop(stream);
                    self.publisher.end_all();
                    self.publisher.flush().await?;
                    return Ok(StreamEnd::Interrupted);
                }
                settled = self.calls.next() => self.settled(settled).await?,
                batch = stream.next() => match batch {
                    Some(Ok(events)) => {
                        if let Some(end) = self.take(events).await? {
                            return Ok(end);
                        }
                    }
                    Some(Err(AskError::Outdated)) => return Err(DrainStop::Outdated),
                    Some(Err(AskError::Failed(error)))
                        if self.may_recover(self.size.explains(&error)) =>
                    {
                        return Ok(StreamEnd::Overflow(Refusal::Error(error)));
                    }
                    Some(Err(AskError::Failed(error)))
                        if self.may_change_model(may_fall_back(&error)) =>
                    {
                        return Ok(StreamEnd::Refused(Refusal::Error(error)));
                    }
                    Some(Err(AskError::Failed(error))) => return Ok(StreamEnd::Failed(error)),
                    None if self.finish.is_none() => {
                        let error = LlmError::invalid_output(&self.route, NO_FINISH);
                        return Ok(StreamEnd::Failed(error));
                    }
                    None => return Ok(StreamEnd::Complete),
                },
            }
        }
    }

    /// Applies a batch of the stream, commits its events and starts its calls. Returns the end of the stream, if any.
    async fn take(&mut self, events: Vec<LlmEvent>) -> Result<Option<StreamEnd>, DrainStop> {
        let mut end = None;
        for mut event in events {
            if self.may_recover(self.size.explains_event(&event)) {
                return Ok(Some(StreamEnd::Overflow(Refusal::Event(event))));
            }
            if self.may_change_model(event_may_fall_back(&event)) {
                return Ok(Some(StreamEnd::Refused(Refusal::Event(event))));
            }
            let paths = generated::store_files(&self.registry, &self.root, &mut event).await;
            let failed = self.count(&event).or_else(|| self.apply(event, paths));
            // The events after a failure have no effect.
            let over = self.provider_failed.then_some(StreamEnd::Complete);
            end = failed.map(StreamEnd::Failed).or(over);
            if end.is_some() {
                break;
            }
            if self.publisher.is_full() {
                self.publisher.flush().await?;
            }
        }
        self.publisher.flush().await?;
        // The calls of an answer that failed do not start.
        if !self.provider_failed && end.is_none() {
            self.calls.start();
        }
        Ok(end)
    }

    /// True if a failure is not final yet: its cause is the request's size, and nothing is recorded.
    fn may_recover(&self, is_overflow: bool) -> bool {
        is_overflow && self.recovers && !self.publisher.has_started()
    }

    /// True if another model can take over: nothing of this one is recorded.
    fn may_change_model(&self, is_refusal: bool) -> bool {
        is_refusal && self.falls_back && !self.publisher.has_started()
    }

    /// Turns a refusal into the end of the stream.
    async fn end_of_refusal(&mut self, refusal: Refusal) -> Result<StreamEnd, DrainStop> {
        match refusal {
            Refusal::Error(error) => Ok(StreamEnd::Failed(error)),
            Refusal::Event(event) => {
                self.recovers = false;
                let end = self.take(vec![event]).await?;
                Ok(end.unwrap_or(StreamEnd::Complete))
            }
        }
    }

    /// Records a settled call together with all others that have settled by now, because many calls can
    /// settle during one commit.
    async fn settled(&mut self, settled: super::calls::Settled) -> Result<(), DrainError> {
        let mut next = Some(settled);
        while let Some(settled) = next {
            if let Some(event) = settled.event {
                self.publisher.push(event);
                self.publisher.remember_explored(settled.explored);
            }
            if settled.declined {
                self.stopper.decline();
            }
            next = self.calls.next_ready();
        }
        self.publisher.flush().await
    }

    /// Fails the calls that the host would have run, because the answer failed. A call that runs already goes on.
    fn fail_not_started(&mut self, kind: ErrorKind, message: &str) {
        let reason = format!("The call did not run, because the answer failed: {message}");
        let reason = SessionErrorUnknown::of(kind, reason);
        self.fail_calls(Open::NotStarted, &reason);
    }

    fn fail_calls(&mut self, which: Open, error: &SessionErrorUnknown) {
        for event in self.calls.fail_unsettled(which, error) {
            self.publisher.push(event);
        }
    }

    /// Settles the calls after the stream, then ends the step with one durable outcome.
    async fn settle(
        mut self,
        mut end: StreamEnd,
        cost: impl Fn(&Tokens) -> f64,
    ) -> Result<Followed, DrainStop> {
        end = match end {
            StreamEnd::Failed(error) => StreamEnd::Failed(self.advised(error)),
            other => other,
        };
        if let StreamEnd::Failed(error) = &end {
            self.publisher.end_all();
            let lost = SessionErrorUnknown::of(ErrorKind::InvalidOutput, NO_HOSTED_RESULT);
            self.fail_calls(Open::Hosted, &lost);
            let failure = step_error(error, &self.provider_id);
            // Before the end of the step, so that a client that follows it learns what became of the calls.
            self.fail_not_started(crate::provider::kind_of(error.kind()), &failure.message);
            self.fail_step(failure);
            self.publisher.flush().await?;
        }
        while self.calls.any_running() {
            let settled = self.calls.next().await;
            self.settled(settled).await?;
        }
        self.settle_output_calls().await;
        let interrupted = SessionErrorUnknown::of(ErrorKind::Interrupted, INTERRUPTED_CALL);
        let is_paused = self.finish.as_ref().is_some_and(|it| it.is_paused);
        let was_stopped = self.calls.cancelled().is_cancelled();
        if was_stopped || self.provider_failed {
            self.fail_calls(Open::All, &interrupted);
        }
        if self.finish.is_some() && !self.provider_failed {
            self.publisher.flush().await?;
            let (ran, stopped) = (self.calls.any_local(), self.stopper.stopped());
            self.files.end(ran, stopped).await;
        }
        let continues = self.finish_output(&end, is_paused).await;
        let is_whole = !was_stopped && self.finish.is_some() && !self.provider_failed;
        let followed = match &end {
            StreamEnd::Complete if is_whole => self.followed(continues, is_paused).await?,
            _ => Followed::Nothing,
        };
        self.end_step(&end, cost);
        let lost = SessionErrorUnknown::of(ErrorKind::InvalidOutput, NO_HOSTED_RESULT);
        self.fail_calls(Open::Hosted, &lost);
        self.publisher.flush().await?;
        match end {
            StreamEnd::Failed(error) => {
                let message = error.to_string();
                Err(DrainError::Provider {
                    message,
                    cause: Some(cause_of(&error, &self.provider_id)),
                }
                .into())
            }
            _ if was_stopped => Err(DrainStop::Interrupted),
            _ => Ok(followed),
        }
    }

    /// Returns the work that a whole answer leaves. `continues` is the decision of the structured output.
    async fn followed(
        &mut self,
        continues: Option<bool>,
        is_paused: bool,
    ) -> Result<Followed, DrainError> {
        let is_due = continues.unwrap_or_else(|| is_paused || self.calls.any_local());
        let is_refused = continues.is_none() && !self.calls.may_run() && self.calls.any_wanted();
        match self.place.limit(is_due, is_refused) {
            // A prompt that waits joins the work and has turns of its own.
            Some(limit) if !self.publisher.is_steered().await? => {
                self.publisher.remember_limit(limit.turns);
                Ok(Followed::Limit(limit))
            }
            _ if is_due => Ok(Followed::Turn),
            _ => Ok(Followed::Nothing),
        }
    }

    /// Adds what a user can do to the message of a failure.
    fn advised(&self, error: LlmError) -> LlmError {
        let may_be = error.may_be_overflow();
        match self.size.advice(error.kind(), may_be, &self.provider_id) {
            Some(advice) => error.explained(&advice),
            None => error,
        }
    }

    /// Returns the refusal to compare with that of the next turn.
    fn unknown_refusal(&mut self, end: &StreamEnd) -> Option<UnknownRefusal> {
        match end {
            StreamEnd::Failed(error) if error.may_be_overflow() => {
                self.size.refused(&error.to_string())
            }
            _ => self.refused.take(),
        }
    }

    fn fail_step(&mut self, error: SessionErrorUnknown) {
        // Before the commit: a caller that reads about the failure may resume the session at once.
        self.stopper.turn_failed();
        self.publisher.fail_step(error);
    }

    /// Records the durable end of the step, unless it has already failed or never began.
    fn end_step(&mut self, end: &StreamEnd, cost: impl Fn(&Tokens) -> f64) {
        if self.provider_failed || matches!(end, StreamEnd::Failed(_)) {
            return;
        }
        let Some(finished) = self.finish.take() else {
            if self.publisher.has_started() {
                let error = SessionErrorUnknown::of(ErrorKind::Interrupted, INTERRUPTED_TURN);
                self.fail_step(error);
            }
            return;
        };
        if finished.is_paused {
            self.publisher.remember_pause();
        }
        if let Some(refusal) = finished.refusal {
            self.publisher.remember_refusal(refusal);
        }
        let tokens = tokens_of(finished.usage.as_ref());
        let finish = match finished.reason {
            FinishReason::Stop if self.calls.any_local() => FinishReason::ToolCalls,
            other => other,
        };
        let assistant_message_id = self.publisher.message_id().clone();
        let (snapshot, files) = self.files.changes();
        let reported = finished.usage.as_ref().and_then(|usage| usage.cost);
        let cost = reported.unwrap_or_else(|| cost(&tokens));
        self.budgets.add_usage(&tokens, cost);
        self.publisher.push(StepEnded {
            assistant_message_id,
            finish: finish.as_str().to_owned(),
            cost,
            tokens,
            snapshot,
            files,
        });
    }
}
