//! The blocks of a reply, assembled from deltas.

use std::sync::Arc;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::{BlockId, LlmEvent};
use opencode_llm::canonical::request::{JsonMap, ToolResultValue};
use serde_json::{Map, Value};

use super::frame::{Delta, Start};
use super::{PROTOCOL, citation, metadata};
use crate::framed::Sink;
use crate::open_call::{OpenCall, WholeInput};
use crate::tool_input;

/// Maximum number of blocks. No answer has more.
const MAX_BLOCKS: usize = 16_384;

/// The blocks of one step, by index.
#[derive(Default)]
pub(super) struct Blocks {
    blocks: Vec<(i64, Block)>,
    /// Provider-executed calls without a result.
    hosted: Vec<HostedCall>,
    calls: usize,
    /// Number of bytes that are held until their blocks are complete.
    held: usize,
}

enum Block {
    Text(Text),
    Thinking(Thinking),
    Tool(Tool),
    /// A complete block or a block of an unknown type.
    Silent,
}

struct Text {
    id: BlockId,
    is_begun: bool,
    citations: Vec<Value>,
}

struct Thinking {
    id: BlockId,
    is_begun: bool,
    signature: Option<String>,
}

struct Tool {
    written: OpenCall,
    /// The whole input, which some servers send at the start.
    given: Value,
    is_hosted: bool,
}

struct HostedCall {
    /// The identifier that the server gave.
    given: String,
    id: BlockId,
    name: BlockId,
}

impl Blocks {
    /// Begins a block. Without an index, it follows the last one.
    pub(super) fn start(
        &mut self,
        index: Option<i64>,
        mut start: Start,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let index = index.unwrap_or_else(|| {
            let last = self.blocks.iter().map(|(at, _)| *at).max();
            last.map_or(0, |last| last.saturating_add(1))
        });
        // A block that begins at the place of another one ends that one.
        let is_reused = self.find(index).is_some();
        self.stop(Some(index), sink)?;
        if self.blocks.len() >= MAX_BLOCKS {
            return Err(Self::refused(index, sink));
        }
        // Some servers restart the indices at zero. A reused index gets a block name that is unique in the step.
        let name = if is_reused {
            format!("{index}-{}", self.blocks.len())
        } else {
            index.to_string()
        };
        let kind = start.take_kind();
        let block = match kind.as_str() {
            "text" => {
                let mut text = Text {
                    id: format!("text-{name}").into(),
                    is_begun: false,
                    citations: Vec::new(),
                };
                text.push(start.text.take(), sink)?;
                Block::Text(text)
            }
            "thinking" => {
                let mut thinking = Thinking {
                    id: format!("reasoning-{name}").into(),
                    is_begun: false,
                    signature: start.signature.take(),
                };
                thinking.push(start.thinking.take(), sink)?;
                Block::Thinking(thinking)
            }
            "redacted_thinking" => {
                redacted(&name, start.data.take(), sink)?;
                Block::Silent
            }
            "tool_use" | "server_tool_use" => {
                Block::Tool(self.call(kind == "server_tool_use", start, sink)?)
            }
            _ => {
                self.result(kind, start, sink)?;
                Block::Silent
            }
        };
        self.blocks.push((index, block));
        Ok(())
    }

