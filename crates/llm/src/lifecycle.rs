//! The grammar of the event stream, enforced in one place for every adapter.
//!
//! ```text
//! step-start ( block | tool-call | tool-result | tool-error )* step-finish finish
//!                                                            | provider-error
//! ```
//!
//! A block is `start delta* end`; several may be open at once. The consumer writes durable records from these events,
//! so a start that comes twice, a delta for a block that is not open or a tool that changes its name must fail the step
//! visibly instead of leaving half a record behind.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::error::LlmError;
use crate::event::{BlockId, FinishReason, LlmEvent, ProviderMetadata};
use crate::usage::Usage;

/// More calls in one step than any model makes; a stream that opens more is broken or hostile.
pub(crate) const MAX_TOOL_CALLS: usize = 4096;

/// Checks, completes and forwards the events of one step.
///
/// It adds what adapters may leave out: the opening `step-start` and the ends of blocks that are still open when the
/// step finishes. It drops empty deltas, keeps their metadata, and gives each block's end the metadata of the whole
/// block. After a terminal event or a failure it forwards nothing.
#[derive(Debug)]
pub struct Lifecycle {
    route: Arc<str>,
    phase: Phase,
    text: OpenBlocks,
    reasoning: OpenBlocks,
    tools: HashMap<BlockId, Tool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Fresh,
    Running,
    StepFinished,
    Over,
}

#[derive(Debug)]
struct Tool {
    name: BlockId,
    phase: ToolPhase,
    metadata: Option<ProviderMetadata>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolPhase {
    Input,
    InputEnded,
    Called,
    Settled,
}

impl Lifecycle {
    /// The lifecycle of one step. `route` is the name failures use: provider and protocol.
    #[must_use]
    pub fn new(route: impl Into<Arc<str>>) -> Self {
        Self {
            route: route.into(),
            phase: Phase::Fresh,
            text: OpenBlocks::new("text"),
            reasoning: OpenBlocks::new("reasoning"),
            tools: HashMap::new(),
        }
    }

    /// Whether a terminal event was forwarded or a failure reported.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// The name failures use.
    #[must_use]
    pub fn route(&self) -> &Arc<str> {
        &self.route
    }

    /// Stops forwarding because the adapter is about to report a failure of its own.
    pub fn fail(&mut self) {
        self.phase = Phase::Over;
    }

    /// Forwards an event with whatever has to surround it.
    ///
    /// # Errors
    ///
    /// `InvalidProviderOutput` when the event breaks the grammar. The step is over then.
    pub fn accept(&mut self, event: LlmEvent, out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        if self.is_over() {
            return Ok(());
        }
        let outcome = self.forward(event, out);
        outcome.map_err(|problem| {
            self.fail();
            LlmError::invalid_output(
                &self.route,
                format!("Invalid event stream from {}: {problem}", self.route),
            )
        })
    }

    /// Ends the step: what is open is closed, then `step-finish` and `finish` follow.
    ///
    /// # Errors
    ///
    /// As [`Lifecycle::accept`].
    pub fn finish(
        &mut self,
        reason: FinishReason,
        usage: Option<Usage>,
        provider_metadata: Option<ProviderMetadata>,
        out: &mut Vec<LlmEvent>,
    ) -> Result<(), LlmError> {
        let step = LlmEvent::StepFinish {
            index: 0,
            reason,
            usage: usage.clone(),
            provider_metadata: provider_metadata.clone(),
        };
        self.accept(step, out)?;
        let reply = LlmEvent::Finish {
            reason,
            usage,
            provider_metadata,
        };
        self.accept(reply, out)
    }

    /// Says that the provider has nothing more to send.
    ///
    /// # Errors
    ///
    /// `InvalidProviderOutput` unless the stream had come to its terminal event: a reply that just stops must not look
    /// like a finished one.
    pub fn end(&mut self) -> Result<(), LlmError> {
        if self.is_over() {
            return Ok(());
        }
        self.fail();
        Err(LlmError::invalid_output(
            &self.route,
            format!("The {} stream ended before a finish event", self.route),
        ))
    }

