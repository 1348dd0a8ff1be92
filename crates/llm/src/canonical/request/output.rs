//! The format of the answer.

use serde::Serialize;
use serde_json::{Map, Value};

/// Keywords that strict formats do not have. With one of them a provider refuses a strict request.
const UNSUPPORTED: [&str; 10] = [
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
];

/// Asks the model to answer with JSON that conforms to a schema.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutputFormat {
    /// Name of the format.
    pub name: String,
    /// JSON Schema of an object.
    pub schema: Value,
}

impl OutputFormat {
    /// True if a provider can guarantee the format: each object lists all its members as required and
    /// forbids others, and no other keywords restrict a value.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        is_strict(&self.schema)
    }
}

fn is_strict(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    if UNSUPPORTED.iter().any(|name| keywords.contains_key(*name)) {
        return false;
    }
    let is_object = keywords.get("type").is_some_and(|types| match types {
        Value::Array(types) => types.iter().any(|name| name == "object"),
        name => name == "object",
    });
    if (is_object || keywords.contains_key("properties")) && !is_closed(keywords) {
        return false;
    }
    let maps = ["properties", "$defs", "definitions"].into_iter();
    let maps = maps.filter_map(|name| keywords.get(name)?.as_object());
    let lists = ["anyOf", "prefixItems"].into_iter();
    let lists = lists.filter_map(|name| keywords.get(name)?.as_array());
    maps.flat_map(Map::values).all(is_strict)
        && lists.flatten().all(is_strict)
        && keywords.get("items").is_none_or(is_strict)
}

/// True if an object has exactly its declared members.
fn is_closed(keywords: &Map<String, Value>) -> bool {
    let declared = keywords.get("properties").and_then(Value::as_object);
    let required = keywords.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|all| all.iter().any(|it| it == name));
    keywords.get("additionalProperties") == Some(&Value::Bool(false))
        && declared.into_iter().flat_map(Map::keys).all(is_required)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_format_is_strict_if_a_provider_can_guarantee_it() {
        let closed = |properties: Value, required: Value| {
            json!({
                "type": "object", "properties": properties, "required": required,
                "additionalProperties": false,
            })
        };
        let text = json!({"type": "string"});
        for (schema, expected) in [
            (closed(json!({}), json!([])), true),
            (closed(json!({"a": text}), json!(["a"])), true),
            (closed(json!({"a": text}), json!([])), false),
            (
                json!({"type": "object", "properties": {"a": text}, "required": ["a"]}),
                false,
            ),
            (
                closed(
                    json!({"a": {"type": "array", "items": closed(json!({}), json!([]))}}),
                    json!(["a"]),
                ),
                true,
            ),
            (
                closed(
                    json!({"a": {"type": "array", "items": {"type": "object"}}}),
                    json!(["a"]),
                ),
                false,
            ),
            (
                closed(
                    json!({"a": {"anyOf": [text, {"type": "null"}]}}),
                    json!(["a"]),
                ),
                true,
            ),
            (
                closed(
                    json!({"a": {"oneOf": [text, {"type": "null"}]}}),
                    json!(["a"]),
                ),
                false,
            ),
            (
                closed(json!({"a": {"type": ["object", "null"]}}), json!(["a"])),
                false,
            ),
            (closed(json!({"a": true}), json!(["a"])), false),
        ] {
            let format = OutputFormat {
                name: "o".to_owned(),
                schema: schema.clone(),
            };
            assert_eq!(format.is_strict(), expected, "{schema}");
        }
    }
}
