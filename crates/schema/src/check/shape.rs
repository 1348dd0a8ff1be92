//! The form of values that a schema describes, used before a full check.

use serde_json::{Map, Value};

use super::budget::Budget;

/// Maximum number of references and unions to follow when collecting the kinds of value that a
/// schema accepts.
const MAX_HOPS: usize = 8;

/// Maximum number of alternatives in a description. Each may have as many.
const MAX_ALTERNATIVES: usize = 20;

/// True if a schema accepts values of this kind (string, object, ...), regardless of its other
/// keywords.
pub(super) fn takes(root: &Value, schema: &Value, value: &Value, budget: &Budget) -> bool {
    takes_within(MAX_HOPS, root, schema, value, budget)
}

/// Describes the values that a schema accepts. Object types appear by name, all others by their
/// form.
pub(super) fn describe(root: &Value, schema: &Value, budget: &Budget) -> String {
    describe_within(MAX_HOPS, root, schema, budget)
}

/// Returns the member with a literal that distinguishes the alternatives, if every alternative has
/// it.
pub(super) fn discriminator<'a>(root: &'a Value, candidates: &[&'a Value]) -> Option<&'a str> {
    let (first, others) = candidates.split_first()?;
    let own = first.get("properties").and_then(Value::as_object);
    let referred = target(root, first.as_object()?).and_then(|schema| schema.get("properties"));
    let names = own.into_iter().chain(referred.and_then(Value::as_object));
    names.flat_map(Map::keys).map(String::as_str).find(|name| {
        let mut all = std::iter::once(first).chain(others);
        all.all(|schema| literal(root, schema, name).is_some())
    })
}

/// Returns the literal that a member must have, if the schema or its referenced type requires one.
pub(super) fn literal<'a>(root: &'a Value, schema: &'a Value, member: &str) -> Option<&'a Value> {
    let of = |schema: &'a Value| schema.get("properties")?.get(member)?.get("const");
    of(schema).or_else(|| of(target(root, schema.as_object()?)?))
}

/// Returns the schema that a `$ref` points to. A `$ref` without a target constrains nothing.
pub(super) fn target<'a>(root: &'a Value, keywords: &Map<String, Value>) -> Option<&'a Value> {
    root.pointer(keywords.get("$ref")?.as_str()?.strip_prefix('#')?)
}

pub(super) fn list<'a>(keywords: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    let items = keywords.get(key).and_then(Value::as_array);
    items.map_or(&[], Vec::as_slice)
}

fn takes_within(hops: usize, root: &Value, schema: &Value, value: &Value, budget: &Budget) -> bool {
    let Some(keywords) = schema.as_object().filter(|_| hops > 0 && budget.step()) else {
        return schema != &Value::Bool(false);
    };
    let next = |schema| takes_within(hops - 1, root, schema, value, budget);
    let is_kind = |name: &Value| match name.as_str().unwrap_or_default() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" | "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    let same_kind =
        |literal: &Value| std::mem::discriminant(literal) == std::mem::discriminant(value);
    let by_type = keywords.get("type").is_none_or(|types| match types {
        Value::Array(names) => names.iter().any(is_kind),
        name => is_kind(name),
    });
    by_type
        && keywords.get("const").is_none_or(same_kind)
        && target(root, keywords).is_none_or(next)
        && ["anyOf", "oneOf"]
            .iter()
            .all(|key| !keywords.contains_key(*key) || list(keywords, key).iter().any(next))
}

fn describe_within(hops: usize, root: &Value, schema: &Value, budget: &Budget) -> String {
    let Some(keywords) = schema.as_object().filter(|_| hops > 0 && budget.step()) else {
        return "a value".into();
    };
    let join = |parts: &[Value], show: &dyn Fn(&Value) -> String| {
        let parts: Vec<String> = parts.iter().map(show).collect();
        parts.join(" | ")
    };
    let next = |schema: &Value| describe_within(hops - 1, root, schema, budget);
    if let Some(target) = target(root, keywords) {
        let name = keywords
            .get("$ref")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default();
        let is_object = takes_within(hops - 1, root, target, &Value::Object(Map::new()), budget);
        return if is_object {
            name.to_owned()
        } else {
            next(target)
        };
    }
    for key in ["anyOf", "oneOf"] {
        if keywords.contains_key(key) {
            let alternatives = list(keywords, key);
            return join(
                &alternatives[..alternatives.len().min(MAX_ALTERNATIVES)],
                &next,
            );
        }
    }
    if let Some(literal) = keywords.get("const") {
        return literal.to_string();
    }
    if keywords.contains_key("enum") {
        return join(list(keywords, "enum"), &Value::to_string);
    }
    let plain = |name: &Value| {
        name.as_str()
            .unwrap_or("a value")
            .replace("integer", "number")
    };
    match keywords.get("type") {
        Some(Value::Array(names)) => join(names, &plain),
        Some(name) => plain(name),
        None => "a value".into(),
    }
}
