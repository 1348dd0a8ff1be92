//! Merges the descriptions of a provider or model in several documents into one. A later description
//! overrides an earlier one field by field.
//!
//! Options in the spelling of a package are translated here to the spelling of the wire, using the
//! package that is known at that point.

use std::collections::HashMap;

use serde_json::Value;

use super::names::{Named, by_short_name};
use super::platform::{self, Platform, is_group, respell, split};
use super::program_providers::ProgramProvider;
use crate::config::{ApiPatch, ModelPatch, ProviderPatch, VariantPatch};
use crate::model::ApiKind;
use crate::secret::Members;

/// Merged providers by id, in the order of their first mention.
#[derive(Default)]
pub(super) struct Merged {
    pub providers: Vec<(String, ProviderPatch)>,
    places: HashMap<String, Places>,
}

/// The indices of a provider and its models in [`Merged`].
struct Places {
    provider: usize,
    models: HashMap<String, usize>,
}

impl Merged {
    /// Appends a provider that is not present yet.
    pub(super) fn begin(&mut self, id: &str, patch: ProviderPatch) {
        let models = patch.models.iter().enumerate();
        let places = Places {
            provider: self.providers.len(),
            models: models.map(|(place, (id, _))| (id.clone(), place)).collect(),
        };
        self.places.insert(id.to_owned(), places);
        self.providers.push((id.to_owned(), patch));
    }

    /// True if the provider is present.
    pub(super) fn contains(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }

    /// Adds a model without any settings to a provider that is present, unless the provider already has a model with this
    /// id or short name.
    pub(super) fn assume(&mut self, id: &str, model: &str) {
        let Some(places) = self.places.get_mut(id) else {
            return;
        };
        let described = &self.providers[places.provider].1.models;
        let named = described.iter().map(|(id, patch)| Named {
            id,
            family: patch.family.as_deref(),
            released: patch.released.unwrap_or_default(),
            value: (),
        });
        if places.models.contains_key(model) || by_short_name(model, named).is_some() {
            return;
        }
        let models = &mut self.providers[places.provider].1.models;
        places.models.insert(model.to_owned(), models.len());
        models.push((model.to_owned(), ModelPatch::default()));
    }

    /// Applies the registration of a provider over its other descriptions, so that only the program answers for
    /// it: the provider has exactly the registered models, and needs no key and no address.
    pub(super) fn claim(&mut self, program: &ProgramProvider) {
        self.overlay(&program.id, &program.patch);
        let Some(places) = self.places.get(&program.id) else {
            return;
        };
        let patch = &mut self.providers[places.provider].1;
        patch.api.kind.clone_from(&program.patch.api.kind);
        patch.api.url = None;
        patch.env = None;
        patch.models.retain(|(id, _)| program.has(id));
        for (_, model) in &mut patch.models {
            model.api = ApiPatch::default();
        }
    }

    /// Applies the description of a provider in a document over the existing one.
    pub(super) fn overlay(&mut self, id: &str, over: &ProviderPatch) {
        if !self.contains(id) {
            self.begin(id, ProviderPatch::default());
        }
        if let Some(places) = self.places.get_mut(id) {
            let base = &mut self.providers[places.provider].1;
            overlay_provider(base, over, &mut places.models);
        }
    }
}

