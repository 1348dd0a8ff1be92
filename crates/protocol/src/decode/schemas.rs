//! The schemas of requests, as text that `cargo xtask codegen` writes from the types of the inputs. So the addon contains no
//! code that makes schemas, and parses only those of the operations that it serves.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::operation::{Channel, Payload, SchemaOf, Spec};

static GENERATED: &str = include_str!("../../request-schemas.json");

type OfOperation = HashMap<&'static str, &'static RawValue>;

static SCHEMAS: LazyLock<HashMap<&'static str, OfOperation>> =
    LazyLock::new(|| serde_json::from_str(GENERATED).expect("the file is generated"));

/// Returns the schema of a part of the requests of an operation. A part without fields accepts every object.
///
/// # Panics
///
/// The file does not contain the operation. Without its schemas, a request would not be checked.
pub(super) fn of_operation(id: &str, channel: Channel) -> Value {
    let channels = SCHEMAS.get(id).expect("codegen writes each operation");
    let found = channels.get(name(channel));
    let schema = found.map(|text| serde_json::from_str(text.get()));
    schema.map_or_else(
        || serde_json::json!({ "type": "object" }),
        |schema| schema.expect("the file is generated"),
    )
}

fn name(channel: Channel) -> &'static str {
    match channel {
        Channel::Params => "params",
        Channel::Query => "query",
        Channel::Payload => "payload",
    }
}

/// Writes the schemas of operations as JSON text.
pub fn generate(specs: &[Spec]) -> String {
    let of_spec = |spec: &Spec| {
        let payload = match spec.payload {
            Payload::Json(schema) => Some(schema),
            Payload::None | Payload::Lines => None,
        };
        let declared = [
            (Channel::Params, spec.params),
            (Channel::Query, spec.query),
            (Channel::Payload, payload),
        ];
        let written = declared
            .into_iter()
            .filter_map(|(channel, schema)| Some((name(channel), root(schema?))));
        (spec.id, written.collect::<BTreeMap<_, _>>())
    };
    let schemas: Vec<_> = specs.iter().map(of_spec).collect();
    let lines = schemas.iter().map(|(id, channels)| {
        let channels = serde_json::to_string(channels).expect("schemas are JSON");
        format!("  {:?}: {channels}", *id)
    });
    format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n"))
}

/// Returns the schema of a type with those that it refers to, without descriptions.
fn root(schema: SchemaOf) -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let reference = schema(&mut generator).to_value();
    let mut definitions: Map<String, Value> = generator.take_definitions(true);
    let target = reference["$ref"].as_str();
    let name = target.and_then(|it| it.strip_prefix("#/$defs/"));
    let mut root = match name {
        Some(name) => definitions[name].clone(),
        None => reference.clone(),
    };
    if let Some(name) = name
        && !definitions
            .values()
            .chain([&root])
            .any(|it| refers_to(it, name))
    {
        definitions.shift_remove(name);
    }
    if !definitions.is_empty() {
        root["$defs"] = Value::Object(definitions);
    }
    without_descriptions(&mut root);
    root
}

fn refers_to(schema: &Value, name: &str) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(key, value)| {
            key == "$ref"
                && value
                    .as_str()
                    .is_some_and(|it| it.ends_with(&format!("/{name}")))
                || refers_to(value, name)
        }),
        Value::Array(items) => items.iter().any(|item| refers_to(item, name)),
        _ => false,
    }
}

/// Removes the members that are no part of a check. A property may have the name of one of them.
fn without_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for name in ["description", "title", "$schema"] {
                if members.get(name).is_some_and(Value::is_string) {
                    members.shift_remove(name);
                }
            }
            members.values_mut().for_each(without_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(without_descriptions),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::OPERATIONS;

    #[test]
    fn the_file_contains_the_schemas_of_all_operations() {
        assert_eq!(GENERATED, generate(OPERATIONS), "run cargo xtask codegen");
        for spec in OPERATIONS {
            let payload = of_operation(spec.id, Channel::Payload);
            let is_written = matches!(spec.payload, Payload::Json(_));
            assert_eq!(payload["properties"].is_object(), is_written, "{}", spec.id);
        }
    }

    #[test]
    #[should_panic(expected = "codegen writes each operation")]
    fn an_operation_without_schemas_is_not_served() {
        of_operation("v2.unknown", Channel::Payload);
    }
}
