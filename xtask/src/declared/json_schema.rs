//! The JSON Schema of `opencode.json`, with which editors complete and check it.
//!
//! The schema is of draft 7, because editors support it completely. It refuses what the option `config` refuses by name;
//! the host still ignores unknown keys in files.

use opencode_declaration::vocabulary::{Default, Kind, Member, Object};
use serde_json::{Map, Value, json};

use super::{Definition, definitions};

/// The schema of a document.
pub(super) fn emit(document: &'static Object) -> String {
    let mut schema = object(document);
    let rest = definitions(&[document]).into_iter();
    let rest = rest.filter(|it| it.name() != document.name);
    let extended: Vec<_> = document.extends.iter().map(|it| it.name).collect();
    let rest = rest.filter(|it| !extended.contains(&it.name()));
    let definitions: Map<_, _> = rest
        .map(|it| (it.name().to_owned(), definition(it)))
        .collect();
    let mut whole = Map::new();
    whole.insert(
        "$schema".to_owned(),
        json!("http://json-schema.org/draft-07/schema#"),
    );
    whole.insert(
        "title".to_owned(),
        json!("Configuration of opencode-embedded"),
    );
    whole.append(&mut schema);
    whole.insert("definitions".to_owned(), Value::Object(definitions));
    let text = serde_json::to_string_pretty(&Value::Object(whole));
    text.unwrap_or_default() + "\n"
}

fn definition(definition: Definition) -> Value {
    match definition {
        Definition::Object(it) => Value::Object(object(it)),
        Definition::Named(named) => {
            let mut schema = kind(&named.kind);
            schema.insert("description".to_owned(), json!(plain(named.doc)));
            Value::Object(schema)
        }
    }
}

fn object(object: &'static Object) -> Map<String, Value> {
    let members = object.all_members();
    let present = members.iter().filter(|member| member.kind.is_some());
    let properties: Map<_, _> = present
        .map(|it| (it.name.to_owned(), Value::Object(member(it))))
        .collect();
    let required: Vec<_> = members
        .iter()
        .filter(|it| it.is_required)
        .map(|it| it.name)
        .collect();
    let others = match &object.others {
        Some(others) => Value::Object(kind(others)),
        None => Value::Bool(false),
    };
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    if !object.doc.is_empty() {
        schema.insert("description".to_owned(), json!(plain(object.doc)));
    }
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), others);
    schema
}

fn member(member: &'static Member) -> Map<String, Value> {
    let mut schema = member.kind.as_ref().map(kind).unwrap_or_default();
    // Other keywords beside a reference have no effect in this draft.
    if let Some(reference) = schema.shift_remove("$ref") {
        schema.insert("allOf".to_owned(), json!([{ "$ref": reference }]));
    }
    let mut sentences = vec![member.sentence()];
    if let Default::Said(text) = member.default {
        sentences.push(format!("Default: {text}."));
    }
    sentences.retain(|sentence| !sentence.is_empty());
    if !sentences.is_empty() {
        schema.insert("description".to_owned(), json!(plain(&sentences.join(" "))));
    }
    match member.default {
        Default::Boolean(value) => schema.insert("default".to_owned(), json!(value)),
        Default::Number(value) => schema.insert("default".to_owned(), json!(value)),
        Default::Text(value) => schema.insert("default".to_owned(), json!(value)),
        Default::Unsaid | Default::Said(_) => None,
    };
    if member.older.is_some() {
        schema.insert("deprecated".to_owned(), json!(true));
    }
    schema
}

fn kind(kind: &'static Kind) -> Map<String, Value> {
    let schema = match kind {
        Kind::Json | Kind::Unknown | Kind::Written(_) => json!({}),
        Kind::Null => json!({ "type": "null" }),
        Kind::False => json!({ "const": false }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Prefixed(prefix) => json!({ "type": "string", "pattern": format!("^{prefix}") }),
        Kind::Words(words) => json!({ "type": "string", "enum": words }),
        Kind::Number(number) => {
            let of = if number.is_whole { "integer" } else { "number" };
            let mut schema = json!({ "type": of });
            for (keyword, bound) in [("minimum", number.least), ("maximum", number.most)] {
                if let Some(bound) = bound {
                    schema[keyword] = json!(bound);
                }
            }
            schema
        }
        Kind::List { of, most } => {
            let mut schema = json!({ "type": "array", "items": self::kind(of) });
            if let Some(most) = most {
                schema["maxItems"] = json!(most);
            }
            schema
        }
        Kind::Map { of, most } => {
            let mut schema = json!({ "type": "object", "additionalProperties": self::kind(of) });
            if let Some(most) = most {
                schema["maxProperties"] = json!(most);
            }
            schema
        }
        Kind::Object(object) if object.name.is_empty() => Value::Object(self::object(object)),
        Kind::Object(Object { name, .. }) => json!({ "$ref": format!("#/definitions/{name}") }),
        Kind::OneOf(kinds) => {
            let kinds: Vec<_> = kinds.iter().map(self::kind).collect();
            json!({ "anyOf": kinds })
        }
        Kind::Named(named) => json!({ "$ref": format!("#/definitions/{}", named.name) }),
    };
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// A text without the marks of code.
fn plain(text: &str) -> String {
    text.replace('`', "")
}
