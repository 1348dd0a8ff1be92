//! The common part of all decoders of server-sent events. It applies the framing before the
//! protocol and the lifecycle after it.

use std::borrow::Cow;

use opencode_llm::canonical::cited_source::CitedSource;
use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::{BlockId, FinishReason, LlmEvent, ProviderMetadata};
use opencode_llm::canonical::model::ResolvedModel;
use opencode_llm::canonical::usage::Usage;
use opencode_llm::lifecycle::Lifecycle;
use opencode_llm::sources::Sources;
use opencode_llm::surrogates;
use serde::de::{Deserialize, DeserializeOwned};
use serde_json::Value;
use serde_json::value::RawValue;

use super::body_start::BodyStart;
use super::call_ids::CallIds;
use super::ends::End;
use super::pending_surrogates::{Kind, PendingSurrogates};
use super::protocol::Decoder;
use super::stream_data::{DONE, Data, classify, glued};
use super::waiting_calls::WaitingCalls;
use super::{deviations, failure};
use crate::sse::{Frame, FrameTooLarge, SseFraming};

/// Maximum length in characters of the data that a failure shows.
const SHOWN_CHARS: usize = 120;

/// The frame handling of a protocol.
pub(super) trait Frames: Send {
    /// Handles the data of a frame.
    fn frame(&mut self, data: &[u8], sink: &mut Sink<'_>) -> Result<(), LlmError>;

    /// Handles the regular end of the body.
    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError>;

    /// True if the reason of the end is known, and the reply is not over yet.
    fn has_reason(&self) -> bool {
        false
    }
}

/// The receiver of the events of a protocol.
pub(super) struct Sink<'a> {
    lifecycle: &'a mut Lifecycle,
    halves: &'a mut PendingSurrogates,
    ids: &'a mut CallIds,
    waiting: &'a mut WaitingCalls,
    /// The number of the frame in the answer, from one.
    number: u64,
    out: &'a mut Vec<LlmEvent>,
}

