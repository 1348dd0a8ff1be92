//! The outer half of every decoder over server-sent events: framing outside, lifecycle inside, the
//! protocol between.

use serde::de::{Deserialize, DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;

use super::halves::{Halves, Kind};
use super::opening::Opening;
use super::{Decoder, failure, surrogates};
use crate::canonical::error::LlmError;
use crate::canonical::event::{BlockId, FinishReason, LlmEvent, ProviderMetadata};
use crate::canonical::usage::Usage;
use crate::lifecycle::Lifecycle;
use crate::sse::{Frame, FrameTooLarge, SseFraming};

/// With what servers of some protocols end a stream.
pub(super) const DONE: &[u8] = b"[DONE]";

/// What a protocol does with one frame.
pub(super) trait Frames: Send {
    /// Takes the data of a frame.
    fn frame(&mut self, data: &[u8], sink: &mut Sink<'_>) -> Result<(), LlmError>;

    /// Takes the regular end of the body.
    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError>;
}

/// Where a protocol puts its events.
pub(super) struct Sink<'a> {
    lifecycle: &'a mut Lifecycle,
    halves: &'a mut Halves,
    held: &'a mut Option<LlmError>,
    out: &'a mut Vec<LlmEvent>,
}

impl Sink<'_> {
    /// Reads the data of a frame. `mended` is where it is put if it had to be mended first.
    pub(super) fn parse<'f, T: Deserialize<'f>>(
        &mut self,
        data: &'f [u8],
        mended: &'f mut Vec<u8>,
    ) -> Result<T, LlmError> {
        if let Ok(value) = serde_json::from_slice(data) {
            return Ok(value);
        }
        let found = surrogates::mend(data).ok_or_else(|| self.undecodable(data))?;
        self.halves.expect(found.cuts);
        *mended = found.text;
        serde_json::from_slice(mended).map_err(|_| self.undecodable(data))
    }

    /// Reads a part of a frame; none if it is missing or something else.
    pub(super) fn read<T: DeserializeOwned>(&mut self, part: Option<&RawValue>) -> Option<T> {
        let part = part?.get();
        serde_json::from_str(part).ok().or_else(|| {
            let found = surrogates::mend(part.as_bytes())?;
            self.halves.expect(found.cuts);
            serde_json::from_slice(&found.text).ok()
        })
    }

    /// A piece of the input of a call, which consists of whole characters.
    pub(super) fn input(&mut self, id: &BlockId, text: String) -> String {
        if self.halves.is_idle() {
            return text;
        }
        self.halves.join(Kind::Input, id, text)
    }

    /// Forwards an event under the rules of the lifecycle.
    pub(super) fn emit(&mut self, mut event: LlmEvent) -> Result<(), LlmError> {
        if !matches!(event, LlmEvent::ProviderError { .. }) {
            self.release(None)?;
        }
        if !self.halves.is_idle() {
            for missing in self.complete(&mut event) {
                self.lifecycle.accept(missing, self.out)?;
            }
        }
        self.lifecycle.accept(event, self.out)
    }

    /// Keeps a failure until the stream says why the answer ends, which may explain it.
    pub(super) fn hold(&mut self, error: LlmError) {
        self.held.get_or_insert(error);
    }

    fn release(&mut self, reason: Option<FinishReason>) -> Result<(), LlmError> {
        match self.held.take() {
            Some(error) => Err(error.ended_by(reason)),
            None => Ok(()),
        }
    }

    /// Makes the text of an event consist of whole characters. What stands for those that never
    /// become whole is returned and comes before it.
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

    /// Ends the step.
    pub(super) fn finish(
        &mut self,
        reason: FinishReason,
        usage: Option<Usage>,
        metadata: Option<ProviderMetadata>,
    ) -> Result<(), LlmError> {
        self.release(Some(reason))?;
        for missing in self.halves.end_all() {
            self.lifecycle.accept(missing, self.out)?;
        }
        self.lifecycle.finish(reason, usage, metadata, self.out)
    }

    /// The failure of a frame that is not in the protocol.
    pub(super) fn undecodable(&self, data: &[u8]) -> LlmError {
        let problem = format!("Invalid {} stream event", self.route());
        LlmError::undecodable(self.route(), problem, data)
    }

    /// Fails the step because the provider stopped before it was complete.
    pub(super) fn end(&mut self) -> Result<(), LlmError> {
        self.release(None)?;
        self.lifecycle.end()
    }

    /// The name failures use.
    pub(super) fn route(&self) -> &str {
        self.lifecycle.route()
    }
}

