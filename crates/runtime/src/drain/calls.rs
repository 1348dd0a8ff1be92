//! The tool calls of one Provider Turn. They are recorded first, then run concurrently. Each settles once.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use opencode_schema::Record;
use opencode_schema::event::{EventProvider, SessionEvent, ToolCalled, ToolFailed, ToolSuccess};
use opencode_schema::id::MessageID;
use opencode_schema::message::{ErrorKind, ProviderMetadata, SessionErrorUnknown, ToolContent};
use opencode_tools::{Materialized, Settlement, ToolCall, TurnContext};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::INTERRUPTED_CALL;
use crate::limits::CallLimits;

/// A recorded call.
struct Call {
    id: String,
    provider_executed: bool,
    /// Its arguments are complete and it may run.
    called: bool,
    /// The host has begun to run it.
    started: bool,
    /// The user declined the permission or the question that the call asked for.
    declined: bool,
    settled: bool,
}

impl Call {
    fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            provider_executed: false,
            called: false,
            started: false,
            declined: false,
            settled: false,
        }
    }

    fn is_open(&self, which: Open) -> bool {
        let is_meant = match which {
            Open::All => true,
            Open::Hosted => self.called && self.provider_executed,
            Open::NotStarted => !self.provider_executed && !self.started,
        };
        is_meant && !self.settled
    }
}

/// The calls to fail.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Open {
    /// All that have not settled.
    All,
    /// Those of them that the provider runs.
    Hosted,
    /// Those of them that the host would run and has not started.
    NotStarted,
}

/// The treatment of calls that the provider does not run itself.
pub(super) enum LocalCalls {
    /// They run as tasks of the host.
    Run(Arc<Materialized>, TaskTracker),
    /// They fail, because this turn offers no tools.
    Refused,
}

/// Error of a call that the model made although no tools were offered.
const TOOLS_DISABLED: &str = "Tools are disabled after the maximum agent steps";

/// The calls of one turn.
pub(super) struct Calls {
    local: LocalCalls,
    turn: Arc<TurnContext>,
    limits: CallLimits,
    calls: Vec<Call>,
    /// Recorded calls that start once the record is committed.
    waiting: Vec<ToolCall>,
    /// Committed calls that start when others have settled.
    ready: VecDeque<ToolCall>,
    running: FuturesUnordered<BoxFuture<'static, (String, Settlement)>>,
}

/// A call that settled.
pub(super) struct Settled {
    pub(super) event: Option<SessionEvent>,
    /// The user declined it, which ends the drain.
    pub(super) declined: bool,
    /// The directories in which it read files, relative to the Location.
    pub(super) explored: Vec<String>,
}

impl Calls {
    pub(super) fn new(local: LocalCalls, turn: Arc<TurnContext>, limits: CallLimits) -> Self {
        Self {
            local,
            turn,
            limits,
            calls: Vec::new(),
            waiting: Vec::new(),
            ready: VecDeque::new(),
            running: FuturesUnordered::new(),
        }
    }

    /// Adds a call that the provider began to write.
    pub(super) fn begin(&mut self, id: &str) {
        self.calls.push(Call::new(id));
    }

    /// True if the call has begun and is not complete.
    pub(super) fn is_begun(&self, id: &str) -> bool {
        self.calls.iter().any(|call| call.id == id && !call.called)
    }

    /// True if a call with this id is already complete. A provider must not repeat an id in one message.
    pub(super) fn is_repeated(&self, id: &str) -> bool {
        self.calls.iter().any(|call| call.id == id && call.called)
    }

    /// Returns a call that the provider began and did not complete.
    pub(super) fn incomplete(&self) -> Option<&str> {
        let begun = self.calls.iter().find(|call| !call.called);
        begun.map(|call| call.id.as_str())
    }

    /// Returns the record of a complete call. [`Calls::start`] starts a local call, or
    /// [`Calls::refuse`] fails it.
    pub(super) fn record(
        &mut self,
        call: ToolCall,
        provider_executed: bool,
        metadata: Option<ProviderMetadata>,
    ) -> ToolCalled {
        let (call_id, tool, input) = (call.id.clone(), call.name.clone(), call.input.clone());
        if let Some(begun) = self.calls.iter_mut().rev().find(|it| it.id == call_id) {
            begun.called = true;
            begun.provider_executed = provider_executed;
        }
        if !provider_executed {
            self.waiting.push(call);
        }
        ToolCalled {
            assistant_message_id: self.message_id().clone(),
            call_id,
            tool,
            input: as_record(input),
            provider: EventProvider {
                executed: provider_executed,
                metadata,
            },
        }
    }

