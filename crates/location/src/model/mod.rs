//! The providers and models of the catalogue.

mod cost;
mod released;
mod sign_in;

use std::fmt;
use std::sync::Arc;

use opencode_cloud::{AwsCredentials, GoogleCredentials};
use opencode_schema::catalogue::ModelStatus;
use opencode_secrets::Secret;

use crate::secret::{BaseUrl, Headers, Members};

pub use cost::{Cost, CostRow};
pub(crate) use released::released;
pub use sign_in::{AccessToken, SignIn};

/// A provider.
#[derive(Debug, Clone, PartialEq)]
pub struct Provider {
    /// Its id, unique in the catalogue.
    pub id: String,
    /// Display name.
    pub name: String,
    /// The API of the provider.
    pub api: Arc<Api>,
    /// Headers of every request to the provider.
    pub headers: Headers,
    /// Options of every request to the provider.
    pub body: Members,
    /// The environment variables that may contain its key. `None` for a provider that only the
    /// configuration describes and that may be used without a key.
    pub variables: Option<Vec<String>>,
    /// The key from one of these variables, or a stored one.
    pub key: Option<Secret>,
    /// The sign-in of the user, for a provider without a key.
    pub sign_in: Option<SignIn>,
    /// The credentials of its cloud platform, for a provider with models at one.
    pub cloud: Option<CloudCredentials>,
    /// True if the provider can be used: it needs no key, or a key is available.
    pub available: bool,
}

/// The credentials of a cloud platform. Shared by the models of a provider, which renew them together.
#[derive(Debug, Clone, PartialEq)]
pub enum CloudCredentials {
    /// For Amazon Bedrock.
    Aws(Arc<AwsCredentials>),
    /// For Google Vertex.
    Google(Arc<GoogleCredentials>),
}

/// The API of a provider or a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Api {
    /// The implementation.
    pub kind: ApiKind,
    /// The address.
    pub url: Option<BaseUrl>,
    /// Settings of the implementation. They may contain the API key.
    pub settings: Members,
}

/// The implementation of an API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiKind {
    /// A package of the AI SDK, by its npm name.
    Package(String),
    /// The runtime itself, with the protocol that its settings name.
    Native,
    /// A function of the embedding program, by the number of its registration. Documents cannot name it.
    Program(u32),
}

impl fmt::Display for ApiKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Package(name) => write!(f, "aisdk:{name}"),
            Self::Native => f.write_str("native"),
            Self::Program(_) => f.write_str("program"),
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
    /// Display name.
    pub name: String,
    /// The model family.
    pub family: Option<String>,
    /// The id that the provider uses for the model.
    pub wire_id: String,
    /// The API: that of the provider, overridden by the model's own settings.
    pub api: Arc<Api>,
    /// The capabilities of the model.
    pub capabilities: Capabilities,
    /// True if the server accepts a format of the answer of the model. `None` if unknown.
    pub structured_output: Option<bool>,
    /// True if the model reasons.
    pub reasoning: bool,
    /// The wire field in which reasoning is sent back to the model, if it differs from the default of the protocol.
    pub reasoning_field: Option<String>,
    /// Headers of every request to the model. They override those of its provider.
    pub headers: Headers,
    /// Options of every request to the model. They override those of its provider.
    pub body: Members,
    /// The variant that applies if no other one is chosen.
    pub default_variant: Option<String>,
    /// Its variants.
    pub variants: Vec<Variant>,
    /// Release date in milliseconds since the Unix epoch. 0 if unknown.
    pub released: i64,
    /// Its prices.
    pub cost: Cost,
    /// The release status.
    pub status: ModelStatus,
    /// True unless the configuration disables the model.
    pub enabled: bool,
    /// Its token limits.
    pub limits: Limits,
}

/// A named set of changes to a model's requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Its id, unique within the model.
    pub id: String,
    /// Headers that it adds.
    pub headers: Headers,
    /// Options that it changes.
    pub body: Members,
}

/// The capabilities of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// True if the model calls tools.
    pub tools: bool,
    /// Kinds of input that the model accepts. Empty if unknown.
    pub input: Vec<String>,
    /// Kinds of output that the model produces. Empty if unknown.
    pub output: Vec<String>,
}

/// A model without a description is assumed to call tools. Without tools the model would be useless,
/// and a server without tool support reports an error itself.
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
    /// Size of the context window in tokens.
    pub context: u64,
    /// Maximum number of input tokens, if the input has its own limit.
    pub input: Option<u64>,
    /// Maximum number of output tokens.
    pub output: u64,
}
