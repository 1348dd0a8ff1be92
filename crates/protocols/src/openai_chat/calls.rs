//! Tool calls, assembled from deltas.

use std::sync::Arc;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::FinishReason;
use opencode_llm::canonical::request::ToolDefinition;
use opencode_llm::lifecycle::MAX_NAME;

use super::chunk::{FunctionDelta, ToolDelta};
use super::sealed;
use crate::framed::Sink;
use crate::open_call::{OpenCall, WholeInput, is_whole};
use crate::tool_input;

/// The calls of one step, in order of their first deltas.
pub(super) struct Calls {
    calls: Vec<Call>,
    /// True if the first call came in the form before tools. Some servers write one call in both forms.
    is_former: bool,
    input_bytes: usize,
    /// The tools of the request, which show where a name ends.
    tools: Arc<[ToolDefinition]>,
}

struct Call {
    index: i64,
    /// The identifier that the server sent. Another one then starts another call.
    given: Option<String>,
    /// The name so far. Some servers send it in pieces, others repeat it.
    name: String,
    written: OpenCall,
    /// The signature that the server wants back.
    signature: Option<String>,
    /// True if a further piece came with another identifier. The server then writes one into each piece.
    is_named_anew: bool,
    done: bool,
}

/// A delta that treats empty strings as absent.
struct Fragment {
    index: Option<i64>,
    id: Option<String>,
    name: Option<String>,
    input: String,
    signature: Option<String>,
}

impl From<ToolDelta> for Fragment {
    fn from(mut delta: ToolDelta) -> Self {
        let mut function = delta.take_function();
        Self {
            index: delta.index.0,
            id: delta.id.take(),
            name: function.name.take(),
            input: function.arguments.0,
            signature: delta.extra_content.0.as_ref().and_then(sealed::signature),
        }
    }
}