    /// Adds a call that an earlier drain has recorded. [`Calls::start`] starts it.
    pub(super) fn reopen(&mut self, call: ToolCall) {
        self.calls.push(Call {
            called: true,
            ..Call::new(&call.id)
        });
        self.waiting.push(call);
    }

    /// Fails a recorded call that must not run: in a turn without tools, or because the answer has too many calls.
    pub(super) fn refuse(&mut self, id: &str) -> Option<SessionEvent> {
        let waits = self.waiting.iter().position(|waiting| waiting.id == id)?;
        let limit = self.limits.per_turn;
        let message = match self.local {
            LocalCalls::Refused => TOOLS_DISABLED.to_owned(),
            LocalCalls::Run(..) if self.wanted().count() <= limit => return None,
            LocalCalls::Run(..) => format!(
                "The host runs at most {limit} tool calls of one answer, and this call is a further one. Call it again in the next answer, if it is still needed"
            ),
        };
        self.waiting.remove(waits);
        let refused = Settlement::Failed {
            message,
            kind: ErrorKind::StepLimit,
        };
        self.settle(id, refused)
    }

    /// Returns a sentence with the tools of the turn, for a model that called a tool without a name.
    pub(super) fn available_tools(&self) -> String {
        match &self.local {
            LocalCalls::Run(tools, _) => tools.available(),
            LocalCalls::Refused => TOOLS_DISABLED.to_owned(),
        }
    }

    /// Keeps a recorded call from being started. The caller settles it.
    pub(super) fn hold(&mut self, id: &str) {
        self.waiting.retain(|waiting| waiting.id != id);
    }

    /// Starts the recorded calls, as many as may run at once. The others follow when calls settle. The caller has
    /// committed their record.
    pub(super) fn start(&mut self) {
        self.ready.extend(self.waiting.drain(..));
        self.start_ready();
    }

    fn start_ready(&mut self) {
        let LocalCalls::Run(tools, tasks) = &self.local else {
            return;
        };
        while self.running.len() < self.limits.at_once && !self.turn.cancel.is_cancelled() {
            let Some(call) = self.ready.pop_front() else {
                return;
            };
            let known = self.calls.iter_mut().rev().find(|it| it.id == call.id);
            // It was settled with the failure of its answer.
            let Some(known) = known.filter(|it| !it.settled) else {
                continue;
            };
            known.started = true;
            let id = call.id.clone();
            let running = tools.start(call, &self.turn, tasks);
            let running = running.map(|settlement| (id, settlement));
            self.running.push(running.boxed());
        }
    }

    /// Waits until a call settles. Never returns while no call runs.
    pub(super) async fn next(&mut self) -> Settled {
        let Some((id, mut settlement)) = self.running.next().await else {
            return std::future::pending().await;
        };
        self.start_ready();
        let declined = settlement == Settlement::Declined;
        if declined && let Some(call) = self.calls.iter_mut().rev().find(|call| call.id == id) {
            call.declined = true;
        }
        let explored = match &mut settlement {
            Settlement::Success { explored, .. } => std::mem::take(explored),
            _ => Vec::new(),
        };
        Settled {
            event: self.settle(&id, settlement),
            declined,
            explored,
        }
    }

    /// Returns another call if one has already settled.
    pub(super) fn next_ready(&mut self) -> Option<Settled> {
        self.next().now_or_never()
    }

    pub(super) fn any_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// True if the model waits for a result of a local call.
    pub(super) fn any_local(&self) -> bool {
        self.may_run() && self.any_wanted()
    }

    /// True if the model called tools of the host, which may run or not.
    pub(super) fn any_wanted(&self) -> bool {
        self.wanted().next().is_some()
    }

    fn wanted(&self) -> impl Iterator<Item = &Call> {
        let calls = self.calls.iter();
        calls.filter(|call| call.called && !call.provider_executed)
    }

    /// True if local calls may run, which means that another turn may follow.
    pub(super) fn may_run(&self) -> bool {
        matches!(self.local, LocalCalls::Run(..))
    }

    /// Returns the token that is cancelled when the calls must stop.
    pub(super) fn cancelled(&self) -> &CancellationToken {
        &self.turn.cancel
    }

