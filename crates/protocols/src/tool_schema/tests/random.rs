//! Random schemas, and random arguments that they admit.

use std::fmt;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

const NAMES: [&str; 9] = [
    "a",
    "b",
    "kind",
    "filter[id]",
    "$top",
    "x-y",
    "required",
    "anyOf",
    "0",
];

/// A schema that a failed test prints in one line.
#[derive(Clone)]
pub(super) struct Schema(pub(super) Value);

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Returns object schemas.
pub(super) fn schema() -> impl Strategy<Value = Schema> {
    let root = (object(inner()), object(inner()), object(inner()), 0..8_u8);
    root.prop_map(|(base, one, two, way)| match way {
        0 => {
            let mut root = base;
            let properties = root["properties"].as_object().into_iter().flatten();
            let alternatives: Vec<Value> =
                properties.map(|(name, _)| json!({"required": [name]})).collect();
            if !alternatives.is_empty() {
                root["anyOf"] = alternatives.into();
            }
            root
        }
        // Closed, because a property of one alternative has its meaning in all of them.
        1 => json!({"anyOf": [closed(one), closed(two)]}),
        2 => json!({"$ref": "#/definitions/one", "definitions": {"one": one}}),
        3 => json!({"type": "object", "allOf": [open(one), {"$ref": "#/$defs/two"}], "$defs": {"two": open(two)}}),
        4 => {
            let mut root = open(base);
            root["oneOf"] = json!([tagged(open(one), 1), tagged(open(two), 2)]);
            root
        }
        5 => {
            let mut root = open(base);
            root["not"] = json!({"required": ["never"]});
            root["if"] = json!({"required": ["a"]});
            root["then"] = json!({"properties": {"then": {"type": "string"}}});
            root
        }
        6 => {
            let mut root = base;
            root["properties"]["list"] = json!({"type": "array", "items": {"$ref": "#/$defs/node"}});
            root["$defs"] = json!({"node": {"type": "object", "properties": {
                "next": {"$ref": "#/$defs/node"}, "level": {"enum": [1, 2]}}}});
            root
        }
        _ => base,
    })
    .prop_map(Schema)
}

fn open(mut schema: Value) -> Value {
    if let Value::Object(schema) = &mut schema {
        schema.shift_remove("additionalProperties");
    }
    schema
}

fn closed(mut schema: Value) -> Value {
    schema["additionalProperties"] = false.into();
    schema
}

fn tagged(mut schema: Value, tag: u8) -> Value {
    schema["properties"]["tag"] = json!({"const": tag});
    schema["required"] = json!(["tag"]);
    schema
}

fn inner() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![select(vec![
        json!({"type": "string"}),
        json!({"type": "string", "pattern": "^[a-z]*$", "maxLength": 5000}),
        json!({"type": "string", "format": "uri"}),
        json!({"type": "string", "enum": ["x", "y"]}),
        json!({"enum": ["x", 5, true, null]}),
        json!({"type": "string", "enum": ["", "x"]}),
        json!({"const": "x"}),
        json!({"const": 1}),
        json!({"const": null}),
        json!({"const": true}),
        json!({"type": "integer", "enum": [1, 2, 3]}),
        json!({"type": "integer", "minimum": 0, "exclusiveMaximum": 9}),
        json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true}),
        json!({"type": "number", "enum": [1, 1.5]}),
        json!({"type": "number"}),
        json!({"type": "boolean"}),
        json!({"type": "boolean", "enum": [true]}),
        json!({"type": "null"}),
        json!({"type": ["string", "null"], "description": "d"}),
        json!({"type": ["integer", "boolean"]}),
        json!({"type": "string", "nullable": true}),
        json!({"type": ["string", "null"], "enum": ["x", null]}),
        json!({}),
        json!(true),
        json!({"type": "array"}),
        json!({"type": "object"}),
        json!({"type": "array", "items": [{"const": 1}, {"type": "string"}], "additionalItems": false}),
    ])];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            object(inner.clone()),
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items, "maxItems": 3})),
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|all| json!({"anyOf": all, "description": "d"})),
            inner
                .clone()
                .prop_map(|one| json!({"allOf": [one], "title": "t"})),
            inner.prop_map(|one| json!({"oneOf": [one, {"type": "null"}]})),
        ]
    })
    .boxed()
}

