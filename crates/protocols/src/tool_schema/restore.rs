//! The arguments of a call, changed back from the form that a provider got.
//!
//! A form may list texts in place of numbers, truth values and `null`, and may rename properties. A text becomes the value
//! that it stands for if the schema admits no such text and lists one value with it. Models do the same
//! with schemas that list the values themselves, and some servers convert schemas on their own. So this applies to all forms.

use opencode_llm::canonical::request::JsonMap;
use serde_json::{Value, json};

use super::names::Names;
use super::reduced::{alternatives, reduced};

/// Maximum nesting of schemas and values.
const MAX_DEPTH: usize = 64;

/// Changes arguments back by the normal form of the schema of the tool.
pub(super) fn restore(normal: &Value, names: Names, input: &mut Value) {
    let whole = reduced(normal, MAX_DEPTH);
    if let Some(restored) = restored(&whole, names, input, MAX_DEPTH) {
        *input = restored;
    }
    // The whole has the properties of all alternatives. A text that one admits can stand for a value in another.
    let alternatives = alternatives(normal, MAX_DEPTH);
    if let Some(restored) = by_branch(&whole, &alternatives, Names::Any, input, MAX_DEPTH) {
        *input = restored;
    }
}

/// Returns the changed value. `None` if it stays.
fn restored(schema: &JsonMap, names: Names, value: &Value, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    if let Some(branches) = branches(schema) {
        return by_branch(schema, branches, names, value, depth);
    }
    let kind = schema.get("type")?.as_str()?;
    match value {
        Value::String(text) => literal(schema, kind, text),
        Value::Array(items) if kind == "array" => {
            let changed = items.iter().enumerate().map(|(index, item)| {
                let inner = item_schema(schema, index)?;
                restored(inner, names, item, depth)
            });
            let changed: Vec<Option<Value>> = changed.collect();
            changed.iter().any(Option::is_some).then(|| {
                let both = changed.into_iter().zip(items);
                both.map(|(new, old)| new.unwrap_or_else(|| old.clone()))
                    .collect()
            })
        }
        Value::Object(members) if kind == "object" => object(schema, names, members, depth),
        _ => None,
    }
}

fn object(schema: &JsonMap, names: Names, members: &JsonMap, depth: usize) -> Option<Value> {
    let empty = JsonMap::new();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let rest = schema
        .get("additionalProperties")
        .and_then(Value::as_object);
    let replaced = names.replaced(properties);
    let mut is_changed = false;
    let mut out = JsonMap::new();
    for (name, value) in members {
        let original = replaced.original(name);
        let original =
            original.filter(|it| !members.contains_key(*it) && !properties.contains_key(name));
        let name = original.unwrap_or(name);
        let inner = properties.get(name).and_then(Value::as_object).or(rest);
        let new = inner.and_then(|inner| restored(inner, names, value, depth));
        is_changed |= original.is_some() || new.is_some();
        out.insert(name.clone(), new.unwrap_or_else(|| value.clone()));
    }
    is_changed.then_some(Value::Object(out))
}

/// Returns the value for the alternative that then admits it. A value that an alternative admits as it is stays, except a
/// text that stands for a listed value where only a pattern, which is not compared, could admit the text.
fn by_branch(
    schema: &JsonMap,
    branches: &[Value],
    names: Names,
    value: &Value,
    depth: usize,
) -> Option<Value> {
    let all = || branches.iter().filter_map(Value::as_object);
    if value.is_string() && all().any(|branch| admits_any_text(branch, value, depth)) {
        return None;
    }
    let mut found: Vec<Option<Value>> = Vec::new();
    for branch in all() {
        let new = restored(branch, names, value, depth);
        if value.is_string() && new.is_none() {
            continue;
        }
        if admits(branch, new.as_ref().unwrap_or(value), depth) && !found.contains(&new) {
            found.push(new);
        }
    }
    if let (Value::String(text), true) = (value, schema.contains_key("nullable"))
        && text == "null"
    {
        found.push(Some(Value::Null));
    }
    let stays = || all().any(|branch| admits_by(branch, value, depth, false));
    if found.len() > 1 && found.contains(&None) && !stays() {
        // Patterns are not compared. Only one could admit the value as it is.
        found.retain(Option::is_some);
    }
    if found.len() > 1 {
        // Only a form has the changed names, so an alternative that admits them as they are is not the one that is meant.
        found.retain(|new| new.as_ref().is_some_and(|new| !has_same_names(value, new)));
    }
    match found.len() {
        1 => found.pop().flatten(),
        _ => None,
    }
}