    /// Settles a call that the provider ran. `output_paths` are its stored files. A call that is already settled does not change.
    pub(super) fn settle_hosted(
        &mut self,
        id: &str,
        outcome: Hosted,
        output_paths: Vec<String>,
    ) -> Option<SessionEvent> {
        let call = self
            .calls
            .iter_mut()
            .rev()
            .find(|call| call.id == id && !call.settled)?;
        call.settled = true;
        let executed = call.provider_executed;
        let (assistant_message_id, call_id) = (self.message_id().clone(), id.to_owned());
        let provider = |metadata| EventProvider { executed, metadata };
        Some(match outcome {
            Hosted::Success {
                structured,
                content,
                result,
                metadata,
            } => ToolSuccess {
                assistant_message_id,
                call_id,
                structured: as_record(structured),
                content,
                output_paths: Some(output_paths),
                result,
                provider: provider(metadata),
            }
            .into(),
            Hosted::Failed {
                message,
                result,
                metadata,
            } => ToolFailed {
                assistant_message_id,
                call_id,
                error: SessionErrorUnknown::of(ErrorKind::Tool, message),
                result,
                provider: provider(metadata),
            }
            .into(),
        })
    }

    /// Fails calls that have not settled.
    pub(super) fn fail_unsettled(
        &mut self,
        which: Open,
        error: &SessionErrorUnknown,
    ) -> Vec<SessionEvent> {
        let assistant_message_id = self.message_id().clone();
        let open = self.calls.iter_mut().filter(|call| call.is_open(which));
        open.map(|call| {
            call.settled = true;
            let error = if call.declined {
                SessionErrorUnknown::of(ErrorKind::Declined, INTERRUPTED_CALL)
            } else {
                error.clone()
            };
            ToolFailed {
                assistant_message_id: assistant_message_id.clone(),
                call_id: call.id.clone(),
                error,
                result: None,
                provider: EventProvider {
                    executed: call.provider_executed,
                    metadata: None,
                },
            }
            .into()
        })
        .collect()
    }

    fn message_id(&self) -> &MessageID {
        &self.turn.message_id
    }

    /// Returns the record of a settlement, unless the call is settled already.
    pub(super) fn settle(&mut self, id: &str, settlement: Settlement) -> Option<SessionEvent> {
        if settlement == Settlement::Declined {
            // `fail_unsettled` closes it together with the other open calls.
            return None;
        }
        let call = self
            .calls
            .iter_mut()
            .rev()
            .find(|call| call.id == id && !call.settled)?;
        call.settled = true;
        let (assistant_message_id, call_id) = (self.message_id().clone(), id.to_owned());
        let provider = EventProvider::default();
        Some(match settlement {
            Settlement::Success {
                structured,
                content,
                output_paths,
                explored: _,
            } => ToolSuccess {
                assistant_message_id,
                call_id,
                structured,
                content,
                output_paths: Some(output_paths),
                result: None,
                provider,
            }
            .into(),
            Settlement::Failed { message, kind } => {
                let result = Some(json!({ "type": "error", "value": message }));
                let error = SessionErrorUnknown::of(kind, message);
                ToolFailed {
                    assistant_message_id,
                    call_id,
                    error,
                    result,
                    provider,
                }
                .into()
            }
            Settlement::Interrupted | Settlement::Declined => {
                let error = SessionErrorUnknown::of(ErrorKind::Interrupted, INTERRUPTED_CALL);
                ToolFailed {
                    assistant_message_id,
                    call_id,
                    error,
                    result: None,
                    provider,
                }
                .into()
            }
        })
    }
}

impl Drop for Calls {
    /// Stops the running tools, and their background work, if a turn is abandoned because its events
    /// cannot be stored.
    fn drop(&mut self) {
        self.turn.cancel.cancel();
    }
}

/// The outcome of a call that the provider ran.
pub(super) enum Hosted {
    Success {
        structured: Value,
        content: Vec<ToolContent>,
        result: Option<Value>,
        metadata: Option<ProviderMetadata>,
    },
    Failed {
        message: String,
        result: Option<Value>,
        metadata: Option<ProviderMetadata>,
    },
}

/// Returns the value as an object. Any other value is wrapped.
fn as_record(value: Value) -> Record {
    match value {
        Value::Object(record) => record,
        other => Record::from_iter([("value".to_owned(), other)]),
    }
}
