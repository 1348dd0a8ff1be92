//! Decodes events of the program.

use std::sync::Arc;

use opencode_llm::canonical::cited_source::is_web_address;
use opencode_llm::canonical::error::{ErrorKind, HttpFailure, LlmError, bounded, in_stream_kind};
use opencode_llm::canonical::event::{BlockId, FinishReason, LlmEvent, ProviderMetadata};
use opencode_llm::canonical::model::ResolvedModel;
use opencode_llm::lifecycle::merge_metadata;
use opencode_llm::sources::Sources;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::event::{ProgramEvent, ProgramResponse};
use crate::ends::End;
use crate::framed::{Frames, Reading, Sink};
use crate::generated_file::{self, Content};
use crate::open_call::{OpenCall, UNNAMED, WholeInput};
use crate::protocol::Decoder;
use crate::sse::Frame;
use crate::tool_input;

/// The id of a block whose events have none.
const ONLY: &str = "0";

/// A decoder whose chunks are JSON arrays of events.
pub(super) struct Batches {
    reading: Reading<ProgramFrames>,
}

impl Batches {
    pub(super) fn new(model: &ResolvedModel, sources: &Sources) -> Self {
        let frames = ProgramFrames {
            model: format!("{}/{}", model.provider_id, model.model_id),
            sources: sources.clone(),
            held: 0,
            blocks: Vec::new(),
            calls: Vec::new(),
            has_local_calls: false,
        };
        Self {
            reading: Reading::new(model, sources, frames),
        }
    }

    fn settle(&mut self, outcome: Result<(), LlmError>) -> Result<(), LlmError> {
        outcome.inspect_err(|_| self.reading.fail())
    }
}

impl Decoder for Batches {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        if self.is_over() {
            return Ok(());
        }
        let outcome = match serde_json::from_slice::<Vec<&RawValue>>(chunk) {
            Ok(events) => events.into_iter().try_for_each(|event| {
                let data = event.get().as_bytes();
                let is_error = false;
                self.reading.frame(Frame { data, is_error }, out)
            }),
            Err(error) => {
                let route = self.reading.route();
                let problem = format!("Invalid {route} stream: {error}");
                Err(LlmError::undecodable(route, problem, chunk))
            }
        };
        self.settle(outcome)
    }

    fn end(&mut self, out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        if self.is_over() {
            return Ok(());
        }
        let outcome = self.reading.end(out);
        self.settle(outcome)
    }

    fn is_over(&self) -> bool {
        self.reading.is_over()
    }
}

/// The reason of a program that knows none.
const UNKNOWN: &str = FinishReason::Unknown.as_str();

/// The state of one answer.
struct ProgramFrames {
    /// Provider and model, for failures.
    model: String,
    sources: Sources,
    /// The open blocks. A delta may begin its block.
    blocks: Vec<(Block, BlockId)>,
    /// The calls, in the order of their first events.
    calls: Vec<Call>,
    /// Bytes of the input of all calls.
    held: usize,
    /// True if a call waits for a result of the host.
    has_local_calls: bool,
}

struct Call {
    /// The id that the program gave, if any.
    given: Option<String>,
    phase: Phase,
    written: OpenCall,
    /// The metadata of the end of its input.
    attached: Option<ProviderMetadata>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Its input is being written.
    Input,
    /// The program may give its result.
    Hosted,
    Over,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Reasoning,
}

impl Frames for ProgramFrames {
    fn frame(&mut self, data: &[u8], sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let mut replaced = Vec::new();
        let event: ProgramEvent<'_> = match serde_json::from_slice(data) {
            Ok(event) => event,
            // Only a text of the program can say which member is wrong.
            Err(error) => sink
                .parse(data, &mut replaced)
                .map_err(|_| invalid(sink, &error.to_string(), data))?,
        };
        let kind = event.event.clone();
        let outcome = match &*kind {
            "text-start" => self.start(Block::Text, event, sink),
            "text-delta" => self.delta(Block::Text, event, sink),
            "text-end" => self.finish_block(Block::Text, event, sink),
            "reasoning-start" => self.start(Block::Reasoning, event, sink),
            "reasoning-delta" => self.delta(Block::Reasoning, event, sink),
            "reasoning-end" => self.finish_block(Block::Reasoning, event, sink),
            "tool-input-start" => self.start_input(event, sink),
            "tool-input-delta" => self.input(event, sink),
            "tool-input-end" => self.end_input(event),
            "tool-call" => self.call(event, sink),
            "tool-result" => self.result(event, sink),
            "file" => self.file(event, sink),
            "source" => {
                let source = required(event.source, "source");
                source.and_then(|source| Ok(sink.cite(Some(source))?))
            }
            "finish" => self.finish(event, sink),
            "error" => return self.fail(event, sink),
            _ => Err(Problem::Type),
        };
        outcome.map_err(|problem| match problem {
            Problem::Failed(error) => error,
            Problem::Type => invalid(sink, &format!("unknown type {kind:?}"), data),
            Problem::Missing(member) => {
                invalid(sink, &format!("{kind} must have the member {member}"), data)
            }
            Problem::Address => invalid(
                sink,
                "the url of a file must begin with http:// or https://",
                data,
            ),
            Problem::UnknownCall => invalid(sink, &format!("{kind} of an unknown call"), data),
        })
    }

    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        sink.end()
    }
}

