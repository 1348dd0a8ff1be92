//! The request that the next Provider Turn would send, for inspection.
//!
//! The code of a real turn makes it: the boundary decides and writes, the history is read, and then
//! the transaction is rolled back. Nothing is stored or sent, and the result cannot differ from the
//! request of a real turn.

use std::sync::Arc;

use opencode_context::Snapshot;
use opencode_llm::{GenerationControls, JsonMap, LlmRequest, ToolChoice};
use opencode_location::catalogue::shown_object;
use opencode_location::secret::Redactor;
use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::id::SessionID;
use opencode_schema::inspection::{
    CanonicalRequest, ContextEpochView, ContextSourceView, ProviderRequestView, RequestEstimate,
    RequestPrefix,
};
use opencode_schema::prompt::Delivery;
use opencode_store::{Abort, Reader, Sequence, SessionKey, SessionRow, StoreError, Transaction};
use serde::Serialize;
use serde_json::{Value, json};

use super::abandoned::fail_open_calls;
use super::boundary::{Boundary, ObservedTurn};
use super::conversation::ConversationRead;
use super::entry::BoundaryResult;
use super::epoch::{EpochChange, Known};
use super::output::DueOutput;
use super::preparation_failure::PreparationFailure;
use super::services::Services;
use super::{DrainStop, Runner, Shared};
use crate::compaction::CompactionInput;
use crate::coordinator::Coordinator;
use crate::error::{DrainError, RuntimeError};
use crate::inbox::Promotion;
use crate::json::json_size;
use crate::revert::record_reverted;

/// Name of the operation in failures.
const SERVICE: &str = "session.request";

/// Size limit of the view in bytes. A larger request is not shown.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Inputs of an inspection.
struct PreviewInput {
    observed_turn: ObservedTurn,
    /// True if a drain works on the session. Its open calls and staged revert then stay as they are.
    is_running: bool,
    steer_batch: usize,
    now: Millis,
}

/// The parts of the next request, except its history.
struct NextRequest {
    boundary: Boundary,
    is_last: bool,
    baseline_seq: Sequence,
    sources: Vec<ContextSourceView>,
}

/// The data that is read in the transaction before it is rolled back.
struct PreviewRead {
    input: PreviewInput,
    baseline: String,
    baseline_seq: Sequence,
    sources: Vec<ContextSourceView>,
    read: ConversationRead,
    promoted: usize,
}

/// Returns the request that the next Provider Turn of a session would send. While the session runs,
/// this is the turn after the current one, as if the current one ended now.
///
/// # Errors
///
/// Fails if the session does not exist, or could not begin a turn now.
pub(crate) async fn next_request(
    services: &Arc<Services>,
    shared: &Arc<Shared>,
    coordinator: &Coordinator,
    session: &SessionID,
) -> Result<ProviderRequestView, RuntimeError> {
    let is_running = coordinator.active().contains(session);
    let journal = Arc::clone(&services.journal);
    let (services, shared) = (Arc::clone(services), Arc::clone(shared));
    let stopper = coordinator.reader_stopper(session);
    let closing = stopper.stopped().clone();
    let mut runner = Runner::new(services, shared, session.clone(), stopper);
    let observing = async {
        loop {
            match Box::pin(runner.next(is_running)).await {
                // A caller changed the session meanwhile.
                Err(DrainStop::Outdated) => runner.location = None,
                other => break other,
            }
        }
    };
    let found = closing.run_until_cancelled(observing).await;
    let next = found
        .unwrap_or(Err(DrainStop::Interrupted))
        .map_err(refused);
    if let Err(RuntimeError::Store(_)) = &next {
        // The rows of a session that was removed meanwhile are missing.
        journal.session(session).await?;
    }
    runner.view(next?).await
}

fn refused(stop: DrainStop) -> RuntimeError {
    match stop {
        DrainStop::Failed(DrainError::SessionGone(id)) => RuntimeError::SessionNotFound(id),
        DrainStop::Failed(DrainError::Store(error)) => RuntimeError::Store(error),
        DrainStop::Failed(error) => unavailable(error.to_string()),
        DrainStop::Interrupted | DrainStop::Outdated => RuntimeError::Closed,
    }
}

fn unavailable(message: String) -> RuntimeError {
    let service = SERVICE;
    RuntimeError::Unavailable { service, message }
}

/// Fails if the size exceeds the limit. Checked for the messages first, before the request is built.
fn check_size(bytes: usize) -> Result<(), RuntimeError> {
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    Err(unavailable(format!(
        "the request has more than {MAX_BYTES} bytes as JSON, and no more than that are shown"
    )))
}