impl Sink<'_> {
    /// Parses the data of a frame. If it contains unpaired surrogates, bytes that are not UTF-8, or a member twice,
    /// `replaced` receives the repaired data. The last one of several equal members counts.
    pub(super) fn parse<'f, T: Deserialize<'f>>(
        &mut self,
        data: &'f [u8],
        replaced: &'f mut Vec<u8>,
    ) -> Result<T, LlmError> {
        let valid = surrogates::text(data);
        if let Cow::Borrowed(text) = valid
            && let Ok(value) = serde_json::from_str(text)
        {
            return Ok(value);
        }
        let repaired = surrogates::repair(valid.as_bytes());
        let text = repaired
            .as_ref()
            .map_or(valid.as_bytes(), |found| &*found.text);
        let value: Value =
            serde_json::from_slice(text).map_err(|error| self.unreadable(data, &error))?;
        if let Some(found) = repaired {
            self.halves.expect(found.cuts);
        }
        *replaced = value.to_string().into_bytes();
        serde_json::from_slice(replaced).map_err(|error| self.unreadable(data, &error))
    }

    /// Parses a part of a frame. Returns `None` if it is missing or has another type.
    pub(super) fn read<T: DeserializeOwned>(&mut self, part: Option<&RawValue>) -> Option<T> {
        let part = part?.get();
        serde_json::from_str(part).ok().or_else(|| {
            let found = surrogates::repair(part.as_bytes())?;
            self.halves.expect(found.cuts);
            serde_json::from_slice(&found.text).ok()
        })
    }

    /// Returns a piece of the input of a call, completed to whole characters.
    pub(super) fn input(&mut self, id: &BlockId, text: String) -> String {
        if self.halves.is_idle() {
            return text;
        }
        self.halves.join(Kind::Input, id, text)
    }

    /// Returns an identifier for a call that no other call of the step has.
    pub(super) fn call_id(&mut self, given: Option<&str>) -> BlockId {
        self.ids.assign(given)
    }

    /// Forwards an event to the lifecycle.
    pub(super) fn emit(&mut self, event: LlmEvent) -> Result<(), LlmError> {
        if !matches!(event, LlmEvent::ProviderError { .. }) {
            self.waiting.confirm(None);
        }
        let Some(mut event) = self.waiting.keep(event) else {
            return Ok(());
        };
        self.release_calls()?;
        if !self.halves.is_idle() {
            for missing in self.complete(&mut event) {
                self.lifecycle.accept(missing, self.out)?;
            }
        }
        self.lifecycle.accept(event, self.out)
    }

    /// Forwards a source that the answer cites, unless it is unusable. A kept failure stays kept.
    pub(super) fn cite(&mut self, source: Option<CitedSource>) -> Result<(), LlmError> {
        match source.and_then(CitedSource::bounded) {
            Some(source) => self
                .lifecycle
                .accept(LlmEvent::Cited(Box::new(source)), self.out),
            None => Ok(()),
        }
    }

    /// Forwards the complete calls. Each call waits for the next event of the answer, or for its regular end: if the
    /// answer fails instead, the consumer reads the failure together with the call and does not run it.
    pub(super) fn release_calls(&mut self) -> Result<(), LlmError> {
        for call in self.waiting.take() {
            self.lifecycle.accept(call, self.out)?;
        }
        Ok(())
    }

    /// Keeps a call that the output limit may have cut, until the next event or the reason of the end shows
    /// whether it did.
    pub(super) fn hold(&mut self, call: LlmEvent) {
        self.waiting.hold(call);
    }

    /// Lets a kept call follow the complete calls. `reason` is that of the end, if the answer ends.
    pub(super) fn release(&mut self, reason: Option<FinishReason>) {
        self.waiting.confirm(reason);
    }

    /// Completes the text of an event to whole characters. Returns events with replacements for
    /// incomplete characters, which must precede the event.
    fn complete(&mut self, event: &mut LlmEvent) -> Vec<LlmEvent> {
        let halves = &mut *self.halves;
        match event {
            LlmEvent::TextDelta { id, text, .. } => {
                *text = halves.join(Kind::Text, id, std::mem::take(text));
                Vec::new()
            }
            LlmEvent::ReasoningDelta { id, text, .. } => {
                *text = halves.join(Kind::Reasoning, id, std::mem::take(text));
                Vec::new()
            }
            LlmEvent::TextEnd { id, .. } => halves.end(Kind::Text, id).into_iter().collect(),
            LlmEvent::ReasoningEnd { id, .. } => {
                halves.end(Kind::Reasoning, id).into_iter().collect()
            }
            LlmEvent::ProviderError { .. } => halves.end_all(),
            _ => Vec::new(),
        }
    }

    /// Ends the step. `has_calls` is true if the model waits for the result of a call.
    pub(super) fn finish(
        &mut self,
        end: &End,
        has_calls: bool,
        usage: Option<Usage>,
        metadata: Option<ProviderMetadata>,
    ) -> Result<(), LlmError> {
        if let Some(failure) = end.failure(self.lifecycle.has_begun()) {
            return self.emit(failure);
        }
        let reason = end.reason(has_calls);
        self.release(Some(reason));
        self.release_calls()?;
        if reason == FinishReason::ToolCalls && !self.lifecycle.has_calls() {
            return self.emit(end.without_call());
        }
        for missing in self.halves.end_all() {
            self.lifecycle.accept(missing, self.out)?;
        }
        self.lifecycle.finish(reason, usage, metadata, self.out)
    }

    /// Returns the failure of a frame that violates the protocol.
    pub(super) fn undecodable(&self, data: &[u8]) -> LlmError {
        let problem = format!("Invalid {} stream event", self.route());
        LlmError::undecodable(self.route(), problem, data)
    }

    /// Returns the failure of a frame that is not JSON, with the place and the beginning of its data.
    fn unreadable(&self, data: &[u8], error: &serde_json::Error) -> LlmError {
        let head = &data[..data.len().min(4 * SHOWN_CHARS)];
        let shown: String = String::from_utf8_lossy(head)
            .chars()
            .take(SHOWN_CHARS)
            .collect();
        let route = self.route();
        let number = self.number;
        let problem = format!("Invalid {route} stream event {number}: {error}, in {shown:?}");
        LlmError::undecodable(route, problem, data)
    }

    /// Fails the step if the stream ended before it was complete.
    pub(super) fn end(&mut self) -> Result<(), LlmError> {
        self.waiting.break_off();
        self.release_calls()?;
        self.lifecycle.end()
    }

    /// Returns the name of provider and protocol in failures.
    pub(super) fn route(&self) -> &str {
        self.lifecycle.route()
    }
}

