//! Tool schemas in the subsets that models accept.
//!
//! A tool describes its input in full JSON Schema. What a server does with a keyword it does not
//! know ranges from ignoring it to refusing the request, so each target gets a projection.

mod gemini;
mod moonshot;
mod openai;

use std::borrow::Cow;

use serde_json::Value;

use crate::canonical::model::{ResolvedModel, ToolSchema};

/// Schemas nested deeper than this are cut off. Nothing people write comes near it.
const MAX_DEPTH: usize = 64;

/// The subset that a model insists on: what is configured, else what its names let expect.
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

/// The schema for OpenAI protocols, after the subset the model itself insists on.
pub(super) fn for_openai(schema: &Value, subset: ToolSchema) -> Value {
    openai::project(&within(schema, subset))
}

/// The schema for Anthropic: as it is, after the subset the model itself insists on.
pub(super) fn for_anthropic(schema: &Value, subset: ToolSchema) -> Value {
    let schema = within(schema, subset);
    let mut root = schema.as_object().cloned().unwrap_or_default();
    root.shift_remove("$schema");
    if !root.contains_key("type") {
        root.insert("type".to_owned(), "object".into());
    }
    Value::Object(root)
}

fn within(schema: &Value, subset: ToolSchema) -> Cow<'_, Value> {
    match subset {
        ToolSchema::Standard => Cow::Borrowed(schema),
        ToolSchema::Gemini => Cow::Owned(gemini::project(schema)),
        ToolSchema::Moonshot => Cow::Owned(moonshot::project(schema)),
    }
}

/// Members whose values are data or names, not schemas.
fn holds_data(keyword: &str) -> bool {
    matches!(
        keyword,
        "enum" | "const" | "default" | "example" | "examples" | "required"
    )
}

/// Members whose values are maps from names to schemas.
fn holds_named_schemas(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
    )
}

/// Rebuilds the schemas directly below a schema.
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