fn object(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    let names = subsequence(NAMES.to_vec(), 0..4);
    let properties = names.prop_flat_map(move |names| {
        let schemas = prop::collection::vec(inner.clone(), names.len());
        let required = subsequence(names.clone(), 0..=names.len());
        (Just(names), schemas, required)
    });
    (properties, 0..3_u8).prop_map(|((names, schemas, required), rest)| {
        let mut properties: Map<String, Value> = Map::new();
        for (name, schema) in names.iter().zip(schemas) {
            properties.insert((*name).to_owned(), schema);
        }
        let mut out = json!({"type": "object", "properties": properties, "required": required});
        match rest {
            0 => out["additionalProperties"] = false.into(),
            1 => out["additionalProperties"] = json!({"type": "string"}),
            _ => {}
        }
        out
    })
}

/// A source of choices.
pub(super) struct Choices(pub(super) u64);

impl Choices {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below.max(1)
    }
}

/// Returns a value that fits a schema in most cases.
pub(super) fn value(root: &Value, schema: &Value, choices: &mut Choices, depth: usize) -> Value {
    let Value::Object(keywords) = schema else {
        return json!(choices.next(3));
    };
    if let Some(value) = keywords.get("const") {
        return value.clone();
    }
    if let Some(Value::Array(values)) = keywords.get("enum") {
        return values[choices.next(values.len())].clone();
    }
    if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(&reference[1..]).unwrap();
        return value(root, target, choices, depth.saturating_sub(1));
    }
    let mut kinds: Vec<&str> = match keywords.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if keywords.get("nullable") == Some(&json!(true)) {
        kinds.push("null");
    }
    let mut out = match kinds.get(choices.next(kinds.len())).copied() {
        Some("string") => json!(["", "x", "abc", "1"][choices.next(4)]),
        Some("integer") => json!(choices.next(9)),
        Some("number") => json!([1.5, 2.0, -3.25][choices.next(3)]),
        Some("boolean") => json!(choices.next(2) == 0),
        Some("null") => Value::Null,
        Some("array") => items(root, keywords, choices, depth),
        Some("object") => members(root, keywords, choices, depth),
        _ => json!(["x", "y"][choices.next(2)]),
    };
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = keywords.get(keyword) {
            let branch = &branches[choices.next(branches.len())];
            merge(&mut out, value(root, branch, choices, depth));
        }
    }
    for part in keywords
        .get("allOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        merge(&mut out, value(root, part, choices, depth));
    }
    out
}

fn merge(out: &mut Value, more: Value) {
    match (out, more) {
        (Value::Object(out), Value::Object(more)) => out.extend(more),
        (out, more) => *out = more,
    }
}

fn items(
    root: &Value,
    keywords: &Map<String, Value>,
    choices: &mut Choices,
    depth: usize,
) -> Value {
    match keywords.get("items") {
        Some(Value::Array(all)) => all
            .iter()
            .map(|item| value(root, item, choices, depth))
            .collect(),
        Some(item) if depth > 0 => {
            let number = choices.next(3);
            (0..number)
                .map(|_| value(root, item, choices, depth - 1))
                .collect()
        }
        _ => json!([]),
    }
}

fn members(
    root: &Value,
    keywords: &Map<String, Value>,
    choices: &mut Choices,
    depth: usize,
) -> Value {
    let required = keywords.get("required").and_then(Value::as_array);
    let mut out = Map::new();
    for (name, schema) in keywords
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let is_required = required.is_some_and(|all| all.iter().any(|it| it == name));
        if is_required || (depth > 0 && choices.next(2) == 0) {
            out.insert(
                name.clone(),
                value(root, schema, choices, depth.saturating_sub(1)),
            );
        }
    }
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        out.entry(name).or_insert_with(|| json!("x"));
    }
    if keywords
        .get("additionalProperties")
        .is_some_and(Value::is_object)
        && choices.next(2) == 0
    {
        out.insert("other".to_owned(), json!("x"));
    }
    Value::Object(out)
}
