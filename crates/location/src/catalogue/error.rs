//! Reasons why a model cannot be called.

use crate::nearest::{did_you_mean, listed};

/// The reason why a model could not be resolved. No request was sent and nothing was recorded. The same
/// selection may succeed after the configuration has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelResolutionError {
    /// The catalogue does not contain the model, or the model is disabled.
    #[error("{}", unavailable(.provider_id, .model_id, .reason))]
    ModelUnavailable {
        /// The requested provider.
        provider_id: String,
        /// The requested model.
        model_id: String,
        /// The reason why it is unavailable.
        reason: UnavailableReason,
    },
    /// The model does not have this variant.
    #[error("The model {provider_id}/{model_id} has no variant {variant:?}; {}", available_variants(.available))]
    VariantUnavailable {
        /// The provider.
        provider_id: String,
        /// The model.
        model_id: String,
        /// The requested variant.
        variant: String,
        /// The variants of the model.
        available: Vec<String>,
    },
    /// The runtime does not support the API of the model.
    #[error("Unsupported API for {provider_id}/{model_id}: {api}: {reason}")]
    UnsupportedApi {
        /// The provider.
        provider_id: String,
        /// The model.
        model_id: String,
        /// The implementation of its API: `aisdk:<package>` or `native`.
        api: String,
        /// The missing part.
        reason: UnsupportedReason,
    },
    /// No model was chosen, and no model can be the default.
    #[error("No model is selected and {}", nothing_usable(*.models))]
    ModelNotSelected {
        /// Number of models in the catalogue. None of them is usable.
        models: usize,
    },
}

/// The reason why a model is not available.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnavailableReason {
    /// No document describes the provider.
    #[error(
        "no provider of this id is configured.{} Configure it under `provider` or select a model of another one",
        did_you_mean(.meant.as_deref())
    )]
    UnknownProvider {
        /// A provider with a similar id.
        meant: Option<String>,
    },
    /// A policy or a list of providers excludes it.
    #[error(
        "the provider may not be used. See `experimental.policies`, `enabled_providers` and `disabled_providers`"
    )]
    Denied,
    /// The provider needs a key and no key is configured.
    #[error("{}", missing_key(.variables))]
    NoKey {
        /// The environment variables that may contain a key.
        variables: Vec<String>,
    },
    /// No document describes the model.
    #[error(
        "the provider has no model of this id.{}{} Add it under the provider's `models` or select another one",
        did_you_mean(.meant.as_deref()),
        known_models(.known)
    )]
    UnknownModel {
        /// A model with a similar id.
        meant: Option<String>,
        /// The models of the provider.
        known: Vec<String>,
    },
    /// The model is disabled.
    #[error(
        "it is disabled or deprecated in the configuration, or the provider's whitelist or blacklist leaves it out. Change that setting or select another model"
    )]
    Disabled,
}

/// The reason why the runtime does not support a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedReason {
    /// The package has no adapter.
    #[error(
        "this package has no adapter. Register a model of it with providers.register and fromAISDK, or use @ai-sdk/openai-compatible for a server that is compatible with OpenAI"
    )]
    Package,
    /// The native API names a protocol that the runtime does not know.
    #[error(
        "its setting `protocol` names none of the known protocols: anthropic-messages, bedrock-converse, gemini, openai-chat, openai-responses"
    )]
    Protocol,
    /// The address of the server is unknown.
    #[error(
        "it has no address. Pass baseURL to OpenCode.create, or set the provider's `options.baseURL`"
    )]
    MissingBaseUrl,
    /// The address is not valid.
    #[error("its `baseURL` is not an absolute http or https URL")]
    InvalidBaseUrl,
}

fn known_models(known: &[String]) -> String {
    match known {
        [] => String::new(),
        names => format!(" It has {}.", listed(names)),
    }
}

/// A missing key concerns the provider, independent of the requested model.
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
        _ => format!("no configured model can be used, of {models} models. Pass model to OpenCode.create, for example \"openai/gpt-4.1-mini\"; models.list() shows those that the present keys allow. Or configure one whose provider has the package @ai-sdk/anthropic, @ai-sdk/google or @ai-sdk/openai, or @ai-sdk/openai-compatible and an address"),
    }
}
