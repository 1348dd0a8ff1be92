//! The documented rules of the providers for schemas of tools, and the refusals of their servers.

use opencode_llm::canonical::request::JsonMap;
use opencode_llm::normal_schema::keywords::{Form, form};
use serde_json::Value;

/// Keywords that OpenAI, Anthropic and Bedrock refuse at the root.
const REFUSED_AT_ROOT: [&str; 8] = [
    "anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "$ref",
];

/// Fails unless OpenAI accepts the schema.
pub(super) fn check_openai(schema: &Value) {
    check_root(schema);
    assert!(schema["properties"].is_object(), "{schema}");
    each(schema, &mut |node| {
        let is_array = node.get("type").is_some_and(|kind| {
            kind == "array"
                || kind
                    .as_array()
                    .is_some_and(|all| all.contains(&"array".into()))
        });
        assert!(
            !is_array || node.contains_key("items"),
            "an array without items: {node:?}"
        );
    });
}

/// Fails unless Anthropic and Bedrock accept the schema.
pub(super) fn check_anthropic(schema: &Value) {
    check_root(schema);
    each(schema, &mut |node| {
        assert!(!node.contains_key("$ref"), "a reference: {node:?}");
        for name in named(node, "properties").keys() {
            let fits = (1..=64).contains(&name.len())
                && name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
            assert!(fits, "the name {name:?}");
        }
    });
}

fn check_root(schema: &Value) {
    assert_eq!(schema["type"], "object", "{schema}");
    for keyword in REFUSED_AT_ROOT {
        assert!(
            schema.get(keyword).is_none(),
            "{keyword} at the root: {schema}"
        );
    }
    let valid = jsonschema::draft202012::meta::validate(schema);
    assert!(valid.is_ok(), "not draft 2020-12: {schema}");
    let compiled = jsonschema::draft202012::new(schema);
    assert!(compiled.is_ok(), "not resolvable: {schema}");
}

/// Fails unless Gemini accepts the schema.
pub(super) fn check_gemini(schema: &Value) {
    const KNOWN: [&str; 9] = [
        "type",
        "description",
        "nullable",
        "format",
        "enum",
        "properties",
        "required",
        "items",
        "minLength",
    ];
    assert_eq!(schema["type"], "object", "{schema}");
    each(schema, &mut |node| {
        if let Some(branches) = node.get("anyOf") {
            assert_eq!(node.len(), 1, "anyOf with siblings: {node:?}");
            assert!(
                branches.as_array().is_some_and(|it| it.len() > 1),
                "{node:?}"
            );
            return;
        }
        for keyword in node.keys() {
            assert!(KNOWN.contains(&keyword.as_str()), "{keyword}: {node:?}");
        }
        let kind = node["type"].as_str().expect("one type");
        assert!(["object", "array", "string", "number", "integer", "boolean"].contains(&kind));
        if let Some(values) = node.get("enum") {
            assert_eq!(kind, "string", "{node:?}");
            let texts = values
                .as_array()
                .into_iter()
                .flatten()
                .map(|it| it.as_str().unwrap_or(""));
            assert!(texts.into_iter().all(|it| !it.is_empty()), "{node:?}");
        }
        if let Some(format) = node.get("format").and_then(Value::as_str) {
            let known: &[&str] = match kind {
                "string" => &["date-time", "enum"],
                "integer" => &["int32", "int64"],
                "number" => &["float", "double"],
                _ => &[],
            };
            assert!(known.contains(&format), "{node:?}");
        }
        assert_eq!(kind == "array", node.contains_key("items"), "{node:?}");
        let properties = named(node, "properties");
        assert!(!node.contains_key("properties") || (kind == "object" && !properties.is_empty()));
        for name in properties.keys() {
            let fits = name.len() <= 64
                && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            assert!(fits, "the name {name:?}");
        }
        check_required(node, &properties);
    });
}

/// Fails unless Moonshot accepts the schema.
pub(super) fn check_moonshot(schema: &Value) {
    const KNOWN: [&str; 15] = [
        "type",
        "description",
        "default",
        "enum",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
    ];
    assert_eq!(schema["type"], "object", "{schema}");
    each(schema, &mut |node| {
        for keyword in node.keys() {
            assert!(KNOWN.contains(&keyword.as_str()), "{keyword}: {node:?}");
        }
        if let Some(branches) = node.get("anyOf").and_then(Value::as_array) {
            assert!(!node.contains_key("type"), "{node:?}");
            assert!((1..=500).contains(&branches.len()));
            return;
        }
        assert!(node.get("type").is_some_and(Value::is_string), "{node:?}");
        if let Some(values) = node.get("enum").and_then(Value::as_array) {
            let texts = values.iter().all(Value::is_string);
            let whole = values.iter().all(|it| it.is_i64() || it.is_u64());
            let parts = values.iter().all(Value::is_f64);
            assert!(!values.is_empty() && (texts || whole || parts), "{node:?}");
        }
        let properties = named(node, "properties");
        for name in ["$defs", "$ref", "anyOf", "required", "additionalProperties"] {
            assert!(!properties.contains_key(name), "{node:?}");
        }
        check_required(node, &properties);
    });
    assert!(depth(schema) <= 10, "{schema}");
}

fn check_required(node: &JsonMap, properties: &JsonMap) {
    let required = node.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten() {
        assert!(properties.contains_key(name.as_str().unwrap()), "{node:?}");
    }
}

fn named(node: &JsonMap, keyword: &str) -> JsonMap {
    node.get(keyword)
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

fn children(schema: &JsonMap) -> Vec<&Value> {
    let mut out = Vec::new();
    for (keyword, value) in schema {
        match (form(keyword), value) {
            (Some(Form::Schema | Form::SchemaOrBoolean), Value::Object(_)) => out.push(value),
            (Some(Form::Schemas), Value::Array(list)) => out.extend(list),
            (Some(Form::NamedSchemas), Value::Object(named)) => out.extend(named.values()),
            (None, Value::Object(named)) if keyword == "$defs" => out.extend(named.values()),
            _ => {}
        }
    }
    out
}

fn depth(schema: &Value) -> usize {
    let Value::Object(schema) = schema else {
        return 0;
    };
    1 + children(schema).into_iter().map(depth).max().unwrap_or(0)
}

/// Calls a function with each schema in a schema.
fn each(schema: &Value, check: &mut dyn FnMut(&JsonMap)) {
    let Value::Object(schema) = schema else {
        assert!(schema.is_boolean(), "not a schema: {schema}");
        return;
    };
    check(schema);
    for child in children(schema) {
        each(child, check);
    }
}
