//! The properties of a model and its settings that change the wire form of its conversations.

use opencode_llm::canonical::model::{SystemRole, ToolSchema};
use opencode_llm::canonical::request::LlmRequest;
use serde_json::Value;

use super::NAMESPACE;
use crate::body::option;
use crate::media::Reads;
use crate::{openai, tool_schema};

/// The wire form for a model. Equal styles write equal bytes.
#[derive(Clone, PartialEq)]
pub(super) struct Style {
    /// The role of system text.
    pub(super) system_role: SystemRole,
    /// The model accepts system text in the middle of a conversation.
    pub(super) native_system: bool,
    /// The files that the model reads.
    pub(super) reads: Reads,
    /// The subset of JSON Schema for tools.
    pub(super) tool_schema: ToolSchema,
    /// The provider stores the items of its answers.
    pub(super) stores: bool,
    pub(super) replay: Replay,
}

/// The provider-executed calls that are replayed if the provider does not store its items.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Replay {
    None,
    /// Web searches only.
    Usual,
    All,
}

impl Style {
    pub(super) fn of(request: &LlmRequest) -> Self {
        let model = &request.model;
        let compatibility = &model.compatibility;
        let is_own = model.is_at_openai();
        let usual_role = if openai::is_own_reasoning(model) {
            SystemRole::Developer
        } else {
            SystemRole::System
        };
        let options = request.effective_options(NAMESPACE);
        Self {
            system_role: compatibility.system_role.unwrap_or(usual_role),
            native_system: compatibility.mid_conversation_system.unwrap_or(is_own),
            reads: Reads::of(&model.capabilities),
            tool_schema: tool_schema::subset(model),
            stores: stores(request),
            replay: match option(&options, "replayHosted") {
                Some(Value::Bool(false)) => Replay::None,
                Some(Value::Bool(true)) => Replay::All,
                _ => Replay::Usual,
            },
        }
    }
}

impl Replay {
    /// True if an item of this type is replayed.
    pub(super) fn takes(self, kind: &str) -> bool {
        match self {
            Self::None => false,
            Self::Usual => kind == "web_search_call",
            Self::All => true,
        }
    }
}

/// True if the provider stores the items of its answers. It does so only if the configuration asks for it.
pub(super) fn stores(request: &LlmRequest) -> bool {
    let options = request.effective_options(NAMESPACE);
    option(&options, "store").is_some_and(|store| *store != Value::Bool(false))
}