/// A decoder made of a protocol's frame handling.
pub(super) struct Framed<F> {
    framing: SseFraming,
    reading: Reading<F>,
}

/// What is behind the framing.
struct Reading<F> {
    opening: Opening,
    lifecycle: Lifecycle,
    halves: Halves,
    /// The input of a call could not be read.
    held: Option<LlmError>,
    frames: F,
}

impl<F: Frames> Framed<F> {
    pub(super) fn new(route: String, frames: F) -> Self {
        Self {
            framing: SseFraming::default(),
            reading: Reading {
                opening: Opening::default(),
                lifecycle: Lifecycle::new(route),
                halves: Halves::default(),
                held: None,
                frames,
            },
        }
    }

    /// Whatever fails, nothing may follow it.
    fn settle(&mut self, outcome: Result<(), Failure>) -> Result<(), LlmError> {
        outcome.map_err(|failure| {
            self.reading.lifecycle.fail();
            match failure {
                Failure::Protocol(error) => error,
                Failure::Framing(error) => {
                    let route = self.reading.lifecycle.route().to_owned();
                    LlmError::invalid_output(&route, format!("Invalid {route} stream: {error}"))
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
        reading.opening.push(chunk);
        let outcome = framing.push(chunk, |frame| reading.frame(frame, out));
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
        self.reading.lifecycle.is_over()
    }
}

impl<F: Frames> Framed<F> {
    fn finish(&mut self, out: &mut Vec<LlmEvent>) -> Result<(), Failure> {
        let Self { framing, reading } = self;
        framing.end(|frame| match is_complete(frame.data) {
            true => reading.frame(frame, out),
            false => Ok(()),
        })?;
        reading.end(out).map_err(Failure::Protocol)
    }
}

impl<F: Frames> Reading<F> {
    fn frame(&mut self, frame: Frame<'_>, out: &mut Vec<LlmEvent>) -> Result<(), Failure> {
        if self.lifecycle.is_over() {
            return Ok(());
        }
        self.opening.found_stream();
        let (frames, mut sink) = self.split(out);
        let outcome = if frame.is_error && frame.data != DONE {
            sink.emit(failure::named(frame.data))
        } else {
            frames.frame(frame.data, &mut sink)
        };
        self.halves.end_frame();
        outcome.map_err(Failure::Protocol)
    }

    fn end(&mut self, out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        let failure = self.opening.failure();
        let (frames, mut sink) = self.split(out);
        if let Some(failure) = failure {
            sink.emit(failure)?;
        }
        if !sink.lifecycle.is_over() {
            frames.end(&mut sink)?;
        }
        // Whatever the protocol made of the end, a reply without an outcome must not pass.
        self.lifecycle.end()
    }

    fn split<'a>(&'a mut self, out: &'a mut Vec<LlmEvent>) -> (&'a mut F, Sink<'a>) {
        let sink = Sink {
            lifecycle: &mut self.lifecycle,
            halves: &mut self.halves,
            held: &mut self.held,
            out,
        };
        (&mut self.frames, sink)
    }
}

/// A last frame without its blank line counts when it is whole. A cut one is no event of its own:
/// that the stream ended too early says it better.
fn is_complete(data: &[u8]) -> bool {
    data == DONE || serde_json::from_slice::<IgnoredAny>(data).is_ok()
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
