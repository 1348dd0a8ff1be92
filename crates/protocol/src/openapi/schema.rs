//! Types of the IR as JSON Schema.

use serde_json::{Map, Value, json};

use super::describe;
use super::names::component;
use crate::contract::{Type, Variant};

/// Returns the schema of a type at its use.
pub(super) fn schema(r#type: &Type) -> Value {
    match r#type {
        Type::Unknown => json!({}),
        Type::Null => json!({ "type": "null" }),
        Type::Boolean => json!({ "type": "boolean" }),
        Type::String {
            prefix, pattern, ..
        } => string(prefix.as_deref(), pattern.as_deref()),
        Type::Number {
            integer,
            minimum,
            exclusive_minimum,
            maximum,
        } => {
            let mut schema = json!({ "type": if *integer { "integer" } else { "number" } });
            for (key, bound) in [
                ("minimum", minimum),
                ("exclusiveMinimum", exclusive_minimum),
                ("maximum", maximum),
            ] {
                if let Some(bound) = bound {
                    schema[key] = bound.clone().into();
                }
            }
            schema
        }
        Type::Literal { value } => literals(&[value]),
        Type::Array { items } => json!({ "type": "array", "items": schema(items) }),
        Type::Record { keys, values } => record(keys, values),
        Type::Object { fields } => object(
            fields
                .iter()
                .map(|field| (&*field.name, field.required, &*field.doc, &field.r#type)),
        ),
        Type::Union { variants, .. } => union(variants),
        Type::Ref { name } => reference(name),
    }
}

/// Returns the schema of a named type.
pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{}", component(name)) })
}

/// Returns an object with these members: name, whether it is required, description, type.
pub(super) fn object<'a>(
    fields: impl Iterator<Item = (&'a str, bool, &'a str, &'a Type)>,
) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, is_required, doc, r#type) in fields {
        let mut member = schema(r#type);
        describe(&mut member, doc);
        properties.insert(name.to_owned(), member);
        if is_required {
            required.push(name);
        }
    }
    let mut object = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        object["required"] = required.into();
    }
    object
}

fn string(prefix: Option<&str>, pattern: Option<&str>) -> Value {
    let prefix = prefix.map(|prefix| format!("^{prefix}"));
    match pattern.or(prefix.as_deref()) {
        Some(pattern) => json!({ "type": "string", "pattern": pattern }),
        None => json!({ "type": "string" }),
    }
}

fn record(keys: &Type, values: &Type) -> Value {
    match keys {
        Type::String {
            prefix: Some(prefix),
            ..
        } => {
            json!({ "type": "object", "patternProperties": { format!("^{prefix}"): schema(values) } })
        }
        _ if *values == Type::Unknown => json!({ "type": "object" }),
        _ => json!({ "type": "object", "additionalProperties": schema(values) }),
    }
}

fn union(variants: &[Variant]) -> Value {
    let values = variants.iter().map(|variant| match &variant.r#type {
        Type::Literal { value } => Some(value),
        _ => None,
    });
    match values.collect::<Option<Vec<_>>>() {
        Some(values) => literals(&values),
        None => {
            let variants = variants.iter().map(|variant| {
                let mut schema = schema(&variant.r#type);
                describe(&mut schema, &variant.doc);
                schema
            });
            json!({ "anyOf": variants.collect::<Vec<_>>() })
        }
    }
}

/// Returns the schema of one of several values of the same kind.
fn literals(values: &[&Value]) -> Value {
    let kind = match values.first() {
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(_)) => "number",
        _ => "string",
    };
    json!({ "type": kind, "enum": values })
}
