//! A model that is ready to be called: its address, its credential, its capabilities and the
//! deviations of its server from the protocol.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::canonical::authorizer::Authorizer;
use crate::canonical::request::{GenerationControls, JsonMap};
use opencode_secrets::Secret;
use opencode_secrets::{Fields, Redactor, is_secret_segment, without_segments};

/// The namespace of the options of models of the program.
pub const PROGRAM_OPTIONS: &str = "program";

/// The protocols that this crate implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProtocolId {
    /// OpenAI Chat Completions and everything compatible with it.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Anthropic Messages.
    AnthropicMessages,
    /// Gemini, `generateContent` of Google.
    Gemini,
    /// Amazon Bedrock, `ConverseStream`.
    BedrockConverse,
    /// A model of the embedding program, by the number of its registration. It has no server.
    Program(u32),
}

impl ProtocolId {
    /// All protocols of servers.
    pub const ALL: [Self; 5] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::AnthropicMessages,
        Self::Gemini,
        Self::BedrockConverse,
    ];

    /// The name used in configuration and in failure messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::AnthropicMessages => "anthropic-messages",
            Self::Gemini => "gemini",
            Self::BedrockConverse => "bedrock-converse",
            Self::Program(_) => "program",
        }
    }

    /// Returns the protocol of servers with this name, if this crate implements it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }

    /// Returns the base URL that applies without configuration. `None` for a protocol without a usual server.
    #[must_use]
    pub const fn default_base_url(self) -> Option<&'static str> {
        match self {
            // The address of Bedrock contains the region.
            Self::OpenAiChat | Self::BedrockConverse | Self::Program(_) => None,
            Self::OpenAiResponses => Some("https://api.openai.com/v1"),
            Self::AnthropicMessages => Some("https://api.anthropic.com/v1"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
        }
    }
}

/// The data that a call of one model needs. Resolved once per Provider Turn and shared by
/// reference. `Debug` hides credentials, also in headers and parameters.
#[derive(Clone)]
pub struct ResolvedModel {
    /// The name of the model on the wire.
    pub id: String,
    /// The provider in the catalogue.
    pub provider_id: String,
    /// The model in the catalogue. An alias in the catalogue may have a different wire name.
    pub model_id: String,
    /// The wire protocol of its server.
    pub protocol: ProtocolId,
    /// The address of its server.
    pub endpoint: Endpoint,
    /// The credential.
    pub auth: Auth,
    /// Headers sent with every request of this model.
    pub headers: Vec<(String, String)>,
    /// Token limits.
    pub limits: Limits,
    /// Sampling defaults. The request overrides them field by field.
    pub generation: GenerationControls,
    /// Model Request Options by namespace, with camelCase keys. The adapter translates them to wire fields.
    pub provider_options: JsonMap,
    /// Wire fields that are merged verbatim into the body, after all others.
    pub body: JsonMap,
    /// Capabilities of the model.
    pub capabilities: Capabilities,
    /// Deviations of its server from the protocol.
    pub compatibility: Compatibility,
    /// Time limits. All are off unless configured.
    pub timeouts: Timeouts,
}

impl ResolvedModel {
    /// Creates a model with nothing configured except its address. The wire name is also the catalogue name.
    #[must_use]
    pub fn new(
        provider_id: impl Into<String>,
        id: impl Into<String>,
        protocol: ProtocolId,
        base_url: impl Into<String>,
    ) -> Self {
        let id = id.into();
        Self {
            model_id: id.clone(),
            id,
            provider_id: provider_id.into(),
            protocol,
            endpoint: Endpoint {
                base_url: base_url.into(),
                query: Vec::new(),
            },
            auth: Auth::None,
            headers: Vec::new(),
            limits: Limits::default(),
            generation: GenerationControls::default(),
            provider_options: JsonMap::new(),
            body: JsonMap::new(),
            capabilities: Capabilities::default(),
            compatibility: Compatibility::default(),
            timeouts: Timeouts::default(),
        }
    }

    /// Returns the name of the server of this model in failures: provider and protocol.
    #[must_use]
    pub fn route(&self) -> String {
        format!("{}/{}", self.provider_id, self.protocol.as_str())
    }

    /// True if the endpoint of this model belongs to OpenAI.
    #[must_use]
    pub fn is_at_openai(&self) -> bool {
        let url = Url::parse(&self.endpoint.base_url);
        url.is_ok_and(|url| url.host_str() == Some("api.openai.com"))
    }

    /// True if a request to this model may have an [output format](crate::OutputFormat). The catalogue decides if it
    /// says something about the model. Otherwise the API of OpenAI itself has formats, and compatible servers may have
    /// none.
    #[must_use]
    pub fn has_output_format(&self) -> bool {
        let known = self.capabilities.structured_output;
        match self.protocol {
            ProtocolId::OpenAiResponses | ProtocolId::Gemini => known.unwrap_or(true),
            ProtocolId::OpenAiChat => known.unwrap_or_else(|| self.is_at_openai()),
            ProtocolId::AnthropicMessages
            | ProtocolId::BedrockConverse
            | ProtocolId::Program(_) => false,
        }
    }
}

impl fmt::Debug for ResolvedModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ResolvedModel")
            .field("id", &self.id)
            .field("provider_id", &self.provider_id)
            .field("model_id", &self.model_id)
            .field("protocol", &self.protocol)
            .field("endpoint", &self.endpoint)
            .field("auth", &self.auth)
            .field("headers", &Fields(&self.headers))
            .finish_non_exhaustive()
    }
}

