//! The outer half of every decoder over server-sent events: framing outside, lifecycle inside, the
//! protocol between.

use super::Decoder;
use crate::error::LlmError;
use crate::event::{FinishReason, LlmEvent, ProviderMetadata};
use crate::lifecycle::Lifecycle;
use crate::sse::{FrameTooLarge, SseFraming};
use crate::usage::Usage;

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
    out: &'a mut Vec<LlmEvent>,
}

impl Sink<'_> {
    /// Forwards an event under the rules of the lifecycle.
    pub(super) fn emit(&mut self, event: LlmEvent) -> Result<(), LlmError> {
        self.lifecycle.accept(event, self.out)
    }

    /// Ends the step.
    pub(super) fn finish(
        &mut self,
        reason: FinishReason,
        usage: Option<Usage>,
        metadata: Option<ProviderMetadata>,
    ) -> Result<(), LlmError> {
        self.lifecycle.finish(reason, usage, metadata, self.out)
    }

    /// The failure of a frame that is not in the protocol.
    pub(super) fn undecodable(&self, data: &[u8]) -> LlmError {
        let problem = format!("Invalid {} stream event", self.route());
        LlmError::undecodable(self.route(), problem, data)
    }

    /// Fails the step because the provider stopped before it was complete.
    pub(super) fn end(&mut self) -> Result<(), LlmError> {
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
    lifecycle: Lifecycle,
    frames: F,
}

impl<F: Frames> Framed<F> {
    pub(super) fn new(route: String, frames: F) -> Self {
        Self {
            framing: SseFraming::default(),
            lifecycle: Lifecycle::new(route),
            frames,
        }
    }

    /// Whatever fails, nothing may follow it.
    fn settle(&mut self, outcome: Result<(), Failure>) -> Result<(), LlmError> {
        outcome.map_err(|failure| {
            self.lifecycle.fail();
            match failure {
                Failure::Protocol(error) => error,
                Failure::Framing(error) => {
                    let route = self.lifecycle.route().to_owned();
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
        let Self {
            framing,
            lifecycle,
            frames,
        } = self;
        let outcome = framing.push(chunk, |data| {
            if lifecycle.is_over() {
                return Ok(());
            }
            frames
                .frame(data, &mut Sink { lifecycle, out })
                .map_err(Failure::Protocol)
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
        self.lifecycle.is_over()
    }
}

impl<F: Frames> Framed<F> {
    fn finish(&mut self, out: &mut Vec<LlmEvent>) -> Result<(), Failure> {
        let last = self.framing.end().map_err(Failure::Framing)?;
        let Self {
            lifecycle, frames, ..
        } = self;
        let mut sink = Sink { lifecycle, out };
        if let Some(data) = last.filter(|data| is_complete(data)) {
            frames.frame(&data, &mut sink).map_err(Failure::Protocol)?;
        }
        if !sink.lifecycle.is_over() {
            frames.end(&mut sink).map_err(Failure::Protocol)?;
        }
        // Whatever the protocol made of the end, a reply without an outcome must not pass.
        self.lifecycle.end().map_err(Failure::Protocol)
    }
}

/// A last frame without its blank line counts when it is whole. A cut one is no event of its own:
/// that the stream ended too early says it better.
fn is_complete(data: &[u8]) -> bool {
    data == b"[DONE]" || serde_json::from_slice::<serde::de::IgnoredAny>(data).is_ok()
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