/// True if a schema admits a text, and not only one that could fit a pattern.
fn admits_any_text(schema: &JsonMap, value: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return true;
    };
    match branches(schema) {
        Some(branches) => {
            let mut branches = branches.iter().filter_map(Value::as_object);
            branches.any(|branch| admits_any_text(branch, value, depth))
        }
        None => !schema.contains_key("pattern") && admits(schema, value, depth),
    }
}

/// True if two values have objects with the same names at the same places.
fn has_same_names(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Object(one), Value::Object(two)) => {
            let mut both = one.iter().zip(two);
            both.all(|((one, a), (two, b))| one == two && has_same_names(a, b))
        }
        (Value::Array(one), Value::Array(two)) => one
            .iter()
            .zip(two)
            .all(|(one, two)| has_same_names(one, two)),
        _ => true,
    }
}

/// Returns the value that a text stands for.
fn literal(schema: &JsonMap, kind: &str, text: &str) -> Option<Value> {
    let listed = schema.get("enum").and_then(Value::as_array);
    let admitted =
        kind == "string" && listed.is_none_or(|values| values.iter().any(|value| value == text));
    if admitted {
        return None;
    }
    let parsed: Option<Value> = serde_json::from_str(text.trim()).ok();
    let parsed = parsed.filter(|value| !value.is_string())?;
    if listed.is_none() && matches!(kind, "integer" | "number" | "boolean") {
        return opencode_llm::normal_schema::keywords::has_type(&parsed, kind).then_some(parsed);
    }
    let null = (kind == "null" || schema.contains_key("nullable")).then(|| json!(null));
    let values = listed.into_iter().flatten().cloned().chain(null);
    let mut equal = values.filter(|value| is_equal(value, &parsed));
    let first = equal.next()?;
    equal.next().is_none().then_some(first)
}

/// True if two values are the same. Whole numbers are compared exactly, because large ones have no exact fraction.
fn is_equal(one: &Value, two: &Value) -> bool {
    let are_numbers = one.is_number() && two.is_number();
    one == two || (are_numbers && (one.is_f64() || two.is_f64()) && one.as_f64() == two.as_f64())
}

/// Returns the schema of the item at a position.
pub(super) fn item_schema(schema: &JsonMap, index: usize) -> Option<&JsonMap> {
    let first = schema.get("prefixItems").and_then(|all| all.get(index));
    first.or_else(|| schema.get("items"))?.as_object()
}

fn branches(schema: &JsonMap) -> Option<&[Value]> {
    schema.get("anyOf")?.as_array().map(Vec::as_slice)
}

/// True if a reduced schema admits a value, apart from bounds and patterns.
pub(super) fn admits(schema: &JsonMap, value: &Value, depth: usize) -> bool {
    admits_by(schema, value, depth, true)
}

/// The same. If `fits` is false, no text fits a pattern.
fn admits_by(schema: &JsonMap, value: &Value, depth: usize, fits: bool) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return true;
    };
    if value.is_null() && schema.contains_key("nullable") {
        return true;
    }
    if let Some(branches) = branches(schema) {
        let mut branches = branches.iter().filter_map(Value::as_object);
        return branches.any(|branch| admits_by(branch, value, depth, fits));
    }
    let Some(kind) = schema.get("type").and_then(Value::as_str) else {
        return true;
    };
    if !opencode_llm::normal_schema::keywords::has_type(value, kind) {
        return false;
    }
    if !fits && value.is_string() && schema.contains_key("pattern") {
        return false;
    }
    if let Some(Value::Array(values)) = schema.get("enum")
        && !values.iter().any(|it| is_equal(it, value))
    {
        return false;
    }
    match value {
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.all(|(index, item)| {
                item_schema(schema, index).is_none_or(|inner| admits_by(inner, item, depth, fits))
            })
        }
        Value::Object(members) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let rest = schema.get("additionalProperties");
            let required = schema.get("required").and_then(Value::as_array);
            let mut required = required.into_iter().flatten().filter_map(Value::as_str);
            required.all(|name| members.contains_key(name))
                && members.iter().all(|(name, member)| {
                    let inner = properties.and_then(|it| it.get(name)).or(rest);
                    match inner {
                        Some(Value::Object(inner)) => admits_by(inner, member, depth, fits),
                        Some(Value::Bool(is_open)) => *is_open,
                        _ => true,
                    }
                })
        }
        _ => true,
    }
}
