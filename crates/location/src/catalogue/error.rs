//! Why a model cannot be called.

use crate::nearest::{did_you_mean, listed};

/// Why resolving a model failed. Nothing was sent and nothing recorded; the same selection may
/// succeed once the configuration has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelResolutionError {
    /// The catalogue has no such model, or it is switched off.
    #[error("{}", unavailable(.provider_id, .model_id, .reason))]
    ModelUnavailable {
        /// The provider asked for.
        provider_id: String,
        /// The model asked for.
        model_id: String,
        /// What stands in the way.
        reason: UnavailableReason,
    },
    /// The model has no such variant.
    #[error("The model {provider_id}/{model_id} has no variant {variant:?}; {}", available_variants(.available))]
    VariantUnavailable {
        /// The provider.
        provider_id: String,
        /// The model.
        model_id: String,
        /// The variant asked for.
        variant: String,
        /// The variants it has.
        available: Vec<String>,
    },
    /// The runtime cannot speak to the model.
    #[error("Unsupported API for {provider_id}/{model_id}: {api}: {reason}")]
    UnsupportedApi {
        /// The provider.
        provider_id: String,
        /// The model.
        model_id: String,
        /// What implements its API: `aisdk:<package>` or `native`.
        api: String,
        /// What is missing.
        reason: UnsupportedReason,
    },
    /// Nobody chose a model and none can be used by default.
    #[error("No model is selected and {}", nothing_usable(*.models))]
    ModelNotSelected {
        /// How many models the catalogue has, none of them usable.
        models: usize,
    },
}

/// Why a model is not available.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnavailableReason {
    /// No document describes the provider.
    #[error(
        "no provider of this id is configured.{} Configure it under `provider` or select a model of another one",
        did_you_mean(.meant.as_deref())
    )]
    UnknownProvider {
        /// A provider of nearly this id.
        meant: Option<String>,
    },
    /// A policy or a list of providers leaves it out.
    #[error(
        "the provider may not be used. See `experimental.policies`, `enabled_providers` and `disabled_providers`"
    )]
    Denied,
    /// It needs a key and there is none.
    #[error("{}", missing_key(.variables))]
    NoKey {
        /// The variables of the environment that may hold one.
        variables: Vec<String>,
    },
    /// No document describes the model.
    #[error(
        "the provider has no model of this id.{}{} Add it under the provider's `models` or select another one",
        did_you_mean(.meant.as_deref()),
        its_models(.known)
    )]
    UnknownModel {
        /// A model of nearly this id.
        meant: Option<String>,
        /// The models that it has.
        known: Vec<String>,
    },
    /// It is switched off.
    #[error(
        "it is disabled or deprecated in the configuration, or the provider's whitelist or blacklist leaves it out. Change that setting or select another model"
    )]
    Disabled,
}

/// Why the runtime cannot speak to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedReason {
    /// There is no adapter for the package.
    #[error(
        "this package has no adapter. Packages with one are @ai-sdk/anthropic, @ai-sdk/openai and, for servers compatible with OpenAI, @ai-sdk/openai-compatible"
    )]
    Package,
    /// A native API names no protocol the runtime knows.
    #[error(
        "its setting `protocol` names none of the known protocols: anthropic-messages, openai-chat, openai-responses"
    )]
    Protocol,
    /// It is unknown where the server is.
    #[error(
        "it has no address. Pass baseURL to OpenCode.create, or set the provider's `options.baseURL`"
    )]
    MissingBaseUrl,
    /// The address cannot be one.
    #[error("its `baseURL` is not an absolute http or https URL")]
    InvalidBaseUrl,
}

fn its_models(known: &[String]) -> String {
    match known {
        [] => String::new(),
        names => format!(" It has {}.", listed(names)),
    }
}

/// A missing key is a matter of the provider, whichever model was asked for.
fn unavailable(provider_id: &str, model_id: &str, reason: &UnavailableReason) -> String {
    match reason {
        UnavailableReason::NoKey { .. } => {
            format!("No API key for provider {provider_id}: {reason}")
        }
        _ => format!("The model {provider_id}/{model_id} is not available: {reason}"),
    }
}

fn missing_key(variables: &[String]) -> String {
    const PASS: &str = "pass apiKey to OpenCode.create";
    match variables {
        [] => PASS.to_owned(),
        names => format!("set {} or {PASS}", names.join(" or ")),
    }
}

fn available_variants(variants: &[String]) -> String {
    if variants.is_empty() {
        "it has none. Select the model without a variant".to_owned()
    } else {
        format!("select one of {}", variants.join(", "))
    }
}

fn nothing_usable(models: usize) -> String {
    match models {
        0 => "no model is configured. Pass model to OpenCode.create, for example \"openai/gpt-4.1-mini\", or configure a provider with a model".to_owned(),
        _ => format!("none of the {models} configured models can be used. Configure one whose provider has the package @ai-sdk/anthropic or @ai-sdk/openai, or @ai-sdk/openai-compatible and an address"),
    }
}
