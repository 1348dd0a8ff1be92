//! The deviations of one server.

use opencode_llm::canonical::model::{CompatibleServer, ResolvedModel, SystemRole, ToolSchema};
use url::Url;

use super::cache::is_marked;
use crate::identifiers::{plain, short};
use crate::media::Reads;
use crate::{openai, tool_schema};

/// The types of sounds that the protocol can carry.
const SOUNDS: &[&str] = &["audio/wav", "audio/mpeg"];

/// The member that most servers use for replayed reasoning.
const REASONING_FIELD: &str = "reasoning_content";

/// Maximum length of a call identifier for models of OpenAI, in characters. Other servers create longer ones.
const MAX_CALL_ID: usize = 40;

/// The deviations that change the wire form of a request. Equal dialects write equal bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// The role of the opening system text.
    pub(super) system_role: SystemRole,
    /// A reasoning model on an endpoint of OpenAI. It refuses sampling controls and has another
    /// name for the output limit.
    pub(super) openai_reasoning: bool,
    /// The endpoint belongs to OpenAI.
    pub(super) openai: bool,
    /// The request may ask for a usage chunk.
    pub(super) usage_chunk: bool,
    /// The member for replayed reasoning.
    pub(super) reasoning_field: String,
    /// Every assistant message needs the reasoning member, even without reasoning.
    pub(super) reasoning_required: bool,
    /// Call identifiers must be nine letters or digits, and a user message must not follow a tool
    /// message.
    pub(super) mistral: bool,
    /// Call identifiers must consist of letters, digits, `_` and `-`.
    plain_ids: bool,
    /// Call identifiers must not be longer than those of OpenAI.
    short_ids: bool,
    /// The server, if it extends the protocol.
    pub(super) server: Option<CompatibleServer>,
    /// Texts are parts of arrays, which can have cache marks.
    pub(super) is_marked: bool,
    /// The files that the model reads.
    pub(super) reads: Reads,
    /// The subset of JSON Schema for tools.
    pub(super) tool_schema: ToolSchema,
}

impl Dialect {
    pub(crate) fn of(model: &ResolvedModel) -> Self {
        let names =
            [&model.id, &model.provider_id, &model.model_id].map(|name| name.to_lowercase());
        let named = |word: &str| names.iter().any(|name| name.contains(word));
        let openai = model.is_at_openai();
        let openai_reasoning = openai::is_own_reasoning(model);
        let compatibility = &model.compatibility;
        let server = compatibility.compatible_server;
        let usual_role = if openai_reasoning {
            SystemRole::Developer
        } else {
            SystemRole::System
        };
        Self {
            system_role: compatibility.system_role.unwrap_or(usual_role),
            openai_reasoning,
            openai,
            usage_chunk: compatibility.usage_chunk,
            reasoning_field: compatibility
                .reasoning_field
                .clone()
                .unwrap_or_else(|| reasoning_field(server).to_owned()),
            reasoning_required: named("deepseek"),
            server,
            is_marked: is_marked(server, model),
            mistral: named("mistral") || named("devstral"),
            plain_ids: named("claude") || named("anthropic"),
            short_ids: openai
                || server == Some(CompatibleServer::Copilot)
                || named("gpt-")
                || named("azure")
                || is_azure(model),
            reads: Reads::of(&model.capabilities).with_sounds(&model.capabilities, SOUNDS),
            tool_schema: tool_schema::subset(model),
        }
    }

    /// Returns the identifier of a call in the form that this server accepts. For Mistral it keeps
    /// the end, because the calls of a step share the start of their identifiers.
    pub(super) fn call_id(&self, id: &str) -> String {
        if !self.mistral {
            let id = match self.plain_ids {
                true => plain(id),
                false => id.into(),
            };
            return match self.short_ids {
                true => short(&id, MAX_CALL_ID).into_owned(),
                false => id.into_owned(),
            };
        }
        let plain: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
        let end = &plain[plain.len().saturating_sub(9)..];
        // Another fill behind a zero, so that `call_1` and `call_10` stay different.
        match end.ends_with('0') {
            true => format!("{end:x<9}"),
            false => format!("{end:0<9}"),
        }
    }
}

/// True if the endpoint of a model belongs to Azure.
fn is_azure(model: &ResolvedModel) -> bool {
    let url = Url::parse(&model.endpoint.base_url);
    url.is_ok_and(|url| url.host_str().is_some_and(|it| it.ends_with(".azure.com")))
}

/// Returns the member for replayed reasoning.
const fn reasoning_field(server: Option<CompatibleServer>) -> &'static str {
    match server {
        Some(CompatibleServer::OpenRouter) => "reasoning",
        Some(CompatibleServer::Copilot) => "reasoning_text",
        None => REASONING_FIELD,
    }
}

