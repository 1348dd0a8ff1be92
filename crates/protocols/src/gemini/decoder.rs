//! Decodes pieces of a response into canonical events.

use std::sync::Arc;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::{BlockId, LlmEvent, ProviderMetadata};
use opencode_llm::canonical::request::{JsonMap, ToolResultValue};
use opencode_llm::sources::Sources;
use serde_json::{Map, Value, json};

use super::frame::{Candidate, FunctionCall, InlineData, Part, Response};
use super::{CALL_ID, CODE_EXECUTION, SIGNATURE, grounding, metadata, usage};
use crate::ends::End;
use crate::failure;
use crate::framed::{Frames, Sink};
use crate::generated_file::{self, Content};
use crate::loose::Members;
use crate::open_call::{OpenCall, WholeInput};
use crate::stream_data::DONE;
use crate::tool_input;

/// The end of an answer to a prompt that the provider refuses to read.
const BLOCKED: &str = "PROHIBITED_CONTENT";

/// The state of one reply.
pub(super) struct ContentFrames {
    sources: Sources,
    /// The open block, which ends when a part of another kind begins.
    open: Option<(Kind, BlockId)>,
    blocks: u32,
    calls: usize,
    /// The code that runs, whose results follow: the identifiers that the provider gave, and those of the calls.
    running: Vec<(Option<String>, BlockId)>,
    finish: Option<End>,
    /// The last usage report, not parsed, because the server repeats it in every piece.
    usage: String,
    /// Sources and other data about the whole answer.
    about: JsonMap,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
}

impl ContentFrames {
    pub(super) fn new(sources: Sources) -> Self {
        Self {
            sources,
            open: None,
            blocks: 0,
            calls: 0,
            running: Vec::new(),
            finish: None,
            usage: String::new(),
            about: JsonMap::new(),
        }
    }
}

impl Frames for ContentFrames {
    fn frame(&mut self, data: &[u8], sink: &mut Sink<'_>) -> Result<(), LlmError> {
        if data == DONE {
            return Ok(());
        }
        let mut mended = Vec::new();
        let response: Response<'_> = sink.parse(data, &mut mended)?;
        if let Some(error) = response.error.filter(failure::is_told) {
            return sink.emit(failure::event(&error));
        }
        if let Some(report) = response.usage_metadata {
            self.usage.clear();
            self.usage.push_str(report.get());
        }
        let candidate = response.candidates.0;
        let blocked = response
            .prompt_feedback
            .0
            .and_then(|mut it| it.block_reason.take());
        if let (Some(reason), None) = (blocked, &candidate) {
            self.about.insert("blockReason".to_owned(), reason.into());
            self.finish = End::of(BLOCKED);
        }
        candidate.map_or(Ok(()), |candidate| self.candidate(candidate, sink))
    }

    /// The server names no end of its stream other than the end of the body.
    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let Some(end) = self.finish.take() else {
            return sink.end();
        };
        let about = metadata(std::mem::take(&mut self.about));
        let places = match self.open {
            Some((Kind::Text, _)) => grounding::places(about.as_ref()),
            _ => None,
        };
        self.close(sink, places)?;
        sink.finish(&end, self.calls > 0, usage::parse(&self.usage), about)
    }

    fn has_reason(&self) -> bool {
        self.finish.is_some()
    }
}

impl ContentFrames {
    fn candidate(&mut self, candidate: Candidate, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let Candidate {
            content,
            mut finish_reason,
            mut finish_message,
            grounding_metadata,
            url_context_metadata,
            citation_metadata,
        } = candidate;
        let [grounding_metadata, url_context_metadata, citation_metadata] =
            [grounding_metadata, url_context_metadata, citation_metadata]
                .map(|Members(members)| members.map(Value::Object));
        let message = finish_message.take().map(Value::from);
        for part in content.0.map(|it| it.parts.0).unwrap_or_default() {
            self.part(part, sink)?;
        }
        for source in grounding::sources(grounding_metadata.as_ref(), citation_metadata.as_ref()) {
            sink.cite(Some(source))?;
        }
        let about = [
            ("groundingMetadata", grounding_metadata),
            ("urlContextMetadata", url_context_metadata),
            ("citationMetadata", citation_metadata),
            ("finishMessage", message.clone()),
        ];
        for (name, value) in about {
            if let Some(value) = value {
                self.about.insert(name.to_owned(), value);
            }
        }
        let Some(end) = finish_reason.take().and_then(|name| End::of(&name)) else {
            return Ok(());
        };
        if end.is_failure() {
            // At once, so that a call of this answer does not run.
            let end = end.with_detail(message.unwrap_or_default());
            return sink.finish(&end, false, None, None);
        }
        self.finish = Some(end);
        sink.release_calls()
    }

    fn part(&mut self, mut part: Part, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let signature = part.thought_signature.take();
        if !part.function_call.0.is_empty() {
            let calls = part.function_call.0.into_iter();
            return calls
                .zip(std::iter::once(signature).chain(std::iter::repeat(None)))
                .try_for_each(|(call, signature)| self.call(call, signature, sink));
        }
        if let Some(code) = part.executable_code.0 {
            return self.code(code.into(), signature, sink);
        }
        if let Some(result) = part.code_execution_result.0 {
            return self.code_result(result.into(), signature, sink);
        }
        if let Some(file) = part.inline_data.0 {
            // A file among the thoughts is a draft.
            return match part.thought.0 {
                true => Ok(()),
                false => self.file(file, sink),
            };
        }
        let kind = match part.thought.0 {
            true => Kind::Reasoning,
            false => Kind::Text,
        };
        let text = part.text.take().unwrap_or_default();
        if text.is_empty() && signature.is_none() {
            return Ok(());
        }
        self.text(kind, text, signature, sink)
    }

