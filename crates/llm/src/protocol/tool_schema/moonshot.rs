//! Moonshot (Kimi): a reference has no siblings, and an array has one item schema.

use serde_json::{Value, json};

use super::{MAX_DEPTH, map_children};
use crate::canonical::request::JsonMap;

/// Converts a schema.
pub(super) fn project(schema: &Value) -> Value {
    project_to(schema, MAX_DEPTH)
}

fn project_to(schema: &Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return json!({});
    };
    let mut schema = schema.clone();
    if let Value::Object(members) = &mut schema {
        if let Some(reference) = members.get("$ref").cloned() {
            // The definitions for a reference at the root are not siblings in this sense.
            members.retain(|keyword, _| matches!(keyword.as_str(), "$defs" | "definitions"));
            members.insert("$ref".to_owned(), reference);
        }
        unify_items(members);
    }
    map_children(&mut schema, &mut |child| project_to(child, depth));
    schema
}

/// Replaces item schemas by position with one schema that allows each of them at every position.
fn unify_items(members: &mut JsonMap) {
    members.shift_remove("unevaluatedItems");
    let mut choices = Vec::new();
    if let Some(Value::Array(prefix)) = members.shift_remove("prefixItems") {
        choices.extend(prefix);
    }
    match members.get("items") {
        Some(Value::Array(items)) => choices.extend(items.iter().cloned()),
        Some(items @ Value::Object(_)) if !choices.is_empty() => choices.push(items.clone()),
        _ if choices.is_empty() => return,
        _ => {}
    }
    let items = match choices.len() {
        0 => json!({}),
        1 => choices.remove(0),
        _ => json!({"anyOf": choices}),
    };
    members.insert("items".to_owned(), items);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_lose_siblings_and_tuples_become_unions() {
        let rows = [
            (
                json!({"properties": {"a": {"$ref": "#/$defs/x", "description": "d"}}, "$defs": {"x": {"type": "string"}}}),
                json!({"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "string"}}}),
            ),
            (
                json!({"type": "array", "items": [{"type": "string"}], "unevaluatedItems": false}),
                json!({"type": "array", "items": {"type": "string"}}),
            ),
            (
                json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]}),
                json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}}),
            ),
            (
                json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "number"}}),
                json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}}),
            ),
            (
                json!({"type": "array", "items": {"type": "number"}}),
                json!({"type": "array", "items": {"type": "number"}}),
            ),
        ];
        for (schema, expected) in rows {
            assert_eq!(project(&schema), expected);
        }
    }
}
