//! Calls of local tools, assembled from deltas.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::ProviderMetadata;
use serde_json::Value;

use super::frame::text;
use super::{item_id, metadata};
use crate::framed::Sink;
use crate::open_call::{OpenCall, WholeInput};
use crate::tool_input;

/// The calls of one step.
#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    held: usize,
}

struct Call {
    /// The position of its item in the answer. Some servers send none.
    place: Option<i64>,
    item: String,
    /// The identifier of the call, as the server sent it.
    given: String,
    written: OpenCall,
    /// The whole input, which follows its pieces.
    whole: Value,
    is_done: bool,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Starts the call of an item, unless it has started.
    pub(super) fn start(
        &mut self,
        place: Option<i64>,
        item: &Value,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let own = own_id(item);
        let known = match own {
            "" => self.find_at(place),
            own => self.find_item(place, own),
        };
        match known {
            Some(at) if !self.calls[at].is_done => self.calls[at].announce(item, sink),
            _ => self.open(place, item, sink).map(|_| ()),
        }
    }

    /// Handles a further piece of the input. One that precedes its call starts it.
    pub(super) fn push(
        &mut self,
        place: Option<i64>,
        item: &str,
        delta: String,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        self.held += delta.len();
        tool_input::check_size(self.calls.len(), self.held, sink)?;
        let at = self.at(place, item, sink)?;
        let call = &mut self.calls[at];
        match call.is_done {
            true => Ok(()),
            false => call.written.push(delta, sink),
        }
    }

    /// Stores the whole input, which precedes the end of its item.
    pub(super) fn complete_input(
        &mut self,
        place: Option<i64>,
        item: &str,
        whole: Value,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        self.held += length(&whole);
        tool_input::check_size(self.calls.len(), self.held, sink)?;
        let at = self.at(place, item, sink)?;
        self.calls[at].whole = whole;
        Ok(())
    }

    /// Handles the end of a call, which carries the whole input.
    pub(super) fn complete(
        &mut self,
        place: Option<i64>,
        mut item: Value,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let whole = item["arguments"].take();
        let at = match self.find(place, own_id(&item)) {
            Some(at) if self.calls[at].is_repeated_by(&item, &whole) => return Ok(()),
            Some(at) if !self.calls[at].is_done => at,
            _ => self.open(place, &item, sink)?,
        };
        self.calls[at].announce(&item, sink)?;
        self.calls[at].complete(whole, sink)
    }

    /// Completes every call.
    pub(super) fn complete_all(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        for call in self.calls.iter_mut().filter(|call| !call.is_done) {
            call.complete(Value::Null, sink)?;
        }
        Ok(())
    }

    /// Returns the call of an item. Some servers change the identifier of an item; then its position identifies it.
    fn find(&self, place: Option<i64>, item: &str) -> Option<usize> {
        let found = self.find_item(place, item);
        found.or_else(|| self.find_at(place))
    }

    /// Returns the last call with this item identifier that may be at this position.
    fn find_item(&self, place: Option<i64>, item: &str) -> Option<usize> {
        self.calls.iter().rposition(|call| {
            let is_there = call.place == place || call.place.is_none() || place.is_none();
            call.item == item && is_there
        })
    }

    fn find_at(&self, place: Option<i64>) -> Option<usize> {
        place?;
        self.calls.iter().rposition(|call| call.place == place)
    }

    fn at(
        &mut self,
        place: Option<i64>,
        item: &str,
        sink: &mut Sink<'_>,
    ) -> Result<usize, LlmError> {
        match self.find(place, item) {
            Some(at) => Ok(at),
            None => self.open(place, &serde_json::json!({"id": item}), sink),
        }
    }

    fn open(
        &mut self,
        place: Option<i64>,
        item: &Value,
        sink: &mut Sink<'_>,
    ) -> Result<usize, LlmError> {
        let own = own_id(item);
        let given = text(item, "call_id").unwrap_or(own);
        let mut call = Call {
            place,
            item: own.to_owned(),
            given: given.to_owned(),
            written: OpenCall::new(Some(given), sink),
            whole: Value::Null,
            is_done: false,
        };
        call.announce(item, sink)?;
        self.calls.push(call);
        tool_input::check_size(self.calls.len(), self.held, sink)?;
        Ok(self.calls.len() - 1)
    }
}

impl Call {
    /// Announces the call once its name is known.
    fn announce(&mut self, item: &Value, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        match (text(item, "name"), self.written.name()) {
            (None, _) => Ok(()),
            (Some(name), None) => self.written.announce(name, self.metadata(), sink),
            (Some(name), Some(_)) => {
                self.written.rename(name);
                Ok(())
            }
        }
    }

    /// True if an item repeats this complete call. Another call differs in something.
    fn is_repeated_by(&self, item: &Value, whole: &Value) -> bool {
        let is_named = |name: &str| self.written.name().is_some_and(|known| **known == *name);
        self.is_done
            && text(item, "name").is_none_or(is_named)
            && text(item, "call_id").is_none_or(|id| id == self.given)
            && *whole == self.whole
    }

    fn metadata(&self) -> Option<ProviderMetadata> {
        metadata(item_id(&self.item))
    }

    /// Completes the call. The whole input takes precedence over its pieces.
    fn complete(&mut self, whole: Value, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        self.is_done = true;
        if !is_missing(&whole) {
            self.whole = whole;
        }
        let input = match &self.whole {
            whole if is_missing(whole) => WholeInput::Pieces,
            Value::String(text) => WholeInput::Text(text.clone()),
            value => WholeInput::Value(value.clone()),
        };
        let attached = self.metadata();
        self.written.end(input, attached, sink)
    }
}

/// True if a whole input is not given. The pieces are then the input.
fn is_missing(whole: &Value) -> bool {
    whole.is_null() || whole.as_str().is_some_and(str::is_empty)
}

/// Returns the length of a whole input, in bytes.
fn length(whole: &Value) -> usize {
    match whole {
        Value::Null => 0,
        Value::String(text) => text.len(),
        value => value.to_string().len(),
    }
}

/// Returns the identifier of an item.
fn own_id(item: &Value) -> &str {
    text(item, "id")
        .or(text(item, "call_id"))
        .unwrap_or_default()
}
