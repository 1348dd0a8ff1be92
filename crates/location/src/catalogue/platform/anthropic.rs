//! Models at the server of Anthropic.

use opencode_llm::ProtocolId;
use serde_json::{Map, Value, json};

use super::options::{insert, snake_members};
use super::{BuiltIn, Platform};
use crate::catalogue::error::UnsupportedReason;
use crate::catalogue::variants::{Choices, ReasoningModel, claude, claude_version};
use crate::config::options::{API_KEY, camel_case, snake_case};
use crate::environment::Environment;
use crate::model::Api;
use crate::secret::Members;

pub(super) const PACKAGE: &str = "@ai-sdk/anthropic";

const KEY_HEADER: &str = "x-api-key";

pub(super) struct Anthropic;

impl Platform for Anthropic {
    fn protocol(&self, _api: &Api, _wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        Ok(ProtocolId::AnthropicMessages)
    }

    fn key_header(&self, _settings: &Members) -> &'static str {
        KEY_HEADER
    }

    fn token_header(&self, _settings: &Members) -> &'static str {
        KEY_HEADER
    }

    fn option_header(&self, option: &str) -> Option<(&'static str, &'static str)> {
        match option {
            API_KEY => Some((KEY_HEADER, "")),
            "authToken" => Some(("Authorization", "Bearer ")),
            _ => None,
        }
    }

    fn write_option(&self, body: &mut Map<String, Value>, name: &str, value: &Value) {
        match camel_case(name).as_str() {
            "effort" => insert(body, &["output_config", "effort"], value.clone()),
            "taskBudget" => insert(body, &["output_config", "task_budget"], value.clone()),
            _ => insert(body, &[&snake_case(name)], snake_members(value)),
        }
    }

    fn groups(&self) -> &'static [&'static str] {
        &["output_config"]
    }

    fn choices(&self, id: &str, model: &ReasoningModel<'_>) -> Choices {
        claude(id, model.output)
    }

    fn effort(&self, wire_id: &str, effort: &str) -> Option<Value> {
        let mut thinking = json!({ "type": "adaptive" });
        if claude_version(wire_id).is_some_and(|version| version >= (4, 7)) {
            thinking["display"] = json!("summarized");
        }
        Some(json!({ "thinking": thinking, "effort": effort }))
    }

    fn budget(&self, tokens: u64) -> Option<Value> {
        Some(json!({ "thinking": { "type": "enabled", "budgetTokens": tokens } }))
    }

    fn built_in(&self) -> Option<BuiltIn> {
        Some(BuiltIn {
            id: "anthropic",
            name: "Anthropic",
            package: Some(PACKAGE),
            variables: &["ANTHROPIC_API_KEY"],
        })
    }

    fn environment_address(&self, environment: &Environment) -> Option<String> {
        let url = environment.variable("ANTHROPIC_BASE_URL");
        url.map(str::to_owned)
    }
}
