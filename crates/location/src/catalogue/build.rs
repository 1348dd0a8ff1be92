//! From what the list of models and the documents say to a catalogue.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use opencode_llm::Secret;
use opencode_llm::redact::is_secret_name;
use opencode_schema::permission::matches;
use serde_json::Value;

use super::cost::Cost;
use super::error::ModelResolutionError;
use super::family::Family;
use super::merge::{Merged, overlay_api};
use super::model::{Api, ApiKind, Limits, Model, Provider, Variant};
use super::models_dev::ModelsDev;
use super::resolve::{Resolutions, supported};
use super::variants::Reasoner;
use super::{API_KEY, COMPATIBLE_PACKAGE, Catalogue, DefaultModel, ProviderPlaces, known};
use crate::config::{
    ApiPatch, Configuration, Diagnostic, DiagnosticKind, ModelPatch, NamedModel, Policy,
    ProviderPatch, ReasoningOption,
};
use crate::environment::Environment;
use crate::secret::{Headers, Members};

impl Catalogue {
    /// The catalogue of a configuration, and what in it has no effect there.
    pub fn build(
        configuration: &Configuration,
        environment: &Environment,
    ) -> (Self, Option<Diagnostic>) {
        Self::build_on(Arc::default(), configuration, environment)
    }

    /// The same, over a list of models.
    pub(crate) fn build_on(
        list: Arc<ModelsDev>,
        configuration: &Configuration,
        environment: &Environment,
    ) -> (Self, Option<Diagnostic>) {
        let mut catalogue = Self {
            policies: policies(configuration),
            ..Self::default()
        };
        let addressed: HashSet<_> = configuration
            .documents()
            .flat_map(|document| &document.providers)
            .filter(|(_, patch)| patch.api.url.is_some())
            .map(|(id, _)| id.as_str())
            .collect();
        for (id, patch) in merge(&list, configuration, environment).providers {
            if catalogue.is_allowed(&id) {
                let addressed = addressed.contains(id.as_str());
                catalogue.add(id, patch, addressed, environment);
            }
        }
        catalogue.list = list;
        catalogue
            .models
            .sort_by_key(|model| Reverse(model.released));
        catalogue.number();
        let diagnostic = catalogue.choose_default(configuration);
        (catalogue, diagnostic)
    }

    /// What the last statement about a provider says; without one it may be used.
    pub(super) fn is_allowed(&self, provider_id: &str) -> bool {
        let mut statements = self.policies.iter().rev();
        let last = statements.find(|policy| matches(&policy.resource, provider_id));
        last.is_none_or(|policy| policy.allow)
    }

    /// Adds a provider, of which a document may say where it is.
    fn add(
        &mut self,
        id: String,
        patch: ProviderPatch,
        addressed: bool,
        environment: &Environment,
    ) {
        let mut provider = finish_provider(id, &patch, environment);
        // Whoever gives an address answers for what is there: a server of one's own may need no key.
        provider.available |= addressed;
        for (model_id, model) in patch.models {
            let own = model.api != ApiPatch::default();
            let api = if own {
                let mut merged = patch.api.clone();
                overlay_api(&mut merged, &model.api);
                Arc::new(finish_api(merged))
            } else {
                Arc::clone(&provider.api)
            };
            let excluded = patch
                .whitelist
                .as_ref()
                .is_some_and(|only| !only.contains(&model_id))
                || patch
                    .blacklist
                    .as_ref()
                    .is_some_and(|without| without.contains(&model_id));
            let mut model = finish_model(&provider.id, model_id, api, model);
            model.enabled &= !excluded;
            self.models.push(model);
        }
        self.providers.push(provider);
    }

    /// Notes the place of every provider and model.
    fn number(&mut self) {
        for (place, provider) in self.providers.iter().enumerate() {
            let models = ProviderPlaces {
                provider: place,
                models: HashMap::new(),
            };
            self.index.insert(provider.id.clone(), models);
        }
        for (place, model) in self.models.iter().enumerate() {
            if let Some(known) = self.index.get_mut(&model.provider_id) {
                known.models.insert(model.id.clone(), place);
            }
            self.resolutions.push(Resolutions::of(model));
        }
    }

    /// Takes the model the strongest document names, if it can be used, else the newest that can.
    fn choose_default(&mut self, configuration: &Configuration) -> Option<Diagnostic> {
        let Some((origin, named)) = strongest_name(configuration) else {
            self.default = self.newest_usable();
            return None;
        };
        match self.usable(named) {
            Ok(place) => {
                self.default = Some(DefaultModel {
                    place,
                    variant: named.value.variant.clone(),
                });
                None
            }
            Err(error) => {
                self.default = self.newest_usable();
                Some(self.unusable_default(origin, named, &error))
            }
        }
    }

    fn newest_usable(&self) -> Option<DefaultModel> {
        let usable = |model: &Model| self.is_available(model) && supported(model).is_ok();
        let place = self.models.iter().position(usable)?;
        Some(DefaultModel {
            place,
            variant: None,
        })
    }

    fn usable(&self, named: &NamedModel) -> Result<usize, ModelResolutionError> {
        let place = self.available(&named.value)?;
        supported(&self.models[place])?;
        Ok(place)
    }

    fn unusable_default(
        &self,
        origin: &str,
        named: &NamedModel,
        error: &ModelResolutionError,
    ) -> Diagnostic {
        let instead = match self.default_model() {
            Some(model) => format!("{}/{} is used instead", model.provider_id, model.id),
            None => "there is no other to use instead".to_owned(),
        };
        let message = format!("The default model cannot be used and {instead}. {error}");
        Diagnostic::new(origin, DiagnosticKind::Ignored, message, named.position)
    }
}

