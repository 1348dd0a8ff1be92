//! Models at the server of Google for Gemini.

use opencode_llm::ProtocolId;
use serde_json::{Map, Value, json};

use super::options::insert;
use super::{BuiltIn, Defaults, Platform};
use crate::catalogue::error::UnsupportedReason;
use crate::catalogue::variants::{Choices, ReasoningModel, gemini};
use crate::config::options::{API_KEY, camel_case};
use crate::model::Api;
use crate::secret::Members;

pub(super) const PACKAGE: &str = "@ai-sdk/google";

pub(super) const KEY_HEADER: &str = "x-goog-api-key";

/// The group of options that concern the generation.
const GENERATION: &str = "generationConfig";

pub(super) struct Google;

impl Platform for Google {
    fn protocol(&self, _api: &Api, _wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        Ok(ProtocolId::Gemini)
    }

    fn key_header(&self, _settings: &Members) -> &'static str {
        KEY_HEADER
    }

    fn option_header(&self, option: &str) -> Option<(&'static str, &'static str)> {
        (option == API_KEY).then_some((KEY_HEADER, ""))
    }

    fn write_option(&self, body: &mut Map<String, Value>, name: &str, value: &Value) {
        let camel = camel_case(name);
        let path: &[&str] = match camel.as_str() {
            "thinkingConfig" | "responseModalities" | "mediaResolution" | "imageConfig" => {
                &[GENERATION, &camel]
            }
            _ => &[name],
        };
        insert(body, path, value.clone());
    }

    fn groups(&self) -> &'static [&'static str] {
        &[GENERATION]
    }

    fn choices(&self, id: &str, _model: &ReasoningModel<'_>) -> Choices {
        gemini(id)
    }

    fn effort(&self, _wire_id: &str, effort: &str) -> Option<Value> {
        Some(json!({ "thinkingConfig": { "includeThoughts": true, "thinkingLevel": effort } }))
    }

    fn budget(&self, tokens: u64) -> Option<Value> {
        Some(json!({ "thinkingConfig": { "includeThoughts": true, "thinkingBudget": tokens } }))
    }

    fn defaults(&self, id: &str, reasons: bool) -> Defaults {
        let is_third = id.contains("gemini-3");
        let mut defaults = Defaults::new();
        if reasons {
            let config = match is_third {
                true => json!({ "includeThoughts": true, "thinkingLevel": "high" }),
                false => json!({ "includeThoughts": true }),
            };
            defaults.push(("thinkingConfig", config));
        }
        if is_third || id.contains("gemini-2.5") {
            let recommended = [
                ("temperature", json!(1)),
                ("topP", json!(0.95)),
                ("topK", json!(64)),
            ];
            defaults.extend(recommended);
        }
        defaults
    }

    fn built_in(&self) -> Option<BuiltIn> {
        Some(BuiltIn {
            id: "google",
            name: "Google",
            package: Some(PACKAGE),
            variables: &["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
        })
    }
}