    fn forward(&mut self, event: LlmEvent, out: &mut Vec<LlmEvent>) -> Result<(), String> {
        match (self.phase, &event) {
            (Phase::Fresh, LlmEvent::StepStart { .. }) => {}
            (Phase::Fresh, _) => out.push(LlmEvent::StepStart { index: 0 }),
            (Phase::Running, LlmEvent::StepStart { .. }) => {
                return Err("the step started twice".to_owned());
            }
            (Phase::Running, _) => {}
            (_, LlmEvent::Finish { .. } | LlmEvent::ProviderError { .. }) => {}
            (_, _) => return Err("an event came after the step had finished".to_owned()),
        }
        if self.phase == Phase::Fresh {
            self.phase = Phase::Running;
        }
        if let Some(event) = self.apply(event, out)? {
            out.push(event);
        }
        Ok(())
    }

    /// Updates the books. `None` means that nobody needs to see the event.
    fn apply(
        &mut self,
        mut event: LlmEvent,
        out: &mut Vec<LlmEvent>,
    ) -> Result<Option<LlmEvent>, String> {
        let keep = match &mut event {
            LlmEvent::StepStart { .. } => true,
            LlmEvent::TextStart {
                id,
                provider_metadata,
            } => {
                self.text.start(id, provider_metadata.as_ref())?;
                true
            }
            LlmEvent::TextDelta {
                id,
                text,
                provider_metadata,
            } => {
                self.text.delta(id, provider_metadata.as_ref())?;
                !text.is_empty()
            }
            LlmEvent::TextEnd {
                id,
                provider_metadata,
            } => {
                *provider_metadata = self.text.end(id, provider_metadata.take())?;
                true
            }
            LlmEvent::ReasoningStart {
                id,
                provider_metadata,
            } => {
                self.reasoning.start(id, provider_metadata.as_ref())?;
                true
            }
            LlmEvent::ReasoningDelta {
                id,
                text,
                provider_metadata,
            } => {
                self.reasoning.delta(id, provider_metadata.as_ref())?;
                !text.is_empty()
            }
            LlmEvent::ReasoningEnd {
                id,
                provider_metadata,
            } => {
                *provider_metadata = self.reasoning.end(id, provider_metadata.take())?;
                true
            }
            LlmEvent::ToolInputStart {
                id,
                name,
                provider_metadata,
            } => {
                self.open_tool(id, name, ToolPhase::Input, provider_metadata.clone())?;
                true
            }
            LlmEvent::ToolInputDelta { id, name, text } => {
                self.tool(id, name, ToolPhase::Input)?;
                !text.is_empty()
            }
            LlmEvent::ToolInputEnd {
                id,
                name,
                provider_metadata,
            } => {
                let tool = self.tool(id, name, ToolPhase::Input)?;
                tool.phase = ToolPhase::InputEnded;
                *provider_metadata = tool.gather(provider_metadata.take());
                true
            }
            LlmEvent::ToolCall {
                id,
                name,
                provider_metadata,
                ..
            } => {
                *provider_metadata = self.call(id, name, provider_metadata.take())?;
                true
            }
            LlmEvent::ToolResult { id, name, .. } | LlmEvent::ToolError { id, name, .. } => {
                self.tool(id, name, ToolPhase::Called)?.phase = ToolPhase::Settled;
                true
            }
            LlmEvent::StepFinish { .. } => {
                self.close_blocks(out);
                self.phase = Phase::StepFinished;
                true
            }
            LlmEvent::Finish { .. } if self.phase != Phase::StepFinished => {
                return Err("the reply finished before its step".to_owned());
            }
            LlmEvent::Finish { .. } | LlmEvent::ProviderError { .. } => {
                self.phase = Phase::Over;
                true
            }
        };
        Ok(keep.then_some(event))
    }

    /// Reasoning is closed before text, so that a consumer that stores blocks in order of their ends keeps the thought
    /// in front of the answer.
    fn close_blocks(&mut self, out: &mut Vec<LlmEvent>) {
        for OpenBlock { id, metadata } in self.reasoning.open.drain(..) {
            out.push(LlmEvent::ReasoningEnd {
                id,
                provider_metadata: metadata,
            });
        }
        for OpenBlock { id, metadata } in self.text.open.drain(..) {
            out.push(LlmEvent::TextEnd {
                id,
                provider_metadata: metadata,
            });
        }
    }

    fn open_tool(
        &mut self,
        id: &BlockId,
        name: &BlockId,
        phase: ToolPhase,
        metadata: Option<ProviderMetadata>,
    ) -> Result<(), String> {
        if self.tools.len() >= MAX_TOOL_CALLS {
            return Err(format!("more than {MAX_TOOL_CALLS} tool calls"));
        }
        let tool = Tool {
            name: Arc::clone(name),
            phase,
            metadata,
        };
        match self.tools.insert(Arc::clone(id), tool) {
            None => Ok(()),
            Some(_) => Err(format!("tool call {} started twice", shown(id))),
        }
    }

