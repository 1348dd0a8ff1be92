//! What a document says about a provider: every field may be left unsaid.
//!
//! Both generations of the format are read into these, so that documents of either kind override
//! each other field by field.

use crate::catalogue::{ApiKind, Capabilities, CostRow};
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
    /// The wire field its reasoning is replayed in.
    pub reasoning_field: Option<String>,
    /// Headers of every request to it.
    pub headers: Headers,
    /// Options of every request to it.
    pub body: Members,
    /// The variant in force unless another is chosen.
    pub default_variant: Option<String>,
    /// Its variants, in the document's order.
    pub variants: Vec<(String, VariantPatch)>,
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
}
