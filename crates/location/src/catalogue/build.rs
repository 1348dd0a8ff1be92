//! From what the documents say to a catalogue.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::cost::Cost;
use super::error::ModelResolutionError;
use super::merge::{merge, overlay_api};
use super::model::{Api, ApiKind, Limits, Model, Provider, Variant};
use super::resolve::{Resolutions, supported};
use super::{COMPATIBLE_PACKAGE, Catalogue, DefaultModel, ProviderPlaces};
use crate::config::{
    ApiPatch, Diagnostic, DiagnosticKind, Document, ModelPatch, NamedModel, ProviderPatch,
    VariantPatch,
};

impl Catalogue {
    /// The catalogue of these documents, weakest first, and what in them has no effect on it.
    pub fn build(documents: &[Document]) -> (Self, Option<Diagnostic>) {
        let mut catalogue = Self::default();
        for (id, patch) in merge(documents) {
            catalogue.add(id, patch);
        }
        catalogue
            .models
            .sort_by_key(|model| Reverse(model.released));
        catalogue.number();
        let diagnostic = catalogue.choose_default(documents);
        (catalogue, diagnostic)
    }

    fn add(&mut self, id: String, patch: ProviderPatch) {
        let shared = Arc::new(finish_api(patch.api.clone()));
        for (model_id, model) in patch.models {
            let own = model.api != ApiPatch::default();
            let api = if own {
                let mut merged = patch.api.clone();
                overlay_api(&mut merged, &model.api);
                Arc::new(finish_api(merged))
            } else {
                Arc::clone(&shared)
            };
            self.models.push(finish_model(&id, model_id, api, model));
        }
        self.providers.push(Provider {
            name: patch.name.unwrap_or_else(|| id.clone()),
            id,
            api: shared,
            headers: patch.headers,
            body: patch.body,
        });
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
    fn choose_default(&mut self, documents: &[Document]) -> Option<Diagnostic> {
        let Some((origin, named)) = strongest_name(documents) else {
            self.default = self.newest_usable();
            return None;
        };
        match self.usable(named) {
            Ok(place) => {
                self.default = Some(DefaultModel {
                    place,
                    variant: named.selection.variant.clone(),
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
        let usable = |model: &Model| model.enabled && supported(model).is_ok();
        let place = self.models.iter().position(usable)?;
        Some(DefaultModel {
            place,
            variant: None,
        })
    }

    fn usable(&self, named: &NamedModel) -> Result<usize, ModelResolutionError> {
        let place = self.available(&named.selection)?;
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

fn strongest_name(documents: &[Document]) -> Option<(&str, &NamedModel)> {
    documents
        .iter()
        .rev()
        .find_map(|document| Some((document.origin.as_str(), document.model.as_ref()?)))
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
    Model {
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
        variants: patch.variants.into_iter().map(finish_variant).collect(),
        released: patch.released.unwrap_or_default(),
        cost: Cost::new(patch.cost.unwrap_or_default()),
        enabled: !patch.disabled.unwrap_or_default(),
        limits: Limits {
            context: patch.context.unwrap_or_default(),
            input: patch.input,
            output: patch.output.unwrap_or_default(),
        },
    }
}

fn finish_variant((id, patch): (String, VariantPatch)) -> Variant {
    Variant {
        id,
        headers: patch.headers,
        body: patch.body,
    }
}
