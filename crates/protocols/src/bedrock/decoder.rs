//! Decodes the events of an answer into canonical events.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use opencode_llm::canonical::cited_source::{CitedSource, PLACES};
use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::{BlockId, LlmEvent};
use opencode_llm::canonical::json::{count, report};
use opencode_llm::canonical::usage::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{NAMESPACE, REDACTED, SIGNATURE, metadata};
use crate::ends::End;
use crate::failure;
use crate::framed::{Frames, Sink};
use crate::loose::{JsonText, Prose, Read as _, Whole, prose};
use crate::metadata::within;
use crate::open_call::{OpenCall, WholeInput};
use crate::tool_input;

/// The member of the metadata of a text that contains its citations.
const CITATIONS: &str = "citations";

/// Maximum number of blocks that are open at the same time.
const MAX_OPEN: usize = 1024;

/// The state of one reply.
#[derive(Default)]
pub(super) struct ConverseFrames {
    open: HashMap<u64, Block>,
    /// The block of the last event with a readable one.
    last: Option<u64>,
    /// Blocks that ended at the place of another one or before their time.
    replaced: usize,
    calls: usize,
    /// Bytes of the input of all calls.
    held: usize,
    finish: Option<End>,
    usage: Option<Usage>,
}

/// The kind and the name of a frame, and its payload.
#[derive(Deserialize)]
struct Event<'a>(
    #[serde(borrow)] Cow<'a, str>,
    #[serde(borrow)] Cow<'a, str>,
    #[serde(borrow)] &'a RawValue,
);

/// A piece of a text.
#[derive(Deserialize)]
struct TextPiece {
    #[serde(rename = "contentBlockIndex")]
    index: u64,
    delta: TextDelta,
}

#[derive(Deserialize)]
struct TextDelta {
    text: String,
}

enum Block {
    Text { id: BlockId, citations: Vec<Value> },
    Reasoning(BlockId),
    Call(OpenCall),
}

