//! APIs that belong to no vendor of this crate.

use opencode_llm::{Auth, ProtocolId};
use serde_json::Value;

use super::anthropic::Anthropic;
use super::bedrock::Bedrock;
use super::google::Google;
use super::{Platform, compatible};
use crate::catalogue::error::UnsupportedReason;
use crate::model::{Api, ApiKind, CloudCredentials};
use crate::secret::Members;

/// A package that this crate does not know.
pub(super) struct Unknown;

impl Platform for Unknown {
    fn protocol(&self, _api: &Api, _wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        Err(UnsupportedReason::Package)
    }

    fn knows_options(&self) -> bool {
        false
    }
}

/// A package for which this crate has no adapter. Its options are settings of the package.
pub(super) struct WithoutAdapter;

impl Platform for WithoutAdapter {
    fn protocol(&self, _api: &Api, _wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        Err(UnsupportedReason::Package)
    }
}

/// The embedding program. It interprets all options itself.
pub(super) struct Program;

impl Platform for Program {
    fn protocol(&self, api: &Api, _wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        match api.kind {
            ApiKind::Program(number) => Ok(ProtocolId::Program(number)),
            ApiKind::Package(_) | ApiKind::Native => Err(UnsupportedReason::Package),
        }
    }

    fn knows_options(&self) -> bool {
        false
    }
}

/// The runtime itself: a setting names the protocol, and the server is that of the user. It takes its key as the vendor of
/// the protocol does. Its options have the spelling of compatible servers.
pub(super) struct Native;

impl Native {
    fn named(settings: &Members) -> Option<ProtocolId> {
        let name = settings.get("protocol").and_then(Value::as_str)?;
        ProtocolId::from_name(name)
    }

    /// The vendor of the protocol.
    fn vendor(settings: &Members) -> &'static dyn Platform {
        match Self::named(settings) {
            Some(ProtocolId::AnthropicMessages) => &Anthropic,
            Some(ProtocolId::Gemini) => &Google,
            Some(ProtocolId::BedrockConverse) => &Bedrock,
            Some(ProtocolId::OpenAiChat | ProtocolId::OpenAiResponses | ProtocolId::Program(_))
            | None => &compatible::USUAL,
        }
    }
}

impl Platform for Native {
    fn protocol(&self, api: &Api, _wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        Self::named(&api.settings).ok_or(UnsupportedReason::Protocol)
    }

    fn key_header(&self, settings: &Members) -> &'static str {
        Self::vendor(settings).key_header(settings)
    }

    fn token_header(&self, settings: &Members) -> &'static str {
        Self::vendor(settings).token_header(settings)
    }

    fn authorization(&self, settings: &Members, provider: Option<&CloudCredentials>) -> Auth {
        Self::vendor(settings).authorization(settings, provider)
    }

    fn wire_id(&self, id: &str, settings: &Members) -> String {
        Self::vendor(settings).wire_id(id, settings)
    }

    fn like(&self) -> Option<&'static dyn Platform> {
        Some(&compatible::USUAL)
    }
}
