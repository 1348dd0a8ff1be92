//! Providers and models as reads show them. Secrets in them are replaced.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::record::Record;

/// What configuration adds to model requests.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RequestSettings {
    /// HTTP headers.
    pub headers: BTreeMap<String, String>,
    /// Members of the body.
    pub body: Record,
}

/// A provider of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderInfo {
    /// Its id.
    pub id: String,
    /// The integration that holds its credentials, if there is one.
    #[serde(
        rename = "integrationID",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub integration_id: Option<String>,
    /// Its name, for people.
    pub name: String,
    /// Whether configuration switched it off.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub disabled: Option<bool>,
    /// How it is spoken to.
    pub api: ProviderApi,
    /// What is added to every request to it.
    pub request: RequestSettings,
}

/// How a provider is spoken to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ProviderApi {
    /// As the package of this name does.
    Aisdk {
        /// The package.
        package: String,
        /// Where requests go; absent means the package's own place.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        url: Option<String>,
        /// The package's settings.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        settings: Option<Record>,
    },
    /// As this host itself knows it.
    Native {
        /// Where requests go.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        url: Option<String>,
        /// Its settings.
        settings: Record,
    },
}

/// A model of the catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelInfo {
    /// Its id within the provider.
    pub id: String,
    /// The provider's id.
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// The family it belongs to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub family: Option<String>,
    /// Its name, for people.
    pub name: String,
    /// How it is spoken to.
    pub api: ModelApi,
    /// What it can do.
    pub capabilities: ModelCapabilities,
    /// What is added to every request to it.
    pub request: ModelRequest,
    /// Its variants.
    pub variants: Vec<ModelVariant>,
    /// When it appeared.
    pub time: ModelTime,
    /// What it costs: the basic row, and rows that hold from some size of the context on.
    pub cost: Vec<ModelCost>,
    /// How finished it is.
    pub status: ModelStatus,
    /// Whether it may be used.
    pub enabled: bool,
    /// How much it takes and gives at once.
    pub limit: ModelLimit,
}

/// How a model is spoken to, and what its provider calls it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ModelApi {
    /// As the package of this name does.
    Aisdk {
        /// The model's name in requests.
        id: String,
        /// The package.
        package: String,
        /// Where requests go; absent means the package's own place.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        url: Option<String>,
        /// The package's settings.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        settings: Option<Record>,
    },
    /// As this host itself knows it.
    Native {
        /// The model's name in requests.
        id: String,
        /// Where requests go.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        url: Option<String>,
        /// Its settings.
        settings: Record,
    },
}

/// What a model can do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ModelCapabilities {
    /// Whether it calls tools.
    pub tools: bool,
    /// What it reads: `text`, `image`, `audio`, `video`, `pdf`.
    pub input: Vec<String>,
    /// What it writes, in the same words.
    pub output: Vec<String>,
}

/// What is added to every request to a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ModelRequest {
    /// HTTP headers.
    pub headers: BTreeMap<String, String>,
    /// Members of the body.
    pub body: Record,
    /// The variant that holds when nobody chooses one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variant: Option<String>,
}

/// A variant of a model: the same model with other settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelVariant {
    /// Its id within the model.
    pub id: String,
    /// HTTP headers.
    pub headers: BTreeMap<String, String>,
    /// Members of the body.
    pub body: Record,
}

/// When a model appeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelTime {
    /// Its release, epoch milliseconds; 0 when nobody knows.
    pub released: Millis,
}

/// Prices per million tokens, in the currency of the catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelCost {
    /// From which size of the context on these prices hold; absent in the basic row.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tier: Option<ModelCostTier>,
    /// Input no cache served.
    pub input: f64,
    /// Output, visible or reasoning.
    pub output: f64,
    /// Input that went through the provider's prompt cache.
    pub cache: ModelCacheCost,
}

/// From where on a row of prices holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ModelCostTier {
    /// A size of the context.
    Context {
        /// Tokens.
        size: u64,
    },
}

/// Prices of input that went through the provider's prompt cache.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ModelCacheCost {
    /// Read from it.
    pub read: f64,
    /// Written to it.
    pub write: f64,
}

/// How finished a model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelStatus {
    /// Tried out.
    Alpha,
    /// Nearly finished.
    Beta,
    /// About to go away.
    Deprecated,
    /// In use.
    #[default]
    Active,
}

/// How much a model takes and gives at once, in tokens. 0 means that nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ModelLimit {
    /// Input and output together.
    pub context: u64,
    /// Input, where it has a limit of its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input: Option<u64>,
    /// Output.
    pub output: u64,
}
