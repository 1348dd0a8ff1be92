//! What a schema says about the form of values, before any value is checked in full.

use serde_json::{Map, Value};

/// How many references and unions are looked through to learn which kinds of value a schema takes.
const MAX_HOPS: usize = 8;

/// Whether a schema takes values of this kind (string, object, ...), whatever else it asks of them.
pub(super) fn takes(root: &Value, schema: &Value, value: &Value) -> bool {
    takes_within(MAX_HOPS, root, schema, value)
}

/// What a schema asks for, in words. Types of objects are called by name, anything else by its form.
pub(super) fn describe(root: &Value, schema: &Value) -> String {
    describe_within(MAX_HOPS, root, schema)
}

/// The member whose literal tells the alternatives apart, if every one of them has such a member.
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

/// The literal a member must have, if the schema or the type it refers to says so.
pub(super) fn literal<'a>(root: &'a Value, schema: &'a Value, member: &str) -> Option<&'a Value> {
    let of = |schema: &'a Value| schema.get("properties")?.get(member)?.get("const");
    of(schema).or_else(|| of(target(root, schema.as_object()?)?))
}

/// The schema a `$ref` means. One that leads nowhere constrains nothing.
pub(super) fn target<'a>(root: &'a Value, keywords: &Map<String, Value>) -> Option<&'a Value> {
    root.pointer(keywords.get("$ref")?.as_str()?.strip_prefix('#')?)
}

pub(super) fn list<'a>(keywords: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    let items = keywords.get(key).and_then(Value::as_array);
    items.map_or(&[], Vec::as_slice)
}

fn takes_within(hops: usize, root: &Value, schema: &Value, value: &Value) -> bool {
    let Some(keywords) = schema.as_object().filter(|_| hops > 0) else {
        return schema != &Value::Bool(false);
    };
    let next = |schema| takes_within(hops - 1, root, schema, value);
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

fn describe_within(hops: usize, root: &Value, schema: &Value) -> String {
    let Some(keywords) = schema.as_object().filter(|_| hops > 0) else {
        return "a value".into();
    };
    let join = |parts: &[Value], show: &dyn Fn(&Value) -> String| {
        let parts: Vec<String> = parts.iter().map(show).collect();
        parts.join(" | ")
    };
    let next = |schema: &Value| describe_within(hops - 1, root, schema);
    if let Some(target) = target(root, keywords) {
        let name = keywords
            .get("$ref")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default();
        let is_object = takes_within(hops - 1, root, target, &Value::Object(Map::new()));
        return if is_object {
            name.to_owned()
        } else {
            next(target)
        };
    }
    for key in ["anyOf", "oneOf"] {
        if keywords.contains_key(key) {
            return join(list(keywords, key), &next);
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
