//! Reasoning items and the parts of their summaries.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::{BlockId, LlmEvent, ProviderMetadata};
use serde_json::Value;

use super::{ENCRYPTED, PROTOCOL, item_id, metadata};
use crate::framed::Sink;

/// Maximum number of parts. No summary has more.
const MAX_PARTS: usize = 1024;

/// A reasoning item. Each part of its summary is a block.
pub(super) struct Reasoning {
    /// The identifier of the item. Empty if the server sent none.
    id: String,
    /// The beginning of the names of its blocks, which no other item has.
    name: String,
    /// Reasoning that only the provider can read. Often arrives at the end of the item.
    encrypted: Value,
    parts: Vec<Part>,
    is_over: bool,
}

struct Part {
    index: u32,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Complete, but the end of the item may still add metadata.
    Said,
    Ended,
}

impl Reasoning {
    pub(super) fn new(id: &str, name: String, encrypted: Value) -> Self {
        Self {
            id: id.to_owned(),
            name,
            encrypted,
            parts: Vec::new(),
            is_over: false,
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// True after the end of the item.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Starts a part, unless it has started. Ends the complete parts before it.
    pub(super) fn begin(&mut self, index: u32, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        if self.find(index).is_some() {
            return Ok(());
        }
        if self.parts.len() >= MAX_PARTS {
            let problem = format!("Too many parts of one reasoning item in the {PROTOCOL} stream");
            return Err(LlmError::invalid_output(sink.route(), problem));
        }
        self.end_all(Some(State::Said), sink)?;
        self.parts.push(Part {
            index,
            state: State::Open,
        });
        sink.emit(LlmEvent::ReasoningStart {
            id: self.block(index),
            provider_metadata: self.attached(),
        })
    }

    /// Handles a further piece of a part. Some servers repeat pieces behind the end of their part.
    pub(super) fn push(
        &mut self,
        index: u32,
        text: String,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        self.begin(index, sink)?;
        let part = self.find(index);
        if part.is_some_and(|part| part.state == State::Ended) {
            return Ok(());
        }
        sink.emit(LlmEvent::ReasoningDelta {
            id: self.block(index),
            text,
            provider_metadata: None,
        })
    }

    /// Handles the end of a part. Without a store, the part waits for the end of the item, which
    /// may add encrypted reasoning.
    pub(super) fn end_part(
        &mut self,
        index: u32,
        stores: bool,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        match self.find(index) {
            Some(part) if part.state == State::Open => part.state = State::Said,
            _ => return Ok(()),
        }
        if stores {
            self.end_all(Some(State::Said), sink)?;
        }
        Ok(())
    }

    /// Handles the end of the item.
    pub(super) fn complete(
        &mut self,
        encrypted: Value,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        if !encrypted.is_null() {
            self.encrypted = encrypted;
        }
        if self.parts.is_empty() {
            self.begin(0, sink)?;
        }
        self.is_over = true;
        self.end_all(None, sink)
    }

    /// Ends the parts in this state, or all open parts.
    fn end_all(&mut self, state: Option<State>, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let attached = self.attached();
        for at in 0..self.parts.len() {
            let part = &mut self.parts[at];
            let is_meant = state.is_none_or(|state| part.state == state);
            if !is_meant || part.state == State::Ended {
                continue;
            }
            part.state = State::Ended;
            let index = part.index;
            sink.emit(LlmEvent::ReasoningEnd {
                id: self.block(index),
                provider_metadata: attached.clone(),
            })?;
        }
        Ok(())
    }

    fn find(&mut self, index: u32) -> Option<&mut Part> {
        self.parts.iter_mut().rev().find(|part| part.index == index)
    }

    fn block(&self, index: u32) -> BlockId {
        format!("{}:{index}", self.name).into()
    }

    fn attached(&self) -> Option<ProviderMetadata> {
        let encrypted = (ENCRYPTED, self.encrypted.clone());
        metadata(item_id(&self.id).into_iter().chain([encrypted]))
    }
}
