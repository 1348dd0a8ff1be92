//! The subset of Google: few keywords, one type per schema, no references. Only texts can be enumerated, and a schema with
//! `anyOf` has no other member.

use opencode_llm::canonical::request::JsonMap;
use serde_json::{Value, json};

use super::flat::describe;
use super::names::Names;
use super::reduced::reduced;
use super::told::{properties, tell};

/// Maximum depth. The server refuses schemas that are nested too deeply.
const MAX_DEPTH: usize = 16;

/// Maximum number of arrays within each other in a value of any type.
const MAX_ANY: usize = 2;

/// Makes the form of a normal schema.
pub(super) fn project(normal: &Value) -> Value {
    Value::Object(node(reduced(normal, MAX_DEPTH)))
}

fn node(mut schema: JsonMap) -> JsonMap {
    let text = schema.shift_remove("description");
    let text = text.as_ref().and_then(Value::as_str);
    let is_nullable = schema.contains_key("nullable");
    if let Some(Value::Array(branches)) = schema.shift_remove("anyOf") {
        let mut all = Vec::new();
        for branch in branches {
            let Value::Object(branch) = branch else {
                continue;
            };
            let mut branch = node(branch);
            // Alternatives of an alternative are alternatives.
            match branch.shift_remove("anyOf") {
                Some(Value::Array(inner)) => all.extend(inner.into_iter().filter_map(object_of)),
                _ => all.push(branch),
            }
        }
        return choice(all, text, is_nullable);
    }
    let Some(kind) = schema.get("type").and_then(Value::as_str) else {
        return choice(any(MAX_ANY), text, true);
    };
    let mut out = JsonMap::from_iter([("type".to_owned(), json!(kind))]);
    if let Some(text) = text {
        out.insert("description".to_owned(), text.into());
    }
    if is_nullable {
        out.insert("nullable".to_owned(), true.into());
    }
    match kind {
        "object" => properties(&schema, Names::Gemini, node, &mut out),
        "array" => {
            let items = match schema.get("items") {
                Some(Value::Object(items)) => node(items.clone()),
                _ => choice(any(MAX_ANY), None, true),
            };
            out.insert("items".to_owned(), Value::Object(items));
        }
        "null" => {
            out.insert("type".to_owned(), "string".into());
            out.insert("nullable".to_owned(), true.into());
            describe(&mut out, "The value is always null.");
        }
        _ => {}
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        enumerate(kind, values, &mut out);
    }
    let mut said = vec![
        "type",
        "nullable",
        "enum",
        "items",
        "properties",
        "required",
        "default",
    ];
    for keyword in ["format", "minLength"] {
        if let Some(value) = schema
            .get(keyword)
            .filter(|value| is_accepted(kind, keyword, value))
            && out.get("type").is_some_and(|own| own == kind)
            && !out.contains_key("enum")
        {
            out.insert(keyword.to_owned(), value.clone());
            said.push(keyword);
        }
    }
    tell(&schema, &said, &mut out);
    out
}

fn object_of(value: Value) -> Option<JsonMap> {
    match value {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

fn is_accepted(kind: &str, keyword: &str, value: &Value) -> bool {
    match (keyword, kind) {
        ("minLength", "string") => true,
        ("format", "string") => value == "date-time",
        ("format", "integer") => value == "int32" || value == "int64",
        ("format", "number") => value == "float" || value == "double",
        _ => false,
    }
}

/// Lists the values as texts. Truth values cannot be listed, and neither can an empty text.
fn enumerate(kind: &str, values: &[Value], out: &mut JsonMap) {
    let is_empty = |value: &Value| value.as_str().is_some_and(str::is_empty);
    if kind == "boolean" || values.iter().any(is_empty) {
        if kind != "boolean" || values.len() == 1 {
            let values: Vec<String> = values.iter().map(Value::to_string).collect();
            describe(out, &format!("One of: {}", values.join(", ")));
        }
        return;
    }
    let texts = values.iter().map(text_of);
    out.insert("enum".to_owned(), texts.collect::<Vec<_>>().into());
    out.insert("type".to_owned(), "string".into());
}

/// Returns the text that stands for a value in a list.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns a choice. Its description and the permission of `null` move to the first alternative, because a choice
/// has no other members.
fn choice(mut branches: Vec<JsonMap>, text: Option<&str>, is_nullable: bool) -> JsonMap {
    if let Some(first) = branches.first_mut() {
        if let Some(text) = text {
            let own = first.shift_remove("description");
            first.insert("description".to_owned(), text.into());
            if let Some(own) = own.as_ref().and_then(Value::as_str) {
                describe(first, own);
            }
        }
        if is_nullable {
            first.insert("nullable".to_owned(), true.into());
        }
    }
    if branches.len() == 1 {
        return branches.remove(0);
    }
    let branches = branches.into_iter().map(Value::Object);
    JsonMap::from_iter([("anyOf".to_owned(), branches.collect())])
}

/// Returns the alternatives of a value of any type. Each schema needs a type, and each array needs items, so arrays
/// within arrays have an end.
fn any(arrays: usize) -> Vec<JsonMap> {
    let kinds = ["string", "number", "boolean", "object"];
    let kinds = kinds
        .into_iter()
        .map(|kind| JsonMap::from_iter([("type".to_owned(), kind.into())]));
    let mut branches: Vec<JsonMap> = kinds.collect();
    if let Some(inner) = arrays.checked_sub(1) {
        branches.push(JsonMap::from_iter([
            ("type".to_owned(), "array".into()),
            (
                "items".to_owned(),
                Value::Object(choice(any(inner), None, true)),
            ),
        ]));
    }
    branches
}
