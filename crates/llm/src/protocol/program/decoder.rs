//! Decodes events of the program.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::event::{ProgramEvent, ProgramResponse, finish_reason};
use crate::canonical::cited_source::is_web_address;
use crate::canonical::error::{ErrorKind, HttpFailure, LlmError, bounded, in_stream_kind};
use crate::canonical::event::{BlockId, FinishReason, LlmEvent, ProviderMetadata};
use crate::canonical::model::ResolvedModel;
use crate::protocol::framed::{Frames, Reading, Sink};
use crate::protocol::generated_file::{self, Content};
use crate::protocol::{Decoder, tool_input};
use crate::sources::Sources;
use crate::sse::Frame;

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
            blocks: Vec::new(),
            calls: HashMap::new(),
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

/// The state of one answer.
struct ProgramFrames {
    /// Provider and model, for failures.
    model: String,
    sources: Sources,
    /// The open blocks. A delta may begin its block.
    blocks: Vec<(Block, BlockId)>,
    /// The tools of the calls, which only the first event of a call must name.
    calls: HashMap<BlockId, BlockId>,
    /// True if a call waits for a result of the host.
    has_local_calls: bool,
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
            "tool-input-end" => self.end_input(event, sink),
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
            Problem::Reason(reason) => {
                invalid(sink, &format!("unknown finish reason {reason:?}"), data)
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
    Reason(String),
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

    /// Returns the call of an event and its tool.
    fn known_call(&self, event: &ProgramEvent<'_>) -> Result<(BlockId, BlockId), Problem> {
        let id = required(event.id.as_deref(), "id")?;
        let call = self.calls.get_key_value(id).ok_or(Problem::UnknownCall)?;
        Ok((Arc::clone(call.0), Arc::clone(call.1)))
    }

    fn new_call(&mut self, event: &ProgramEvent<'_>) -> Result<(BlockId, BlockId), Problem> {
        let id: BlockId = required(event.id.as_deref(), "id")?.into();
        let name: BlockId = required(event.name.as_deref(), "name")?.into();
        self.calls.insert(Arc::clone(&id), Arc::clone(&name));
        Ok((id, name))
    }

    fn start_input(&mut self, event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Outcome {
        let (id, name) = self.new_call(&event)?;
        Ok(sink.emit(LlmEvent::ToolInputStart {
            id,
            name,
            provider_metadata: event.provider_metadata,
        })?)
    }

    fn input(&mut self, event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Outcome {
        let (id, name) = self.known_call(&event)?;
        let text = sink.input(&id, required(event.text, "text")?);
        Ok(sink.emit(LlmEvent::ToolInputDelta { id, name, text })?)
    }

    fn end_input(&mut self, event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Outcome {
        let (id, name) = self.known_call(&event)?;
        Ok(sink.emit(LlmEvent::ToolInputEnd {
            id,
            name,
            provider_metadata: event.provider_metadata,
        })?)
    }

    /// Forwards a call. Input that is not JSON fails the answer once the reason of its end is known.
    fn call(&mut self, event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Outcome {
        let (id, name) = match self.known_call(&event) {
            Ok(known) if event.name.as_deref().is_none_or(|name| *name == *known.1) => known,
            _ => self.new_call(&event)?,
        };
        let input = match (event.input, event.input_text) {
            (Some(input), _) => input,
            (None, Some(text)) => match tool_input::parse(&text, &name, "program", sink) {
                Ok(input) => input,
                Err(error) => {
                    sink.hold(error);
                    return Ok(());
                }
            },
            (None, None) => Value::Object(Map::new()),
        };
        self.has_local_calls |= !event.provider_executed;
        Ok(sink.emit(LlmEvent::ToolCall {
            id,
            name,
            input,
            provider_executed: event.provider_executed,
            provider_metadata: event.provider_metadata,
        })?)
    }

    /// Forwards the result of a call that the provider ran itself.
    fn result(&mut self, event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Outcome {
        let (id, name) = self.known_call(&event)?;
        Ok(sink.emit(LlmEvent::ToolResult {
            id,
            name,
            result: required(event.result, "result")?,
            output: None,
            provider_executed: true,
            provider_metadata: event.provider_metadata,
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
        let id = format!("call_{}", self.sources.uuid());
        let metadata = event.provider_metadata;
        Ok(generated_file::emit(id, &mime, content, metadata, sink)?)
    }

    fn finish(&mut self, event: ProgramEvent<'_>, sink: &mut Sink<'_>) -> Outcome {
        let name = required(event.reason, "reason")?;
        let reason = finish_reason(&name).ok_or_else(|| Problem::Reason(name.into_owned()))?;
        let reason = match reason {
            FinishReason::Stop if self.has_local_calls => FinishReason::ToolCalls,
            reason => reason,
        };
        let usage = event.usage.map(Into::into);
        Ok(sink.finish(reason, usage, event.provider_metadata)?)
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
