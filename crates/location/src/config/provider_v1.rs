//! The first generation of provider configuration: key `provider`.
//!
//! This module translates each old key to [`ProviderPatch`]. A later step, shared by both generations,
//! decides which options are generation controls, provider options or plain body fields.

use opencode_schema::catalogue::ModelStatus;
use serde_json::{Map, Value};

use super::decode::{
    Decoded, boolean, bounded_texts, count, elements, entries, few, number, object, optional,
    required, text, texts, wrong,
};
use super::patch::{ApiPatch, ModelPatch, ProviderPatch, ReasoningOption, VariantPatch};
use super::provider_v2::{body, header_value, headers, variables};
use crate::config::options;
use crate::model::{ApiKind, Capabilities, CostRow, released};
use crate::secret::{BaseUrl, Members};

/// Reads the providers of a document.
pub(super) fn decode(value: &Value) -> Decoded<Vec<(String, ProviderPatch)>> {
    entries(value, |id, value| Ok((id.to_owned(), provider(value)?)))
}

fn provider(value: &Value) -> Decoded<ProviderPatch> {
    let source = object(value)?;
    let mut patch = optional(source, "options", options)?.unwrap_or_default();
    patch.name = optional(source, "name", text)?;
    patch.api.kind = optional(source, "npm", text)?.map(ApiKind::Package);
    if let Some(url) = optional(source, "api", text)? {
        patch.api.url = Some(BaseUrl(url));
    }
    patch.env = optional(source, "env", variables)?;
    patch.whitelist = optional(source, "whitelist", bounded_texts)?;
    patch.blacklist = optional(source, "blacklist", bounded_texts)?;
    patch.models = optional(source, "models", |models| {
        entries(models, |id, value| Ok((id.to_owned(), model(value)?)))
    })?
    .unwrap_or_default();
    Ok(patch)
}

/// Splits `options` into the address of the server, the settings of every request, and the rest. The
/// package determines the meaning of the rest.
fn options(value: &Value) -> Decoded<ProviderPatch> {
    let source = object(value)?;
    let mut rest = source.clone();
    for moved in ["baseURL", "headers", "body"] {
        rest.shift_remove(moved);
    }
    for sent in ["apiKey", "authToken", "organization", "project"] {
        optional(source, sent, header_value)?;
    }
    options::check_limits(source)?;
    Ok(ProviderPatch {
        api: ApiPatch {
            url: optional(source, "baseURL", text)?.map(BaseUrl),
            ..ApiPatch::default()
        },
        headers: optional(source, "headers", headers)?.unwrap_or_default(),
        body: optional(source, "body", body)?.unwrap_or_default(),
        options: Members(rest),
        ..ProviderPatch::default()
    })
}

/// Reads a model in the form of the older generation of documents.
fn model(value: &Value) -> Decoded<ModelPatch> {
    let mut patch = listed_model(value)?;
    let source = object(value)?;
    // Lists of models still offer a deprecated model. A document that marks a model as deprecated disables it.
    let deprecated = patch.status == Some(ModelStatus::Deprecated);
    let flag = optional(source, "disabled", boolean)?;
    patch.disabled = flag.or(deprecated.then_some(true));
    patch.headers = optional(source, "headers", headers)?.unwrap_or_default();
    patch.options = optional(source, "options", body)?.unwrap_or_default();
    patch.variants = optional(source, "variants", variants)?.unwrap_or_default();
    Ok(patch)
}

/// Reads a model in the form of lists of models. Documents of the older generation use the same form.
pub(crate) fn listed_model(value: &Value) -> Decoded<ModelPatch> {
    let source = object(value)?;
    let limit = optional(source, "limit", limit)?.unwrap_or_default();
    Ok(ModelPatch {
        name: optional(source, "name", text)?,
        family: optional(source, "family", text)?,
        wire_id: optional(source, "id", text)?,
        api: optional(source, "provider", model_api)?.unwrap_or_default(),
        capabilities: capabilities(source)?,
        structured_output: optional(source, "structured_output", boolean)?,
        reasoning: optional(source, "reasoning", boolean)?,
        reasoning_options: optional(source, "reasoning_options", reasoning_options)?,
        reasoning_field: optional(source, "interleaved", reasoning_field)?.flatten(),
        cost: optional(source, "cost", cost)?,
        status: optional(source, "status", status)?.flatten(),
        context: limit.context,
        input: limit.input,
        output: limit.output,
        released: optional(source, "release_date", text)?
            .map(|date| released(&date).unwrap_or_default()),
        ..ModelPatch::default()
    })
}

