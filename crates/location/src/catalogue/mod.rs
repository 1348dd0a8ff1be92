//! The catalogue: which models a directory offers, and how each of them is called.

mod build;
mod domains;
mod error;
mod family;
mod finish;
mod info;
mod known;
mod merge;
mod models_dev;
mod resolve;
mod variants;

use std::collections::HashMap;
use std::sync::Arc;

use opencode_llm::redact::Secrets;
use opencode_schema::catalogue::{ModelInfo, ProviderInfo};
use opencode_schema::model::ModelRef;

pub use crate::model::{
    Api, ApiKind, Capabilities, Cost, CostRow, Limits, Model, Provider, Variant,
};
pub use domains::{RequestDomains, request_domains};
pub use error::{ModelResolutionError, UnavailableReason, UnsupportedReason};
pub use resolve::ResolvedModelOutcome;

pub use info::shown_object;
pub(crate) use info::{hide, shown_headers, shown_members};
pub(crate) use models_dev::ModelsDevFile;

use crate::config::Policy;
use models_dev::ModelsDev;
use resolve::Resolutions;

/// The package of servers that speak OpenAI's Chat Completions, and of every provider that names
/// no package.
pub const COMPATIBLE_PACKAGE: &str = "@ai-sdk/openai-compatible";

/// The package of servers that speak OpenAI Responses.
pub const OPENAI_PACKAGE: &str = "@ai-sdk/openai";

/// The package of servers that speak Anthropic Messages.
pub const ANTHROPIC_PACKAGE: &str = "@ai-sdk/anthropic";

/// The providers and models of one directory. Never changes; a new configuration gives a new one.
#[derive(Debug, Default)]
pub struct Catalogue {
    providers: Vec<Provider>,
    /// Newest first, and in the order of configuration among those of one date.
    models: Vec<Model>,
    /// What resolving each of `models` gave, once it was asked for.
    resolutions: Vec<Resolutions>,
    /// Places in `providers` and `models` by id.
    index: HashMap<String, ProviderPlaces>,
    /// What is used when nobody chooses.
    default: Option<DefaultModel>,
    /// Why the default model that configuration names cannot be used. No other one is used instead.
    unusable_default: Option<ModelResolutionError>,
    /// Which providers may be used, the last statement that matches deciding.
    policies: Vec<Policy>,
    /// The list of models, for what is said about providers that are not in use.
    list: Arc<ModelsDev>,
    /// What is not shown of any provider or model, under whatever name it stands.
    secrets: Arc<Secrets>,
}

/// Where a provider and its models stand.
#[derive(Debug)]
struct ProviderPlaces {
    provider: usize,
    models: HashMap<String, usize>,
}

/// The model used when nobody chooses one.
#[derive(Debug)]
struct DefaultModel {
    /// Its place among the models.
    place: usize,
    /// The variant it was named with.
    variant: Option<String>,
}

impl Catalogue {
    /// The providers that may be used, in the order of the list of models and of configuration,
    /// without their secrets.
    pub fn providers(&self) -> Vec<ProviderInfo> {
        let available = self.providers.iter().filter(|provider| provider.available);
        available.map(|it| it.info(&self.secrets)).collect()
    }

    /// The models that may be used, newest first, without their secrets.
    pub fn models(&self) -> Vec<ModelInfo> {
        let available = self.models.iter().filter(|model| self.is_available(model));
        available.map(|it| it.info(&self.secrets)).collect()
    }

    /// A provider that is known, whether it may be used or not; none if a policy denies it.
    pub fn provider(&self, id: &str) -> Option<ProviderInfo> {
        let described = self.described_provider(id);
        described.map(|it| it.info(&self.secrets)).or_else(|| {
            let listed = self.list.provider(id).filter(|_| self.is_allowed(id))?;
            Some(finish::unused(id, listed).info(&self.secrets))
        })
    }

    /// Shows none of these from now on.
    pub(crate) fn hide(&mut self, secrets: Arc<Secrets>) {
        self.secrets = secrets;
    }

    /// The variables in which providers look for credentials, of all that are known, whether or not
    /// they are in use.
    pub(crate) fn credential_variables(&self) -> impl Iterator<Item = &str> {
        let configured = self.providers.iter().flat_map(|it| &it.variables);
        let listed = self.list.providers.iter().flat_map(|(_, it)| &it.env);
        let named = configured.chain(listed).map(|names| credentials(names));
        named.flatten().chain(known::credentials())
    }

    /// Learns what the addresses in use hold, which variables may have given.
    pub(crate) fn learn_addresses(&self, secrets: &mut Secrets) {
        let providers = self.providers.iter().map(|it| &it.api);
        let urls = providers.chain(self.models.iter().map(|it| &it.api));
        for url in urls.filter_map(|api| api.url.as_ref()) {
            secrets.learn_url(&url.0);
        }
    }

    /// All that is known of a provider that a document describes or the environment has a key for.
    pub fn described_provider(&self, id: &str) -> Option<&Provider> {
        let places = self.index.get(id)?;
        Some(&self.providers[places.provider])
    }

    /// All that is known of a model of such a provider, whether it may be used or not.
    pub fn described_model(&self, provider_id: &str, id: &str) -> Option<&Model> {
        let place = *self.index.get(provider_id)?.models.get(id)?;
        Some(&self.models[place])
    }

    /// Whether both offer the same, and call it in the same way.
    pub fn offers_the_same(&self, other: &Self) -> bool {
        self.providers == other.providers
            && self.models == other.models
            && self.default_model() == other.default_model()
    }

    /// Whether a model may be used.
    fn is_available(&self, model: &Model) -> bool {
        let provider = self.described_provider(&model.provider_id);
        model.enabled && provider.is_some_and(|provider| provider.available)
    }

    /// The model used when nobody chooses one.
    pub fn default_model(&self) -> Option<ModelRef> {
        let default = self.default.as_ref()?;
        let model = &self.models[default.place];
        Some(ModelRef {
            id: model.id.clone(),
            provider_id: model.provider_id.clone(),
            variant: default.variant.clone(),
        })
    }
}

/// Those of a provider's variables that hold credentials. Of several, some hold a region, an address
/// or the name of a resource.
fn credentials<T: AsRef<str>>(names: &[T]) -> impl Iterator<Item = &str> {
    const WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "AUTH"];
    let is_credential = move |name: &&str| {
        let name = name.to_uppercase();
        names.len() == 1 || WORDS.iter().any(|word| name.contains(word))
    };
    names.iter().map(AsRef::as_ref).filter(is_credential)
}
