//! The catalogue: the models that a directory offers and the data to call each of them.

mod build;
mod built_in;
mod defaults;
mod domains;
mod error;
mod finish;
mod info;
mod list_file;
mod merge;
mod models_dev;
mod names;
mod platform;
mod program_providers;
mod resolve;
mod shipped;
mod stored_keys;
mod token_header;
mod variants;
mod versions;

use std::collections::HashMap;
use std::sync::Arc;

use opencode_schema::catalogue::{ModelInfo, ProviderInfo};
use opencode_schema::model::ModelRef;
use opencode_secrets::Secrets;

pub use crate::model::{
    AccessToken, Api, ApiKind, Capabilities, CloudCredentials, Cost, CostRow, Limits, Model,
    Provider, SignIn, Variant,
};
pub use domains::{RequestDomains, request_domains};
pub use error::{ModelResolutionError, UnavailableReason, UnsupportedReason};
pub use list_file::ListFile;
pub use program_providers::ProgramProviders;
pub use resolve::ResolvedModelOutcome;
pub use stored_keys::{Keys, LoadKeys, StoredKey, StoredKeys};

pub use info::shown_object;
pub(crate) use info::{hide, shown_headers, shown_members};
pub(crate) use models_dev::ModelsDevFile;

use crate::config::Policy;
use models_dev::ModelsDev;
use resolve::Resolutions;

/// A provider that needs a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownProvider<'a> {
    /// The id.
    pub id: &'a str,
    /// The name for users.
    pub name: &'a str,
    /// The variables with its key, its region and the like.
    pub variables: &'a [String],
}

impl<'a> KnownProvider<'a> {
    /// Returns the variables that contain a credential.
    pub fn credentials(&self) -> impl Iterator<Item = &'a str> {
        credentials(self.variables)
    }
}

/// The providers and models of one directory. Immutable; a new configuration creates a new catalogue.
#[derive(Debug, Default)]
pub struct Catalogue {
    providers: Vec<Provider>,
    /// Newest first. Models with the same date keep the order of the configuration.
    models: Vec<Model>,
    /// The results of resolving each of `models`, computed on demand.
    resolutions: Vec<Resolutions>,
    /// Indices into `providers` and `models` by id.
    index: HashMap<String, ProviderPlaces>,
    /// The model that is used if none is chosen.
    default: Option<DefaultModel>,
    /// The reason why the configured default model cannot be used. No other model replaces it.
    unusable_default: Option<ModelResolutionError>,
    /// Rules for the use of providers. The last match decides.
    policies: Vec<Policy>,
    /// The list of models, for descriptions of providers that are not in use.
    list: Arc<ModelsDev>,
    /// Values that the public descriptions of providers and models must not show, under any name.
    secrets: Arc<Secrets>,
}

/// The indices of a provider and its models.
#[derive(Debug)]
struct ProviderPlaces {
    provider: usize,
    models: HashMap<String, usize>,
}

/// The model that is used if none is chosen.
#[derive(Debug)]
struct DefaultModel {
    /// Its index in `models`.
    place: usize,
    /// The variant that the configuration names with it.
    variant: Option<String>,
}

impl Catalogue {
    /// The providers that can be used, without their secrets, in the order of the list of models and of
    /// the configuration.
    pub fn providers(&self) -> Vec<ProviderInfo> {
        let available = self.providers.iter().filter(|provider| provider.available);
        available.map(|it| it.info(&self.secrets)).collect()
    }

    /// The models that can be used, newest first, without their secrets.
    pub fn models(&self) -> Vec<ModelInfo> {
        let available = self.models.iter().filter(|model| self.is_available(model));
        available.map(|it| it.info(&self.secrets)).collect()
    }

    /// Returns a known provider, even if it cannot be used. `None` if a policy denies it.
    pub fn provider(&self, id: &str) -> Option<ProviderInfo> {
        let described = self.described_provider(id);
        described.map(|it| it.info(&self.secrets)).or_else(|| {
            let listed = self.list.head(id).filter(|_| self.is_allowed(id))?;
            Some(finish::unused(id, listed).info(&self.secrets))
        })
    }

