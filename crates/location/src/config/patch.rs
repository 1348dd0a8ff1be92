//! The description of a provider in a document. Every field is optional.
//!
//! Both generations of the format are decoded into these types, so that documents of either generation
//! override each other field by field.

use opencode_schema::catalogue::ModelStatus;

use crate::model::{ApiKind, Capabilities, CostRow};
use crate::secret::{BaseUrl, Headers, Members};

/// The description of a provider.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ProviderPatch {
    /// Display name.
    pub name: Option<String>,
    /// Its API.
    pub api: ApiPatch,
    /// Headers of every request to it.
    pub headers: Headers,
    /// Options of every request to it.
    pub body: Members,
    /// Options of the older generation of the format. The package determines the meaning of each one.
    pub options: Members,
    /// Environment variables that may contain its key.
    pub env: Option<Vec<String>>,
    /// The only models that can be used.
    pub whitelist: Option<Vec<String>>,
    /// Models that cannot be used.
    pub blacklist: Option<Vec<String>>,
    /// Its models, in the order of the document.
    pub models: Vec<(String, ModelPatch)>,
}

/// The description of an API.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ApiPatch {
    /// The implementation.
    pub kind: Option<ApiKind>,
    /// The address.
    pub url: Option<BaseUrl>,
    /// Settings of the implementation.
    pub settings: Members,
}

/// The description of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ModelPatch {
    /// Display name.
    pub name: Option<String>,
    /// The model family.
    pub family: Option<String>,
    /// The id that the provider uses for the model, if it differs from the id in the catalogue.
    pub wire_id: Option<String>,
    /// The API, if it differs from that of the provider.
    pub api: ApiPatch,
    /// The capabilities of the model.
    pub capabilities: Option<Capabilities>,
    /// True if the server accepts a format of the answer of the model.
    pub structured_output: Option<bool>,
    /// True if the model reasons.
    pub reasoning: Option<bool>,
    /// The options that control its reasoning.
    pub reasoning_options: Option<Vec<ReasoningOption>>,
    /// The wire field in which reasoning is sent back to the model.
    pub reasoning_field: Option<String>,
    /// Headers of every request to it.
    pub headers: Headers,
    /// Options of every request to it.
    pub body: Members,
    /// Options of every request to it, in the spelling of its package.
    pub options: Members,
    /// The variant that applies if no other one is chosen.
    pub default_variant: Option<String>,
    /// Its variants, in the order of the document.
    pub variants: Vec<(String, VariantPatch)>,
    /// The release status.
    pub status: Option<ModelStatus>,
    /// The complete price list.
    pub cost: Option<Vec<CostRow>>,
    /// True if the model must not be used.
    pub disabled: Option<bool>,
    /// Size of the context window in tokens.
    pub context: Option<u64>,
    /// Maximum number of input tokens.
    pub input: Option<u64>,
    /// Maximum number of output tokens.
    pub output: Option<u64>,
    /// Release date in milliseconds since the Unix epoch.
    pub released: Option<i64>,
}

/// The description of a variant of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct VariantPatch {
    /// True if the variant is removed.
    pub disabled: bool,
    /// Headers that it adds.
    pub headers: Headers,
    /// Options that it changes.
    pub body: Members,
    /// Options that it changes, in the spelling of the model's package.
    pub options: Members,
}

/// An option that controls the reasoning of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReasoningOption {
    /// One of these words. `None` in the list stands for no reasoning.
    Effort(Vec<Option<String>>),
    /// A number of tokens.
    Budget {
        /// Minimum.
        min: Option<u64>,
        /// Maximum.
        max: Option<u64>,
    },
}
