//! Built-in data of some providers, used without a list of models: the package, the address, and the
//! variable that contains the key. With this data, a document only needs to name models.

use opencode_llm::ProtocolId;
use url::Url;

use super::packages::azure_url;
use crate::config::{ApiPatch, HostModel, ProviderPatch};
use crate::environment::Environment;
use crate::model::ApiKind;
use crate::secret::BaseUrl;

struct Known {
    id: &'static str,
    name: &'static str,
    /// `None` if the server of the provider is compatible with OpenAI's.
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

/// The ids of the known providers.
pub(super) fn ids<'a>() -> impl Iterator<Item = &'a str> + Clone {
    KNOWN.iter().map(|known| -> &'a str { known.id })
}

/// The variables that contain the credentials of these providers.
pub(super) fn credentials<'a>() -> impl Iterator<Item = &'a str> {
    KNOWN.iter().flat_map(|known| super::credentials(known.env))
}

/// Returns the built-in data of a provider, if there is any.
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

/// The description of an unknown provider whose model the embedding program chose: a server compatible
/// with OpenAI's. The variable `<PROVIDER>_API_KEY` counts only if the program also gave the address.
pub(super) fn compatible(chosen: &HostModel) -> ProviderPatch {
    let id = &chosen.model.provider_id;
    let variable = || {
        let letters = id.chars().map(|it| {
            if it.is_ascii_alphanumeric() {
                it.to_ascii_uppercase()
            } else {
                '_'
            }
        });
        format!("{}_API_KEY", letters.collect::<String>())
    };
    ProviderPatch {
        env: chosen.base_url.as_ref().map(|_| vec![variable()]),
        ..ProviderPatch::default()
    }
}

/// The address that an environment variable gives for a provider. Used if the configuration gives no address.
pub(super) fn address(id: &str, environment: &Environment) -> Option<BaseUrl> {
    let variable = match id {
        "anthropic" => "ANTHROPIC_BASE_URL",
        "openai" => "OPENAI_BASE_URL",
        "azure" => {
            let resource = environment.variable("AZURE_RESOURCE_NAME")?;
            return azure_url(resource).map(BaseUrl);
        }
        _ => return None,
    };
    environment
        .variable(variable)
        .map(|url| BaseUrl(url.to_owned()))
}

/// Replaces `${NAME}` in an address of the list by the value of this variable. Keeps the address if a variable is missing;
/// such an address is no valid one.
pub(super) fn filled(url: BaseUrl, environment: &Environment) -> BaseUrl {
    let mut filled = String::new();
    let mut rest = url.0.as_str();
    while let Some((before, after)) = rest.split_once("${") {
        let found = after.split_once('}');
        let value = found.and_then(|(name, tail)| Some((environment.variable(name)?, tail)));
        let Some((value, tail)) = value else {
            return url;
        };
        filled.push_str(before);
        filled.push_str(value);
        rest = tail;
    }
    filled.push_str(rest);
    BaseUrl(filled)
}

/// True if the address belongs to the own server of a known provider, which always requires a key.
pub(super) fn needs_key(url: Option<&BaseUrl>) -> bool {
    let host = |url: &str| Some(Url::parse(url).ok()?.host_str()?.to_owned());
    let Some(given) = url.and_then(|url| host(&url.0)) else {
        return false;
    };
    let defaults = ProtocolId::ALL
        .into_iter()
        .filter_map(ProtocolId::default_base_url);
    let mut own = KNOWN.iter().filter_map(|known| known.url).chain(defaults);
    own.any(|url| host(url).as_ref() == Some(&given))
}
