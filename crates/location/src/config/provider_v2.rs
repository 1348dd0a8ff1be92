//! The second generation of provider configuration: key `providers`.

use serde_json::{Map, Value};

use super::decode::{
    Decoded, Invalid, boolean, bounded_texts, count, elements, entries, few, number, object,
    optional, required, text, texts, wrong,
};
use super::patch::{ApiPatch, ModelPatch, ProviderPatch, VariantPatch};
use crate::config::options;
use crate::model::{ApiKind, Capabilities, CostRow};
use crate::secret::{BaseUrl, Headers, Members};

/// Reads the providers of a document.
pub(super) fn decode(value: &Value) -> Decoded<Vec<(String, ProviderPatch)>> {
    entries(value, |id, value| Ok((id.to_owned(), provider(value)?)))
}

/// Reads a provider of the embedding program, which has models and no API of its own.
pub(super) fn of_program(value: &Value) -> Decoded<ProviderPatch> {
    let patch = provider(value)?;
    if patch.models.is_empty() {
        return Err(Invalid::new("must name at least one model").at("models"));
    }
    Ok(ProviderPatch {
        name: patch.name,
        models: patch.models,
        ..ProviderPatch::default()
    })
}

fn provider(value: &Value) -> Decoded<ProviderPatch> {
    let source = object(value)?;
    let request = optional(source, "request", request)?.unwrap_or_default();
    Ok(ProviderPatch {
        name: optional(source, "name", text)?,
        api: optional(source, "api", api)?.unwrap_or_default(),
        headers: request.headers,
        body: request.body,
        options: Members::default(),
        env: optional(source, "env", variables)?,
        whitelist: optional(source, "whitelist", bounded_texts)?,
        blacklist: optional(source, "blacklist", bounded_texts)?,
        models: optional(source, "models", |models| {
            entries(models, |id, value| Ok((id.to_owned(), model(value)?)))
        })?
        .unwrap_or_default(),
    })
}

fn api(value: &Value) -> Decoded<ApiPatch> {
    let source = object(value)?;
    let package = optional(source, "package", text)?;
    let kind = match optional(source, "type", text)?.as_deref() {
        Some("aisdk") | None => package.map(ApiKind::Package),
        Some("native") => Some(ApiKind::Native),
        Some(_) => return Err(Invalid::new("must be \"aisdk\" or \"native\"").at("type")),
    };
    let settings = optional(source, "settings", |value| {
        let settings = object(value)?;
        options::check_limits(settings).map(|()| settings)
    })?;
    Ok(ApiPatch {
        kind,
        url: optional(source, "url", text)?.map(BaseUrl),
        settings: Members(settings.cloned().unwrap_or_default()),
    })
}

/// Request settings.
#[derive(Default)]
pub(crate) struct Request {
    /// Headers.
    pub headers: Headers,
    /// Options.
    pub body: Members,
    variant: Option<String>,
}

/// Reads request settings.
pub(crate) fn request(value: &Value) -> Decoded<Request> {
    let source = object(value)?;
    Ok(Request {
        headers: optional(source, "headers", headers)?.unwrap_or_default(),
        body: optional(source, "body", body)?.unwrap_or_default(),
        variant: optional(source, "variant", text)?,
    })
}

fn model(value: &Value) -> Decoded<ModelPatch> {
    let source = object(value)?;
    let request = optional(source, "request", request)?.unwrap_or_default();
    let limit = optional(source, "limit", object)?;
    let limit_of = |name| match limit {
        Some(limit) => optional(limit, name, count).map_err(|invalid| invalid.at("limit")),
        None => Ok(None),
    };
    Ok(ModelPatch {
        name: optional(source, "name", text)?,
        family: optional(source, "family", text)?,
        wire_id: optional(source, "api", |value| optional(object(value)?, "id", text))?.flatten(),
        api: optional(source, "api", api)?.unwrap_or_default(),
        capabilities: optional(source, "capabilities", capabilities)?,
        headers: request.headers,
        body: request.body,
        default_variant: request.variant,
        variants: optional(source, "variants", variants)?.unwrap_or_default(),
        cost: optional(source, "cost", cost)?,
        disabled: optional(source, "disabled", boolean)?,
        context: limit_of("context")?,
        input: limit_of("input")?,
        output: limit_of("output")?,
        ..ModelPatch::default()
    })
}

/// Reads names of environment variables.
pub(super) fn variables(value: &Value) -> Decoded<Vec<String>> {
    few(value)?;
    texts(value)
}

fn capabilities(value: &Value) -> Decoded<Capabilities> {
    let source = object(value)?;
    Ok(Capabilities {
        tools: optional(source, "tools", boolean)?.unwrap_or_default(),
        input: optional(source, "input", texts)?.unwrap_or_default(),
        output: optional(source, "output", texts)?.unwrap_or_default(),
    })
}

fn variants(value: &Value) -> Decoded<Vec<(String, VariantPatch)>> {
    few(value)?;
    elements(value, variant)
}

fn variant(value: &Value) -> Decoded<(String, VariantPatch)> {
    let source = object(value)?;
    let patch = VariantPatch {
        disabled: false,
        headers: optional(source, "headers", headers)?.unwrap_or_default(),
        body: optional(source, "body", body)?.unwrap_or_default(),
        options: Members::default(),
    };
    Ok((required(source, "id", text)?, patch))
}

/// Reads one row or a list of rows.
fn cost(value: &Value) -> Decoded<Vec<CostRow>> {
    match value {
        Value::Array(_) => elements(value, cost_row),
        Value::Object(_) => Ok(vec![cost_row(value)?]),
        other => Err(wrong("an object or an array", other)),
    }
}

fn cost_row(value: &Value) -> Decoded<CostRow> {
    let source = object(value)?;
    let cache = optional(source, "cache", object)?;
    let cache_price = |name| match cache {
        Some(cache) => optional(cache, name, number).map_err(|invalid| invalid.at("cache")),
        None => Ok(None),
    };
    Ok(CostRow {
        tier: optional(source, "tier", |tier| {
            required(object(tier)?, "size", count)
        })?,
        input: required(source, "input", number)?,
        output: required(source, "output", number)?,
        cache_read: cache_price("read")?.unwrap_or_default(),
        cache_write: cache_price("write")?.unwrap_or_default(),
    })
}

/// Reads the options of a request. Options that the runtime interprets must have the correct type.
pub(super) fn body(value: &Value) -> Decoded<Members> {
    let members: &Map<String, Value> = object(value)?;
    options::check(members)?;
    Ok(Members(members.clone()))
}

/// Reads HTTP headers. Rejects headers that cannot be sent: here the error message can name their position.
pub(super) fn headers(value: &Value) -> Decoded<Headers> {
    few(value)?;
    let mut headers = Headers::default();
    for (name, value) in entries(value, header)? {
        headers.set(&name, &value);
    }
    Ok(headers)
}

fn header(name: &str, value: &Value) -> Decoded<(String, String)> {
    let value = header_value(value)?;
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(Invalid::new("is not the name of an HTTP header"));
    }
    Ok((name.to_owned(), value))
}

/// Reads a text that can be sent in a header.
pub(super) fn header_value(value: &Value) -> Decoded<String> {
    let value = text(value)?;
    if value
        .chars()
        .any(|character| character.is_control() && character != '\t')
    {
        return Err(Invalid::new(
            "has a line end or control character, which no header can carry",
        ));
    }
    Ok(value)
}