impl Frames for ConverseFrames {
    fn frame(&mut self, data: &[u8], sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let mut mended = Vec::new();
        let Event(kind, name, payload) = sink.parse(data, &mut mended)?;
        // Almost all events are pieces of a text, which need no value for every member. One with half of a character is
        // read like the other events.
        if kind == "event"
            && name == "contentBlockDelta"
            && let Ok(TextPiece { index, delta }) = serde_json::from_str(payload.get())
        {
            self.last = Some(index);
            return self.text_piece(index, delta.text, data, sink);
        }
        let payload: Value = sink
            .read(Some(payload))
            .ok_or_else(|| sink.undecodable(data))?;
        if kind != "event" {
            return sink.emit(exception(&name, &payload));
        }
        let index = payload.get("contentBlockIndex").cloned();
        let index = index.and_then(|it| Whole::read(it).0?.try_into().ok());
        match &*name {
            "contentBlockStart" => {
                let index =
                    index.unwrap_or_else(|| self.last.map_or(0, |last| last.saturating_add(1)));
                self.last = Some(index);
                self.start(index, &payload, data, sink)
            }
            "contentBlockDelta" => {
                let index = index.or(self.last).unwrap_or_default();
                self.last = Some(index);
                self.delta(index, &payload["delta"], data, sink)
            }
            "contentBlockStop" => match index.or(self.last) {
                Some(index) => self.stop(index, sink),
                None => Ok(()),
            },
            "messageStop" => {
                let reason = payload["stopReason"].as_str().unwrap_or_default();
                let end = End::of(reason).unwrap_or(End::UNSAID);
                if end.is_failure() {
                    return sink.finish(&end, false, None, None);
                }
                sink.release(Some(end.reason(self.calls > 0)));
                self.finish = Some(end);
                sink.release_calls()
            }
            "metadata" => {
                self.usage = usage(&payload["usage"]);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The usage follows the end of the message, so the step ends with the body.
    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let Some(end) = self.finish.take() else {
            return sink.end();
        };
        let mut open: Vec<u64> = self.open.keys().copied().collect();
        open.sort_unstable();
        for index in open {
            self.stop(index, sink)?;
        }
        sink.finish(&end, self.calls > 0, self.usage.take(), None)
    }

    fn has_reason(&self) -> bool {
        self.finish.is_some()
    }
}

impl ConverseFrames {
    /// The server announces only the start of a call.
    fn start(
        &mut self,
        index: u64,
        payload: &Value,
        data: &[u8],
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let Some(call) = payload["start"].get("toolUse") else {
            return Ok(());
        };
        // A block that begins at the place of another one ends that one.
        self.stop(index, sink)?;
        self.begin_call(index, call, data, sink)
    }

    fn begin_call(
        &mut self,
        index: u64,
        about: &Value,
        data: &[u8],
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        if self.is_full() {
            return Err(sink.undecodable(data));
        }
        let mut call = OpenCall::new(about["toolUseId"].as_str(), sink);
        call.announce(about["name"].as_str().unwrap_or_default(), None, sink)?;
        self.open.insert(index, Block::Call(call));
        Ok(())
    }

    fn delta(
        &mut self,
        index: u64,
        delta: &Value,
        data: &[u8],
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        if let Some(text) = delta.get("text").filter(|it| !it.is_null()) {
            return self.text_piece(
                index,
                Prose::read(text.clone()).take().unwrap_or_default(),
                data,
                sink,
            );
        }
        if let Some(reasoning) = delta.get("reasoningContent").filter(|it| !it.is_null()) {
            return self.reasoning(index, reasoning, data, sink);
        }
        if let Some(citation) = delta.get("citation").filter(|it| it.is_object()) {
            return self.cite(index, citation, sink);
        }
        let piece = JsonText::read(delta["toolUse"]["input"].clone()).0;
        if piece.is_empty() {
            return Ok(());
        }
        self.held += piece.len();
        tool_input::check_size(self.calls, self.held, sink)?;
        if !matches!(self.open.get(&index), Some(Block::Call(_))) {
            // The start of the call is missing, so nothing tells its name. Another block at its place ends.
            self.stop(index, sink)?;
            self.begin_call(index, &Value::Null, data, sink)?;
        }
        match self.open.get_mut(&index) {
            Some(Block::Call(call)) => call.push(piece, sink),
            _ => Err(sink.undecodable(data)),
        }
    }

    fn text_piece(
        &mut self,
        index: u64,
        text: String,
        data: &[u8],
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let id = self.text(index, data, sink)?;
        sink.emit(LlmEvent::TextDelta {
            id,
            text,
            provider_metadata: None,
        })
    }

    fn reasoning(
        &mut self,
        index: u64,
        reasoning: &Value,
        data: &[u8],
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let id = match self.open.get(&index) {
            Some(Block::Reasoning(id)) => Arc::clone(id),
            None if self.is_full() => return Err(sink.undecodable(data)),
            _ => {
                let id = self.replace("reasoning", index, sink)?;
                self.open.insert(index, Block::Reasoning(Arc::clone(&id)));
                sink.emit(LlmEvent::ReasoningStart {
                    id: Arc::clone(&id),
                    provider_metadata: None,
                })?;
                id
            }
        };
        // The form of whole messages, which some proxies send.
        let reasoning = match &reasoning["reasoningText"] {
            whole @ Value::Object(_) => whole,
            _ => reasoning,
        };
        let text = |name: &str| reasoning[name].as_str().map(str::to_owned);
        let redacted = text("redactedContent").or_else(|| text("data"));
        let kept = [(SIGNATURE, text("signature")), (REDACTED, redacted)];
        let kept = kept
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), Value::from(value?))));
        sink.emit(LlmEvent::ReasoningDelta {
            id,
            text: match reasoning {
                Value::Object(members) => members.get("text").map(prose).unwrap_or_default(),
                other => prose(other),
            },
            provider_metadata: metadata(kept.collect()),
        })
    }

    /// Reports the source of a citation, and attaches the citation to its text.
    fn cite(&mut self, index: u64, citation: &Value, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        if let Some(Block::Text { citations, .. }) = self.open.get_mut(&index) {
            self.held += citation.to_string().len();
            tool_input::check_size(self.calls, self.held, sink)?;
            citations.push(citation.clone());
        }
        sink.cite(source_of(citation))
    }

    fn text(&mut self, index: u64, data: &[u8], sink: &mut Sink<'_>) -> Result<BlockId, LlmError> {
        match self.open.get(&index) {
            Some(Block::Text { id, .. }) => return Ok(Arc::clone(id)),
            None if self.is_full() => return Err(sink.undecodable(data)),
            _ => {}
        }
        let id = self.replace("text", index, sink)?;
        let text = Block::Text {
            id: Arc::clone(&id),
            citations: Vec::new(),
        };
        self.open.insert(index, text);
        sink.emit(LlmEvent::TextStart {
            id: Arc::clone(&id),
            provider_metadata: None,
        })?;
        Ok(id)
    }

    /// Ends the block of another kind at this place, and returns the identifier of the next one.
    fn replace(
        &mut self,
        kind: &str,
        index: u64,
        sink: &mut Sink<'_>,
    ) -> Result<BlockId, LlmError> {
        if !self.open.contains_key(&index) {
            return Ok(format!("{kind}-{index}").into());
        }
        self.stop(index, sink)?;
        self.replaced += 1;
        Ok(format!("{kind}-{index}-{}", self.replaced).into())
    }

    fn stop(&mut self, index: u64, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let provider_metadata = None;
        match self.open.remove(&index) {
            None => Ok(()),
            Some(Block::Text { id, citations }) => {
                let members =
                    (!citations.is_empty()).then(|| (CITATIONS.to_owned(), citations.into()));
                sink.emit(LlmEvent::TextEnd {
                    id,
                    provider_metadata: within(PLACES, members.into_iter().collect()),
                })
            }
            Some(Block::Reasoning(id)) => sink.emit(LlmEvent::ReasoningEnd {
                id,
                provider_metadata,
            }),
            Some(Block::Call(mut call)) => {
                self.calls += 1;
                call.end(WholeInput::Pieces, None, sink)
            }
        }
    }

    fn is_full(&self) -> bool {
        self.open.len() >= MAX_OPEN
    }
}

