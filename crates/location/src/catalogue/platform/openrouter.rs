//! OpenRouter, which offers models of many makers.

use opencode_llm::{Compatibility, CompatibleServer, ProtocolId};
use serde_json::{Value, json};

use super::{BuiltIn, Platform};
use crate::catalogue::error::UnsupportedReason;
use crate::catalogue::variants::{Choices, ReasoningModel, gpt};
use crate::model::Api;

pub(super) struct OpenRouter;

impl Platform for OpenRouter {
    fn protocol(&self, _api: &Api, _wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        Ok(ProtocolId::OpenAiChat)
    }

    fn url(&self) -> Option<&'static str> {
        Some("https://openrouter.ai/api/v1")
    }

    fn compatibility(&self) -> Compatibility {
        Compatibility {
            compatible_server: Some(CompatibleServer::OpenRouter),
            ..Compatibility::default()
        }
    }

    fn choices(&self, id: &str, model: &ReasoningModel<'_>) -> Choices {
        match id.starts_with("openai/") {
            true => gpt(id, model.released),
            false => Choices::USUAL,
        }
    }

    fn effort(&self, _wire_id: &str, effort: &str) -> Option<Value> {
        Some(json!({ "reasoning": { "effort": effort } }))
    }

    fn built_in(&self) -> Option<BuiltIn> {
        Some(BuiltIn {
            id: "openrouter",
            name: "OpenRouter",
            package: None,
            variables: &["OPENROUTER_API_KEY"],
        })
    }
}