/// The API of a model that differs from the API of its provider.
fn model_api(value: &Value) -> Decoded<ApiPatch> {
    let source = object(value)?;
    Ok(ApiPatch {
        kind: optional(source, "npm", text)?.map(ApiKind::Package),
        url: optional(source, "api", text)?.map(BaseUrl),
        settings: Members::default(),
    })
}

/// Combines `tool_call` and `modalities`: if only one of them is present, the model has no capabilities of the other.
fn capabilities(source: &Map<String, Value>) -> Decoded<Option<Capabilities>> {
    let tools = optional(source, "tool_call", boolean)?;
    let modalities = optional(source, "modalities", |value| {
        let source = object(value)?;
        let input = optional(source, "input", texts)?;
        let output = optional(source, "output", texts)?;
        Ok((input, output))
    })?;
    let (input, output) = modalities.unwrap_or_default();
    let given = tools.is_some() || input.is_some() || output.is_some();
    Ok(given.then(|| Capabilities {
        tools: tools.unwrap_or_default(),
        input: input.unwrap_or_default(),
        output: output.unwrap_or_default(),
    }))
}

/// `interleaved` is `true`, which names no field, or the field, or an object that names the field.
fn reasoning_field(value: &Value) -> Decoded<Option<String>> {
    match value {
        Value::Bool(_) => Ok(None),
        Value::String(field) => Ok(Some(field.clone())),
        Value::Object(source) => optional(source, "field", text),
        other => Err(wrong("true, a string or an object", other)),
    }
}

/// An unknown status is ignored.
fn status(value: &Value) -> Decoded<Option<ModelStatus>> {
    Ok(match text(value)?.as_str() {
        "alpha" => Some(ModelStatus::Alpha),
        "beta" => Some(ModelStatus::Beta),
        "deprecated" => Some(ModelStatus::Deprecated),
        "active" => Some(ModelStatus::Active),
        _ => None,
    })
}

fn efforts(value: &Value) -> Decoded<Vec<Option<String>>> {
    few(value)?;
    elements(value, |value| match value {
        Value::Null => Ok(None),
        other => text(other).map(Some),
    })
}

/// Reads the known reasoning options. Skips others, which belong to newer versions.
fn reasoning_options(value: &Value) -> Decoded<Vec<ReasoningOption>> {
    let options = elements(value, |value| {
        let source = object(value)?;
        Ok(match required(source, "type", text)?.as_str() {
            "effort" => optional(source, "values", efforts)?.map(ReasoningOption::Effort),
            "budget_tokens" => Some(ReasoningOption::Budget {
                min: optional(source, "min", count)?,
                max: optional(source, "max", count)?,
            }),
            _ => None,
        })
    })?;
    Ok(options.into_iter().flatten().collect())
}

#[derive(Default)]
struct Limit {
    context: Option<u64>,
    input: Option<u64>,
    output: Option<u64>,
}

fn limit(value: &Value) -> Decoded<Limit> {
    let source = object(value)?;
    Ok(Limit {
        context: optional(source, "context", count)?,
        input: optional(source, "input", count)?,
        output: optional(source, "output", count)?,
    })
}

/// The context size in tokens above which the prices of `context_over_200k` apply.
const OVER_200K: u64 = 200_000;

pub(crate) fn cost(value: &Value) -> Decoded<Vec<CostRow>> {
    let source = object(value)?;
    let mut rows = vec![cost_row(value)?];
    let tiers = optional(source, "tiers", |value| {
        elements(value, |value| {
            let size = required(object(value)?, "tier", |tier| {
                required(object(tier)?, "size", count)
            })?;
            Ok((size, cost_row(value)?))
        })
    })?;
    let over = optional(source, "context_over_200k", cost_row)?;
    let over = over.map(|row| (OVER_200K, row));
    let tiers = tiers.unwrap_or_default().into_iter().chain(over);
    rows.extend(tiers.map(|(size, row)| CostRow {
        tier: Some(size),
        ..row
    }));
    Ok(rows)
}

fn cost_row(value: &Value) -> Decoded<CostRow> {
    let source = object(value)?;
    Ok(CostRow {
        tier: None,
        input: required(source, "input", number)?,
        output: required(source, "output", number)?,
        cache_read: optional(source, "cache_read", number)?.unwrap_or_default(),
        cache_write: optional(source, "cache_write", number)?.unwrap_or_default(),
    })
}

fn variants(value: &Value) -> Decoded<Vec<(String, VariantPatch)>> {
    few(value)?;
    entries(value, |id, value| {
        let mut options = body(value)?;
        let disabled = optional(&options, "disabled", boolean)?.unwrap_or_default();
        options.shift_remove("disabled");
        let patch = VariantPatch {
            disabled,
            options,
            ..VariantPatch::default()
        };
        Ok((id.to_owned(), patch))
    })
}