    /// A call whose input was streamed continues it; one that comes in a single piece starts here.
    fn call(
        &mut self,
        id: &BlockId,
        name: &BlockId,
        metadata: Option<ProviderMetadata>,
    ) -> Result<Option<ProviderMetadata>, String> {
        if !self.tools.contains_key(id) {
            self.open_tool(id, name, ToolPhase::Called, None)?;
            return Ok(metadata);
        }
        let tool = self.tool(id, name, ToolPhase::InputEnded)?;
        tool.phase = ToolPhase::Called;
        Ok(tool.gather(metadata))
    }

    fn tool(
        &mut self,
        id: &BlockId,
        name: &BlockId,
        phase: ToolPhase,
    ) -> Result<&mut Tool, String> {
        let Some(tool) = self.tools.get_mut(id) else {
            return Err(format!("tool call {} was never started", shown(id)));
        };
        if tool.name != *name {
            return Err(format!(
                "tool call {} changed its name from {} to {}",
                shown(id),
                shown(&tool.name),
                shown(name)
            ));
        }
        if tool.phase != phase {
            return Err(format!("tool call {} is out of order", shown(id)));
        }
        Ok(tool)
    }
}

impl Tool {
    fn gather(&mut self, more: Option<ProviderMetadata>) -> Option<ProviderMetadata> {
        merge_metadata(&mut self.metadata, more);
        self.metadata.clone()
    }
}

/// The open blocks of one kind, in order of their starts. There are rarely more than two.
#[derive(Debug)]
struct OpenBlocks {
    kind: &'static str,
    open: Vec<OpenBlock>,
}

#[derive(Debug)]
struct OpenBlock {
    id: BlockId,
    metadata: Option<ProviderMetadata>,
}

/// Blocks are looked up one by one, which is quick for the few that a provider interleaves.
const MAX_OPEN_BLOCKS: usize = 256;

impl OpenBlocks {
    const fn new(kind: &'static str) -> Self {
        Self {
            kind,
            open: Vec::new(),
        }
    }

    fn start(&mut self, id: &BlockId, metadata: Option<&ProviderMetadata>) -> Result<(), String> {
        if self.open.iter().any(|block| block.id == *id) {
            return Err(format!("{} block {} started twice", self.kind, shown(id)));
        }
        if self.open.len() >= MAX_OPEN_BLOCKS {
            return Err(format!(
                "more than {MAX_OPEN_BLOCKS} open {} blocks",
                self.kind
            ));
        }
        self.open.push(OpenBlock {
            id: Arc::clone(id),
            metadata: metadata.cloned(),
        });
        Ok(())
    }

    fn delta(&mut self, id: &BlockId, metadata: Option<&ProviderMetadata>) -> Result<(), String> {
        let at = self.position(id)?;
        if let Some(more) = metadata {
            merge_metadata(&mut self.open[at].metadata, Some(more.clone()));
        }
        Ok(())
    }

    fn end(
        &mut self,
        id: &BlockId,
        metadata: Option<ProviderMetadata>,
    ) -> Result<Option<ProviderMetadata>, String> {
        let at = self.position(id)?;
        let mut block = self.open.remove(at);
        merge_metadata(&mut block.metadata, metadata);
        Ok(block.metadata)
    }

    fn position(&self, id: &BlockId) -> Result<usize, String> {
        self.open
            .iter()
            .position(|block| block.id == *id)
            .ok_or_else(|| format!("{} block {} is not open", self.kind, shown(id)))
    }
}

/// Adds metadata key by key within each namespace: an identifier from a block's start and a signature from its end must
/// both survive.
fn merge_metadata(into: &mut Option<ProviderMetadata>, more: Option<ProviderMetadata>) {
    let Some(more) = more else { return };
    let Some(into) = into else {
        *into = Some(more);
        return;
    };
    for (namespace, members) in more {
        match (into.get_mut(&namespace), members) {
            (Some(Value::Object(known)), Value::Object(new)) => {
                for (key, value) in new {
                    known.insert(key, value);
                }
            }
            (_, members) => {
                into.insert(namespace, members);
            }
        }
    }
}

/// An identifier in quotes, cut to a length a message can bear.
fn shown(id: &str) -> String {
    let short: String = id.chars().take(64).collect();
    format!("{short:?}")
}