/// The reason that an event cannot be accepted.
enum Problem {
    Type,
    Missing(&'static str),
    UnknownCall,
    Address,
    Failed(LlmError),
}

impl From<LlmError> for Problem {
    fn from(error: LlmError) -> Self {
        Self::Failed(error)
    }
}

type Outcome = Result<(), Problem>;

fn invalid(sink: &Sink<'_>, problem: &str, data: &[u8]) -> LlmError {
    let route = sink.route();
    let message = bounded(&format!("Invalid {route} stream event: {problem}"));
    LlmError::undecodable(route, message, data)
}

fn required<T>(value: Option<T>, member: &'static str) -> Result<T, Problem> {
    value.ok_or(Problem::Missing(member))
}

impl ProgramFrames {
    /// Returns the shared id of a block, if it is open.
    fn open_block(&self, block: Block, id: &str) -> Option<BlockId> {
        let mut open = self.blocks.iter();
        let found = open.find(|(kind, known)| *kind == block && **known == *id);
        found.map(|(_, id)| Arc::clone(id))
    }

    fn start(&mut self, block: Block, event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Outcome {
        let id: BlockId = event.id.as_deref().unwrap_or(ONLY).into();
        self.begin(block, &id, event.provider_metadata, sink)
    }

    fn begin(
        &mut self,
        block: Block,
        id: &BlockId,
        provider_metadata: Option<ProviderMetadata>,
        sink: &mut Sink<'_>,
    ) -> Outcome {
        let id = Arc::clone(id);
        self.blocks.push((block, Arc::clone(&id)));
        Ok(sink.emit(match block {
            Block::Text => LlmEvent::TextStart {
                id,
                provider_metadata,
            },
            Block::Reasoning => LlmEvent::ReasoningStart {
                id,
                provider_metadata,
            },
        })?)
    }

    fn delta(&mut self, block: Block, event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Outcome {
        let text = required(event.text, "text")?;
        let name = event.id.as_deref().unwrap_or(ONLY);
        let id = match self.open_block(block, name) {
            Some(id) => id,
            None => {
                let id: BlockId = name.into();
                self.begin(block, &id, None, sink)?;
                id
            }
        };
        let provider_metadata = event.provider_metadata;
        Ok(sink.emit(match block {
            Block::Text => LlmEvent::TextDelta {
                id,
                text,
                provider_metadata,
            },
            Block::Reasoning => LlmEvent::ReasoningDelta {
                id,
                text,
                provider_metadata,
            },
        })?)
    }

    fn finish_block(
        &mut self,
        block: Block,
        event: ProgramEvent<'_>,
        sink: &mut Sink<'_>,
    ) -> Outcome {
        let name = event.id.as_deref().unwrap_or(ONLY);
        let id = self.open_block(block, name).unwrap_or_else(|| name.into());
        self.blocks
            .retain(|(kind, known)| *kind != block || *known != id);
        let provider_metadata = event.provider_metadata;
        Ok(sink.emit(match block {
            Block::Text => LlmEvent::TextEnd {
                id,
                provider_metadata,
            },
            Block::Reasoning => LlmEvent::ReasoningEnd {
                id,
                provider_metadata,
            },
        })?)
    }

    /// Returns the first call of an event in this phase. An event without an id belongs to a call without one, or to the
    /// only call.
    fn known_call(&mut self, event: &ProgramEvent<'_>, phase: Phase) -> Result<&mut Call, Problem> {
        let id = event.id.as_deref();
        let is_in_phase = |call: &Call| call.phase == phase;
        let is_only = self.calls.iter().filter(|it| is_in_phase(it)).count() == 1;
        let mut calls = self.calls.iter_mut().filter(|it| is_in_phase(it));
        let found = calls.find(|it| it.given.as_deref() == id || id.is_none() && is_only);
        found.ok_or(Problem::UnknownCall)
    }

    fn new_call(
        &mut self,
        event: &ProgramEvent<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<&mut Call, Problem> {
        let id = event.id.as_deref();
        tool_input::check_size(self.calls.len() + 1, self.held, sink)?;
        self.calls.push(Call {
            given: id.map(str::to_owned),
            phase: Phase::Input,
            written: OpenCall::new(id, sink),
            attached: None,
        });
        self.calls.last_mut().ok_or(Problem::UnknownCall)
    }

    fn start_input(&mut self, mut event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Outcome {
        let provider_metadata = event.provider_metadata.take();
        let call = self.new_call(&event, sink)?;
        match event.name.as_deref() {
            Some(name) => Ok(call.written.announce(name, provider_metadata, sink)?),
            None => {
                call.attached = provider_metadata;
                Ok(())
            }
        }
    }

    fn input(&mut self, mut event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Outcome {
        let text = required(event.text.take(), "text")?;
        self.held += text.len();
        tool_input::check_size(self.calls.len(), self.held, sink)?;
        let call = self.known_call(&event, Phase::Input)?;
        Ok(call.written.push(text, sink)?)
    }

    fn end_input(&mut self, mut event: ProgramEvent<'_>) -> Outcome {
        let provider_metadata = event.provider_metadata.take();
        let call = self.known_call(&event, Phase::Input)?;
        if let Some(more) = provider_metadata {
            merge_metadata(&mut call.attached, more);
        }
        Ok(())
    }

    /// Completes a call, which its input may precede.
    fn call(&mut self, mut event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Outcome {
        let is_hosted = event.provider_executed.0;
        self.has_local_calls |= !is_hosted;
        let whole = match (event.input.take(), event.input_text.take()) {
            (Some(input), _) => WholeInput::Value(input),
            (None, Some(text)) => WholeInput::Text(text.0),
            (None, None) => WholeInput::Value(Value::Object(Map::new())),
        };
        let provider_metadata = event.provider_metadata.take();
        let is_begun = self.known_call(&event, Phase::Input).is_ok();
        let call = match is_begun {
            true => self.known_call(&event, Phase::Input)?,
            false => self.new_call(&event, sink)?,
        };
        match (event.name.as_deref(), call.written.name()) {
            (Some(name), Some(_)) => call.written.rename(name),
            (Some(name), None) => call.written.announce(name, None, sink)?,
            (None, _) => {}
        }
        let mut attached = call.attached.take();
        if let Some(more) = provider_metadata {
            merge_metadata(&mut attached, more);
        }
        call.phase = if is_hosted {
            Phase::Hosted
        } else {
            Phase::Over
        };
        match is_hosted {
            true => call.written.end_hosted(whole, attached, sink)?,
            false => call.written.end(whole, attached, sink)?,
        }
        Ok(())
    }

    /// Forwards the result of a call that the provider ran itself.
    fn result(&mut self, mut event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Outcome {
        let result = event.result.take();
        let provider_metadata = event.provider_metadata.take();
        let call = self.known_call(&event, Phase::Hosted)?;
        call.phase = Phase::Over;
        Ok(sink.emit(LlmEvent::ToolResult {
            id: Arc::clone(call.written.id()),
            name: call
                .written
                .name()
                .cloned()
                .unwrap_or_else(|| UNNAMED.into()),
            result: required(result, "result")?,
            output: None,
            provider_executed: true,
            provider_metadata,
        })?)
    }

    /// Forwards a file that the model returns.
    fn file(&mut self, event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Outcome {
        let mime = required(event.media_type, "mediaType")?;
        let content = match (&event.data, &event.url) {
            (Some(data), _) => Content::Base64(data),
            (None, Some(url)) if is_web_address(url) => Content::Address(url),
            (None, Some(_)) => return Err(Problem::Address),
            (None, None) => return Err(Problem::Missing("data")),
        };
        let id = self.sources.call_id();
        let metadata = event.provider_metadata;
        Ok(generated_file::emit(id, &mime, content, metadata, sink)?)
    }

    fn finish(&mut self, event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Outcome {
        let name = required(event.reason, "reason")?;
        let end = match &*name {
            UNKNOWN => End::UNSAID,
            name => End::of(name).unwrap_or(End::UNSAID),
        };
        if end.is_failure() {
            return Ok(sink.finish(&end, false, None, event.provider_metadata)?);
        }
        let open = self.calls.iter_mut();
        for call in open.filter(|call| call.phase == Phase::Input) {
            call.phase = Phase::Over;
            self.has_local_calls = true;
            let attached = call.attached.take();
            call.written.end(WholeInput::Missing, attached, sink)?;
        }
        let usage = event.usage.map(Into::into);
        Ok(sink.finish(&end, self.has_local_calls, usage, event.provider_metadata)?)
    }

    /// Ends the answer with the failure that the program reports.
    fn fail(&mut self, event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        if let Some(response) = event.response {
            return Err(self.refused(&response));
        }
        let message = event.message.unwrap_or_default();
        let code = event.code.as_deref().unwrap_or_default();
        let named = event.kind.as_deref().and_then(ErrorKind::from_name);
        let kind = named.unwrap_or_else(|| in_stream_kind(code, "", &message));
        let shown = match (code, message.is_empty()) {
            ("", true) => "The provider reported an error without a message".to_owned(),
            ("", false) => message,
            (code, true) => code.to_owned(),
            (code, false) => format!("{code}: {message}"),
        };
        sink.emit(LlmEvent::ProviderError {
            message: bounded(&shown),
            kind,
            retryable: kind.is_retryable(),
            provider_metadata: event.provider_metadata,
        })
    }

    fn refused(&self, response: &ProgramResponse) -> LlmError {
        let headers = response.headers.iter();
        let headers: Vec<_> = headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value.clone()))
            .collect();
        let failure = HttpFailure {
            model: &self.model,
            method: "POST",
            url: &response.url,
            request_headers: &[],
            status: response.status,
            response_headers: &headers,
            body: &response.body,
            body_truncated: false,
            now: self.sources.now(),
        };
        failure.into_error()
    }
}
