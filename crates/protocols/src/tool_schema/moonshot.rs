//! The subset of Moonshot (Kimi): few keywords, one type per schema, and a list of values has one type.

use opencode_llm::canonical::request::JsonMap;
use opencode_llm::normal_schema::keywords::{TYPES, type_of};
use serde_json::{Value, json};

use super::flat::describe;
use super::names::Names;
use super::reduced::reduced;
use super::told::{properties, tell};

/// Depths to which the schema is written, the next one if its form is too large or too deep.
const DEPTHS: [usize; 5] = [9, 7, 5, 3, 2];

/// Maximum depth.
const MAX_DEPTH: usize = 10;

/// Maximum size as JSON, in bytes.
const MAX_SIZE: usize = 100_000;

/// Maximum number of values in a list, and of alternatives.
const MAX_VALUES: usize = 500;

/// Keywords that are copied unchanged if their values are accepted.
const COPIED: [&str; 6] = [
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
];

/// Makes the form of a normal schema.
pub(super) fn project(normal: &Value) -> Value {
    let mut schema = json!({"type": "object"});
    for depth in DEPTHS {
        schema = Value::Object(node(reduced(normal, depth)));
        if levels(&schema) <= MAX_DEPTH && schema.to_string().len() <= MAX_SIZE {
            break;
        }
    }
    schema
}

/// Returns the number of schemas within each other.
fn levels(schema: &Value) -> usize {
    let Value::Object(schema) = schema else {
        return 0;
    };
    let named = schema.get("properties").and_then(Value::as_object);
    let branches = schema.get("anyOf").and_then(Value::as_array);
    let others = ["items", "additionalProperties"].into_iter();
    let others = others.filter_map(|keyword| schema.get(keyword));
    let named = named.into_iter().flat_map(JsonMap::values);
    let children = named.chain(branches.into_iter().flatten()).chain(others);
    1 + children.map(levels).max().unwrap_or(0)
}

fn node(mut schema: JsonMap) -> JsonMap {
    let text = schema.shift_remove("description");
    let is_nullable = schema.shift_remove("nullable").is_some();
    let mut out = JsonMap::new();
    let branches = match schema.shift_remove("anyOf") {
        Some(Value::Array(branches)) if branches.len() <= MAX_VALUES => branches,
        None if schema.contains_key("type") => Vec::new(),
        // An empty schema admits nothing in particular.
        _ => TYPES
            .into_iter()
            .filter(|kind| *kind != "integer")
            .map(|kind| json!({"type": kind}))
            .collect(),
    };
    let mut branches: Vec<Value> = branches.into_iter().filter_map(branch).collect();
    if branches.is_empty() {
        typed(&schema, &mut out);
        if is_nullable {
            branches.push(Value::Object(std::mem::take(&mut out)));
        }
    }
    if is_nullable {
        branches.push(json!({"type": "null"}));
    }
    if !branches.is_empty() {
        out.insert("anyOf".to_owned(), Value::Array(branches));
    }
    if let Some(text) = text.as_ref().and_then(Value::as_str) {
        let own = out.shift_remove("description");
        out.insert("description".to_owned(), text.into());
        if let Some(own) = own.as_ref().and_then(Value::as_str) {
            describe(&mut out, own);
        }
    }
    if let Some(value) = schema.get("default") {
        out.insert("default".to_owned(), value.clone());
    }
    out
}

fn branch(schema: Value) -> Option<Value> {
    match schema {
        Value::Object(schema) => Some(Value::Object(node(schema))),
        _ => None,
    }
}

/// Writes a schema with one type.
fn typed(schema: &JsonMap, out: &mut JsonMap) {
    let kind = schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or("object");
    out.insert("type".to_owned(), json!(kind));
    let mut said = vec![
        "type",
        "enum",
        "items",
        "properties",
        "required",
        "additionalProperties",
    ];
    match schema.get("enum") {
        Some(Value::Array(values)) if is_list(kind, values) => {
            out.insert("enum".to_owned(), json!(values));
        }
        Some(Value::Array(values)) if kind != "boolean" || values.len() == 1 => {
            let values: Vec<String> = values
                .iter()
                .take(MAX_VALUES)
                .map(Value::to_string)
                .collect();
            describe(out, &format!("One of: {}", values.join(", ")));
        }
        _ => {}
    }
    for keyword in COPIED {
        if let Some(value) = schema.get(keyword).filter(|value| value.is_u64())
            && is_in_order(schema, keyword)
        {
            out.insert(keyword.to_owned(), value.clone());
            said.push(keyword);
        }
    }
    if let Some(Value::Object(items)) = schema.get("items") {
        out.insert("items".to_owned(), Value::Object(node(items.clone())));
    }
    object(schema, out);
    tell(schema, &said, out);
}

/// True if the values can be listed: texts, or numbers of one kind.
fn is_list(kind: &str, values: &[Value]) -> bool {
    let first = values.first().map(type_of);
    values.len() <= MAX_VALUES
        && matches!(kind, "string" | "integer" | "number")
        && values.iter().all(|value| Some(type_of(value)) == first)
}

/// True unless the lower bound is above the upper one.
fn is_in_order(schema: &JsonMap, keyword: &str) -> bool {
    let part = keyword.trim_start_matches("min").trim_start_matches("max");
    let part = part.trim_start_matches("imum");
    let suffix = if part.is_empty() { "imum" } else { part };
    let bound = |prefix: &str| schema.get(&format!("{prefix}{suffix}"))?.as_f64();
    match (bound("min"), bound("max")) {
        (Some(least), Some(most)) => least <= most,
        _ => true,
    }
}

fn object(schema: &JsonMap, out: &mut JsonMap) {
    properties(schema, Names::Moonshot, node, out);
    match schema.get("additionalProperties") {
        Some(Value::Object(rest)) => {
            out.insert(
                "additionalProperties".to_owned(),
                Value::Object(node(rest.clone())),
            );
        }
        Some(value) => {
            out.insert("additionalProperties".to_owned(), value.clone());
        }
        None => {}
    }
}
