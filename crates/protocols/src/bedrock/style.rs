//! The properties of a model that change the wire form of its conversations.

use opencode_llm::canonical::model::{ResolvedModel, ToolSchema};

use crate::media::Reads;
use crate::tool_schema;

/// The part of an id that all Claude models have.
const CLAUDE: &str = "anthropic.claude";

/// The part of an id that all Nova models have.
const NOVA: &str = "amazon.nova";

/// The parts of ids of Claude models without a cache.
const WITHOUT_CACHE: [&str; 6] = [
    "claude-v",
    "claude-instant",
    "claude-3-haiku",
    "claude-3-sonnet",
    "claude-3-opus",
    "claude-3-5-sonnet",
];

/// The wire form for a model. Equal styles write equal bytes.
#[derive(Clone, PartialEq)]
pub(super) struct Style {
    /// The files that the model reads.
    pub(super) reads: Reads,
    /// The subset of JSON Schema for tools.
    pub(super) tool_schema: ToolSchema,
    /// True if the model reads whether a tool failed. The server documents it for Claude and Nova.
    pub(super) reads_status: bool,
}

impl Style {
    pub(super) fn of(model: &ResolvedModel) -> Self {
        Self {
            reads: Reads::of(&model.capabilities),
            tool_schema: tool_schema::subset(model),
            reads_status: model.id.contains(CLAUDE) || model.id.contains(NOVA),
        }
    }
}

/// The places where a model accepts marks of cacheable prefixes. Other places are refused.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    Nowhere,
    /// In the System Context and in messages.
    Texts,
    /// Also after the tools.
    Everywhere,
}

impl Marks {
    pub(super) fn of(model: &ResolvedModel) -> Self {
        let is = |part: &&str| model.id.contains(*part);
        if is(&NOVA) {
            Self::Texts
        } else if is(&CLAUDE) && !WITHOUT_CACHE.iter().any(is) {
            Self::Everywhere
        } else {
            Self::Nowhere
        }
    }
}