    /// Hides these secrets in all later public descriptions.
    pub(crate) fn hide(&mut self, secrets: Arc<Secrets>) {
        self.secrets = secrets;
    }

    /// The names of the variables in which all known providers look for credentials, including
    /// providers that are not in use.
    pub(crate) fn credential_variables(&self) -> impl Iterator<Item = &str> {
        let configured = self.providers.iter().flat_map(|it| &it.variables);
        let listed = self.list.heads().flat_map(|(_, it)| &it.env);
        let named = configured.chain(listed).map(|names| credentials(names));
        named.flatten().chain(built_in::credentials())
    }

    /// Adds the keys in use to `secrets`.
    pub(crate) fn learn_keys(&self, secrets: &mut Secrets) {
        for key in self.providers.iter().filter_map(|it| it.key.as_ref()) {
            secrets.learn_credential(key.expose());
        }
        let clouds = || platform::all().filter_map(|platform| platform.cloud());
        for provider in &self.providers {
            for secret in clouds().flat_map(|cloud| cloud.secrets(provider)) {
                secrets.learn_credential(secret.expose());
            }
        }
    }

    /// Returns all providers that this directory may use and that need a key, also those without one.
    pub fn known_providers(&self) -> Vec<KnownProvider<'_>> {
        let listed = self.list.heads().filter(|(id, _)| self.is_allowed(id));
        let listed = listed.filter(|(id, _)| !self.index.contains_key(*id));
        let listed = listed.map(|(id, patch)| KnownProvider {
            id,
            name: patch.name.as_deref().unwrap_or(id),
            variables: patch.env.as_deref().unwrap_or_default(),
        });
        let used = self.providers.iter().filter_map(|it| {
            Some(KnownProvider {
                id: &it.id,
                name: &it.name,
                variables: it.variables.as_deref()?,
            })
        });
        used.chain(listed).collect()
    }

    /// Adds the secrets in the addresses in use to `secrets`. Environment variables may have given these addresses.
    pub(crate) fn learn_addresses(&self, secrets: &mut Secrets) {
        let providers = self.providers.iter().map(|it| &it.api);
        let urls = providers.chain(self.models.iter().map(|it| &it.api));
        for url in urls.filter_map(|api| api.url.as_ref()) {
            secrets.learn_url(&url.0);
            secrets.learn_path(&url.0, "");
        }
    }

    /// Returns a provider that a document describes or for which the environment contains a key.
    pub fn described_provider(&self, id: &str) -> Option<&Provider> {
        let places = self.index.get(id)?;
        Some(&self.providers[places.provider])
    }

    /// Returns a model of a provider as in [`Self::described_provider`], even if the model cannot be used.
    pub fn described_model(&self, provider_id: &str, id: &str) -> Option<&Model> {
        let place = *self.index.get(provider_id)?.models.get(id)?;
        Some(&self.models[place])
    }

    /// True if both catalogues offer the same models and call them in the same way.
    pub fn offers_same_models(&self, other: &Self) -> bool {
        self.providers == other.providers
            && self.models == other.models
            && self.default_model() == other.default_model()
    }

    /// True if the model can be used.
    fn is_available(&self, model: &Model) -> bool {
        let provider = self.described_provider(&model.provider_id);
        model.enabled && provider.is_some_and(|provider| provider.available)
    }

    /// The model that is used if none is chosen.
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

/// The variables of a provider that contain credentials. If there are several, some contain a region,
/// an address or the name of a resource.
fn credentials<T: AsRef<str>>(names: &[T]) -> impl Iterator<Item = &str> {
    const WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "AUTH"];
    let is_credential = move |name: &&str| {
        let name = name.to_uppercase();
        names.len() == 1 || WORDS.iter().any(|word| name.contains(word))
    };
    names.iter().map(AsRef::as_ref).filter(is_credential)
}