/// The statements of all documents, the strongest document's first: so what the user decides for
/// all projects holds over what one of them says.
fn policies(configuration: &Configuration) -> Vec<Policy> {
    let documents = configuration.documents().rev();
    documents.flat_map(|it| &it.policies).cloned().collect()
}

/// Every provider that can come into use: of the list of models those that a document mentions or
/// that the environment holds a key for. The others would only be carried along.
fn merge(list: &ModelsDev, configuration: &Configuration, environment: &Environment) -> Merged {
    let described = || configuration.documents().flat_map(|it| &it.providers);
    let mentioned: HashSet<_> = described().map(|(id, _)| id.as_str()).collect();
    let mut merged = Merged::default();
    for (id, patch) in &list.providers {
        let connected = patch
            .env
            .iter()
            .flatten()
            .any(|name| is_set(environment, name));
        if connected || mentioned.contains(id.as_str()) {
            merged.begin(id, patch.clone());
        }
    }
    for (id, patch) in described() {
        if !merged.contains(id)
            && let Some(known) = known::provider(id)
        {
            merged.begin(id, known);
        }
        merged.overlay(id, patch);
    }
    merged
}

fn is_set(environment: &Environment, name: &str) -> bool {
    environment.variable(name).is_some()
}

fn strongest_name(configuration: &Configuration) -> Option<(&str, &NamedModel)> {
    configuration
        .documents()
        .rev()
        .find_map(|document| Some((document.origin.as_str(), document.model.as_ref()?)))
}

fn finish_provider(id: String, patch: &ProviderPatch, environment: &Environment) -> Provider {
    let variables = patch.env.clone().filter(|names| !names.is_empty());
    let names = || variables.iter().flatten();
    let connected = names().any(|name| is_set(environment, name));
    let available = variables.is_none() || connected || is_authenticated(patch);
    let only = names().count() == 1;
    // Of several variables some hold a region or the name of a resource.
    let holds_key = |name: &str| only || name.ends_with("_API_KEY") || name.ends_with("_TOKEN");
    let key = names()
        .filter(|name| holds_key(name))
        .find_map(|name| environment.variable(name))
        .map(Secret::new);
    Provider {
        name: patch.name.clone().unwrap_or_else(|| id.clone()),
        id,
        api: Arc::new(finish_api(patch.api.clone())),
        headers: patch.headers.clone(),
        body: patch.body.clone(),
        variables,
        key,
        available,
    }
}

/// A provider of the list of models that nobody uses here.
pub(super) fn unused(id: &str, listed: &ProviderPatch) -> Provider {
    finish_provider(id.to_owned(), listed, &Environment::default())
}

/// Whether a document gives a key itself.
fn is_authenticated(patch: &ProviderPatch) -> bool {
    let has_key = |members: &Members| {
        let key = members.get(API_KEY).and_then(Value::as_str);
        key.is_some_and(|key| !key.is_empty())
    };
    let mut headers = patch.headers.iter();
    has_key(&patch.body)
        || has_key(&patch.api.settings)
        || headers.any(|(name, _)| is_secret_name(name))
}

fn finish_api(patch: ApiPatch) -> Api {
    Api {
        kind: patch
            .kind
            .unwrap_or_else(|| ApiKind::Package(COMPATIBLE_PACKAGE.to_owned())),
        url: patch.url,
        settings: patch.settings,
    }
}

fn finish_model(provider_id: &str, id: String, api: Arc<Api>, patch: ModelPatch) -> Model {
    let mut model = Model {
        provider_id: provider_id.to_owned(),
        name: patch.name.unwrap_or_else(|| id.clone()),
        family: patch.family,
        wire_id: patch.wire_id.unwrap_or_else(|| id.clone()),
        id,
        api,
        capabilities: patch.capabilities.unwrap_or_default(),
        reasoning: patch.reasoning.unwrap_or_default(),
        reasoning_field: patch.reasoning_field,
        headers: patch.headers,
        body: patch.body,
        default_variant: patch.default_variant,
        variants: Vec::new(),
        released: patch.released.unwrap_or_default(),
        cost: Cost::new(patch.cost.unwrap_or_default()),
        status: patch.status.unwrap_or_default(),
        enabled: !patch.disabled.unwrap_or_default(),
        limits: Limits {
            context: patch.context.unwrap_or_default(),
            input: patch.input,
            output: patch.output.unwrap_or_default(),
        },
    };
    let (removed, described): (Vec<_>, Vec<_>) =
        patch.variants.into_iter().partition(|(_, it)| it.disabled);
    let described = described.into_iter().map(|(id, patch)| Variant {
        id,
        headers: patch.headers,
        body: patch.body,
    });
    model.variants = described.collect();
    if model.variants.is_empty() && model.reasoning {
        model.variants = generated(&model, patch.reasoning_options.as_deref());
        model
            .variants
            .retain(|variant| !removed.iter().any(|(id, _)| *id == variant.id));
    }
    model
}

/// The variants that follow from what the model is.
fn generated(model: &Model, options: Option<&[ReasoningOption]>) -> Vec<Variant> {
    let family = Family::of(Some(&model.api.kind));
    let reasoner = Reasoner {
        family,
        wire_id: &model.wire_id,
        released: model.released,
        output: model.limits.output,
        options,
    };
    let variants = reasoner.variants().into_iter();
    let finished = variants.map(|(id, options)| Variant {
        id,
        headers: Headers::default(),
        body: family.respell(&options),
    });
    finished.collect()
}
