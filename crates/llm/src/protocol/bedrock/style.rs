//! The properties of a model that change the wire form of its conversations.

use crate::canonical::model::{ResolvedModel, ToolSchema};
use crate::protocol::media::Reads;
use crate::protocol::tool_schema;

/// The wire form for a model. Equal styles write equal bytes.
#[derive(Clone, PartialEq)]
pub(super) struct Style {
    /// The files that the model reads.
    pub(super) reads: Reads,
    /// The subset of JSON Schema for tools.
    pub(super) tool_schema: ToolSchema,
}

impl Style {
    pub(super) fn of(model: &ResolvedModel) -> Self {
        Self {
            reads: Reads::of(&model.capabilities),
            tool_schema: tool_schema::subset(model),
        }
    }
}

/// True if the model accepts marks of cacheable prefixes. Others refuse them.
pub(super) fn caches(model: &ResolvedModel) -> bool {
    ["anthropic.claude", "amazon.nova"]
        .iter()
        .any(|family| model.id.contains(family))
}