/// The address of a model server. The adapter appends its path to the base URL.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Scheme, host and leading path. A trailing slash is allowed.
    pub base_url: String,
    /// Query parameters of every request.
    pub query: Vec<(String, String)>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Endpoint")
            .field(
                "base_url",
                &without_segments(&Redactor::default().url(&self.base_url), is_secret_segment),
            )
            .field("query", &Fields(&self.query))
            .finish()
    }
}

/// The authentication of a request. `Debug` hides the credential.
#[derive(Clone, Default)]
pub enum Auth {
    /// No credential. Local servers accept this.
    #[default]
    None,
    /// `authorization: Bearer <secret>`.
    Bearer(Secret),
    /// The secret as the value of a configurable header.
    Header {
        /// The name of the header.
        name: String,
        /// Its value.
        secret: Secret,
    },
    /// Headers that a service makes for each request.
    Service(Arc<dyn Authorizer>),
}

/// Two services are equal if they are the same value.
impl PartialEq for Auth {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Bearer(one), Self::Bearer(other)) => one == other,
            (
                Self::Header { name, secret },
                Self::Header {
                    name: other_name,
                    secret: other_secret,
                },
            ) => name == other_name && secret == other_secret,
            (Self::Service(one), Self::Service(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for Auth {}

impl fmt::Debug for Auth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("None"),
            Self::Bearer(secret) => formatter.debug_tuple("Bearer").field(secret).finish(),
            Self::Header { name, secret } => formatter
                .debug_struct("Header")
                .field("name", name)
                .field("secret", secret)
                .finish(),
            Self::Service(_) => formatter.write_str("Service"),
        }
    }
}

/// Token limits of a model. Zero means unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The whole context window.
    pub context: u64,
    /// The part of the context window that input may use, if the provider states it.
    pub input: Option<u64>,
    /// Maximum number of output tokens.
    pub output: u64,
}

/// Capabilities of a model according to the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The model can call tools.
    pub tools: bool,
    /// The model reasons before it answers.
    pub reasoning: bool,
    /// The server accepts a format of the answer. `None` if unknown.
    pub structured_output: Option<bool>,
    /// Kinds of input that the model reads: `text`, `image`, `pdf`, `audio`, `video`. Empty means
    /// unknown: then only text and images are sent.
    pub input: Vec<String>,
}

impl Capabilities {
    /// True if input of this kind may be sent.
    #[must_use]
    pub fn reads(&self, kind: &str) -> bool {
        if self.input.is_empty() {
            return matches!(kind, "text" | "image");
        }
        self.input.iter().any(|known| known == kind)
    }
}

/// Deviations of one server from its protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compatibility {
    /// True if the request may ask the server for a usage chunk. Some servers refuse the unknown option.
    pub usage_chunk: bool,
    /// The role of system text. If absent, the adapter decides.
    pub system_role: Option<SystemRole>,
    /// The member of an assistant message that carries replayed reasoning. If absent, the adapter decides.
    pub reasoning_field: Option<String>,
    /// The subset of JSON Schema that the server accepts. If absent, it is guessed from the names
    /// of model and provider.
    pub tool_schema: Option<ToolSchema>,
    /// True if the server accepts system text in the middle of a conversation. If absent, the
    /// adapter decides. If false, such text is sent wrapped in a user message.
    pub mid_conversation_system: Option<bool>,
    /// The version of the protocol, if the body names it and the address names the model. If absent, the body names the
    /// model, and a header names the version that the adapter knows.
    pub version_in_body: Option<&'static str>,
    /// The server behind a protocol of OpenAI, if it extends the protocol.
    pub compatible_server: Option<CompatibleServer>,
}

/// A server that extends the protocols of OpenAI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompatibleServer {
    /// OpenRouter.
    OpenRouter,
    /// GitHub Copilot.
    Copilot,
}

impl Default for Compatibility {
    fn default() -> Self {
        Self {
            usage_chunk: true,
            system_role: None,
            reasoning_field: None,
            tool_schema: None,
            mid_conversation_system: None,
            version_in_body: None,
            compatible_server: None,
        }
    }
}

/// The role of system text in OpenAI protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemRole {
    /// The classic role.
    System,
    /// The role that reasoning models of OpenAI expect.
    Developer,
    /// For servers that support neither of the other roles.
    User,
}

impl SystemRole {
    /// Returns the role on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
        }
    }
}

/// Subsets of JSON Schema that some models require.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSchema {
    /// Everything that the protocol accepts.
    Standard,
    /// Everything but some names of properties, as servers of Anthropic accept it.
    Anthropic,
    /// Google's subset.
    Gemini,
    /// Moonshot's (Kimi) subset.
    Moonshot,
}

/// Time limits of one attempt. There are none by default, because a model may reason for minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// Time until the response headers arrive. `Duration::MAX` means no limit, even if the host
    /// sets one. The same applies to the other limits.
    pub header: Option<Duration>,
    /// Time between two pieces of the body.
    pub chunk: Option<Duration>,
    /// Time from the request to the end of the body.
    pub total: Option<Duration>,
}

impl Timeouts {
    /// Returns these limits. Limits that are not set come from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            header: self.header.or(other.header),
            chunk: self.chunk.or(other.chunk),
            total: self.total.or(other.total),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_credential() {
        let base = "https://user:secret-1@model.test/v1?key=secret-2";
        let mut model = ResolvedModel::new("p", "m", ProtocolId::OpenAiChat, base);
        model.auth = Auth::Bearer(Secret::new("secret-3"));
        model.headers = vec![("x-api-key".into(), "secret-4".into())];
        model.endpoint.query = vec![("sig".into(), "secret-5".into())];
        model.body = [("apiKey".to_owned(), "secret-6".into())]
            .into_iter()
            .collect();
        let shown = format!("{model:?}");
        assert!(
            shown.contains("model.test") && !shown.contains("secret-"),
            "{shown}"
        );
    }
}
