//! The subset of Google: few keywords, one type per schema, no references.

use serde_json::{Value, json};

use crate::canonical::request::JsonMap;

/// Maximum depth of expanded references. A recursive schema ends in a plain object there.
const MAX_DEPTH: usize = 16;
/// Maximum number of nodes per schema, because expanded references multiply.
const MAX_NODES: usize = 10_000;

/// Keywords that are copied unchanged.
const KEPT: [&str; 7] = [
    "description",
    "required",
    "format",
    "type",
    "nullable",
    "enum",
    "minLength",
];

/// Converts a schema.
pub(super) fn project(schema: &Value) -> Value {
    let mut projection = Projection {
        root: schema,
        nodes: 0,
    };
    projection.schema(schema, MAX_DEPTH)
}

struct Projection<'a> {
    root: &'a Value,
    nodes: usize,
}

impl Projection<'_> {
    fn schema(&mut self, schema: &Value, depth: usize) -> Value {
        self.nodes += 1;
        let Some(depth) = depth.checked_sub(1).filter(|_| self.nodes < MAX_NODES) else {
            return json!({"type": "object"});
        };
        let Value::Object(members) = schema else {
            return json!({});
        };
        if let Some(target) = self.resolve(members) {
            return self.schema(&target, depth);
        }
        let mut out = JsonMap::new();
        let mut conditions = Vec::new();
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("const", value) => {
                    out.insert("enum".to_owned(), json!([value]));
                }
                ("properties", Value::Object(named)) => {
                    let named = named
                        .iter()
                        .map(|(name, child)| (name.clone(), self.schema(child, depth)));
                    out.insert(keyword.clone(), Value::Object(named.collect()));
                }
                ("items", child @ Value::Object(_)) => {
                    out.insert(keyword.clone(), self.schema(child, depth));
                }
                // The subset has no `oneOf`. The input of a call is checked against the schema of the tool anyway.
                ("anyOf" | "oneOf", Value::Array(branches)) => {
                    let branches = branches.iter().map(|child| self.schema(child, depth));
                    let all = out.entry("anyOf").or_insert_with(|| json!([]));
                    if let Value::Array(all) = all {
                        all.extend(branches);
                    }
                }
                ("allOf", Value::Array(branches)) => {
                    conditions.extend(branches.iter().map(|child| self.schema(child, depth)));
                }
                (kept, value) if KEPT.contains(&kept) => {
                    out.insert(keyword.clone(), value.clone());
                }
                _ => {}
            }
        }
        for condition in conditions {
            add_condition(&mut out, condition);
        }
        single_type(&mut out);
        textual_enum(&mut out);
        fit_type(&mut out);
        Value::Object(out)
    }

    /// Returns the schema that a local reference points to.
    fn resolve(&self, members: &JsonMap) -> Option<Value> {
        let pointer = members.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer).cloned()
    }
}

