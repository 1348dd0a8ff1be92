//! Conversion of tool schemas to the subsets that models accept.
//!
//! A tool describes its input in full JSON Schema. Some servers ignore unknown keywords and others
//! refuse the request, so each target has its own conversion.

mod gemini;
mod moonshot;
mod openai;

use std::borrow::Cow;

use serde_json::Value;

use crate::canonical::model::{ResolvedModel, ToolSchema};

/// Maximum nesting depth. Deeper schemas are cut off. No real schema reaches it.
const MAX_DEPTH: usize = 64;

/// Returns the subset that a model requires: the configured one, otherwise a guess from its names.
pub(super) fn subset(model: &ResolvedModel) -> ToolSchema {
    let names = [&model.id, &model.provider_id, &model.model_id].map(|name| name.to_lowercase());
    let named = |word: &str| names.iter().any(|name| name.contains(word));
    model.compatibility.tool_schema.unwrap_or_else(|| {
        if named("kimi") || named("moonshot") {
            ToolSchema::Moonshot
        } else if named("gemini") {
            ToolSchema::Gemini
        } else {
            ToolSchema::Standard
        }
    })
}

/// Returns the schema for OpenAI protocols, after conversion to the subset of the model.
pub(super) fn for_openai(schema: &Value, subset: ToolSchema) -> Value {
    openai::project(&within(schema, subset))
}

/// Returns the schema for Anthropic, after conversion to the subset of the model.
pub(super) fn for_anthropic(schema: &Value, subset: ToolSchema) -> Value {
    let schema = within(schema, subset);
    let mut root = schema.as_object().cloned().unwrap_or_default();
    root.shift_remove("$schema");
    if !root.contains_key("type") {
        root.insert("type".to_owned(), "object".into());
    }
    Value::Object(root)
}

/// Returns the schema for Gemini. `None` for a tool without parameters.
pub(super) fn for_gemini(schema: &Value) -> Option<Value> {
    let projected = gemini::project(schema);
    let has_properties = |name| {
        let members = projected.get(name).and_then(Value::as_object);
        members.is_some_and(|members| !members.is_empty())
    };
    let is_object = projected.get("type").is_none_or(|kind| kind == "object");
    let has_branches = ["anyOf", "oneOf", "allOf"]
        .iter()
        .any(|name| projected.get(*name).is_some());
    (!is_object || has_properties("properties") || has_branches).then_some(projected)
}

fn within(schema: &Value, subset: ToolSchema) -> Cow<'_, Value> {
    match subset {
        ToolSchema::Standard => Cow::Borrowed(schema),
        ToolSchema::Gemini => Cow::Owned(gemini::project(schema)),
        ToolSchema::Moonshot => Cow::Owned(moonshot::project(schema)),
    }
}

/// True for members that hold data or names instead of schemas.
fn holds_data(keyword: &str) -> bool {
    matches!(
        keyword,
        "enum" | "const" | "default" | "example" | "examples" | "required"
    )
}

/// True for members that hold maps from names to schemas.
fn holds_named_schemas(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
    )
}

/// Replaces the direct child schemas of a schema.
fn map_children(schema: &mut Value, map: &mut impl FnMut(&Value) -> Value) {
    let Value::Object(members) = schema else {
        return;
    };
    for (keyword, value) in members {
        if holds_data(keyword) {
            continue;
        }
        match value {
            Value::Object(named) if holds_named_schemas(keyword) => {
                for child in named.values_mut() {
                    *child = map(child);
                }
            }
            Value::Array(children) => {
                for child in children.iter_mut() {
                    *child = map(child);
                }
            }
            Value::Object(_) => *value = map(value),
            _ => {}
        }
    }
}
