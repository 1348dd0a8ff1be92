//! One description per provider and model out of those in several documents: later ones override
//! earlier ones field by field.

use std::collections::HashMap;

use crate::config::{ApiPatch, Document, ModelPatch, ProviderPatch, VariantPatch};
use crate::secret::Members;

/// The providers of the documents, weakest first, each under its id and in the order of its first
/// mention.
pub(super) fn merge(documents: &[Document]) -> Vec<(String, ProviderPatch)> {
    let mut merged: Vec<(String, ProviderPatch)> = Vec::new();
    let mut places: HashMap<&str, Places<'_>> = HashMap::new();
    for (id, patch) in documents.iter().flat_map(|document| &document.providers) {
        let places = places.entry(id).or_insert_with(|| {
            merged.push((id.clone(), ProviderPatch::default()));
            Places {
                provider: merged.len() - 1,
                models: HashMap::new(),
            }
        });
        overlay_provider(&mut merged[places.provider].1, patch, &mut places.models);
    }
    merged
}

/// Where a provider and its models stand among the merged ones.
struct Places<'a> {
    provider: usize,
    models: HashMap<&'a str, usize>,
}

fn overlay_provider<'a>(
    base: &mut ProviderPatch,
    over: &'a ProviderPatch,
    places: &mut HashMap<&'a str, usize>,
) {
    set(&mut base.name, &over.name);
    overlay_api(&mut base.api, &over.api);
    base.headers.extend(&over.headers);
    assign(&mut base.body, &over.body);
    for (id, patch) in &over.models {
        let place = *places.entry(id).or_insert_with(|| {
            base.models.push((id.clone(), ModelPatch::default()));
            base.models.len() - 1
        });
        overlay_model(&mut base.models[place].1, patch);
    }
}

/// Lays what is said about an API over what is known of it.
pub(super) fn overlay_api(base: &mut ApiPatch, over: &ApiPatch) {
    set(&mut base.kind, &over.kind);
    set(&mut base.url, &over.url);
    assign(&mut base.settings, &over.settings);
}

fn overlay_model(base: &mut ModelPatch, over: &ModelPatch) {
    set(&mut base.name, &over.name);
    set(&mut base.family, &over.family);
    set(&mut base.wire_id, &over.wire_id);
    overlay_api(&mut base.api, &over.api);
    set(&mut base.capabilities, &over.capabilities);
    set(&mut base.reasoning, &over.reasoning);
    set(&mut base.reasoning_field, &over.reasoning_field);
    base.headers.extend(&over.headers);
    assign(&mut base.body, &over.body);
    set(&mut base.default_variant, &over.default_variant);
    for (id, variant) in &over.variants {
        overlay_variant(&mut base.variants, id, variant);
    }
    set(&mut base.cost, &over.cost);
    set(&mut base.disabled, &over.disabled);
    set(&mut base.context, &over.context);
    set(&mut base.input, &over.input);
    set(&mut base.output, &over.output);
    set(&mut base.released, &over.released);
}

fn overlay_variant(variants: &mut Vec<(String, VariantPatch)>, id: &str, over: &VariantPatch) {
    if over.disabled {
        variants.retain(|(known, _)| known != id);
        return;
    }
    match variants.iter_mut().find(|(known, _)| known == id) {
        Some((_, base)) => {
            base.headers.extend(&over.headers);
            assign(&mut base.body, &over.body);
        }
        None => variants.push((id.to_owned(), over.clone())),
    }
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