/// A decoder that consists of the framing and the frame handling of a protocol.
pub(super) struct Framed<F> {
    framing: SseFraming,
    reading: Reading<F>,
}

/// The state behind the framing.
pub(super) struct Reading<F> {
    /// Provider and model, for the log.
    model: String,
    sources: Sources,
    opening: BodyStart,
    lifecycle: Lifecycle,
    halves: PendingSurrogates,
    ids: CallIds,
    waiting: WaitingCalls,
    /// The number of frames so far.
    number: u64,
    frames: F,
}

impl<F: Frames> Framed<F> {
    pub(super) fn new(model: &ResolvedModel, sources: &Sources, frames: F) -> Self {
        Self {
            framing: SseFraming::default(),
            reading: Reading::new(model, sources, frames),
        }
    }

    /// Ends the lifecycle after any failure, because no event may follow it.
    fn settle(&mut self, outcome: Result<(), Failure>) -> Result<(), LlmError> {
        outcome.map_err(|failure| {
            self.reading.fail();
            match failure {
                Failure::Protocol(error) => error,
                Failure::Framing(error) => {
                    let route = self.reading.route();
                    LlmError::invalid_output(route, format!("Invalid {route} stream: {error}"))
                }
            }
        })
    }
}

impl<F: Frames> Decoder for Framed<F> {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        if self.is_over() {
            return Ok(());
        }
        let Self { framing, reading } = self;
        reading.open(chunk);
        let outcome = framing.push(chunk, |frame| {
            reading.event(frame, out).map_err(Failure::Protocol)
        });
        self.settle(outcome)
    }

    fn end(&mut self, out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        if self.is_over() {
            return Ok(());
        }
        let outcome = self.finish(out);
        self.settle(outcome)
    }

    fn is_over(&self) -> bool {
        self.reading.is_over()
    }

    fn has_reason(&self) -> bool {
        self.reading.has_reason()
    }
}

impl<F: Frames> Framed<F> {
    fn finish(&mut self, out: &mut Vec<LlmEvent>) -> Result<(), Failure> {
        let Self { framing, reading } = self;
        framing.end(|frame| match is_complete(frame.data) {
            true => reading.event(frame, out).map_err(Failure::Protocol),
            false => Ok(()),
        })?;
        reading.document(out).map_err(Failure::Protocol)?;
        reading.end(out).map_err(Failure::Protocol)
    }
}

impl<F: Frames> Reading<F> {
    /// Creates the state of one reply of a model.
    pub(super) fn new(model: &ResolvedModel, sources: &Sources, frames: F) -> Self {
        Self {
            model: format!("{}/{}", model.provider_id, model.model_id),
            sources: sources.clone(),
            opening: BodyStart::default(),
            lifecycle: Lifecycle::new(model.route()),
            halves: PendingSurrogates::default(),
            ids: CallIds::new(sources),
            waiting: WaitingCalls::default(),
            number: 0,
            frames,
        }
    }

    /// Ends the lifecycle, because no event may follow a failure.
    pub(super) fn fail(&mut self) {
        self.lifecycle.fail();
    }

    /// True if the outcome is reached.
    pub(super) fn is_over(&self) -> bool {
        self.lifecycle.is_over()
    }

    /// True if the reason of the end is known.
    pub(super) fn has_reason(&self) -> bool {
        self.frames.has_reason()
    }