fn overlay_provider(
    base: &mut ProviderPatch,
    over: &ProviderPatch,
    places: &mut HashMap<String, usize>,
) {
    set(&mut base.name, &over.name);
    overlay_api(&mut base.api, &over.api);
    let platform = platform::of(base.api.kind.as_ref());
    let options = split(platform, &over.options);
    assign(&mut base.api.settings, &options.settings);
    base.headers.extend(&options.headers);
    base.headers.extend(&over.headers);
    assign(&mut base.body, &options.body);
    assign(&mut base.body, &over.body);
    set(&mut base.env, &over.env);
    set(&mut base.whitelist, &over.whitelist);
    set(&mut base.blacklist, &over.blacklist);
    for (id, patch) in &over.models {
        let place = match places.get(id) {
            Some(&place) => place,
            None => {
                base.models.push((id.clone(), ModelPatch::default()));
                places.insert(id.clone(), base.models.len() - 1);
                base.models.len() - 1
            }
        };
        let model = &mut base.models[place].1;
        if matches!(base.api.kind, Some(ApiKind::Program(_))) {
            let without_api = ModelPatch {
                api: ApiPatch::default(),
                ..patch.clone()
            };
            overlay_model(model, &without_api, platform);
        } else {
            overlay_model(model, patch, platform);
        }
    }
}

/// Applies the description of an API over the existing one.
pub(super) fn overlay_api(base: &mut ApiPatch, over: &ApiPatch) {
    if !matches!(base.kind, Some(ApiKind::Program(_))) {
        set(&mut base.kind, &over.kind);
    }
    set(&mut base.url, &over.url);
    assign(&mut base.settings, &over.settings);
}

fn overlay_model(base: &mut ModelPatch, over: &ModelPatch, of_provider: &dyn Platform) {
    set(&mut base.name, &over.name);
    set(&mut base.family, &over.family);
    set(&mut base.wire_id, &over.wire_id);
    overlay_api(&mut base.api, &over.api);
    set(&mut base.capabilities, &over.capabilities);
    set(&mut base.structured_output, &over.structured_output);
    set(&mut base.reasoning, &over.reasoning);
    set(&mut base.reasoning_options, &over.reasoning_options);
    set(&mut base.reasoning_field, &over.reasoning_field);
    let platform = match &base.api.kind {
        Some(own) => platform::of(Some(own)),
        None => of_provider,
    };
    base.headers.extend(&over.headers);
    assign_options(&mut base.body, respell(platform, &over.options));
    assign(&mut base.body, &over.body);
    set(&mut base.default_variant, &over.default_variant);
    for (id, variant) in &over.variants {
        overlay_variant(&mut base.variants, id, variant, platform);
    }
    set(&mut base.status, &over.status);
    set(&mut base.cost, &over.cost);
    set(&mut base.disabled, &over.disabled);
    set(&mut base.context, &over.context);
    set(&mut base.input, &over.input);
    set(&mut base.output, &over.output);
    set(&mut base.released, &over.released);
}

/// Applies the description of a variant. A removed variant is kept and marked as disabled, because a
/// variant with this id may also follow from the model's name.
fn overlay_variant(
    variants: &mut Vec<(String, VariantPatch)>,
    id: &str,
    over: &VariantPatch,
    platform: &dyn Platform,
) {
    let place = match variants.iter().position(|(known, _)| known == id) {
        Some(place) => place,
        None => {
            variants.push((id.to_owned(), VariantPatch::default()));
            variants.len() - 1
        }
    };
    let base = &mut variants[place].1;
    if over.disabled || base.disabled {
        *base = VariantPatch::default();
    }
    base.disabled = over.disabled;
    base.headers.extend(&over.headers);
    assign_options(&mut base.body, respell(platform, &over.options));
    assign(&mut base.body, &over.body);
}

fn set<T: Clone>(base: &mut Option<T>, over: &Option<T>) {
    if over.is_some() {
        base.clone_from(over);
    }
}

fn assign(base: &mut Members, over: &Members) {
    for (name, value) in over.iter() {
        base.insert(name.clone(), value.clone());
    }
}

/// Applies options over others. Objects that group several options are merged member by member.
fn assign_options(base: &mut Members, over: Members) {
    for (name, value) in over.0 {
        match (base.get_mut(&name), value) {
            (Some(Value::Object(base)), Value::Object(over)) if is_group(&name) => {
                base.extend(over);
            }
            (_, value) => {
                base.insert(name, value);
            }
        }
    }
}
