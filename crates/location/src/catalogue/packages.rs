//! The packages of the AI SDK that catalogues name, and the server behind each of them.
//!
//! Catalogues describe the API of a provider by the name of a package. This crate never loads a package: the name stands
//! for a protocol, an address and the place of the key.

use opencode_llm::ProtocolId;
use serde_json::Value;

use super::copilot::COPILOT_PACKAGE;
use super::{
    ANTHROPIC_PACKAGE, AZURE_PACKAGE, BEDROCK_PACKAGE, COMPATIBLE_PACKAGE, GOOGLE_PACKAGE,
    OPENAI_PACKAGE, VERTEX_ANTHROPIC_PACKAGE, VERTEX_PACKAGE,
};
use crate::secret::Members;

/// The header of keys that are bearer tokens.
pub(super) const AUTHORIZATION: &str = "authorization";

/// The server behind a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Platform {
    /// The protocol of the server.
    pub(super) protocol: ProtocolId,
    /// The address without configuration. `None` if the protocol has a usual one, or if the user must give one.
    pub(super) url: Option<&'static str>,
    /// The header of the key. `authorization` carries the key as a bearer token.
    pub(super) key: &'static str,
}

/// Packages for servers that are compatible with Chat Completions of OpenAI, with their addresses.
const COMPATIBLE: [(&str, &str); 14] = [
    (
        "@ai-sdk/alibaba",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    ),
    ("@ai-sdk/cerebras", "https://api.cerebras.ai/v1"),
    ("@ai-sdk/cohere", "https://api.cohere.ai/compatibility/v1"),
    ("@ai-sdk/deepinfra", "https://api.deepinfra.com/v1/openai"),
    ("@ai-sdk/deepseek", "https://api.deepseek.com/v1"),
    ("@ai-sdk/gateway", "https://ai-gateway.vercel.sh/v1"),
    (COPILOT_PACKAGE, "https://api.githubcopilot.com"),
    ("@ai-sdk/groq", "https://api.groq.com/openai/v1"),
    ("@ai-sdk/mistral", "https://api.mistral.ai/v1"),
    ("@ai-sdk/perplexity", "https://api.perplexity.ai"),
    ("@ai-sdk/togetherai", "https://api.together.xyz/v1"),
    ("@ai-sdk/vercel", "https://api.v0.dev/v1"),
    (
        "@openrouter/ai-sdk-provider",
        "https://openrouter.ai/api/v1",
    ),
    ("venice-ai-sdk-provider", "https://api.venice.ai/api/v1"),
];

/// The address of xAI, whose own protocol is that of OpenAI Responses.
const XAI_URL: &str = "https://api.x.ai/v1";

/// Returns the server behind a package with these settings, if this crate knows one.
pub(super) fn platform(package: &str, settings: &Members) -> Option<Platform> {
    let bearer = |protocol, url| Platform {
        protocol,
        url,
        key: AUTHORIZATION,
    };
    Some(match package {
        COMPATIBLE_PACKAGE => bearer(ProtocolId::OpenAiChat, None),
        OPENAI_PACKAGE => bearer(ProtocolId::OpenAiResponses, None),
        "@ai-sdk/xai" => bearer(ProtocolId::OpenAiResponses, Some(XAI_URL)),
        AZURE_PACKAGE => Platform {
            protocol: match settings.get("useCompletionUrls") {
                Some(Value::Bool(true)) => ProtocolId::OpenAiChat,
                _ => ProtocolId::OpenAiResponses,
            },
            url: None,
            key: "api-key",
        },
        ANTHROPIC_PACKAGE => of_protocol(ProtocolId::AnthropicMessages),
        GOOGLE_PACKAGE => of_protocol(ProtocolId::Gemini),
        VERTEX_PACKAGE => of_protocol(ProtocolId::Gemini),
        VERTEX_ANTHROPIC_PACKAGE => bearer(ProtocolId::AnthropicMessages, None),
        BEDROCK_PACKAGE => of_protocol(ProtocolId::BedrockConverse),
        other => {
            let (_, url) = COMPATIBLE.iter().find(|(package, _)| *package == other)?;
            bearer(ProtocolId::OpenAiChat, Some(url))
        }
    })
}

/// Returns the usual server of a protocol.
pub(super) fn of_protocol(protocol: ProtocolId) -> Platform {
    Platform {
        protocol,
        url: None,
        key: match protocol {
            ProtocolId::AnthropicMessages => "x-api-key",
            ProtocolId::Gemini => "x-goog-api-key",
            ProtocolId::OpenAiChat
            | ProtocolId::OpenAiResponses
            | ProtocolId::BedrockConverse
            | ProtocolId::Program(_) => AUTHORIZATION,
        },
    }
}

/// Returns the address of a resource of Azure OpenAI.
pub(super) fn azure_url(resource: &str) -> Option<String> {
    let is_name = !resource.is_empty()
        && resource
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_name.then(|| format!("https://{resource}.openai.azure.com/openai/v1"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known(package: &str) -> Option<Platform> {
        platform(package, &Members::default())
    }

    #[test]
    fn every_package_has_a_protocol_an_address_and_a_place_of_the_key() {
        let rows = [
            (
                "@ai-sdk/openai",
                ProtocolId::OpenAiResponses,
                None,
                AUTHORIZATION,
            ),
            (
                "@ai-sdk/xai",
                ProtocolId::OpenAiResponses,
                Some(XAI_URL),
                AUTHORIZATION,
            ),
            (
                "@ai-sdk/anthropic",
                ProtocolId::AnthropicMessages,
                None,
                "x-api-key",
            ),
            ("@ai-sdk/google", ProtocolId::Gemini, None, "x-goog-api-key"),
            (
                "@ai-sdk/azure",
                ProtocolId::OpenAiResponses,
                None,
                "api-key",
            ),
            (
                "@ai-sdk/openai-compatible",
                ProtocolId::OpenAiChat,
                None,
                AUTHORIZATION,
            ),
            (
                "@ai-sdk/groq",
                ProtocolId::OpenAiChat,
                Some("https://api.groq.com/openai/v1"),
                AUTHORIZATION,
            ),
        ];
        for (package, protocol, url, key) in rows {
            assert_eq!(
                known(package),
                Some(Platform { protocol, url, key }),
                "{package}"
            );
        }
        assert_eq!(known("unknown-package"), None);
        for (package, url) in COMPATIBLE {
            assert!(
                url::Url::parse(url).is_ok_and(|url| url.scheme() == "https"),
                "{package}"
            );
        }
    }

    #[test]
    fn azure_has_two_protocols_and_addresses_of_resources() {
        let settings = Members(
            json!({"useCompletionUrls": true})
                .as_object()
                .cloned()
                .unwrap(),
        );
        let chat = platform("@ai-sdk/azure", &settings).unwrap();
        assert_eq!(chat.protocol, ProtocolId::OpenAiChat);
        let url = "https://mine.openai.azure.com/openai/v1";
        assert_eq!(azure_url("mine").as_deref(), Some(url));
        for wrong in ["", "a.b", "evil.example/", "a b"] {
            assert_eq!(azure_url(wrong), None, "{wrong}");
        }
    }
}