    /// Handles a further piece of a block. Without an index, it belongs to the last open block of its kind.
    pub(super) fn delta(
        &mut self,
        index: Option<i64>,
        mut delta: Delta,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let kind = delta.take_kind();
        let index = index.or_else(|| self.last_open(|block| block.takes(&kind)));
        let index = index.unwrap_or_default();
        match (kind.as_str(), self.find(index)) {
            ("text_delta", Some(Block::Text(text))) => text.push(delta.text.take(), sink),
            ("thinking_delta", Some(Block::Thinking(thinking))) => {
                thinking.push(delta.thinking.take(), sink)
            }
            ("signature_delta", Some(Block::Thinking(thinking))) => {
                thinking.signature = delta.signature.take().or(thinking.signature.take());
                Ok(())
            }
            ("citations_delta", Some(Block::Text(text))) if delta.citation.is_object() => {
                let bytes = delta.citation.to_string().len();
                sink.cite(citation::source(&delta.citation))?;
                text.citations.push(delta.citation);
                self.hold(bytes, sink)
            }
            ("input_json_delta", Some(Block::Tool(tool))) => {
                let text = delta.partial_json.0;
                let bytes = text.len();
                tool.written.push(text, sink)?;
                self.hold(bytes, sink)
            }
            // Some proxies leave the start out.
            ("text_delta" | "thinking_delta", None) => {
                let start = Start::of_kind(kind.trim_end_matches("_delta"));
                self.start(Some(index), start, sink)?;
                delta.set_kind(kind);
                self.delta(Some(index), delta, sink)
            }
            // The start of the call is missing, so nothing tells its name.
            ("input_json_delta", None) => {
                let tool = self.call(false, Start::default(), sink)?;
                self.blocks.push((index, Block::Tool(tool)));
                delta.set_kind(kind);
                self.delta(Some(index), delta, sink)
            }
            _ => Ok(()),
        }
    }

    /// Ends a block. Without an index, it ends the last open one.
    pub(super) fn stop(&mut self, index: Option<i64>, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let index = index.or_else(|| self.last_open(|block| !matches!(block, Block::Silent)));
        match index.and_then(|index| self.find(index)) {
            None => Ok(()),
            Some(block) => std::mem::replace(block, Block::Silent).complete(sink),
        }
    }

    /// Ends the open blocks, in the order of their starts.
    pub(super) fn complete(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        for (_, block) in std::mem::take(&mut self.blocks) {
            block.complete(sink)?;
        }
        Ok(())
    }

    /// True if a block has no end yet.
    pub(super) fn has_open(&self) -> bool {
        self.last_open(|block| !matches!(block, Block::Silent))
            .is_some()
    }

    fn refused(index: i64, sink: &Sink<'_>) -> LlmError {
        let problem = format!("Invalid content block {index} in the {PROTOCOL} stream");
        LlmError::invalid_output(sink.route(), problem)
    }

    fn find(&mut self, index: i64) -> Option<&mut Block> {
        // Deltas belong to one of the last blocks.
        let found = self.blocks.iter_mut().rev().find(|(at, _)| *at == index);
        found.map(|(_, block)| block)
    }

    fn last_open(&self, is_meant: impl Fn(&Block) -> bool) -> Option<i64> {
        let mut blocks = self.blocks.iter().rev();
        blocks.find(|(_, block)| is_meant(block)).map(|(at, _)| *at)
    }

    fn hold(&mut self, bytes: usize, sink: &Sink<'_>) -> Result<(), LlmError> {
        self.held += bytes;
        tool_input::check_size(self.calls, self.held, sink)
    }

    fn call(
        &mut self,
        is_hosted: bool,
        mut start: Start,
        sink: &mut Sink<'_>,
    ) -> Result<Tool, LlmError> {
        self.calls += 1;
        tool_input::check_size(self.calls, self.held, sink)?;
        let given = start.id.take().unwrap_or_default();
        let mut written = OpenCall::new(Some(&given), sink);
        written.announce(&start.name.take().unwrap_or_default(), None, sink)?;
        if let (true, Some(name)) = (is_hosted, written.name()) {
            self.hosted.push(HostedCall {
                given,
                id: Arc::clone(written.id()),
                name: Arc::clone(name),
            });
        }
        Ok(Tool {
            written,
            given: start.input,
            is_hosted,
        })
    }

    /// Handles a result. The result of a provider-executed call arrives whole. Blocks of other types are ignored.
    fn result(
        &mut self,
        kind: String,
        mut start: Start,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let of = start.tool_use_id.take().unwrap_or_default();
        let call = self.hosted.iter().position(|call| call.given == of);
        let (Some(call), true) = (call, kind.ends_with("_tool_result")) else {
            return Ok(());
        };
        let HostedCall { id, name, .. } = self.hosted.remove(call);
        let content_type = start.content.get("type").and_then(Value::as_str);
        let is_error = content_type.is_some_and(|kind| kind.ends_with("_tool_result_error"));
        let result = if is_error {
            ToolResultValue::Error(start.content)
        } else {
            ToolResultValue::Json(start.content)
        };
        sink.emit(LlmEvent::ToolResult {
            id,
            name,
            result,
            output: None,
            provider_executed: true,
            provider_metadata: metadata(one("blockType", kind.into())),
        })
    }
}

