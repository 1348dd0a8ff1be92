//! The first generation of provider configuration: key `provider`.
//!
//! What this module decides is what each old key means in the terms of [`ProviderPatch`]. Which of
//! the options are generation controls, provider options or plain body fields is decided later, and
//! for both generations alike.

use serde_json::{Map, Value};

use super::decode::{
    Decoded, boolean, count, elements, entries, few, number, object, optional, required, text,
    texts, wrong,
};
use super::patch::{ApiPatch, ModelPatch, ProviderPatch, VariantPatch};
use super::provider_v2::{body, headers};
use crate::catalogue::{ApiKind, COMPATIBLE_PACKAGE, Capabilities, CostRow, released};
use crate::secret::{BaseUrl, Members};

/// Reads the providers of a document.
pub(super) fn decode(value: &Value) -> Decoded<Vec<(String, ProviderPatch)>> {
    entries(value, |id, value| Ok((id.to_owned(), provider(value)?)))
}

fn provider(value: &Value) -> Decoded<ProviderPatch> {
    let source = object(value)?;
    let mut patch = optional(source, "options", options)?.unwrap_or_default();
    patch.name = optional(source, "name", text)?;
    let package = optional(source, "npm", text)?;
    // Whether an old key must be respelled depends on the package. One that is not named here is
    // either named in a weaker document or the default one.
    let compatible = package
        .as_deref()
        .is_none_or(|package| package == COMPATIBLE_PACKAGE);
    patch.api.kind = package.map(ApiKind::Package);
    if let Some(url) = optional(source, "api", text)? {
        patch.api.url = Some(BaseUrl(url));
    }
    patch.models = optional(source, "models", |models| {
        entries(models, |id, value| {
            Ok((id.to_owned(), model(value, compatible)?))
        })
    })?
    .unwrap_or_default();
    Ok(patch)
}

/// Splits `options`: what addresses the server, what goes with every request, and the rest, which
/// configures the implementation.
fn options(value: &Value) -> Decoded<ProviderPatch> {
    let source = object(value)?;
    let mut settings = source.clone();
    for moved in ["baseURL", "headers", "body"] {
        settings.shift_remove(moved);
    }
    optional(source, "apiKey", text)?;
    Ok(ProviderPatch {
        api: ApiPatch {
            kind: None,
            url: optional(source, "baseURL", text)?.map(BaseUrl),
            settings: Members(settings),
        },
        headers: optional(source, "headers", headers)?.unwrap_or_default(),
        body: optional(source, "body", body)?.unwrap_or_default(),
        ..ProviderPatch::default()
    })
}

fn model(value: &Value, compatible: bool) -> Decoded<ModelPatch> {
    let source = object(value)?;
    let api = optional(source, "provider", model_api)?.unwrap_or_default();
    let compatible = match &api.kind {
        Some(ApiKind::Package(package)) => package == COMPATIBLE_PACKAGE,
        _ => compatible,
    };
    let limit = optional(source, "limit", limit)?.unwrap_or_default();
    Ok(ModelPatch {
        name: optional(source, "name", text)?,
        family: optional(source, "family", text)?,
        wire_id: optional(source, "id", text)?,
        api,
        capabilities: capabilities(source)?,
        reasoning: optional(source, "reasoning", boolean)?,
        reasoning_field: optional(source, "interleaved", reasoning_field)?.flatten(),
        headers: optional(source, "headers", headers)?.unwrap_or_default(),
        body: optional(source, "options", body)?
            .map(|body| respell(body, compatible))
            .unwrap_or_default(),
        default_variant: None,
        variants: optional(source, "variants", |value| variants(value, compatible))?
            .unwrap_or_default(),
        cost: optional(source, "cost", cost)?,
        disabled: disabled(source)?,
        context: limit.context,
        input: limit.input,
        output: limit.output,
        released: optional(source, "release_date", text)?
            .map(|date| released(&date).unwrap_or_default()),
    })
}

/// The API of a model that differs from its provider's.
fn model_api(value: &Value) -> Decoded<ApiPatch> {
    let source = object(value)?;
    Ok(ApiPatch {
        kind: optional(source, "npm", text)?.map(ApiKind::Package),
        url: optional(source, "api", text)?.map(BaseUrl),
        settings: Members::default(),
    })
}

/// What `tool_call` and `modalities` say together: if one is given, the other's absence means none.
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

/// `interleaved` is `true`, which names no field, or the field, or an object that names it.
fn reasoning_field(value: &Value) -> Decoded<Option<String>> {
    match value {
        Value::Bool(_) => Ok(None),
        Value::String(field) => Ok(Some(field.clone())),
        Value::Object(source) => optional(source, "field", text),
        other => Err(wrong("true, a string or an object", other)),
    }
}

/// A model is switched off by its own flag or by being deprecated.
fn disabled(source: &Map<String, Value>) -> Decoded<Option<bool>> {
    let flag = optional(source, "disabled", boolean)?;
    let status = optional(source, "status", text)?;
    Ok(flag.or((status.as_deref() == Some("deprecated")).then_some(true)))
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

/// The context size above which the prices `context_over_200k` hold.
const OVER_200K: u64 = 200_000;

fn cost(value: &Value) -> Decoded<Vec<CostRow>> {
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

fn variants(value: &Value, compatible: bool) -> Decoded<Vec<(String, VariantPatch)>> {
    few(value)?;
    entries(value, |id, value| {
        let mut body = body(value)?;
        let disabled = optional(&body, "disabled", boolean)?.unwrap_or_default();
        body.shift_remove("disabled");
        let patch = VariantPatch {
            disabled,
            body: respell(body, compatible),
            ..VariantPatch::default()
        };
        Ok((id.to_owned(), patch))
    })
}

/// Options of compatible servers are wire fields already, but for one.
fn respell(body: Members, compatible: bool) -> Members {
    if !compatible {
        return body;
    }
    let respelled = body.0.into_iter().map(|(name, value)| match name.as_str() {
        "reasoningEffort" => ("reasoning_effort".to_owned(), value),
        _ => (name, value),
    });
    Members(respelled.collect())
}
