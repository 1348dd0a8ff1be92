//! What of a model and its settings changes how its conversations are written.

use serde_json::Value;

use super::NAMESPACE;
use crate::canonical::model::{SystemRole, ToolSchema};
use crate::canonical::request::LlmRequest;
use crate::protocol::body::option;
use crate::protocol::media::Reads;
use crate::protocol::{openai, tool_schema};

/// Equal styles write equal bytes.
#[derive(Clone, PartialEq)]
pub(super) struct Style {
    /// The role of system text.
    pub(super) system_role: SystemRole,
    /// The model takes system text in the middle of a conversation.
    pub(super) native_system: bool,
    /// The files that the model reads.
    pub(super) reads: Reads,
    /// The subset of JSON Schema for tools.
    pub(super) tool_schema: ToolSchema,
    /// The provider keeps the items of its answers.
    pub(super) stores: bool,
    pub(super) replay: Replay,
}

/// Which calls that the provider ran it is told again where it keeps nothing itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Replay {
    None,
    /// Searches in the web.
    Usual,
    All,
}

impl Style {
    pub(super) fn of(request: &LlmRequest) -> Self {
        let model = &request.model;
        let compatibility = &model.compatibility;
        let is_own = openai::is_own_endpoint(model);
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
    /// Whether an item of that type is said again.
    pub(super) fn takes(self, kind: &str) -> bool {
        match self {
            Self::None => false,
            Self::Usual => kind == "web_search_call",
            Self::All => true,
        }
    }
}

/// Whether the provider keeps the items of its answers. It is not asked to unless somebody wants it.
pub(super) fn stores(request: &LlmRequest) -> bool {
    let options = request.effective_options(NAMESPACE);
    option(&options, "store").is_some_and(|store| *store != Value::Bool(false))
}