    /// Appends a text to the open block of its kind. A signature at the end of an answer belongs to the open block.
    fn text(
        &mut self,
        kind: Kind,
        text: String,
        signature: Option<String>,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let id = match &self.open {
            Some((_, id)) if text.is_empty() => Arc::clone(id),
            Some((open, id)) if *open == kind => Arc::clone(id),
            _ => self.begin(kind, sink)?,
        };
        let kind = self.open.as_ref().map_or(kind, |(open, _)| *open);
        let provider_metadata = signature.and_then(signed);
        sink.emit(match kind {
            Kind::Text => LlmEvent::TextDelta {
                id,
                text,
                provider_metadata,
            },
            Kind::Reasoning => LlmEvent::ReasoningDelta {
                id,
                text,
                provider_metadata,
            },
        })
    }

    fn begin(&mut self, kind: Kind, sink: &mut Sink<'_>) -> Result<BlockId, LlmError> {
        self.close(sink, None)?;
        let name = match kind {
            Kind::Text => "text",
            Kind::Reasoning => "reasoning",
        };
        let id: BlockId = format!("{name}-{}", self.blocks).into();
        self.blocks += 1;
        self.open = Some((kind, Arc::clone(&id)));
        let (id_of_start, provider_metadata) = (Arc::clone(&id), None);
        sink.emit(match kind {
            Kind::Text => LlmEvent::TextStart {
                id: id_of_start,
                provider_metadata,
            },
            Kind::Reasoning => LlmEvent::ReasoningStart {
                id: id_of_start,
                provider_metadata,
            },
        })?;
        Ok(id)
    }

    fn close(
        &mut self,
        sink: &mut Sink<'_>,
        provider_metadata: Option<ProviderMetadata>,
    ) -> Result<(), LlmError> {
        match self.open.take() {
            None => Ok(()),
            Some((Kind::Text, id)) => sink.emit(LlmEvent::TextEnd {
                id,
                provider_metadata,
            }),
            Some((Kind::Reasoning, id)) => sink.emit(LlmEvent::ReasoningEnd {
                id,
                provider_metadata,
            }),
        }
    }

    /// A call arrives in one piece.
    fn call(
        &mut self,
        mut call: FunctionCall,
        signature: Option<String>,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        if call.is_piece() {
            let problem = "Gemini sends the arguments of calls in pieces, which are not supported. Remove \
                `streamFunctionCallArguments` from the options of the model";
            return Err(LlmError::invalid_output(sink.route(), problem));
        }
        self.close(sink, None)?;
        let given = call.id.take();
        let mut written = OpenCall::new(given.as_deref(), sink);
        let mut members = Map::new();
        if let Some(signature) = signature {
            members.insert(SIGNATURE.to_owned(), signature.into());
        }
        if given.is_some() {
            // The result of the call has this identifier, which no other result may have.
            members.insert(CALL_ID.to_owned(), (**written.id()).into());
        }
        let name = call.name.take().unwrap_or_default();
        let input = call.args.take().unwrap_or_else(|| json!({}));
        self.calls += 1;
        written.announce(&name, metadata(members), sink)?;
        written.end(WholeInput::Value(input), None, sink)
    }

    /// The provider runs code. Its result follows in another part.
    fn code(
        &mut self,
        code: Value,
        signature: Option<String>,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        self.close(sink, None)?;
        let id: BlockId = self.new_id().into();
        let given = code.get("id").and_then(Value::as_str);
        self.running
            .push((given.map(str::to_owned), Arc::clone(&id)));
        sink.emit(LlmEvent::ToolCall {
            id,
            name: CODE_EXECUTION.into(),
            input: tool_input::checked(code).unwrap_or_default(),
            provider_executed: true,
            provider_metadata: signature.and_then(signed),
        })
    }

    fn code_result(
        &mut self,
        result: Value,
        signature: Option<String>,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        // Without an identifier, it is the result of the first code. A result without its code cannot be stored.
        let given = result.get("id").and_then(Value::as_str);
        let mut running = self.running.iter();
        let named = running.position(|(id, _)| id.is_some() && id.as_deref() == given);
        let at = named.unwrap_or_default();
        if at >= self.running.len() {
            return Ok(());
        }
        let (_, id) = self.running.remove(at);
        self.close(sink, None)?;
        let is_ok = result.get("outcome").and_then(Value::as_str) == Some("OUTCOME_OK");
        sink.emit(LlmEvent::ToolResult {
            id,
            name: CODE_EXECUTION.into(),
            result: match is_ok {
                true => ToolResultValue::Json(result),
                false => ToolResultValue::Error(result),
            },
            output: None,
            provider_executed: true,
            provider_metadata: signature.and_then(signed),
        })
    }

    /// A file of the answer, as a call that the provider ran: its result is the file.
    fn file(&mut self, mut file: InlineData, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let (Some(mime), Some(data)) = (file.mime_type.take(), file.data.take()) else {
            return Ok(());
        };
        self.close(sink, None)?;
        generated_file::emit(self.new_id(), &mime, Content::Base64(&data), None, sink)
    }

    fn new_id(&self) -> String {
        self.sources.call_id()
    }
}

fn signed(signature: String) -> Option<ProviderMetadata> {
    metadata(Map::from_iter([(SIGNATURE.to_owned(), signature.into())]))
}
