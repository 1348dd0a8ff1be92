//! The frames of an answer: `application/vnd.amazon.eventstream`.
//!
//! A frame is an event, or an exception that ends the answer.

use std::borrow::Cow;

use bytes::{Buf, BytesMut};
use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::LlmEvent;
use opencode_llm::canonical::json;
use opencode_llm::canonical::model::ResolvedModel;
use opencode_llm::sources::Sources;
use opencode_llm::surrogates;
use serde_json::json;

use super::decoder::ConverseFrames;
use super::event_stream::Message;
use crate::framed::Reading;
use crate::protocol::Decoder;
use crate::sse::Frame;

/// Reads the frames and decodes their events.
pub(super) struct ConverseDecoder {
    buffer: BytesMut,
    /// The frame in work as JSON.
    data: Vec<u8>,
    /// True before the first byte.
    is_at_start: bool,
    /// True if the body is a JSON value: no frame is long enough to begin with a brace.
    is_document: bool,
    reading: Reading<ConverseFrames>,
}

impl ConverseDecoder {
    pub(super) fn new(model: &ResolvedModel, sources: &Sources) -> Self {
        Self {
            buffer: BytesMut::new(),
            data: Vec::new(),
            is_at_start: true,
            is_document: false,
            reading: Reading::new(model, sources, ConverseFrames::default()),
        }
    }

    fn take_frames(&mut self, out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        loop {
            let read = Message::read(&self.buffer).map_err(|problem| self.broken(problem))?;
            let Some((message, length)) = read else {
                return Ok(());
            };
            let header = |name: &str| message.header(name);
            let (kind, name) = match header(":message-type") {
                "exception" => ("exception", header(":exception-type")),
                "error" => ("error", header(":error-code")),
                _ => ("event", header(":event-type")),
            };
            let payload = surrogates::text(message.payload);
            let payload = match payload.trim() {
                "" if kind == "error" => {
                    Cow::Owned(json!({ "message": header(":error-message") }).to_string())
                }
                "" => Cow::Borrowed("null"),
                text => Cow::Borrowed(text),
            };
            // The frame handling reads one JSON value: the kind and the name of the frame, and its payload.
            self.data.clear();
            self.data.extend_from_slice(b"[");
            json::write(&mut self.data, kind);
            self.data.extend_from_slice(b",");
            json::write(&mut self.data, name);
            self.data.extend_from_slice(b",");
            self.data.extend_from_slice(payload.as_bytes());
            self.data.extend_from_slice(b"]");
            self.buffer.advance(length);
            let frame = Frame {
                data: &self.data,
                is_error: false,
            };
            self.reading.frame(frame, out)?;
            if self.reading.is_over() {
                return Ok(());
            }
        }
    }

    fn broken(&self, problem: &str) -> LlmError {
        let route = self.reading.route();
        LlmError::invalid_output(route, format!("Invalid {route} stream: {problem}"))
    }
}

impl Decoder for ConverseDecoder {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        if self.is_over() {
            return Ok(());
        }
        self.is_document |= self.is_at_start && chunk.first() == Some(&b'{');
        self.is_at_start &= chunk.is_empty();
        if self.is_document {
            self.reading.open(chunk);
            return Ok(());
        }
        self.buffer.extend_from_slice(chunk);
        let taken = self.take_frames(out);
        taken.inspect_err(|_| self.reading.fail())
    }

    fn end(&mut self, out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        if self.is_over() {
            return Ok(());
        }
        let ended = self.reading.end(out);
        ended.inspect_err(|_| self.reading.fail())
    }

    fn is_over(&self) -> bool {
        self.reading.is_over()
    }

    fn has_reason(&self) -> bool {
        self.reading.has_reason()
    }
}