/// Returns the source of a citation: a page, a result that a tool gave, or a document of the request.
fn source_of(citation: &Value) -> Option<CitedSource> {
    let title = citation["title"].as_str();
    let location = &citation["location"];
    let address = location["web"]["url"]
        .as_str()
        .or(citation["source"].as_str());
    match (address, title) {
        (Some(address), title) => Some(CitedSource::at(address, title)),
        (None, Some(title)) => Some(CitedSource::Document {
            id: None,
            title: Some(title.to_owned()),
            filename: None,
            media_type: None,
        }),
        (None, None) => None,
    }
}

/// Returns the failure of an exception. The service names them in the form `throttlingException`.
fn exception(name: &str, payload: &Value) -> LlmEvent {
    let lower = name.to_lowercase();
    let kind = match lower.as_str() {
        "modelstreamerrorexception" | "modeltimeoutexception" => "server_error",
        "validationexception" | "resourcenotfoundexception" => "invalid_request",
        "modelnotreadyexception" => "rate_limit_error",
        name if name.starts_with("accessdenied") => "permission",
        _ => name,
    };
    let message = ["message", "Message", "originalMessage"]
        .into_iter()
        .find_map(|name| payload[name].as_str());
    failure::event(&json!({"type": kind, "message": message.unwrap_or(name)}))
}

/// Parses a usage report. Its input excludes the cached part.
fn usage(raw: &Value) -> Option<Usage> {
    let report = report(raw)?;
    let number = |name: &str| count(report.get(name));
    let (read, write) = (
        number("cacheReadInputTokens"),
        number("cacheWriteInputTokens"),
    );
    let input = number("inputTokens");
    let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
    Some(Usage {
        input_tokens: input.map(|input| input.saturating_add(cached)),
        output_tokens: number("outputTokens"),
        non_cached_input_tokens: input,
        cache_read_input_tokens: read,
        cache_write_input_tokens: write,
        reasoning_tokens: None,
        total_tokens: number("totalTokens"),
        cost: None,
        provider_metadata: Some(Box::new(Map::from_iter([(
            NAMESPACE.to_owned(),
            raw.clone(),
        )]))),
    })
}