#[cfg(test)]
mod tests {
    use opencode_llm::canonical::model::ProtocolId;

    use super::*;

    fn dialect(provider: &str, id: &str, base: &str) -> Dialect {
        let mut model = ResolvedModel::new(provider, id, ProtocolId::OpenAiChat, base);
        model.compatibility.compatible_server = match provider {
            "github-copilot" => Some(CompatibleServer::Copilot),
            "openrouter" => Some(CompatibleServer::OpenRouter),
            _ => None,
        };
        Dialect::of(&model)
    }

    #[test]
    fn reasoning_rules_hold_at_openai_only() {
        let rows = [
            ("https://api.openai.com/v1", "gpt-5.2", true),
            ("https://api.openai.com/v1", "o3-mini", true),
            ("https://api.openai.com/v1", "gpt-5-chat-latest", false),
            ("https://api.openai.com/v1", "gpt-4.1", false),
            ("https://api.openai.com.evil.test/v1", "gpt-5.2", false),
            ("http://localhost:11434/v1", "gpt-5.2", false),
        ];
        for (base, id, expected) in rows {
            assert_eq!(
                dialect("p", id, base).openai_reasoning,
                expected,
                "{base} {id}"
            );
        }
    }

    #[test]
    fn families_are_recognised_by_name() {
        let base = "http://localhost/v1";
        assert!(dialect("openrouter", "deepseek/deepseek-v4", base).reasoning_required);
        assert!(dialect("mistral", "x", base).mistral);
        assert!(dialect("p", "Devstral-small", base).mistral);
        assert_eq!(
            dialect("moonshotai", "x", base).tool_schema,
            ToolSchema::Moonshot
        );
        assert_eq!(
            dialect("p", "gemini-3", base).tool_schema,
            ToolSchema::Gemini
        );
        assert_eq!(dialect("p", "x", base).tool_schema, ToolSchema::Standard);
    }

    #[test]
    fn identifiers_are_shortened_for_models_of_openai_only() {
        let id = "chatcmpl-tool-0123456789abcdef0123456789abcdef";
        let expected = "chatcmpl-tool-0123456789abcdef0_";
        for (provider, model, base) in [
            ("openai", "gpt-4.1", "https://api.openai.com/v1"),
            ("p", "x", "https://api.openai.com/v1"),
            ("github-copilot", "x", "https://api.githubcopilot.com"),
            ("openrouter", "openai/gpt-5", "https://openrouter.ai/api/v1"),
            ("azure", "x", "http://localhost/v1"),
            ("p", "x", "https://mine.openai.azure.com/openai/v1"),
        ] {
            let dialect = dialect(provider, model, base);
            assert_eq!(dialect.call_id("call_1"), "call_1");
            assert_eq!(&dialect.call_id(id)[..32], &expected[..32], "{base}");
            assert_eq!(dialect.call_id(id).len(), MAX_CALL_ID, "{base}");
        }
        assert_eq!(dialect("p", "x", "http://localhost/v1").call_id(id), id);
    }

    #[test]
    fn identifiers_are_plain_for_claude_only() {
        let copilot = "https://api.githubcopilot.com";
        let router = "https://openrouter.ai/api/v1";
        let long = format!("call|{}", "x".repeat(450));
        for (provider, model, base) in [
            ("github-copilot", "claude-sonnet-4.5", copilot),
            ("openrouter", "anthropic/claude-opus-4.5", router),
            ("anthropic", "x", "http://localhost/v1"),
        ] {
            let dialect = dialect(provider, model, base);
            assert_eq!(dialect.call_id("functions.read:0"), "functions_read_0");
            let id = dialect.call_id(&long);
            assert!(id.starts_with("call_x"), "{id}");
            assert_eq!(id.len() == MAX_CALL_ID, base == copilot, "{id}");
        }
        let kimi = dialect("moonshotai", "kimi-k2", "http://localhost/v1");
        assert_eq!(kimi.call_id("functions.read:0"), "functions.read:0");
    }

    #[test]
    fn identifiers_are_rewritten_for_mistral_only() {
        let mistral = dialect("mistral", "x", "http://localhost/v1");
        let rows = [
            ("abcDEF123", "abcDEF123"),
            ("call_1", "call10000"),
            ("call_10", "call10xxx"),
            ("call_100", "call100xx"),
            ("toolu_01AbCdEfGhIjKlMn", "fGhIjKlMn"),
            ("functions.read:0", "ionsread0"),
            ("ü_-", "000000000"),
        ];
        for (id, expected) in rows {
            assert_eq!(mistral.call_id(id), expected);
            assert_eq!(dialect("p", "x", "http://localhost/v1").call_id(id), id);
        }
    }
}