    /// Returns the name of provider and protocol in failures.
    pub(super) fn route(&self) -> &str {
        self.lifecycle.route()
    }

    /// Takes bytes of a body that may be one JSON value instead of a stream.
    pub(super) fn open(&mut self, chunk: &[u8]) {
        self.opening.push(chunk);
    }

    /// Handles a server-sent event, which may hold several frames or none.
    fn event(&mut self, frame: Frame<'_>, out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        let outcome = self.frames_of(frame, out);
        if outcome.is_err() {
            // The calls before a frame that is invalid are complete.
            self.split(out).1.release_calls()?;
        }
        outcome
    }

    fn frames_of(&mut self, frame: Frame<'_>, out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        let of = |data| Frame { data, ..frame };
        match classify(frame.data) {
            _ if frame.is_error => self.frame(frame, out),
            Data::One(data) => {
                let before = out.len();
                let outcome = self.frame(of(data), out);
                match outcome.is_err().then(|| glued(data)).flatten() {
                    Some(parts) if out.len() == before => {
                        parts.into_iter().try_for_each(|it| self.frame(of(it), out))
                    }
                    _ => outcome,
                }
            }
            Data::Many(values) => values
                .into_iter()
                .filter(|it| it.get().starts_with('{'))
                .try_for_each(|it| self.frame(of(it.get().as_bytes()), out)),
            Data::Done => self.frame(of(DONE), out),
            Data::Nothing => {
                deviations::log_noted(&self.model, &self.sources, frame.data);
                Ok(())
            }
        }
    }

    /// Handles a body that is one JSON value in place of a stream. Some servers answer so despite the request.
    fn document(&mut self, out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        let Some(data) = self.opening.take_document() else {
            return Ok(());
        };
        let is_error = false;
        self.event(
            Frame {
                data: &data,
                is_error,
            },
            out,
        )
    }

    /// Handles a frame.
    pub(super) fn frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Vec<LlmEvent>,
    ) -> Result<(), LlmError> {
        if self.lifecycle.is_over() {
            return Ok(());
        }
        self.opening.found_stream();
        self.number += 1;
        let (frames, mut sink) = self.split(out);
        let outcome = if frame.is_error && frame.data != DONE {
            sink.emit(failure::named(frame.data))
        } else {
            frames.frame(frame.data, &mut sink)
        };
        self.halves.end_frame();
        deviations::log_noted(&self.model, &self.sources, frame.data);
        outcome
    }

    /// Handles the regular end of the body.
    pub(super) fn end(&mut self, out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        let failure = self.opening.failure();
        let (frames, mut sink) = self.split(out);
        if let Some(failure) = failure {
            sink.emit(failure)?;
        }
        if !sink.lifecycle.is_over() {
            frames.end(&mut sink)?;
        }
        // A reply without an outcome is a failure, even if the protocol accepts the end.
        self.lifecycle.end()
    }

    fn split<'a>(&'a mut self, out: &'a mut Vec<LlmEvent>) -> (&'a mut F, Sink<'a>) {
        let sink = Sink {
            lifecycle: &mut self.lifecycle,
            halves: &mut self.halves,
            ids: &mut self.ids,
            waiting: &mut self.waiting,
            number: self.number,
            out,
        };
        (&mut self.frames, sink)
    }
}

/// True if a last frame without its blank line is complete. An incomplete frame is ignored: the
/// failure of the interrupted stream is a better report.
fn is_complete(data: &[u8]) -> bool {
    match classify(data) {
        Data::One(data) => {
            serde_json::from_slice::<&RawValue>(data).is_ok() || glued(data).is_some()
        }
        Data::Many(_) | Data::Done | Data::Nothing => true,
    }
}

enum Failure {
    Framing(FrameTooLarge),
    Protocol(LlmError),
}

impl From<FrameTooLarge> for Failure {
    fn from(error: FrameTooLarge) -> Self {
        Self::Framing(error)
    }
}