impl Runner {
    async fn next(&mut self, is_running: bool) -> Result<NextRequest, DrainStop> {
        let id = self.session.clone();
        let promotion = self.services.journal.store.read(move |reader| {
            let session = reader.session(&id)?;
            let promotion = session.map(|it| next_promotion(reader, it.key, is_running));
            promotion.transpose()
        });
        let promotion = promotion.await?.unwrap_or(Promotion::Nothing);
        let observed_turn = match self.observe_turn(promotion).await {
            Ok(observed_turn) => observed_turn,
            Err(PreparationFailure::Stopped(stop)) => return Err(stop),
            Err(PreparationFailure::Unresolved { error, .. }) => return Err(error.into()),
        };
        let target = observed_turn.target();
        // Most of the history is read outside the transaction, so that the writer is not blocked.
        self.read_history(observed_turn.here.session.key, target.clone())
            .await?;
        let reading = self.conversation.reading(&target);
        let input = PreviewInput {
            observed_turn,
            is_running,
            steer_batch: self.services.steer_batch,
            now: self.services.journal.now(),
        };
        let store = &self.services.journal.store;
        let previewed = store.preview(move |transaction| input.read(transaction, reading));
        let read = previewed.await.map_err(|abort| match abort {
            Abort::Refused(stop) => stop,
            Abort::Failed(error) => error.into(),
        })?;
        let PreviewRead {
            input,
            baseline,
            baseline_seq,
            sources,
            read,
            promoted,
        } = read;
        let changes = self.conversation.update(read, target);
        let allowed = input.observed_turn.here.sampled.steps();
        let is_last = !is_running && allowed.is_some_and(|allowed| allowed <= 1);
        Ok(NextRequest {
            boundary: input
                .observed_turn
                .boundary(baseline, Some(baseline_seq), changes, promoted),
            is_last,
            baseline_seq,
            sources,
        })
    }

    async fn view(&self, next: NextRequest) -> Result<ProviderRequestView, RuntimeError> {
        let NextRequest {
            boundary,
            is_last,
            baseline_seq,
            sources,
        } = next;
        check_size(self.conversation.transcript.bytes())?;
        let sampled = &boundary.sampled;
        let output = DueOutput::of(&boundary).map_err(|error| unavailable(error.to_string()))?;
        let output = output.as_ref();
        let tools = boundary.offered(&self.services.tools, is_last, output);
        let mut request = self.request(&boundary, &tools, is_last, output);
        let hooked = self.apply_hooks(&boundary, &mut request, true).await;
        hooked.map_err(refused)?;
        let prefix = self.services.provider.model.prefix(&request, None);
        let prefix = prefix.map_err(|error| unavailable(error.to_string()))?;
        let compaction = CompactionInput::of(
            &boundary.fence,
            sampled,
            &boundary.model,
            &self.services.provider.windows,
        );
        let mut view = ProviderRequestView {
            agent: sampled.id.clone(),
            model: boundary.model_ref.clone(),
            epoch: ContextEpochView {
                baseline: boundary.baseline.text.to_string(),
                baseline_seq: baseline_seq.into(),
                sources,
            },
            history: self.conversation.transcript.range(),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            estimate: RequestEstimate {
                tokens: self.estimate(&request),
                window: compaction.budget.window,
                reserve: compaction.budget.reserve,
            },
            prefix: RequestPrefix {
                sha256: prefix.prefix.sha256,
                bytes: prefix.prefix.bytes,
            },
            request: canonical(&request),
        };
        clean(&mut view, &sampled.location.secrets);
        check_size(json_size(&view).bytes)?;
        Ok(view)
    }
}

