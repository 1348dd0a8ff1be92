//! Turns merged descriptions, in which every field is optional, into providers and models.

use std::sync::Arc;

use opencode_secrets::Secret;
use opencode_secrets::is_secret_name;
use serde_json::Value;

use super::platform::{self, COMPATIBLE_PACKAGE, Platform, respell};
use super::stored_keys::StoredKey;
use super::variants::ReasoningModel;
use crate::config::options::API_KEY;
use crate::config::{ApiPatch, ModelPatch, ProviderPatch, ReasoningOption};
use crate::environment::Environment;
use crate::model::{Api, ApiKind, CloudCredentials, Cost, Limits, Model, Provider, Variant};
use crate::secret::{Headers, Members};

/// The provider of a merged description.
pub(super) fn finish_provider(
    id: String,
    patch: &ProviderPatch,
    environment: &Environment,
    stored: Option<&StoredKey>,
    cloud: Option<CloudCredentials>,
) -> Provider {
    let variables = patch.env.clone().filter(|names| !names.is_empty());
    let names = || variables.iter().flatten();
    let only = names().count() == 1;
    // If there are several variables, some contain a region or the name of a resource.
    let ends = || platform::all().filter_map(Platform::key_variable);
    let holds_key = |name: &str| {
        let mut ends = ["_API_KEY", "_TOKEN"].into_iter().chain(ends());
        only || ends.any(|end| name.ends_with(end))
    };
    let key = names()
        .filter(|name| holds_key(name))
        .find_map(|name| environment.variable(name))
        .map(Secret::new);
    let (key, sign_in) = match (key, stored) {
        (None, Some(StoredKey::Key(stored))) => (Some(stored.clone()), None),
        (None, Some(StoredKey::SignIn(stored))) => (None, Some(stored.clone())),
        (key, _) => (key, None),
    };
    let connected = match platform::of(patch.api.kind.as_ref()).cloud() {
        Some(_) => cloud.is_some(),
        // A region or the name of a resource alone is no key.
        None => super::credentials(variables.as_deref().unwrap_or_default())
            .any(|name| environment.variable(name).is_some()),
    };
    let is_keyed = connected || key.is_some() || sign_in.is_some() || is_authenticated(patch);
    Provider {
        name: patch.name.clone().unwrap_or_else(|| id.clone()),
        id,
        api: Arc::new(finish_api(patch.api.clone())),
        headers: patch.headers.clone(),
        body: patch.body.clone(),
        available: variables.is_none() || is_keyed,
        variables,
        key,
        sign_in,
        cloud,
    }
}

/// A provider of the list of models that is not in use.
pub(super) fn unused(id: &str, listed: &ProviderPatch) -> Provider {
    finish_provider(id.to_owned(), listed, &Environment::default(), None, None)
}

/// True if a document itself gives a key.
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

/// The API of a merged description.
pub(super) fn finish_api(patch: ApiPatch) -> Api {
    Api {
        kind: patch
            .kind
            .unwrap_or_else(|| ApiKind::Package(COMPATIBLE_PACKAGE.to_owned())),
        url: patch.url,
        settings: patch.settings,
    }
}

/// The model of a merged description.
pub(super) fn finish_model(
    provider_id: &str,
    id: String,
    api: Arc<Api>,
    patch: ModelPatch,
) -> Model {
    let mut model = Model {
        provider_id: provider_id.to_owned(),
        name: patch.name.unwrap_or_else(|| id.clone()),
        family: patch.family,
        wire_id: patch.wire_id.unwrap_or_else(|| id.clone()),
        id,
        api,
        capabilities: patch.capabilities.unwrap_or_default(),
        structured_output: patch.structured_output,
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

/// The variants that follow from the properties of the model.
fn generated(model: &Model, options: Option<&[ReasoningOption]>) -> Vec<Variant> {
    let platform = platform::of(Some(&model.api.kind));
    let reasoning = ReasoningModel {
        platform,
        wire_id: &model.wire_id,
        released: model.released,
        output: model.limits.output,
        options,
    };
    let variants = reasoning.variants().into_iter();
    let finished = variants.map(|(id, options)| Variant {
        id,
        headers: Headers::default(),
        body: respell(platform, &options),
    });
    finished.collect()
}
