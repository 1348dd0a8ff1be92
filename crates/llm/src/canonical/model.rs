//! A model ready to be called: where it lives, how to authenticate, what it can do and how its
//! server differs.

use std::fmt;
use std::time::Duration;

use crate::canonical::request::{GenerationControls, JsonMap};
use crate::redact::{Fields, Redactor};
use crate::secret::Secret;

/// The wire protocols this crate speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProtocolId {
    /// OpenAI Chat Completions and everything compatible with it.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Anthropic Messages.
    AnthropicMessages,
}

impl ProtocolId {
    /// All of them.
    pub const ALL: [Self; 3] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::AnthropicMessages,
    ];

    /// The name used in configuration and in failure messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::AnthropicMessages => "anthropic-messages",
        }
    }

    /// The protocol of that name, if this crate speaks it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }

    /// Where its servers are unless something else is configured; `None` where anybody may run one.
    #[must_use]
    pub const fn default_base_url(self) -> Option<&'static str> {
        match self {
            Self::OpenAiChat => None,
            Self::OpenAiResponses => Some("https://api.openai.com/v1"),
            Self::AnthropicMessages => Some("https://api.anthropic.com/v1"),
        }
    }
}

/// Everything needed to call one model. Resolved once per provider turn and shared by reference.
/// `Debug` hides credentials, in headers and parameters too.
#[derive(Clone)]
pub struct ResolvedModel {
    /// The name of the model on the wire.
    pub id: String,
    /// The provider in the catalogue.
    pub provider_id: String,
    /// The model in the catalogue; an alias there may stand for another wire name.
    pub model_id: String,
    /// How its server is spoken to.
    pub protocol: ProtocolId,
    /// Where its server is.
    pub endpoint: Endpoint,
    /// The credential.
    pub auth: Auth,
    /// Headers sent with every request of this model.
    pub headers: Vec<(String, String)>,
    /// Token limits.
    pub limits: Limits,
    /// Sampling defaults, overridden field by field by the request.
    pub generation: GenerationControls,
    /// Model Request Options by namespace, camelCase keys, lowered by the adapter.
    pub provider_options: JsonMap,
    /// Wire fields merged verbatim into the body last.
    pub body: JsonMap,
    /// What the model can do.
    pub capabilities: Capabilities,
    /// How its server departs from the protocol.
    pub compatibility: Compatibility,
    /// Time limits, all off unless configured.
    pub timeouts: Timeouts,
}

impl ResolvedModel {
    /// A model with nothing configured beyond its address. The wire name doubles as the catalogue
    /// name.
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

    /// The name failures use for this model's server: provider and protocol.
    #[must_use]
    pub fn route(&self) -> String {
        format!("{}/{}", self.provider_id, self.protocol.as_str())
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

/// The address of a model server. The adapter appends its own path to the base.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Scheme, host and leading path; a trailing slash does not matter.
    pub base_url: String,
    /// Query parameters of every request.
    pub query: Vec<(String, String)>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Endpoint")
            .field("base_url", &Redactor::default().url(&self.base_url))
            .field("query", &Fields(&self.query))
            .finish()
    }
}

/// How a request authenticates. `Debug` hides the credential.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// No credential, as local servers accept.
    #[default]
    None,
    /// `authorization: Bearer <secret>`.
    Bearer(Secret),
    /// The secret as the value of a header of its own.
    Header {
        /// The header.
        name: String,
        /// Its value.
        secret: Secret,
    },
}

/// Token limits of a model; zero means unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The whole context window.
    pub context: u64,
    /// The part of it that input may use, where the provider says so.
    pub input: Option<u64>,
    /// The longest answer.
    pub output: u64,
}

/// What a model can do, as the catalogue says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// It can call tools.
    pub tools: bool,
    /// It thinks before it answers.
    pub reasoning: bool,
    /// Kinds of input it reads: `text`, `image`, `pdf`, `audio`, `video`. Empty means unknown:
    /// images are tried then, everything less common is not.
    pub input: Vec<String>,
}

impl Capabilities {
    /// Whether input of that kind may be sent.
    #[must_use]
    pub fn reads(&self, kind: &str) -> bool {
        if self.input.is_empty() {
            return matches!(kind, "text" | "image");
        }
        self.input.iter().any(|known| known == kind)
    }
}

/// How one server departs from the protocol it claims to speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compatibility {
    /// Whether the server may be asked for a usage chunk; some refuse the unknown option.
    pub usage_chunk: bool,
    /// The role system text is sent with; decided by the adapter when absent.
    pub system_role: Option<SystemRole>,
    /// The member of an assistant message that carries replayed reasoning; decided by the adapter
    /// when absent.
    pub reasoning_field: Option<String>,
    /// The subset of JSON Schema the server accepts; guessed from the names when absent.
    pub tool_schema: Option<ToolSchema>,
    /// Whether the server takes system text in the middle of a conversation; decided by the adapter
    /// when absent. Where it does not, such text comes wrapped in a user message.
    pub mid_conversation_system: Option<bool>,
}

impl Default for Compatibility {
    fn default() -> Self {
        Self {
            usage_chunk: true,
            system_role: None,
            reasoning_field: None,
            tool_schema: None,
            mid_conversation_system: None,
        }
    }
}

/// The role of system text in OpenAI protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemRole {
    /// The classic role.
    System,
    /// The role reasoning models of OpenAI expect.
    Developer,
    /// For servers without either.
    User,
}

impl SystemRole {
    /// The role on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
        }
    }
}

/// Subsets of JSON Schema that some models insist on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSchema {
    /// Whatever the protocol itself accepts.
    Standard,
    /// Google's subset.
    Gemini,
    /// Moonshot's (Kimi) subset.
    Moonshot,
}

/// Time limits of one attempt. A model may think for minutes, so there are none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the response headers are there. `Duration::MAX` is no limit, also where the host has
    /// one; so it is for the others.
    pub header: Option<Duration>,
    /// Between two pieces of the body.
    pub chunk: Option<Duration>,
    /// From the request to the end of the body.
    pub total: Option<Duration>,
}

impl Timeouts {
    /// These limits, and the other ones where these leave a limit open.
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
