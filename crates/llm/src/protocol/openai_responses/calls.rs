//! Calls of local tools, assembled from deltas.

use std::sync::Arc;

use serde_json::Value;

use super::frame::text;
use super::{ITEM_ID, PROTOCOL, metadata};
use crate::canonical::error::LlmError;
use crate::canonical::event::{BlockId, LlmEvent};
use crate::protocol::framed::Sink;
use crate::protocol::tool_input;

/// The calls of one step.
#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    held: usize,
}

struct Call {
    item: String,
    id: BlockId,
    name: BlockId,
    input: String,
    is_done: bool,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Starts the call of an item, unless it has started.
    pub(super) fn start(&mut self, item: &Value, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let own = text(item, "id")
            .or(text(item, "call_id"))
            .unwrap_or_default();
        if self.find(own).is_some() {
            return Ok(());
        }
        let id = text(item, "call_id").unwrap_or(own);
        let (false, Some(name)) = (id.is_empty(), text(item, "name")) else {
            let problem = format!("{PROTOCOL} tool call is missing id or name");
            return Err(LlmError::invalid_output(sink.route(), problem));
        };
        let (id, name): (BlockId, BlockId) = (id.into(), name.into());
        sink.emit(LlmEvent::ToolInputStart {
            id: Arc::clone(&id),
            name: Arc::clone(&name),
            provider_metadata: metadata([(ITEM_ID, own.into())]),
        })?;
        self.calls.push(Call {
            item: own.to_owned(),
            id,
            name,
            input: String::new(),
            is_done: false,
        });
        tool_input::check_size(self.calls.len(), self.held, sink)
    }

    /// Handles a further piece of the input.
    pub(super) fn push(
        &mut self,
        item: &str,
        delta: String,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        self.held += delta.len();
        tool_input::check_size(self.calls.len(), self.held, sink)?;
        match self.find(item) {
            Some(call) => call.push(delta, sink),
            None => {
                let problem = format!("{PROTOCOL} tool input belongs to no tool call");
                Err(LlmError::invalid_output(sink.route(), problem))
            }
        }
    }

    /// Handles the end of a call, which carries the whole input.
    pub(super) fn complete(&mut self, item: &Value, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        self.start(item, sink)?;
        let own = text(item, "id")
            .or(text(item, "call_id"))
            .unwrap_or_default();
        match self.find(own) {
            Some(call) => call.complete(text(item, "arguments"), sink),
            None => Ok(()),
        }
    }

    /// Completes every call.
    pub(super) fn complete_all(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        for call in &mut self.calls {
            call.complete(None, sink)?;
        }
        Ok(())
    }

    fn find(&mut self, item: &str) -> Option<&mut Call> {
        self.calls.iter_mut().rev().find(|call| call.item == item)
    }
}

impl Call {
    fn push(&mut self, delta: String, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let delta = sink.input(&self.id, delta);
        self.input.push_str(&delta);
        sink.emit(LlmEvent::ToolInputDelta {
            id: Arc::clone(&self.id),
            name: Arc::clone(&self.name),
            text: delta,
        })
    }

    /// Completes the call. The whole input takes precedence over its pieces.
    fn complete(&mut self, whole: Option<&str>, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        if self.is_done {
            return Ok(());
        }
        self.is_done = true;
        if let (true, Some(whole)) = (self.input.is_empty(), whole) {
            self.push(whole.to_owned(), sink)?;
        }
        let text = std::mem::take(&mut self.input);
        let input = match tool_input::parse(whole.unwrap_or(&text), &self.name, PROTOCOL, sink) {
            Ok(input) => input,
            Err(error) => {
                sink.hold(error);
                return Ok(());
            }
        };
        let attached = metadata([(ITEM_ID, self.item.as_str().into())]);
        sink.emit(LlmEvent::ToolInputEnd {
            id: Arc::clone(&self.id),
            name: Arc::clone(&self.name),
            provider_metadata: attached.clone(),
        })?;
        sink.emit(LlmEvent::ToolCall {
            id: Arc::clone(&self.id),
            name: Arc::clone(&self.name),
            input,
            provider_executed: false,
            provider_metadata: attached,
        })
    }
}
