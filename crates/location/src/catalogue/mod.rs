//! The catalogue: which models a directory offers, and how each of them is called.

mod build;
mod cost;
mod error;
mod merge;
mod model;
pub(crate) mod options;
mod released;
mod resolve;

use std::collections::HashMap;

use opencode_schema::model::ModelRef;

pub use cost::{Cost, CostRow};
pub use error::{ModelResolutionError, UnavailableReason, UnsupportedReason};
pub use model::{Api, ApiKind, Capabilities, Limits, Model, Provider, Variant};
pub use resolve::ResolvedModelOutcome;

pub(crate) use released::released;

use resolve::Resolutions;

/// The package of servers that speak OpenAI's Chat Completions, and of every provider that names
/// no package.
pub const COMPATIBLE_PACKAGE: &str = "@ai-sdk/openai-compatible";

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
    /// The providers, in the order of configuration.
    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }

    /// The models, newest first.
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// The model with these ids, whether it may be used or not.
    pub fn model(&self, provider_id: &str, id: &str) -> Option<&Model> {
        let place = *self.index.get(provider_id)?.models.get(id)?;
        Some(&self.models[place])
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
