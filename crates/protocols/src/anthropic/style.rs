//! The properties of a model that change the wire form of its conversations.

use opencode_llm::canonical::model::{ResolvedModel, ToolSchema};

use crate::media::Reads;
use crate::tool_schema;

/// The models that accept system text in the middle of a conversation.
const NATIVE_SYSTEM: [&str; 1] = ["claude-opus-4-8"];

/// The wire form for a model. Equal styles write equal bytes.
#[derive(Clone, PartialEq)]
pub(super) struct Style {
    /// The files that the model reads.
    pub(super) reads: Reads,
    /// The subset of JSON Schema for tools.
    pub(super) tool_schema: ToolSchema,
    /// The model accepts system text in the middle of a conversation.
    pub(super) native_system: bool,
}

impl Style {
    pub(super) fn of(model: &ResolvedModel) -> Self {
        let configured = model.compatibility.mid_conversation_system;
        Self {
            reads: Reads::of(&model.capabilities),
            tool_schema: tool_schema::subset(model),
            native_system: configured.unwrap_or_else(|| NATIVE_SYSTEM.contains(&model.id.as_str())),
        }
    }
}