/// Adds the keywords of a branch of `allOf`, which the subset does not have. A keyword of the schema itself stays; properties
/// and required members are added.
fn add_condition(members: &mut JsonMap, condition: Value) {
    let Value::Object(condition) = condition else {
        return;
    };
    for (keyword, value) in condition {
        match (members.get_mut(&keyword), value) {
            (None, value) => {
                members.insert(keyword, value);
            }
            (Some(Value::Object(own)), Value::Object(more)) if keyword == "properties" => {
                for (name, schema) in more {
                    own.entry(name).or_insert(schema);
                }
            }
            (Some(Value::Array(own)), Value::Array(more)) if keyword == "required" => {
                for name in more {
                    if !own.contains(&name) {
                        own.push(name);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Replaces a list of types with its first type other than `null`, and `null` with a flag.
fn single_type(members: &mut JsonMap) {
    let Some(Value::Array(types)) = members.get("type") else {
        return;
    };
    let nullable = types.iter().any(|kind| kind == "null");
    let first = types.iter().find(|kind| *kind != "null").cloned();
    match first {
        Some(first) => members.insert("type".to_owned(), first),
        None => members.shift_remove("type"),
    };
    if nullable {
        members.insert("nullable".to_owned(), Value::Bool(true));
    }
}

/// Converts enumerated values to strings, because only strings can be enumerated.
fn textual_enum(members: &mut JsonMap) {
    let Some(Value::Array(values)) = members.get_mut("enum") else {
        return;
    };
    for value in values.iter_mut() {
        if !value.is_string() {
            *value = Value::String(value.to_string());
        }
    }
    if matches!(
        members.get("type").and_then(Value::as_str),
        None | Some("integer" | "number")
    ) {
        members.insert("type".to_owned(), "string".into());
    }
}

/// Removes members that do not match the type, and adds a missing item type.
fn fit_type(members: &mut JsonMap) {
    match members.get("type").and_then(Value::as_str) {
        Some("array") => {
            let typed = members
                .get("items")
                .is_some_and(|items| ["type", "anyOf"].iter().any(|key| items.get(key).is_some()));
            if !typed {
                members.insert("items".to_owned(), json!({"type": "string"}));
            }
        }
        Some("string" | "number" | "integer" | "boolean") => {
            members.shift_remove("properties");
            members.shift_remove("required");
        }
        _ => {}
    }
    let known = members
        .get("properties")
        .and_then(Value::as_object)
        .cloned();
    if let (Some(known), Some(Value::Array(required))) = (known, members.get_mut("required")) {
        required.retain(|name| name.as_str().is_some_and(|name| known.contains_key(name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_reduced() {
        let schema = json!({"type": "object", "additionalProperties": false, "title": "t", "required": ["a", "gone"],
        "properties": {
            "a": {"type": ["null", "integer"], "enum": [1, 2], "maximum": 3},
            "b": {"const": "x"},
            "c": {"type": "array"},
            "d": {"type": "array", "items": {"type": "number", "required": ["x"], "properties": {}}},
            "e": {"oneOf": [{"type": "string", "minLength": 1, "pattern": "x"}]},
            "f": true
        }});
        assert_eq!(
            project(&schema),
            json!({"type": "object", "required": ["a"], "properties": {
                "a": {"type": "string", "enum": ["1", "2"], "nullable": true},
                "b": {"enum": ["x"], "type": "string"},
                "c": {"type": "array", "items": {"type": "string"}},
                "d": {"type": "array", "items": {"type": "number"}},
                "e": {"anyOf": [{"type": "string", "minLength": 1}]},
                "f": {}
            }})
        );
    }

    #[test]
    fn conditions_are_merged() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"allOf": [{"type": "string"}], "description": "An a."}, "b": {"type": "string"},
        }, "allOf": [
            {"required": ["b", "c"], "properties": {"b": {"type": "number"}, "c": {"type": "integer"}}},
            true,
        ]});
        assert_eq!(
            project(&schema),
            json!({"type": "object", "required": ["a", "b", "c"], "properties": {
                "a": {"description": "An a.", "type": "string"},
                "b": {"type": "string"},
                "c": {"type": "integer"},
            }})
        );
    }

    #[test]
    fn a_recursive_schema_is_expanded_to_a_limit() {
        let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}, "also": {"$ref": "#"}},
            "$defs": {"loop": {"$ref": "#/$defs/loop"}}});
        let mut node = &project(&schema);
        let mut depth = 0;
        while let Some(next) = node.pointer("/properties/next") {
            node = next;
            depth += 1;
        }
        assert!(depth > 2 && depth <= MAX_DEPTH);
        assert_eq!(*node, json!({"type": "object"}));
        assert_eq!(
            project(&json!({"$ref": "#/$defs/loop", "$defs": {"loop": {"$ref": "#/$defs/loop"}}})),
            json!({"type": "object"})
        );
    }
}
