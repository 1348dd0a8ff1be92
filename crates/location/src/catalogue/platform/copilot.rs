//! Models of GitHub Copilot. Its server speaks several protocols, and not every model is available in each.

use opencode_llm::{Compatibility, CompatibleServer, ProtocolId};
use serde_json::Value;

use super::openai::{OpenAi, reasoning_defaults};
use super::{Defaults, Platform};
use crate::catalogue::error::UnsupportedReason;
use crate::catalogue::variants::{Choices, ReasoningModel};
use crate::catalogue::versions::gpt_version;
use crate::model::Api;

/// The first version of GPT that is not available with Chat Completions.
const FIRST_WITH_RESPONSES: (u32, u32) = (5, 0);

/// A model that is available with Chat Completions although its version is not.
const CHAT_MODEL: &str = "gpt-5-mini";

pub(super) struct Copilot;

impl Platform for Copilot {
    fn protocol(&self, api: &Api, wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        let chat = api.settings.get("useCompletionUrls") == Some(&Value::Bool(true));
        Ok(match !chat && needs_responses(wire_id) {
            true => ProtocolId::OpenAiResponses,
            false => ProtocolId::OpenAiChat,
        })
    }

    fn url(&self) -> Option<&'static str> {
        Some("https://api.githubcopilot.com")
    }

    fn is_listed_as_compatible(&self) -> bool {
        true
    }

    fn compatibility(&self) -> Compatibility {
        Compatibility {
            compatible_server: Some(CompatibleServer::Copilot),
            ..Compatibility::default()
        }
    }

    fn like(&self) -> Option<&'static dyn Platform> {
        Some(&OpenAi)
    }

    fn option_header(&self, _option: &str) -> Option<(&'static str, &'static str)> {
        None
    }

    fn choices(&self, id: &str, _model: &ReasoningModel<'_>) -> Choices {
        let has = |parts: &[&str]| parts.iter().any(|part| id.contains(part));
        if has(&["gemini", "claude"]) {
            return Choices::NONE;
        }
        match has(&["5.1-codex-max", "5.2", "5.3"]) {
            true => Choices::Efforts(&["low", "medium", "high", "xhigh"]),
            false => Choices::USUAL,
        }
    }

    fn defaults(&self, id: &str, _reasons: bool) -> Defaults {
        match needs_responses(id) {
            true => reasoning_defaults(),
            false => Defaults::new(),
        }
    }
}

/// True if a model is not available with Chat Completions.
fn needs_responses(wire_id: &str) -> bool {
    let is_new = gpt_version(wire_id).is_some_and(|version| version >= FIRST_WITH_RESPONSES);
    is_new && !wire_id.starts_with(CHAT_MODEL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_models_of_openai_need_responses() {
        for id in [
            "gpt-5",
            "gpt-5.4",
            "gpt-5.3-codex",
            "gpt-5.4-mini",
            "gpt-6-sol",
            "gpt-10",
        ] {
            assert!(needs_responses(id), "{id}");
        }
        for id in [
            "gpt-4.1",
            "gpt-4o",
            "gpt-5-mini",
            "claude-sonnet-5",
            "gemini-3.5-flash",
            "o4-mini",
            "gpt-",
            "gpt-x",
        ] {
            assert!(!needs_responses(id), "{id}");
        }
    }
}
