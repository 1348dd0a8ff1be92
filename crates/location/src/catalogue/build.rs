//! Builds a catalogue from the list of models and the documents.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use opencode_schema::model::ModelRef;
use opencode_schema::permission::matches;

use super::error::ModelResolutionError;
use super::finish::{finish_api, finish_model, finish_provider};
use super::merge::{Merged, overlay_api};
use super::models_dev::ModelsDev;
use super::program_providers::ProgramProvider;
use super::resolve::{Resolutions, supported, variant_place};
use super::stored_keys::KeysAt;
use super::{Catalogue, DefaultModel, ProviderPlaces, built_in, platform};
use crate::config::{
    ApiPatch, Configuration, Diagnostic, DiagnosticKind, Document, NamedModel, Policy,
    ProviderPatch, Source, untrusted,
};
use crate::environment::Environment;
use crate::model::Model;

impl Catalogue {
    /// Builds the catalogue of a configuration. Also returns a diagnostic for a setting without effect.
    pub fn build(
        configuration: &Configuration,
        environment: &Environment,
    ) -> (Self, Option<Diagnostic>) {
        let none = KeysAt::default();
        Self::build_on(Arc::default(), configuration, environment, &[], &none)
    }

    /// Same as [`Self::build`], on top of a list of models, and with the providers of the program.
    pub(crate) fn build_on(
        list: Arc<ModelsDev>,
        configuration: &Configuration,
        environment: &Environment,
        programs: &[Arc<ProgramProvider>],
        stored: &KeysAt,
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
        let addressed =
            |id: &str| addressed.contains(id) || built_in::address(id, environment).is_some();
        let documents = configuration.documents();
        let described = documents.flat_map(|document| &document.providers);
        let chosen = configuration.host_model.iter();
        let chosen = chosen.map(|it| it.model.provider_id.as_str());
        let named: HashSet<_> = described.map(|(id, _)| id.as_str()).chain(chosen).collect();
        for (id, patch) in merge(&list, configuration, environment, programs, stored).providers {
            if catalogue.is_allowed(&id) {
                let mention = Mention {
                    is_addressed: addressed(&id),
                    is_named: named.contains(id.as_str()),
                };
                catalogue.add(id, patch, mention, environment, stored);
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

    /// The effect of the last policy that matches a provider. Without a match, the provider is allowed.
    pub(super) fn is_allowed(&self, provider_id: &str) -> bool {
        let mut statements = self.policies.iter().rev();
        let last = statements.find(|policy| matches(&policy.resource, provider_id));
        last.is_none_or(|policy| policy.allow)
    }

    /// Adds a provider.
    fn add(
        &mut self,
        id: String,
        mut patch: ProviderPatch,
        mention: Mention,
        environment: &Environment,
        stored: &KeysAt,
    ) {
        let cloud = platform::of(patch.api.kind.as_ref()).cloud();
        let credentials = cloud.and_then(|cloud| {
            cloud.add_settings(&mut patch.api.settings, environment);
            cloud.credentials(&patch.api, environment, mention.is_named)
        });
        let key = stored.keys.get(&id);
        let mut provider = finish_provider(id, &patch, environment, key, credentials);
        // A server of the user may need no key. The server of a built-in provider always needs one.
        provider.available |=
            mention.is_addressed && !built_in::needs_key(provider.api.url.as_ref());
        for (model_id, model) in patch.models {
            let own = model.api != ApiPatch::default();
            let api = if own {
                let mut merged = patch.api.clone();
                overlay_api(&mut merged, &model.api);
                Arc::new(finish_api(merged))
            } else {
                Arc::clone(&provider.api)
            };
            let lists = (patch.whitelist.as_deref(), patch.blacklist.as_deref());
            let mut model = finish_model(&provider.id, model_id, api, model);
            model.enabled &= is_offered(&model.id, lists);
            self.models.push(model);
        }
        self.providers.push(provider);
    }

    /// Builds the index of every provider and model.
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

    /// Sets the default model to the one that the strongest document names. If that model cannot be used, no other
    /// model replaces it. If no document names one, uses the newest model that can be used.
    fn choose_default(&mut self, configuration: &Configuration) -> Option<Diagnostic> {
        let (named, withheld) = self.strongest_name(configuration);
        let Some((origin, named)) = named else {
            self.default = self.newest_usable(configuration);
            return withheld;
        };
        match self.usable(&named.value) {
            Ok(place) => {
                self.default = Some(DefaultModel {
                    place,
                    variant: named.value.variant.clone(),
                });
                withheld
            }
            Err(error) => {
                let diagnostic = unusable_default(origin, named, &error);
                self.unusable_default = Some(error);
                Some(diagnostic)
            }
        }
    }

    /// Returns the model that the strongest document names, with its origin. A document of an untrusted project counts
    /// only if it names a usable model; the diagnostic reports the first such document that does not.
    fn strongest_name<'c>(
        &self,
        configuration: &'c Configuration,
    ) -> (Option<(&'c str, &'c NamedModel)>, Option<Diagnostic>) {
        let mut withheld = None;
        for document in configuration.documents().rev() {
            let Some(named) = &document.model else {
                continue;
            };
            if !document.source.is_untrusted() || self.usable(&named.value).is_ok() {
                return (Some((&document.origin, named)), withheld);
            }
            let (kind, message) = (DiagnosticKind::Ignored, untrusted("model has no effect"));
            withheld.get_or_insert_with(|| {
                Diagnostic::new(&document.origin, kind, message, named.position)
            });
        }
        (None, withheld)
    }

    /// A key in the environment alone selects no model of the list that the addon contains: the user may have set it for
    /// another program, and the prompts would go to a provider that no document names.
    fn newest_usable(&self, configuration: &Configuration) -> Option<DefaultModel> {
        let described: HashSet<_> = configuration
            .documents()
            .flat_map(|document| &document.providers)
            .flat_map(|(id, patch)| patch.models.iter().map(move |(model, _)| (id, model)))
            .collect();
        let is_listed = |id: &str| self.list.is_shipped && self.list.head(id).is_some();
        let is_named = |model: &Model| {
            !is_listed(&model.provider_id) || described.contains(&(&model.provider_id, &model.id))
        };
        let usable =
            |model: &Model| is_named(model) && self.is_available(model) && supported(model).is_ok();
        let place = self.models.iter().position(usable)?;
        Some(DefaultModel {
            place,
            variant: None,
        })
    }

    fn usable(&self, named: &ModelRef) -> Result<usize, ModelResolutionError> {
        let place = self.available(named)?;
        let model = &self.models[place];
        supported(model)?;
        variant_place(model, named.variant.as_deref())?;
        Ok(place)
    }
}

/// The parts of a provider that the user names.
#[derive(Clone, Copy)]
struct Mention {
    /// A document or an environment variable gives its address.
    is_addressed: bool,
    /// A document describes it, or the embedding program chose one of its models.
    is_named: bool,
}

fn unusable_default(origin: &str, named: &NamedModel, error: &ModelResolutionError) -> Diagnostic {
    let message =
        format!("The default model cannot be used and no other one is used instead. {error}");
    Diagnostic::new(origin, DiagnosticKind::Ignored, message, named.position)
}

/// The policies of all documents. The last match decides, so policies of projects come first, and those
/// of the host and of the administrator last. Within one author the strongest document comes first: a user's policies for all
/// projects override the user's policies elsewhere.
fn policies(configuration: &Configuration) -> Vec<Policy> {
    let authority = |document: &&Document| match document.source {
        Source::Project | Source::UntrustedProject => 0,
        Source::User => 1,
        Source::Host => 2,
        Source::Administrator => 3,
    };
    let mut documents: Vec<_> = configuration.documents().rev().collect();
    documents.sort_by_key(authority);
    let policies = documents.into_iter().flat_map(|it| &it.policies);
    policies.cloned().collect()
}

/// Merges every provider that can be used. From the list of models, these are the providers that a
/// document mentions or for which there is a key in the environment or in the store. The others would only use memory.
fn merge(
    list: &ModelsDev,
    configuration: &Configuration,
    environment: &Environment,
    programs: &[Arc<ProgramProvider>],
    stored: &KeysAt,
) -> Merged {
    let described = || configuration.documents().flat_map(|it| &it.providers);
    let mentioned: HashSet<_> = described().map(|(id, _)| id.as_str()).collect();
    let mut merged = Merged::default();
    let begin = |merged: &mut Merged, id: &str, mut patch: ProviderPatch| {
        let address = built_in::address(id, environment);
        let listed = patch.api.url.map(|url| built_in::filled(url, environment));
        patch.api.url = address.or(listed);
        merged.begin(id, patch);
    };
    // Before the documents, whose options must keep their spelling for the program.
    for program in programs {
        let mut patch = list.provider(&program.id).unwrap_or_default();
        patch.api.kind.clone_from(&program.patch.api.kind);
        merged.begin(&program.id, patch);
    }
    for (id, patch) in list.heads() {
        if merged.contains(id) {
            continue;
        }
        let named = patch.env.as_deref().unwrap_or_default();
        let cloud = platform::of(patch.api.kind.as_ref()).cloud();
        let connected = super::credentials(named).any(|name| environment.variable(name).is_some())
            || stored.keys.contains_key(id)
            || cloud.is_some_and(|cloud| cloud.is_announced(environment));
        let chosen = configuration.host_model.as_ref();
        let is_chosen = chosen.is_some_and(|it| it.model.provider_id == id);
        if (connected || is_chosen || mentioned.contains(id))
            && let Some(patch) = list.provider(id)
        {
            begin(&mut merged, id, patch);
        }
    }
    if let Some(chosen) = &configuration.host_model {
        let id = &chosen.model.provider_id;
        if !merged.contains(id) {
            let patch = built_in::provider(id).unwrap_or_else(|| built_in::compatible(chosen));
            begin(&mut merged, id, patch);
        }
        merged.assume(id, &chosen.model.id);
    }
    for (id, patch) in described() {
        if !merged.contains(id)
            && let Some(patch) = built_in::provider(id)
        {
            begin(&mut merged, id, patch);
        }
        merged.overlay(id, patch);
    }
    for program in programs {
        merged.claim(program);
    }
    merged
}

/// True if the lists of a provider permit a model: `only` is a whitelist, `except` a blacklist.
fn is_offered(id: &str, (only, except): (Option<&[String]>, Option<&[String]>)) -> bool {
    let names = |list: &[String]| list.iter().any(|name| name == id);
    only.is_none_or(names) && !except.is_some_and(names)
}
