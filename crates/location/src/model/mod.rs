//! What the catalogue knows about a provider and a model.

mod cost;
mod released;

use std::fmt;
use std::sync::Arc;

use opencode_llm::Secret;
use opencode_schema::catalogue::ModelStatus;

use crate::secret::{BaseUrl, Headers, Members};

pub use cost::{Cost, CostRow};
pub(crate) use released::released;

/// A provider.
#[derive(Debug, Clone, PartialEq)]
pub struct Provider {
    /// Its id, unique in the catalogue.
    pub id: String,
    /// Name shown to people.
    pub name: String,
    /// How it is spoken to.
    pub api: Arc<Api>,
    /// Headers of every request to it.
    pub headers: Headers,
    /// Options of every request to it.
    pub body: Members,
    /// The variables of the environment that may hold its key; none for a provider that nobody but
    /// the configuration knows, and that may be used without a key.
    pub variables: Option<Vec<String>>,
    /// The key one of these variables holds.
    pub key: Option<Secret>,
    /// Whether it may be used: it needs no key, or there is one.
    pub available: bool,
}

/// How a provider or a model is spoken to.
#[derive(Debug, Clone, PartialEq)]
pub struct Api {
    /// What implements it.
    pub kind: ApiKind,
    /// Its address.
    pub url: Option<BaseUrl>,
    /// Settings of the implementation; may hold the API key.
    pub settings: Members,
}

/// What implements an API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiKind {
    /// A package of the AI SDK, by its npm name.
    Package(String),
    /// This runtime itself, by the protocol its settings name.
    Native,
}

impl fmt::Display for ApiKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Package(name) => write!(f, "aisdk:{name}"),
            Self::Native => f.write_str("native"),
        }
    }
}

/// A model of a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The provider's id.
    pub provider_id: String,
    /// Its id, unique within the provider.
    pub id: String,
    /// Name shown to people.
    pub name: String,
    /// Family it belongs to.
    pub family: Option<String>,
    /// The id the provider knows it by.
    pub wire_id: String,
    /// How it is spoken to: its provider's API with what the model says over it.
    pub api: Arc<Api>,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Whether it reasons.
    pub reasoning: bool,
    /// The wire field its reasoning is replayed in, where the protocol's own is not the one.
    pub reasoning_field: Option<String>,
    /// Headers of every request to it, over those of its provider.
    pub headers: Headers,
    /// Options of every request to it, over those of its provider.
    pub body: Members,
    /// The variant in force unless another is chosen.
    pub default_variant: Option<String>,
    /// Its variants.
    pub variants: Vec<Variant>,
    /// When it was released, in milliseconds of the epoch; 0 if unknown.
    pub released: i64,
    /// Its prices.
    pub cost: Cost,
    /// How finished it is.
    pub status: ModelStatus,
    /// Whether configuration leaves it in use.
    pub enabled: bool,
    /// Its token limits.
    pub limits: Limits,
}

/// A named set of changes to a model's requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Its id, unique within the model.
    pub id: String,
    /// Headers it adds.
    pub headers: Headers,
    /// Options it changes.
    pub body: Members,
}

/// What a model can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// It calls tools.
    pub tools: bool,
    /// Kinds of input it reads; empty if unknown.
    pub input: Vec<String>,
    /// Kinds of output it gives; empty if unknown.
    pub output: Vec<String>,
}

/// A model nothing is said about is taken to call tools: refusing them would make it useless, while
/// a server without them says so itself.
impl Default for Capabilities {
    fn default() -> Self {
        Self {
            tools: true,
            input: Vec::new(),
            output: Vec::new(),
        }
    }
}

/// Token limits; 0 if unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// The whole context window.
    pub context: u64,
    /// The part of it input may use, if it is limited apart.
    pub input: Option<u64>,
    /// The longest answer.
    pub output: u64,
}