impl Block {
    /// True if pieces of this type belong to such a block.
    fn takes(&self, kind: &str) -> bool {
        match self {
            Self::Text(_) => matches!(kind, "text_delta" | "citations_delta"),
            Self::Thinking(_) => matches!(kind, "thinking_delta" | "signature_delta"),
            Self::Tool(_) => kind == "input_json_delta",
            Self::Silent => false,
        }
    }

    fn complete(self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        match self {
            Self::Text(text) => text.complete(sink),
            Self::Thinking(thinking) => thinking.complete(sink),
            Self::Tool(tool) => tool.complete(sink),
            Self::Silent => Ok(()),
        }
    }
}

impl Text {
    /// Handles text. The first text starts the block, so an empty block emits no events.
    fn push(&mut self, text: Option<String>, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let Some(text) = text else { return Ok(()) };
        if !self.is_begun {
            self.is_begun = true;
            sink.emit(LlmEvent::TextStart {
                id: Arc::clone(&self.id),
                provider_metadata: None,
            })?;
        }
        sink.emit(LlmEvent::TextDelta {
            id: Arc::clone(&self.id),
            text,
            provider_metadata: None,
        })
    }

    fn complete(self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        if !self.is_begun {
            return Ok(());
        }
        let citations = Some(self.citations).filter(|citations| !citations.is_empty());
        sink.emit(LlmEvent::TextEnd {
            id: self.id,
            provider_metadata: citations.and_then(|it| metadata(one("citations", it.into()))),
        })
    }
}

impl Thinking {
    fn push(&mut self, text: Option<String>, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let Some(text) = text else { return Ok(()) };
        self.begin(sink)?;
        sink.emit(LlmEvent::ReasoningDelta {
            id: Arc::clone(&self.id),
            text,
            provider_metadata: None,
        })
    }

    fn begin(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        if self.is_begun {
            return Ok(());
        }
        self.is_begun = true;
        sink.emit(LlmEvent::ReasoningStart {
            id: Arc::clone(&self.id),
            provider_metadata: None,
        })
    }

    /// Ends the block. The server expects a signature back even if the reasoning has no visible text.
    fn complete(mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        if self.signature.is_some() {
            self.begin(sink)?;
        }
        if !self.is_begun {
            return Ok(());
        }
        let signature = self
            .signature
            .map(|signature| one("signature", signature.into()));
        sink.emit(LlmEvent::ReasoningEnd {
            id: self.id,
            provider_metadata: signature.and_then(metadata),
        })
    }
}

impl Tool {
    fn complete(mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let is_given = match &self.given {
            Value::Null => false,
            Value::Object(members) => !members.is_empty(),
            Value::String(text) => !text.is_empty(),
            _ => true,
        };
        let input = match self.written.input().is_empty() && is_given {
            true => WholeInput::Value(self.given),
            false => WholeInput::Pieces,
        };
        match self.is_hosted {
            true => self.written.end_hosted(input, None, sink),
            false => self.written.end(input, None, sink),
        }
    }
}

/// Emits a block of reasoning that only the provider can read.
fn redacted(name: &str, data: Option<String>, sink: &mut Sink<'_>) -> Result<(), LlmError> {
    let Some(data) = data else { return Ok(()) };
    let id: BlockId = format!("reasoning-{name}").into();
    sink.emit(LlmEvent::ReasoningStart {
        id: Arc::clone(&id),
        provider_metadata: None,
    })?;
    sink.emit(LlmEvent::ReasoningEnd {
        id,
        provider_metadata: metadata(one("redactedData", data.into())),
    })
}

fn one(name: &str, value: Value) -> JsonMap {
    Map::from_iter([(name.to_owned(), value)])
}