impl PreviewInput {
    /// Does the work of a boundary, in a transaction that must be rolled back.
    fn read(
        mut self,
        transaction: &mut Transaction<'_>,
        reading: impl FnOnce(&Reader<'_>, SessionKey) -> Result<ConversationRead, StoreError>,
    ) -> Result<PreviewRead, Abort<DrainStop>> {
        let id = &self.observed_turn.here.session.info.id;
        let Some(session) = transaction.reader().session(id)? else {
            return Err(Abort::Refused(DrainError::SessionGone(id.clone()).into()));
        };
        if !self.is_running {
            self.begin_drain(transaction, &session)?;
        }
        let known = known(&transaction.reader(), session.key)?;
        let promotion = next_promotion(&transaction.reader(), session.key, self.is_running)?;
        let attached = std::mem::take(&mut self.observed_turn.here.attached);
        let (batch, now) = (self.steer_batch, self.now);
        let observed_turn = &self.observed_turn;
        let decided = observed_turn.decide(known.as_ref(), promotion, attached, batch, now);
        let (entry, baseline) = decided.map_err(|error| Abort::Refused(error.into()))?;
        let sources = self.sources(known.as_ref(), &entry.change);
        let entered = entry.write(transaction);
        let BoundaryResult { promoted, .. } =
            entered.map_err(|abort| abort.map(|refusal| refusal.stop()))?;
        let reader = transaction.reader();
        let baseline_seq = reader.baseline_seq(session.key)?;
        let baseline_seq = baseline_seq.unwrap_or(Sequence::FIRST);
        let read = reading(&reader, session.key)?;
        Ok(PreviewRead {
            input: self,
            baseline,
            baseline_seq,
            sources,
            read,
            promoted,
        })
    }

    /// Does the work of a drain before its first boundary.
    fn begin_drain(
        &self,
        transaction: &mut Transaction<'_>,
        session: &SessionRow,
    ) -> Result<(), StoreError> {
        if let Some(revert) = &session.info.revert {
            let message_id = revert.message_id.clone();
            record_reverted(transaction, session, self.now, message_id)?;
        }
        fail_open_calls(transaction, session, self.now)
    }

    /// Returns the Context Sources, compared with the values that the model was told before.
    fn sources(&self, known: Option<&Known>, change: &EpochChange) -> Vec<ContextSourceView> {
        use opencode_context::SourceStatus;
        use opencode_schema::inspection::ContextSourceState as State;
        let snapshot = known.and_then(|known| serde_json::from_str(&known.epoch.snapshot).ok());
        let snapshot: Snapshot = snapshot.unwrap_or_default();
        let begins = matches!(change, EpochChange::Begin { .. });
        let compared = self.observed_turn.observed.compare(&snapshot);
        let views = compared.map(|(key, standing, bytes)| ContextSourceView {
            key: key.to_owned(),
            state: match standing {
                // The baseline of this request contains the current value.
                SourceStatus::Changed if begins => State::Current,
                SourceStatus::Current => State::Current,
                SourceStatus::Changed => State::Changed,
                SourceStatus::Unavailable => State::Unavailable,
                SourceStatus::Absent => State::Absent,
            },
            bytes: bytes as u64,
        });
        views.collect()
    }
}

/// Returns the promotion of the next boundary.
fn next_promotion(
    reader: &Reader<'_>,
    session: SessionKey,
    is_running: bool,
) -> Result<Promotion, StoreError> {
    if is_running || reader.has_pending(session, Delivery::Steer)? {
        return Ok(Promotion::Steers);
    }
    let is_queued = reader.has_pending(session, Delivery::Queue)?;
    Ok(match is_queued {
        true => Promotion::QueuedThenSteers,
        false => Promotion::Nothing,
    })
}

/// Removes secrets from the whole view. The view is never sent, so it does not need them.
fn clean(view: &mut ProviderRequestView, secrets: &Redactor) {
    secrets.clean(&mut view.epoch.baseline);
    let request = &mut view.request;
    request.system.iter_mut().for_each(|it| secrets.clean(it));
    let records = request.messages.iter_mut().chain(&mut request.tools);
    for record in records.chain([&mut request.options]) {
        secrets.clean_members(record);
    }
}

fn known(reader: &Reader<'_>, session: SessionKey) -> Result<Option<Known>, StoreError> {
    let checkpoint = reader.checkpoint(session)?;
    let epoch = reader.epoch(session)?;
    Ok(epoch.map(|epoch| Known { epoch, checkpoint }))
}

/// Returns the request in provider-neutral form, without its address and its headers.
fn canonical(request: &LlmRequest) -> CanonicalRequest {
    let messages = request.messages.iter().chain(&request.closing);
    let choice = request.tool_choice.as_ref();
    CanonicalRequest {
        system: request
            .system
            .iter()
            .map(|it| it.text.to_string())
            .collect(),
        messages: messages.map(record).collect(),
        tools: request.tools.iter().map(record).collect(),
        tool_choice: choice.map(|choice| match choice {
            ToolChoice::Auto => "auto".to_owned(),
            ToolChoice::None => "none".to_owned(),
            ToolChoice::Required => "required".to_owned(),
            ToolChoice::Tool(name) => name.clone(),
        }),
        options: shown_object(&options(request)),
    }
}

fn options(request: &LlmRequest) -> JsonMap {
    let sources = [&request.model.provider_options, &request.provider_options];
    let namespaces = sources.into_iter().flat_map(|options| options.keys());
    let provider = namespaces.map(|name| {
        let options = request.effective_options(name);
        (name.clone(), Value::Object(options))
    });
    let provider: JsonMap = provider.collect();
    let all = [
        (
            "output",
            request.output.as_ref().map(record).unwrap_or_default(),
        ),
        ("generation", sampling(&request.effective_generation())),
        ("provider", provider),
        ("body", request.effective_overlay()),
    ];
    let given = all.into_iter().filter(|(_, options)| !options.is_empty());
    let given = given.map(|(name, options)| (name.to_owned(), Value::Object(options)));
    given.collect()
}

fn sampling(controls: &GenerationControls) -> JsonMap {
    let all = json!({
        "maxTokens": controls.max_tokens,
        "temperature": controls.temperature,
        "topP": controls.top_p,
        "topK": controls.top_k,
        "frequencyPenalty": controls.frequency_penalty,
        "presencePenalty": controls.presence_penalty,
        "seed": controls.seed,
        "stop": controls.stop,
    });
    let mut given = record(&all);
    given.retain(|_, value| !value.is_null());
    given
}

/// Serializes a value whose type always serializes to an object.
fn record(value: &impl Serialize) -> Record {
    match serde_json::to_value(value) {
        Ok(Value::Object(members)) => members,
        _ => Record::new(),
    }
}