impl Calls {
    pub(super) fn new(tools: Arc<[ToolDefinition]>) -> Self {
        Self {
            calls: Vec::new(),
            is_former: false,
            input_bytes: 0,
            tools,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Handles a delta in the form before tools, which knows one call. Behind a call, it repeats that call.
    pub(super) fn push_former(
        &mut self,
        delta: FunctionDelta,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        if !self.calls.is_empty() && !self.is_former {
            return Ok(());
        }
        self.add(ToolDelta::of_function(delta).into(), sink)?;
        self.is_former = !self.calls.is_empty();
        Ok(())
    }

    /// Handles one delta.
    pub(super) fn push(&mut self, delta: ToolDelta, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let fragment = Fragment::from(delta);
        if self.is_former && self.is_repeated_by(&fragment) {
            return Ok(());
        }
        self.add(fragment, sink)
    }

    /// True if a delta may repeat the only call in the form before tools.
    fn is_repeated_by(&self, fragment: &Fragment) -> bool {
        let is_named = |name: &String| self.calls.first().is_some_and(|call| call.name == *name);
        fragment.index.unwrap_or_default() == 0 && fragment.name.as_ref().is_none_or(is_named)
    }

    fn add(&mut self, fragment: Fragment, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        if fragment.is_empty() {
            return Ok(());
        }
        let found = self.find(&fragment);
        if found.is_none() && fragment.is_signature() {
            return Ok(());
        }
        let at = match found {
            Some(at) if self.calls[at].is_continued_by(&fragment) => at,
            Some(at) => self.open(self.calls[at].index, &fragment, sink),
            None => {
                let index = fragment.index.unwrap_or_else(|| self.next_index());
                self.open(index, &fragment, sink)
            }
        };
        self.input_bytes += fragment.input.len();
        self.input_bytes += fragment.signature.as_ref().map_or(0, String::len);
        tool_input::check_size(self.calls.len(), self.input_bytes, sink)?;
        self.calls[at].append(fragment, &self.tools, sink)
    }

    /// Completes all calls, in order of their indices. The reason for the end tells whether the last one may be cut.
    pub(super) fn complete(
        &mut self,
        reason: Option<FinishReason>,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        // Calls with equal indices keep their order, because the sort is stable.
        self.calls.sort_by_key(|call| call.index);
        for call in self.calls.iter_mut().filter(|call| !call.done) {
            call.complete(sink)?;
        }
        sink.release(reason);
        Ok(())
    }

    /// Returns the call of a delta. It is found by index, otherwise by identifier. A delta with
    /// neither continues the last open call.
    fn find(&self, fragment: &Fragment) -> Option<usize> {
        let with_id = |id: &String| {
            let mut calls = self.calls.iter();
            calls.rposition(|call| call.given.as_ref() == Some(id))
        };
        match (&fragment.index, &fragment.id) {
            (Some(index), id) => {
                let found = self.calls.iter().rposition(|call| call.index == *index);
                // Some servers count the deltas of one call.
                let known = id.as_ref().filter(|_| fragment.name.is_none());
                found.or_else(|| known.and_then(with_id))
            }
            (None, Some(id)) => with_id(id),
            (None, None) => self.calls.iter().rposition(|call| !call.done),
        }
    }

    fn next_index(&self) -> i64 {
        let highest = self.calls.iter().map(|call| call.index).max();
        highest.map_or(0, |index| index.saturating_add(1))
    }

    fn open(&mut self, index: i64, fragment: &Fragment, sink: &mut Sink<'_>) -> usize {
        self.calls.push(Call {
            index,
            given: fragment.id.clone(),
            name: String::new(),
            written: OpenCall::new(fragment.id.as_deref(), sink),
            signature: None,
            is_named_anew: false,
            done: false,
        });
        self.calls.len() - 1
    }
}

impl Fragment {
    fn is_empty(&self) -> bool {
        self.is_signature() && self.signature.is_none()
    }

    /// True for a delta with nothing but a signature.
    fn is_signature(&self) -> bool {
        self.id.is_none() && self.name.is_none() && self.input.is_empty()
    }
}

impl Call {
    /// True if the delta belongs to this call. A new identifier with a known index starts another call,
    /// unless the delta has no name, and the server sent no identifier before or the input is incomplete.
    /// A delta with a name and input starts another call if the input of this call is complete, unless the
    /// delta repeats it.
    fn is_continued_by(&self, fragment: &Fragment) -> bool {
        let is_same = match (&fragment.id, &self.given) {
            (None, _) => true,
            (Some(id), Some(known)) if id == known => true,
            (Some(_), known) => {
                let is_begun =
                    known.is_none() || self.is_named_anew || !is_whole(self.written.input());
                return fragment.name.is_none() && is_begun;
            }
        };
        let is_named = fragment.name.is_some() && !fragment.input.is_empty();
        let is_identified = fragment.index.is_some() || fragment.id.is_some();
        is_same
            && (!is_named
                || !is_whole(self.written.input())
                || is_identified && self.is_repeated_by(fragment))
    }

    fn is_repeated_by(&self, fragment: &Fragment) -> bool {
        fragment.name.as_deref() == Some(&self.name) && fragment.input == self.written.input()
    }

    fn append(
        &mut self,
        fragment: Fragment,
        tools: &[ToolDefinition],
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        if self.done {
            // The call has run.
            return Ok(());
        }
        self.is_named_anew |=
            self.given.is_some() && fragment.id.is_some() && fragment.id != self.given;
        self.signature = fragment.signature.or(self.signature.take());
        let has_input = !fragment.input.is_empty() || !self.written.input().is_empty();
        let follows_name = fragment.name.is_none() && has_input;
        if let Some(piece) = fragment.name {
            match self.written.name() {
                Some(_) => self.written.rename(&piece),
                None => self.extend_name(piece, tools),
            }
        }
        self.written.push(fragment.input, sink)?;
        if self.written.name().is_none() && !self.name.is_empty() {
            let is_whole = match self.known_names(tools) {
                (true, false) => true,
                (false, true) => false,
                // Input that follows the name ends it.
                (true, true) => follows_name,
                (false, false) => has_input,
            };
            if is_whole {
                return self.written.announce(&self.name, None, sink);
            }
        }
        Ok(())
    }

    /// Adds a piece to the name. A piece that begins with the name so far repeats it, unless a tool needs both. No tool
    /// has a longer name than is accepted, so such a name takes no further pieces.
    fn extend_name(&mut self, piece: String, tools: &[ToolDefinition]) {
        if self.name.len() > MAX_NAME {
            return;
        }
        let joined = format!("{}{piece}", self.name);
        let is_begun = tools.iter().any(|tool| tool.name.starts_with(&joined));
        self.name = match piece.starts_with(&self.name) && !is_begun {
            true => piece,
            false => joined,
        };
    }

    /// Returns whether a tool has the name so far, and whether one has a longer name.
    fn known_names(&self, tools: &[ToolDefinition]) -> (bool, bool) {
        let mut begun = tools
            .iter()
            .filter(|tool| tool.name.starts_with(&self.name));
        let is_tool = begun.clone().any(|tool| tool.name == self.name);
        (is_tool, begun.any(|tool| tool.name != self.name))
    }

    fn complete(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        self.done = true;
        if self.written.name().is_none() {
            self.written.announce(&self.name, None, sink)?;
        }
        let metadata = self.signature.take().and_then(sealed::signed);
        self.written.end(WholeInput::Pieces, metadata, sink)
    }
}
