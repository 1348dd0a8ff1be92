//! Servers that are compatible with Chat Completions of OpenAI and have no file of their own: one row for each vendor.

use opencode_llm::ProtocolId;
use serde_json::{Map, Value, json};

use super::options::insert;
use super::{BuiltIn, Platform};
use crate::catalogue::error::UnsupportedReason;
use crate::catalogue::variants::{Choices, ReasoningModel};
use crate::config::options::camel_case;
use crate::model::Api;

/// The package for servers of the user. Default of providers that name no package.
pub(in crate::catalogue) const COMPATIBLE_PACKAGE: &str = "@ai-sdk/openai-compatible";

/// A vendor with a compatible server.
pub(super) struct Compatible {
    package: &'static str,
    url: Option<&'static str>,
    options: Options,
    built_in: Option<BuiltIn>,
}

/// The options of a package that are known.
enum Options {
    /// None of them.
    Unknown,
    /// Those of its provider. It has no option for efforts.
    WithoutEfforts,
    /// Also the option for efforts. The name of a model decides which ones it has.
    Efforts,
    /// As before, and every model has these efforts.
    TheseEfforts(&'static [&'static str]),
}

/// A server of the user.
pub(super) static USUAL: Compatible = Compatible {
    package: COMPATIBLE_PACKAGE,
    url: None,
    options: Options::Efforts,
    built_in: None,
};

static VENDORS: [Compatible; 12] = [
    Compatible {
        built_in: Some(BuiltIn {
            id: "deepseek",
            name: "DeepSeek",
            package: None,
            variables: &["DEEPSEEK_API_KEY"],
        }),
        ..row(
            "@ai-sdk/deepseek",
            "https://api.deepseek.com/v1",
            Options::WithoutEfforts,
        )
    },
    Compatible {
        built_in: Some(BuiltIn {
            id: "groq",
            name: "Groq",
            package: None,
            variables: &["GROQ_API_KEY"],
        }),
        ..row(
            "@ai-sdk/groq",
            "https://api.groq.com/openai/v1",
            Options::TheseEfforts(&["none", "low", "medium", "high"]),
        )
    },
    Compatible {
        built_in: Some(BuiltIn {
            id: "mistral",
            name: "Mistral",
            package: None,
            variables: &["MISTRAL_API_KEY"],
        }),
        ..row(
            "@ai-sdk/mistral",
            "https://api.mistral.ai/v1",
            Options::TheseEfforts(&["high"]),
        )
    },
    row(
        "@ai-sdk/alibaba",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        Options::WithoutEfforts,
    ),
    row(
        "@ai-sdk/cerebras",
        "https://api.cerebras.ai/v1",
        Options::Efforts,
    ),
    row(
        "@ai-sdk/cohere",
        "https://api.cohere.ai/compatibility/v1",
        Options::WithoutEfforts,
    ),
    row(
        "@ai-sdk/deepinfra",
        "https://api.deepinfra.com/v1/openai",
        Options::Efforts,
    ),
    row(
        "@ai-sdk/gateway",
        "https://ai-gateway.vercel.sh/v1",
        Options::Unknown,
    ),
    row(
        "@ai-sdk/perplexity",
        "https://api.perplexity.ai",
        Options::WithoutEfforts,
    ),
    row(
        "@ai-sdk/togetherai",
        "https://api.together.xyz/v1",
        Options::Efforts,
    ),
    row(
        "@ai-sdk/vercel",
        "https://api.v0.dev/v1",
        Options::WithoutEfforts,
    ),
    row(
        "venice-ai-sdk-provider",
        "https://api.venice.ai/api/v1",
        Options::Efforts,
    ),
];

const fn row(package: &'static str, url: &'static str, options: Options) -> Compatible {
    Compatible {
        package,
        url: Some(url),
        options,
        built_in: None,
    }
}

/// The platforms of this file.
pub(super) fn all() -> impl Iterator<Item = &'static dyn Platform> + Clone {
    rows().map(|row| -> &dyn Platform { row })
}

/// Returns the platform that a package names, if it is in this file.
pub(super) fn of_package(package: &str) -> Option<&'static dyn Platform> {
    let row = rows().find(|row| row.package == package)?;
    Some(row)
}

fn rows() -> impl Iterator<Item = &'static Compatible> + Clone {
    std::iter::once(&USUAL).chain(&VENDORS)
}

impl Platform for Compatible {
    fn protocol(&self, _api: &Api, _wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        Ok(ProtocolId::OpenAiChat)
    }

    fn url(&self) -> Option<&'static str> {
        self.url
    }

    fn knows_options(&self) -> bool {
        !matches!(self.options, Options::Unknown)
    }

    fn write_option(&self, body: &mut Map<String, Value>, name: &str, value: &Value) {
        let is_effort = self.has_efforts() && camel_case(name) == "reasoningEffort";
        let name = if is_effort { "reasoning_effort" } else { name };
        insert(body, &[name], value.clone());
    }

    fn choices(&self, id: &str, _model: &ReasoningModel<'_>) -> Choices {
        match self.options {
            Options::Unknown | Options::WithoutEfforts => Choices::NONE,
            Options::Efforts if id.contains("deepseek-v4") => {
                Choices::Efforts(&["low", "medium", "high", "max"])
            }
            Options::Efforts => Choices::USUAL,
            Options::TheseEfforts(efforts) => Choices::Efforts(efforts),
        }
    }

    fn effort(&self, _wire_id: &str, effort: &str) -> Option<Value> {
        self.has_efforts()
            .then(|| json!({ "reasoningEffort": effort }))
    }

    fn built_in(&self) -> Option<BuiltIn> {
        self.built_in
    }
}

impl Compatible {
    const fn has_efforts(&self) -> bool {
        matches!(self.options, Options::Efforts | Options::TheseEfforts(_))
    }
}
