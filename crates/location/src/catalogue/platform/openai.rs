//! Models at the server of OpenAI.

use opencode_llm::ProtocolId;
use serde_json::{Map, Value, json};

use super::options::insert;
use super::{BuiltIn, Defaults, Platform};
use crate::catalogue::error::UnsupportedReason;
use crate::catalogue::variants::{Choices, ReasoningModel, gpt};
use crate::catalogue::versions::gpt_version;
use crate::config::options::{API_KEY, camel_case, snake_case};
use crate::environment::Environment;
use crate::model::Api;

pub(super) const PACKAGE: &str = "@ai-sdk/openai";

pub(super) struct OpenAi;

impl Platform for OpenAi {
    fn protocol(&self, _api: &Api, _wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        Ok(ProtocolId::OpenAiResponses)
    }

    fn option_header(&self, option: &str) -> Option<(&'static str, &'static str)> {
        match option {
            API_KEY => Some(("Authorization", "Bearer ")),
            "organization" => Some(("OpenAI-Organization", "")),
            "project" => Some(("OpenAI-Project", "")),
            _ => None,
        }
    }

    fn write_option(&self, body: &mut Map<String, Value>, name: &str, value: &Value) {
        let path: &[&str] = match camel_case(name).as_str() {
            "reasoningEffort" => &["reasoning", "effort"],
            "reasoningSummary" => &["reasoning", "summary"],
            "textVerbosity" => &["text", "verbosity"],
            _ => &[&snake_case(name)],
        };
        insert(body, path, value.clone());
    }

    fn groups(&self) -> &'static [&'static str] {
        &["reasoning", "text"]
    }

    fn choices(&self, id: &str, model: &ReasoningModel<'_>) -> Choices {
        gpt(id, model.released)
    }

    fn effort(&self, _wire_id: &str, effort: &str) -> Option<Value> {
        Some(json!({
            "reasoningEffort": effort,
            "reasoningSummary": "auto",
            "include": ["reasoning.encrypted_content"],
        }))
    }

    fn defaults(&self, id: &str, _reasons: bool) -> Defaults {
        if !reasons_by_default(id) {
            return Defaults::new();
        }
        let mut defaults = reasoning_defaults();
        // Codex models have another default.
        if gpt_version(id) >= Some((5, 1)) && !id.contains("codex") {
            defaults.push(("textVerbosity", json!("low")));
        }
        defaults
    }

    fn built_in(&self) -> Option<BuiltIn> {
        Some(BuiltIn {
            id: "openai",
            name: "OpenAI",
            package: Some(PACKAGE),
            variables: &["OPENAI_API_KEY"],
        })
    }

    fn environment_address(&self, environment: &Environment) -> Option<String> {
        environment.variable("OPENAI_BASE_URL").map(str::to_owned)
    }
}

/// True if a model reasons without a request for it.
pub(super) fn reasons_by_default(id: &str) -> bool {
    let differs = id.contains("-chat") || id.contains("-pro");
    !differs && gpt_version(id) >= Some((5, 0))
}

/// The default options of a model that reasons.
pub(super) fn reasoning_defaults() -> Defaults {
    vec![
        ("reasoningEffort", json!("medium")),
        ("reasoningSummary", json!("auto")),
    ]
}
