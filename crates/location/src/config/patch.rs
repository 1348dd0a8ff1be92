//! What a document says about a provider: every field may be left unsaid.
//!
//! Both generations of the format are read into these, so that documents of either kind override
//! each other field by field.

use opencode_schema::catalogue::ModelStatus;

use crate::model::{ApiKind, Capabilities, CostRow};
use crate::secret::{BaseUrl, Headers, Members};

/// What is said about a provider.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ProviderPatch {
    /// Name shown to people.
    pub name: Option<String>,
    /// How it is spoken to.
    pub api: ApiPatch,
    /// Headers of every request to it.
    pub headers: Headers,
    /// Options of every request to it.
    pub body: Members,
    /// Options of the older generation of the format: what each of them is depends on the package.
    pub options: Members,
    /// Variables of the environment that may hold its key.
    pub env: Option<Vec<String>>,
    /// The only models of it that may be used.
    pub whitelist: Option<Vec<String>>,
    /// Models of it that may not be used.
    pub blacklist: Option<Vec<String>>,
    /// Its models, in the document's order.
    pub models: Vec<(String, ModelPatch)>,
}

/// What is said about an API.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ApiPatch {
    /// What implements it.
    pub kind: Option<ApiKind>,
    /// Its address.
    pub url: Option<BaseUrl>,
    /// Settings of the implementation.
    pub settings: Members,
}

/// What is said about a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ModelPatch {
    /// Name shown to people.
    pub name: Option<String>,
    /// Family it belongs to.
    pub family: Option<String>,
    /// The id the provider knows it by, where that differs from its id in the catalogue.
    pub wire_id: Option<String>,
    /// How it is spoken to, where that differs from its provider.
    pub api: ApiPatch,
    /// What it can do.
    pub capabilities: Option<Capabilities>,
    /// Whether it reasons.
    pub reasoning: Option<bool>,
    /// The ways its reasoning can be steered.
    pub reasoning_options: Option<Vec<ReasoningOption>>,
    /// The wire field its reasoning is replayed in.
    pub reasoning_field: Option<String>,
    /// Headers of every request to it.
    pub headers: Headers,
    /// Options of every request to it.
    pub body: Members,
    /// Options of every request to it, in the spelling of its package.
    pub options: Members,
    /// The variant in force unless another is chosen.
    pub default_variant: Option<String>,
    /// Its variants, in the document's order.
    pub variants: Vec<(String, VariantPatch)>,
    /// How finished it is.
    pub status: Option<ModelStatus>,
    /// Its whole price list.
    pub cost: Option<Vec<CostRow>>,
    /// Whether it must not be used.
    pub disabled: Option<bool>,
    /// Size of its context window.
    pub context: Option<u64>,
    /// Most input it takes.
    pub input: Option<u64>,
    /// Most output it gives.
    pub output: Option<u64>,
    /// When it was released, in milliseconds of the epoch.
    pub released: Option<i64>,
}

/// What is said about a variant of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct VariantPatch {
    /// Whether it is taken away.
    pub disabled: bool,
    /// Headers it adds.
    pub headers: Headers,
    /// Options it changes.
    pub body: Members,
    /// Options it changes, in the spelling of the model's package.
    pub options: Members,
}

/// A way the reasoning of a model can be steered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReasoningOption {
    /// By one of these words; none of them stands for no reasoning.
    Effort(Vec<Option<String>>),
    /// By how many tokens it may take.
    Budget {
        /// At least.
        min: Option<u64>,
        /// At most.
        max: Option<u64>,
    },
}
