//! OpenAI: the root is an object without alternatives, and no alternative is `null`.

use serde_json::{Map, Value, json};

use super::{MAX_DEPTH, map_children};
use crate::canonical::request::JsonMap;

/// Converts a schema.
pub(super) fn project(schema: &Value) -> Value {
    let mut root = schema.as_object().cloned().unwrap_or_default();
    root.remove("$schema");
    if let Some(flat) = flattened(&root) {
        root = flat;
    }
    root.insert("type".to_owned(), "object".into());
    root.entry("properties").or_insert_with(|| json!({}));
    let mut root = Value::Object(root);
    map_children(&mut root, &mut |child| below_root(child, MAX_DEPTH));
    root
}

/// Converts a root that is a choice of objects to one object with all properties. Earlier branches
/// win, and only properties that all branches require stay required.
fn flattened(root: &JsonMap) -> Option<JsonMap> {
    let branches: Vec<&JsonMap> = root
        .get("anyOf")?
        .as_array()?
        .iter()
        .map(|branch| branch.as_object().filter(|branch| is_object_schema(branch)))
        .collect::<Option<_>>()?;
    let mut properties = Map::new();
    for branch in &branches {
        if let Some(Value::Object(more)) = branch.get("properties") {
            for (name, schema) in more {
                properties.entry(name).or_insert_with(|| schema.clone());
            }
        }
    }
    let required = |branch: &JsonMap| -> Vec<Value> {
        let names = branch.get("required").and_then(Value::as_array);
        names.cloned().unwrap_or_default()
    };
    let mut common = branches
        .first()
        .map(|branch| required(branch))
        .unwrap_or_default();
    for branch in branches.iter().skip(1) {
        let names = required(branch);
        common.retain(|name| names.contains(name));
    }
    let mut flat = root.clone();
    flat.shift_remove("anyOf");
    flat.shift_remove("required");
    flat.insert("properties".to_owned(), Value::Object(properties));
    if !common.is_empty() {
        flat.insert("required".to_owned(), Value::Array(common));
    }
    flat.insert("additionalProperties".to_owned(), Value::Bool(false));
    Some(flat)
}

fn is_object_schema(branch: &JsonMap) -> bool {
    branch.get("type").is_some_and(|kind| kind == "object") || branch.contains_key("properties")
}

fn below_root(schema: &Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return json!({});
    };
    let mut schema = schema.clone();
    if let Value::Object(members) = &mut schema {
        drop_null_branches(members);
    }
    map_children(&mut schema, &mut |child| below_root(child, depth));
    schema
}

/// Removes `null` branches. A single remaining branch replaces the choice; the other members of the schema stay.
fn drop_null_branches(members: &mut JsonMap) {
    let Some(Value::Array(branches)) = members.get_mut("anyOf") else {
        return;
    };
    let is_null = |branch: &Value| branch.get("type").is_some_and(|kind| kind == "null");
    branches.retain(|branch| !is_null(branch));
    if !matches!(branches.as_slice(), [Value::Object(_)]) {
        return;
    }
    if let Some(Value::Array(mut branches)) = members.shift_remove("anyOf")
        && let Some(Value::Object(only)) = branches.pop()
    {
        for (keyword, value) in only {
            members.entry(keyword).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_schema_becomes_an_object() {
        let rows = [
            (json!(true), json!({"type": "object", "properties": {}})),
            (
                json!({"$schema": "x", "properties": {"a": {"type": "string"}}}),
                json!({"properties": {"a": {"type": "string"}}, "type": "object"}),
            ),
            (
                json!({"description": "d", "properties": {"z": {}}, "anyOf": [
                    {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a", "b"]},
                    {"properties": {"a": {"type": "number"}, "c": {}}, "required": ["a"]}
                ]}),
                json!({"description": "d", "properties": {"a": {"type": "string"}, "b": {}, "c": {}},
                    "required": ["a"], "additionalProperties": false, "type": "object"}),
            ),
            (
                json!({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "object"}}}),
                json!({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "object"}},
                    "type": "object", "properties": {}}),
            ),
        ];
        for (schema, expected) in rows {
            assert_eq!(project(&schema), expected);
        }
    }

    #[test]
    fn null_is_dropped_below_the_root() {
        let schema = json!({"type": "object", "properties": {
            "a": {"anyOf": [{"type": "string", "description": "inner"}, {"type": "null"}], "description": "outer"},
            "b": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
            "anyOf": {"type": "array", "items": {"anyOf": [{"type": "null"}, {"type": "boolean"}]}},
            "d": {"default": {"anyOf": [{"type": "null"}]}}
        }});
        assert_eq!(
            project(&schema)["properties"],
            json!({
                "a": {"description": "outer", "type": "string"},
                "b": {"anyOf": [{"type": "string"}, {"type": "number"}]},
                "anyOf": {"type": "array", "items": {"type": "boolean"}},
                "d": {"default": {"anyOf": [{"type": "null"}]}}
            })
        );
    }
}
