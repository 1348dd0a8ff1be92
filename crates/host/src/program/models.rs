//! Models of the program.

use std::collections::VecDeque;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use opencode_llm::error::TransportKind;
use opencode_llm::{
    EventStream, LlmError, LlmErrorReason, LlmEvent, LlmRequest, ModelClient, Prefix, PrefixReport,
    ProtocolId, Sources, Timeouts,
};
use opencode_protocols::{Decoder, HttpModelClient, adapter};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};

use super::LOG_TARGET;
use super::calls::{Message, ProgramCall, ProgramCalls, ProgramError};

/// Name of the function in calls.
const FUNCTION: &str = "model";

/// Calls models of the program, and all other models over HTTP.
pub(crate) struct ModelClients {
    http: HttpModelClient,
    calls: ProgramCalls,
    /// Time limits for models without their own limits.
    timeouts: Timeouts,
}

impl ModelClients {
    pub(crate) fn new(http: HttpModelClient, calls: ProgramCalls, timeouts: Timeouts) -> Self {
        Self {
            http,
            calls,
            timeouts,
        }
    }
}

impl ModelClient for ModelClients {
    fn stream(&self, request: LlmRequest) -> EventStream {
        let ProtocolId::Program(provider) = request.model.protocol else {
            return self.http.stream(request);
        };
        let (calls, timeouts) = (self.calls.clone(), self.timeouts);
        // Dropping this stream drops the call, which tells the program to stop.
        stream::once(async move { Answer::begin(&calls, provider, &request, timeouts) })
            .map_ok(|answer| {
                stream::unfold(answer, |mut answer| async move {
                    answer.next().await.map(|item| (item, answer))
                })
            })
            .try_flatten()
            .boxed()
    }

    fn prefix(
        &self,
        request: &LlmRequest,
        former: Option<&Prefix>,
    ) -> Result<PrefixReport, LlmError> {
        self.http.prefix(request, former)
    }
}

/// The input of a call across the border.
#[derive(Serialize)]
struct ModelInput<'a> {
    provider: u32,
    request: &'a RawValue,
}

/// The running answer of a model.
struct Answer {
    call: ProgramCall,
    decoder: Box<dyn Decoder>,
    /// Provider and protocol, for failures.
    route: String,
    limits: Limits,
    has_events: bool,
    is_over: bool,
    /// The items that are already decoded.
    ready: VecDeque<Result<Vec<LlmEvent>, LlmError>>,
}

/// The points in time at which the answer must have sent events.
struct Limits {
    next: Option<Instant>,
    chunk: Option<Duration>,
    total: Option<Instant>,
}

impl Limits {
    fn begin(timeouts: Timeouts) -> Self {
        Self {
            next: from_now(timeouts.header),
            chunk: timeouts.chunk,
            total: from_now(timeouts.total),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.next.into_iter().chain(self.total).min()
    }
}

/// Returns the time at which a limit passes. A limit that is too large to represent does not apply.
fn from_now(limit: Option<Duration>) -> Option<Instant> {
    Instant::now().checked_add(limit?)
}

impl Answer {
    fn begin(
        calls: &ProgramCalls,
        provider: u32,
        request: &LlmRequest,
        timeouts: Timeouts,
    ) -> Result<Self, LlmError> {
        let protocol = adapter(request.model.protocol);
        let body = protocol.encode(request)?.body;
        let body = serde_json::from_slice::<&RawValue>(&body).expect("the body is JSON");
        let route = request.model.route();
        let input = ModelInput {
            provider,
            request: body,
        };
        let call = calls.begin(FUNCTION, &input);
        Ok(Self {
            call: call.map_err(|error| failure(&route, false, &error))?,
            decoder: protocol.decoder(request, &Sources::default()),
            limits: Limits::begin(request.model.timeouts.or(timeouts)),
            route,
            has_events: false,
            is_over: false,
            ready: VecDeque::new(),
        })
    }

    /// Returns the next events or the failure, and `None` after the end.
    async fn next(&mut self) -> Option<Result<Vec<LlmEvent>, LlmError>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            if self.is_over {
                return None;
            }
            self.read().await;
        }
    }

    async fn read(&mut self) {
        let message = match self.limits.deadline() {
            Some(deadline) => timeout_at(deadline, self.call.next()).await.ok(),
            None => Some(self.call.next().await),
        };
        let mut events = Vec::new();
        let outcome = match message {
            None => Err(self.timed_out()),
            Some(Message::Events(batch)) => {
                self.call.took_events();
                self.limits.next = from_now(self.limits.chunk);
                self.decoder.push(batch.get().as_bytes(), &mut events)
            }
            Some(Message::Result(_)) => self.decoder.end(&mut events),
            Some(Message::Error(error)) => {
                let (message, stack) = (&error.message, &error.stack);
                tracing::warn!(target: LOG_TARGET, model = self.route, message, stack, "a model of the program failed");
                Err(failure(&self.route, self.has_events, &error))
            }
            Some(Message::Progress(_) | Message::Permission(_)) => {
                let error = ProgramError::new("its answer is invalid");
                Err(failure(&self.route, self.has_events, &error))
            }
        };
        self.has_events |= !events.is_empty();
        self.is_over = outcome.is_err() || self.decoder.is_over();
        if !events.is_empty() {
            self.ready.push_back(Ok(events));
        }
        self.ready.extend(outcome.err().map(Err));
    }

    fn timed_out(&self) -> LlmError {
        let message = format!("{} did not answer in time", self.route);
        LlmError::transport(TransportKind::Timeout, None, message)
    }
}

/// The failure of a model that threw. Before its first event this is a refusal, after it the answer broke off.
fn failure(route: &str, has_events: bool, error: &ProgramError) -> LlmError {
    if has_events {
        let message = format!("{route} broke its answer off: {error}");
        return LlmError::invalid_output(route, message);
    }
    let message = format!("{route} failed: {error}");
    LlmError::new(LlmErrorReason::UnknownProvider { status: None }, message)
}
