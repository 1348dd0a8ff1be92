//! A call while the model writes it: its identifier, its name and its input. A mistake of a model or a server in a
//! call becomes the problem of this call, and never a failure of the answer.

use std::sync::Arc;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::{BlockId, CallProblem, LlmEvent, ProviderMetadata};
use opencode_llm::lifecycle::MAX_NAME;
use serde_json::Value;

use super::framed::Sink;
use super::repaired_input::trimmed;
use super::tool_input;

/// The name of a call without a usable one. Records and requests need a name, and every provider accepts this one.
pub(super) const UNNAMED: &str = "unnamed_tool";

/// A call that is not complete.
pub(super) struct OpenCall {
    id: BlockId,
    /// No event is emitted before the name is known.
    name: Option<BlockId>,
    input: String,
    problem: Option<String>,
}

/// The input of a call at its end.
pub(super) enum WholeInput {
    /// The pieces are the input.
    Pieces,
    /// The input as JSON text. It takes precedence over the pieces.
    Text(String),
    /// The input as a value. It takes precedence over the pieces.
    Value(Value),
    /// The input does not come any more.
    Missing,
}

impl OpenCall {
    /// Begins a call with the identifier that the server gave, if any. No event is emitted.
    pub(super) fn new(given: Option<&str>, sink: &mut Sink<'_>) -> Self {
        Self {
            id: sink.call_id(given),
            name: None,
            input: String::new(),
            problem: None,
        }
    }

    /// Returns the identifier, which is unique in the step.
    pub(super) fn id(&self) -> &BlockId {
        &self.id
    }

    /// Returns the name under which the call was announced.
    pub(super) fn name(&self) -> Option<&BlockId> {
        self.name.as_ref()
    }

    /// Returns the pieces so far.
    pub(super) fn input(&self) -> &str {
        &self.input
    }

    /// Announces the call under its name, with the input so far.
    pub(super) fn announce(
        &mut self,
        name: &str,
        provider_metadata: Option<ProviderMetadata>,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let name = self.usable(name.trim());
        sink.emit(LlmEvent::ToolInputStart {
            id: Arc::clone(&self.id),
            name: Arc::clone(&name),
            provider_metadata,
        })?;
        self.name = Some(name);
        let begun = self.input.clone();
        self.emit_piece(begun, sink)
    }

    /// Takes a name that follows the announcement. A repeated name changes nothing.
    pub(super) fn rename(&mut self, name: &str) {
        let known = self.name.as_deref().unwrap_or_default();
        if known != name.trim() && self.problem.is_none() {
            self.problem = Some(format!(
                "The name of the tool changed from {} to {} within the call",
                shown(known),
                shown(name)
            ));
        }
    }

    /// Handles a piece of the input. A piece that repeats the whole input is skipped.
    pub(super) fn push(&mut self, piece: String, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let piece = sink.input(&self.id, piece);
        if piece.len() == self.input.len() && piece == self.input && is_whole(&piece) {
            return Ok(());
        }
        self.input.push_str(&piece);
        self.emit_piece(piece, sink)
    }

    fn emit_piece(&self, text: String, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        match &self.name {
            Some(name) => sink.emit(LlmEvent::ToolInputDelta {
                id: Arc::clone(&self.id),
                name: Arc::clone(name),
                text,
            }),
            None => Ok(()),
        }
    }

    /// Ends the call. It becomes a call that can run, or one with a problem.
    pub(super) fn end(
        &mut self,
        whole: WholeInput,
        provider_metadata: Option<ProviderMetadata>,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        self.end_of(whole, false, provider_metadata, sink)
    }

    /// Ends a call that the provider runs. It has no problem, because the host does not run it: unreadable input is
    /// kept as a text.
    pub(super) fn end_hosted(
        &mut self,
        whole: WholeInput,
        provider_metadata: Option<ProviderMetadata>,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        self.end_of(whole, true, provider_metadata, sink)
    }

    fn end_of(
        &mut self,
        whole: WholeInput,
        is_hosted: bool,
        provider_metadata: Option<ProviderMetadata>,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let name = self.ended(&whole, provider_metadata.clone(), sink)?;
        let written = std::mem::take(&mut self.input);
        let is_text = matches!(whole, WholeInput::Pieces | WholeInput::Text(_));
        let (read, written) = match whole {
            WholeInput::Pieces => (tool_input::read(&written), written),
            WholeInput::Text(text) => (tool_input::read(&text), text),
            WholeInput::Value(value) => (tool_input::checked(value), written),
            WholeInput::Missing => (Err("the answer ended before the call".to_owned()), written),
        };
        let id = Arc::clone(&self.id);
        let may_be_cut = !is_hosted && is_text && trimmed(&written).is_empty();
        let problem = self.problem.take().filter(|_| !is_hosted);
        let input = match (problem.map(CallProblem::Name), read) {
            (None, Ok(input)) => input,
            (None, Err(_)) if is_hosted => written.into(),
            (problem, read) => {
                let reason = read.err().unwrap_or_default();
                sink.hold(LlmEvent::InvalidToolCall {
                    id,
                    name,
                    problem: problem.unwrap_or(CallProblem::Input { reason, written }),
                    provider_metadata,
                });
                return Ok(());
            }
        };
        let call = LlmEvent::ToolCall {
            id,
            name,
            input,
            provider_executed: is_hosted,
            provider_metadata,
        };
        match may_be_cut {
            true => {
                sink.hold(call);
                Ok(())
            }
            false => sink.emit(call),
        }
    }

    /// Ends the input, and returns the name of the call. An input that came only as a whole is announced first.
    fn ended(
        &mut self,
        whole: &WholeInput,
        provider_metadata: Option<ProviderMetadata>,
        sink: &mut Sink<'_>,
    ) -> Result<BlockId, LlmError> {
        if self.name.is_none() {
            self.announce("", None, sink)?;
        }
        if self.input.is_empty() {
            match whole {
                WholeInput::Text(text) => self.emit_piece(text.clone(), sink)?,
                WholeInput::Value(value) => self.emit_piece(value.to_string(), sink)?,
                WholeInput::Pieces | WholeInput::Missing => {}
            }
        }
        let name = self.name.clone().unwrap_or_else(|| UNNAMED.into());
        sink.emit(LlmEvent::ToolInputEnd {
            id: Arc::clone(&self.id),
            name: Arc::clone(&name),
            provider_metadata,
        })?;
        Ok(name)
    }

    /// Returns the name if a record can have it, and otherwise the name of calls without one.
    fn usable(&mut self, name: &str) -> BlockId {
        let problem = match name.len() {
            0 => "The call names no tool".to_owned(),
            1..=MAX_NAME => return name.into(),
            bytes => format!(
                "The name of the tool has {bytes} bytes, and at most {MAX_NAME} are accepted"
            ),
        };
        self.problem = Some(problem);
        UNNAMED.into()
    }
}

/// True if a text is one whole JSON object.
pub(super) fn is_whole(text: &str) -> bool {
    // The first and the last character exclude nearly every text without parsing the rest.
    text.starts_with('{')
        && text.trim_end().ends_with('}')
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn shown(name: &str) -> String {
    let short: String = name.chars().take(64).collect();
    format!("{short:?}")
}
