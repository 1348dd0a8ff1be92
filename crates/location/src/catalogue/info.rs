//! Providers and models as they are shown: without their secrets.

use std::collections::BTreeMap;

use opencode_llm::redact::{REDACTED, Redactor, is_secret_name};
use opencode_schema::catalogue::{
    ModelApi, ModelCacheCost, ModelCapabilities, ModelCost, ModelCostTier, ModelInfo, ModelLimit,
    ModelRequest, ModelTime, ModelVariant, ProviderApi, ProviderInfo, RequestSettings,
};
use serde_json::{Map, Value};

use super::cost::CostRow;
use super::model::{Api, ApiKind, Model, Provider};
use crate::secret::{Headers, Members};

impl Provider {
    /// The public description, in which `<redacted>` stands for secrets.
    pub(super) fn info(&self) -> ProviderInfo {
        let url = self.api.url.as_ref().map(|url| shown_url(&url.0));
        let settings = shown_members(&self.api.settings);
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
                ApiKind::Native => ProviderApi::Native { url, settings },
            },
            request: RequestSettings {
                headers: shown_headers(&self.headers),
                body: shown_members(&self.body),
            },
        }
    }
}

impl Model {
    /// The public description, in which `<redacted>` stands for secrets.
    pub(super) fn info(&self) -> ModelInfo {
        let variants = self.variants.iter().map(|variant| ModelVariant {
            id: variant.id.clone(),
            headers: shown_headers(&variant.headers),
            body: shown_members(&variant.body),
        });
        ModelInfo {
            id: self.id.clone(),
            provider_id: self.provider_id.clone(),
            family: self.family.clone(),
            name: self.name.clone(),
            api: shown_api(&self.wire_id, &self.api),
            capabilities: ModelCapabilities {
                tools: self.capabilities.tools,
                input: self.capabilities.input.clone(),
                output: self.capabilities.output.clone(),
            },
            request: ModelRequest {
                headers: shown_headers(&self.headers),
                body: shown_members(&self.body),
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

fn shown_api(wire_id: &str, api: &Api) -> ModelApi {
    let id = wire_id.to_owned();
    let url = api.url.as_ref().map(|url| shown_url(&url.0));
    let settings = shown_members(&api.settings);
    match &api.kind {
        ApiKind::Package(package) => ModelApi::Aisdk {
            id,
            package: package.clone(),
            url,
            settings: (!settings.is_empty()).then_some(settings),
        },
        ApiKind::Native => ModelApi::Native { id, url, settings },
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

/// The address as it was written, unless something in it is a secret.
fn shown_url(url: &str) -> String {
    if url.contains(['@', '?']) {
        Redactor::default().url(url)
    } else {
        url.to_owned()
    }
}

pub(crate) fn shown_headers(headers: &Headers) -> BTreeMap<String, String> {
    let shown = headers.iter().map(|(name, value)| {
        let value = if is_secret_name(name) {
            REDACTED
        } else {
            value
        };
        (name.to_owned(), value.to_owned())
    });
    shown.collect()
}

pub(crate) fn shown_members(members: &Members) -> Map<String, Value> {
    shown_object(members)
}

/// The members of an object, `<redacted>` in the place of secrets.
pub fn shown_object(members: &Map<String, Value>) -> Map<String, Value> {
    let shown = members
        .iter()
        .map(|(name, value)| (name.clone(), shown_value(name, value)));
    shown.collect()
}

/// A value under a secret name is hidden whatever it is: a key may be written as a number, and a
/// secret may be an object of several. Truth values tell nothing.
fn shown_value(name: &str, value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        _ if is_secret_name(name) => REDACTED.into(),
        Value::Object(members) => Value::Object(shown_object(members)),
        Value::Array(elements) => elements.iter().map(|it| shown_value(name, it)).collect(),
        Value::String(_) | Value::Number(_) => value.clone(),
    }
}
