//! What is known of some providers without a list of models: the package that speaks to them, where
//! they are, and the variable that holds the key. Enough that a document need only name models.

use super::model::ApiKind;
use crate::config::{ApiPatch, ProviderPatch};
use crate::secret::BaseUrl;

struct Known {
    id: &'static str,
    name: &'static str,
    /// None where the provider's server is compatible with OpenAI's.
    package: Option<&'static str>,
    url: Option<&'static str>,
    env: &'static [&'static str],
}

const KNOWN: [Known; 9] = [
    Known {
        id: "anthropic",
        name: "Anthropic",
        package: Some("@ai-sdk/anthropic"),
        url: None,
        env: &["ANTHROPIC_API_KEY"],
    },
    Known {
        id: "openai",
        name: "OpenAI",
        package: Some("@ai-sdk/openai"),
        url: None,
        env: &["OPENAI_API_KEY"],
    },
    Known {
        id: "google",
        name: "Google",
        package: Some("@ai-sdk/google"),
        url: None,
        env: &["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    },
    Known {
        id: "azure",
        name: "Azure",
        package: Some("@ai-sdk/azure"),
        url: None,
        env: &["AZURE_RESOURCE_NAME", "AZURE_API_KEY"],
    },
    Known {
        id: "deepseek",
        name: "DeepSeek",
        package: None,
        url: Some("https://api.deepseek.com/v1"),
        env: &["DEEPSEEK_API_KEY"],
    },
    Known {
        id: "groq",
        name: "Groq",
        package: None,
        url: Some("https://api.groq.com/openai/v1"),
        env: &["GROQ_API_KEY"],
    },
    Known {
        id: "mistral",
        name: "Mistral",
        package: None,
        url: Some("https://api.mistral.ai/v1"),
        env: &["MISTRAL_API_KEY"],
    },
    Known {
        id: "openrouter",
        name: "OpenRouter",
        package: None,
        url: Some("https://openrouter.ai/api/v1"),
        env: &["OPENROUTER_API_KEY"],
    },
    Known {
        id: "xai",
        name: "xAI",
        package: None,
        url: Some("https://api.x.ai/v1"),
        env: &["XAI_API_KEY"],
    },
];

/// What is known of a provider, if anything.
pub(super) fn provider(id: &str) -> Option<ProviderPatch> {
    let known = KNOWN.iter().find(|known| known.id == id)?;
    let package = known.package.map(str::to_owned);
    Some(ProviderPatch {
        name: Some(known.name.to_owned()),
        api: ApiPatch {
            kind: package.map(ApiKind::Package),
            url: known.url.map(|url| BaseUrl(url.to_owned())),
            ..ApiPatch::default()
        },
        env: Some(known.env.iter().map(|&name| name.to_owned()).collect()),
        ..ProviderPatch::default()
    })
}
