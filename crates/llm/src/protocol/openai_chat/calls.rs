//! Tool calls, assembled from deltas.

use std::sync::Arc;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::chunk::ToolDelta;
use crate::canonical::error::LlmError;
use crate::canonical::event::{BlockId, LlmEvent};
use crate::protocol::framed::Sink;
use crate::protocol::tool_input;
use crate::sources::Sources;

/// The calls of one step, in order of their first deltas.
#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    input_bytes: usize,
}

struct Call {
    index: i64,
    id: BlockId,
    /// True if the server sent no identifier. A later identifier then does not start another call.
    id_is_ours: bool,
    /// Unknown until the server sends it. No event is emitted before.
    name: Option<BlockId>,
    input: String,
    done: bool,
}

/// A delta that treats empty strings as absent.
struct Fragment {
    index: Option<i64>,
    id: Option<String>,
    name: Option<String>,
    input: String,
}

impl From<ToolDelta> for Fragment {
    fn from(mut delta: ToolDelta) -> Self {
        let mut function = delta.take_function();
        Self {
            index: delta.index.0,
            id: delta.id.take(),
            name: function.name.take(),
            input: function.arguments.0,
        }
    }
}

impl Fragment {
    /// True for an object without a piece of a call, which some servers send for no call.
    const fn is_empty(&self) -> bool {
        self.id.is_none() && self.name.is_none() && self.input.is_empty()
    }
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Handles one delta.
    pub(super) fn push(
        &mut self,
        delta: ToolDelta,
        sources: &Sources,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let mut fragment = Fragment::from(delta);
        if fragment.is_empty() {
            return Ok(());
        }
        let at = match self.find(&fragment) {
            Some(at) if self.calls[at].is_continued_by(&fragment) => at,
            Some(at) => self.open(self.calls[at].index, &fragment, sources),
            None => {
                let index = fragment.index.unwrap_or_else(|| self.next_index());
                self.open(index, &fragment, sources)
            }
        };
        self.input_bytes += fragment.input.len();
        tool_input::check_size(self.calls.len(), self.input_bytes, sink)?;
        fragment.input = sink.input(&self.calls[at].id, fragment.input);
        self.calls[at].append(fragment, sink)
    }

    /// Completes all calls, in order of their indices. Parses all inputs first: an answer with a
    /// broken call results in no calls.
    pub(super) fn complete(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        // Calls with equal indices keep their order, because the sort is stable.
        self.calls.sort_by_key(|call| call.index);
        let mut open: Vec<&mut Call> = self.calls.iter_mut().filter(|call| !call.done).collect();
        let inputs: Result<Vec<Value>, LlmError> =
            open.iter_mut().map(|call| call.read(sink)).collect();
        match inputs {
            Ok(inputs) => {
                for (call, input) in open.into_iter().zip(inputs) {
                    call.end(sink)?;
                    call.make(input, sink)?;
                }
                Ok(())
            }
            Err(error) => {
                for call in open {
                    call.end(sink)?;
                }
                Err(error)
            }
        }
    }

    /// Returns the call of a delta. It is found by index, otherwise by identifier. A delta with
    /// neither continues the last open call.
    fn find(&self, fragment: &Fragment) -> Option<usize> {
        match (&fragment.index, &fragment.id) {
            (Some(index), _) => self.calls.iter().rposition(|call| call.index == *index),
            (None, Some(id)) => self.calls.iter().rposition(|call| *call.id == **id),
            (None, None) => self.calls.iter().rposition(|call| !call.done),
        }
    }

    fn next_index(&self) -> i64 {
        let highest = self.calls.iter().map(|call| call.index).max();
        highest.map_or(0, |index| index.saturating_add(1))
    }

    fn open(&mut self, index: i64, fragment: &Fragment, sources: &Sources) -> usize {
        let id: BlockId = match &fragment.id {
            Some(id) => Arc::from(id.as_str()),
            None => format!("call_{}", sources.uuid()).into(),
        };
        self.calls.push(Call {
            index,
            id,
            id_is_ours: fragment.id.is_none(),
            name: None,
            input: String::new(),
            done: false,
        });
        self.calls.len() - 1
    }
}

impl Call {
    /// True if the delta belongs to this call. A new identifier with a known index starts another call,
    /// unless the known identifier is generated here and the delta has no name. A delta without an
    /// identifier starts another call if it has a name and input, and the input of this call is complete.
    fn is_continued_by(&self, fragment: &Fragment) -> bool {
        match &fragment.id {
            None => fragment.name.is_none() || fragment.input.is_empty() || !self.is_whole(),
            Some(id) if **id == *self.id => true,
            Some(_) => self.id_is_ours && fragment.name.is_none(),
        }
    }

    fn is_whole(&self) -> bool {
        // The last character excludes nearly every fragment without parsing the rest.
        self.input.starts_with('{')
            && self.input.trim_end().ends_with('}')
            && serde_json::from_str::<IgnoredAny>(&self.input).is_ok()
    }

    fn append(&mut self, fragment: Fragment, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        if self.done && fragment.input.is_empty() {
            return Ok(());
        }
        let Some(name) = self.name.clone() else {
            self.input.push_str(&fragment.input);
            return match fragment.name {
                Some(name) => self.start(name.into(), sink),
                None => Ok(()),
            };
        };
        self.input.push_str(&fragment.input);
        // The lifecycle refuses a name that changes.
        let name = match fragment.name {
            Some(repeated) if *repeated != *name => repeated.into(),
            _ => name,
        };
        sink.emit(LlmEvent::ToolInputDelta {
            id: Arc::clone(&self.id),
            name,
            text: fragment.input,
        })
    }

    fn start(&mut self, name: BlockId, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        self.name = Some(Arc::clone(&name));
        sink.emit(LlmEvent::ToolInputStart {
            id: Arc::clone(&self.id),
            name: Arc::clone(&name),
            provider_metadata: None,
        })?;
        sink.emit(LlmEvent::ToolInputDelta {
            id: Arc::clone(&self.id),
            name,
            text: self.input.clone(),
        })
    }

    fn read(&mut self, sink: &Sink<'_>) -> Result<Value, LlmError> {
        let Some(name) = &self.name else {
            let problem = "openai-chat tool call delta is missing a name";
            return Err(LlmError::invalid_output(sink.route(), problem));
        };
        let text = std::mem::take(&mut self.input);
        tool_input::parse(&text, name, "openai-chat", sink)
    }

    /// Ends the input. A call without a name was never announced and needs no end.
    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        self.done = true;
        let Some(name) = &self.name else {
            return Ok(());
        };
        sink.emit(LlmEvent::ToolInputEnd {
            id: Arc::clone(&self.id),
            name: Arc::clone(name),
            provider_metadata: None,
        })
    }

    fn make(&self, input: Value, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let Some(name) = &self.name else {
            return Ok(());
        };
        sink.emit(LlmEvent::ToolCall {
            id: Arc::clone(&self.id),
            name: Arc::clone(name),
            input,
            provider_executed: false,
            provider_metadata: None,
        })
    }
}
