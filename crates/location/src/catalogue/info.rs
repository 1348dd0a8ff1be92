//! The public descriptions of providers and models, without their secrets.

use std::collections::BTreeMap;

use opencode_schema::catalogue::{
    ModelApi, ModelCacheCost, ModelCapabilities, ModelCost, ModelCostTier, ModelInfo, ModelLimit,
    ModelRequest, ModelTime, ModelVariant, ProviderApi, ProviderInfo, RequestSettings,
};
use opencode_secrets::{
    REDACTED, Redactor, Secrets, is_harmless_header, is_secret_name, without_segments,
};
use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::model::{Api, ApiKind, CostRow, Model, Provider};
use crate::secret::{Headers, Members};

impl Provider {
    /// The public description. `<redacted>` replaces secrets.
    pub(super) fn info(&self, secrets: &Secrets) -> ProviderInfo {
        let url = self.api.url.as_ref().map(|url| shown_url(&url.0, secrets));
        let settings = hidden(&self.api.settings, secrets);
        ProviderInfo {
            id: self.id.clone(),
            integration_id: self.variables.is_some().then(|| self.id.clone()),
            name: self.name.clone(),
            disabled: None,
            api: match &self.api.kind {
                ApiKind::Package(package) => ProviderApi::Aisdk {
                    package: package.clone(),
                    url,
                    settings: (!settings.is_empty()).then_some(settings),
                },
                ApiKind::Native | ApiKind::Program(_) => ProviderApi::Native { url, settings },
            },
            request: RequestSettings {
                headers: shown_headers(&self.headers),
                body: hidden(&self.body, secrets),
            },
        }
    }
}

impl Model {
    /// The public description. `<redacted>` replaces secrets.
    pub(super) fn info(&self, secrets: &Secrets) -> ModelInfo {
        let variants = self.variants.iter().map(|variant| ModelVariant {
            id: variant.id.clone(),
            headers: shown_headers(&variant.headers),
            body: hidden(&variant.body, secrets),
        });
        ModelInfo {
            id: self.id.clone(),
            provider_id: self.provider_id.clone(),
            family: self.family.clone(),
            name: self.name.clone(),
            api: shown_api(&self.wire_id, &self.api, secrets),
            capabilities: ModelCapabilities {
                tools: self.capabilities.tools,
                input: self.capabilities.input.clone(),
                output: self.capabilities.output.clone(),
            },
            request: ModelRequest {
                headers: shown_headers(&self.headers),
                body: hidden(&self.body, secrets),
                variant: self.default_variant.clone(),
            },
            variants: variants.collect(),
            time: ModelTime {
                released: self.released,
            },
            cost: self.cost.rows().iter().map(shown_cost).collect(),
            status: self.status,
            enabled: self.enabled,
            limit: ModelLimit {
                context: self.limits.context,
                input: self.limits.input,
                output: self.limits.output,
            },
        }
    }
}

fn shown_api(wire_id: &str, api: &Api, secrets: &Secrets) -> ModelApi {
    let id = wire_id.to_owned();
    let url = api.url.as_ref().map(|url| shown_url(&url.0, secrets));
    let settings = hidden(&api.settings, secrets);
    match &api.kind {
        ApiKind::Package(package) => ModelApi::Aisdk {
            id,
            package: package.clone(),
            url,
            settings: (!settings.is_empty()).then_some(settings),
        },
        ApiKind::Native | ApiKind::Program(_) => ModelApi::Native { id, url, settings },
    }
}

fn shown_cost(row: &CostRow) -> ModelCost {
    ModelCost {
        tier: row.tier.map(|size| ModelCostTier::Context { size }),
        input: row.input,
        output: row.output,
        cache: ModelCacheCost {
            read: row.cache_read,
            write: row.cache_write,
        },
    }
}

/// The address as it was written, except for parts that are secrets.
fn shown_url(url: &str, secrets: &Secrets) -> String {
    let url = without_segments(url, |segment| secrets.contains(segment));
    if !url.contains(['@', '?']) {
        return url;
    }
    let shown = Redactor::default().url(&url);
    // The parser of addresses escapes the brackets.
    let shown = shown.replace("%3Credacted%3E", REDACTED);
    let Some((base, query)) = shown.split_once('?') else {
        return shown;
    };
    let pairs = query.split('&').map(|pair| {
        let value = form_urlencoded::parse(pair.as_bytes()).next();
        match (value, pair.split_once('=')) {
            (Some((_, value)), Some((name, _))) if secrets.contains(&value) => {
                format!("{name}={REDACTED}")
            }
            _ => pair.to_owned(),
        }
    });
    format!("{base}?{}", pairs.collect::<Vec<_>>().join("&"))
}

/// The headers. Only values of headers that are known to contain no secret are shown.
pub(crate) fn shown_headers(headers: &Headers) -> BTreeMap<String, String> {
    let shown = headers.iter().map(|(name, value)| {
        let value = if is_harmless_header(name) {
            value
        } else {
            REDACTED
        };
        (name.to_owned(), value.to_owned())
    });
    shown.collect()
}

pub(crate) fn shown_members(members: &Members) -> Map<String, Value> {
    shown_object(members)
}

/// The members without values under a secret name and without values that are known secrets.
fn hidden(members: &Members, secrets: &Secrets) -> Map<String, Value> {
    let mut shown = shown_members(members);
    hide(&mut shown, secrets);
    shown
}

/// Replaces every string that is a secret with `<redacted>`.
pub(crate) fn hide(members: &mut Map<String, Value>, secrets: &Secrets) {
    for value in members.values_mut() {
        hide_value(value, secrets);
    }
}

fn hide_value(value: &mut Value, secrets: &Secrets) {
    match value {
        Value::String(text) if secrets.contains(text) => REDACTED.clone_into(text),
        Value::Array(elements) => elements.iter_mut().for_each(|it| hide_value(it, secrets)),
        Value::Object(members) => hide(members, secrets),
        _ => {}
    }
}

/// The members of an object. `<redacted>` replaces secrets.
pub fn shown_object(members: &Map<String, Value>) -> Map<String, Value> {
    let shown = members
        .iter()
        .map(|(name, value)| (name.clone(), shown_value(name, value)));
    shown.collect()
}

/// Hides every value under a secret name, whatever its type: a key may be a number, and a secret may be
/// an object with several members. Booleans and null reveal nothing and stay.
fn shown_value(name: &str, value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        _ if is_secret_name(name) => REDACTED.into(),
        Value::Object(members) => Value::Object(shown_object(members)),
        Value::Array(elements) => elements.iter().map(|it| shown_value(name, it)).collect(),
        Value::String(_) | Value::Number(_) => value.clone(),
    }
}
