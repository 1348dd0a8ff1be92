//! xAI, whose own protocol is that of OpenAI Responses.

use opencode_llm::ProtocolId;

use super::openai::OpenAi;
use super::{BuiltIn, Defaults, Platform};
use crate::catalogue::error::UnsupportedReason;
use crate::model::Api;

pub(super) struct Xai;

impl Platform for Xai {
    fn protocol(&self, _api: &Api, _wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        Ok(ProtocolId::OpenAiResponses)
    }

    fn url(&self) -> Option<&'static str> {
        Some("https://api.x.ai/v1")
    }

    fn like(&self) -> Option<&'static dyn Platform> {
        Some(&OpenAi)
    }

    fn option_header(&self, _option: &str) -> Option<(&'static str, &'static str)> {
        None
    }

    fn defaults(&self, _id: &str, _reasons: bool) -> Defaults {
        Defaults::new()
    }

    fn built_in(&self) -> Option<BuiltIn> {
        Some(BuiltIn {
            id: "xai",
            name: "xAI",
            package: None,
            variables: &["XAI_API_KEY"],
        })
    }
}
