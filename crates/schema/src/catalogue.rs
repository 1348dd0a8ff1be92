//! Providers and models, as read operations return them. Secrets in them are replaced.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::record::Record;

/// Headers and body members that configuration adds to model requests.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RequestSettings {
    /// HTTP headers.
    pub headers: BTreeMap<String, String>,
    /// Members of the request body.
    pub body: Record,
}

/// A provider of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderInfo {
    /// Id of the provider.
    pub id: String,
    /// Id of the integration that holds the provider's credentials, if any.
    #[serde(
        rename = "integrationID",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub integration_id: Option<String>,
    /// Display name.
    pub name: String,
    /// True if configuration disables the provider.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub disabled: Option<bool>,
    /// Protocol that the host uses for the provider.
    pub api: ProviderApi,
    /// Headers and body members that the host adds to every request to the provider.
    pub request: RequestSettings,
}

/// The protocol that the host uses for a provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ProviderApi {
    /// The protocol that an AI SDK package implements.
    Aisdk {
        /// Name of the package.
        package: String,
        /// Base URL of requests. Absent means the package's default URL.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        url: Option<String>,
        /// Settings of the package.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        settings: Option<Record>,
    },
    /// A protocol that this host implements.
    Native {
        /// Base URL of requests.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        url: Option<String>,
        /// Settings of the protocol.
        settings: Record,
    },
}

/// A model of the catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelInfo {
    /// Id of the model within its provider.
    pub id: String,
    /// Id of the provider.
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// Model family.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub family: Option<String>,
    /// Display name.
    pub name: String,
    /// Protocol that the host uses for the model.
    pub api: ModelApi,
    /// Abilities of the model.
    pub capabilities: ModelCapabilities,
    /// Headers and body members that the host adds to every request to the model.
    pub request: ModelRequest,
    /// Variants of the model.
    pub variants: Vec<ModelVariant>,
    /// Release time of the model.
    pub time: ModelTime,
    /// Prices: one basic row, and rows that apply from a certain context size on.
    pub cost: Vec<ModelCost>,
    /// Release stage of the model.
    pub status: ModelStatus,
    /// True if sessions may use the model.
    pub enabled: bool,
    /// Token limits of one request.
    pub limit: ModelLimit,
}

/// The protocol that the host uses for a model, and the provider's name of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ModelApi {
    /// The protocol that an AI SDK package implements.
    Aisdk {
        /// Name of the model in requests.
        id: String,
        /// Name of the package.
        package: String,
        /// Base URL of requests. Absent means the package's default URL.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        url: Option<String>,
        /// Settings of the package.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        settings: Option<Record>,
    },
    /// A protocol that this host implements.
    Native {
        /// Name of the model in requests.
        id: String,
        /// Base URL of requests.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        url: Option<String>,
        /// Settings of the protocol.
        settings: Record,
    },
}

/// The abilities of a model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ModelCapabilities {
    /// True if the model calls tools.
    pub tools: bool,
    /// Input kinds: `text`, `image`, `audio`, `video`, `pdf`.
    pub input: Vec<String>,
    /// Output kinds, with the same names as `input`.
    pub output: Vec<String>,
}

/// Headers and body members that the host adds to every request to a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ModelRequest {
    /// HTTP headers.
    pub headers: BTreeMap<String, String>,
    /// Members of the request body.
    pub body: Record,
    /// Variant that the host uses if the caller chooses none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variant: Option<String>,
}

/// A variant of a model: the same model with other settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelVariant {
    /// Id of the variant within the model.
    pub id: String,
    /// HTTP headers.
    pub headers: BTreeMap<String, String>,
    /// Members of the request body.
    pub body: Record,
}

/// The release time of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelTime {
    /// Release time in epoch milliseconds. 0 means unknown.
    pub released: Millis,
}

/// Prices per million tokens, in the currency of the catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelCost {
    /// Context size from which these prices apply. Absent in the basic row.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tier: Option<ModelCostTier>,
    /// Price of input that no cache served.
    pub input: f64,
    /// Price of output, visible or reasoning.
    pub output: f64,
    /// Prices of input that the provider's prompt cache read or wrote.
    pub cache: ModelCacheCost,
}

/// The condition from which a row of prices applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ModelCostTier {
    /// Applies from a context size on.
    Context {
        /// Context size in tokens.
        size: u64,
    },
}

/// Prices of input that the provider's prompt cache read or wrote.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ModelCacheCost {
    /// Price of input read from the cache.
    pub read: f64,
    /// Price of input written to the cache.
    pub write: f64,
}

/// The release stage of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelStatus {
    /// Early test release.
    Alpha,
    /// Late test release.
    Beta,
    /// Scheduled for removal.
    Deprecated,
    /// Generally available.
    #[default]
    Active,
}

/// Token limits of one request to a model. 0 means unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ModelLimit {
    /// Maximum of input and output together.
    pub context: u64,
    /// Maximum of input, if the model has a separate input limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input: Option<u64>,
    /// Maximum of output.
    pub output: u64,
}
