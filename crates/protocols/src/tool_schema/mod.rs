//! The input schemas of tools, in the forms that providers accept.
//!
//! A tool describes its input in full JSON Schema. Some servers ignore what they do not know, and others refuse the whole
//! request. Each group of servers has its own form, which is made from the normal form of the schema.
//! A form admits all arguments that the schema admits. Descriptions tell all that it cannot express.
//! Each change that it makes to values and names is changed back in the arguments of calls.

mod combine;
mod flat;
mod gemini;
mod moonshot;
mod names;
mod reduced;
mod restore;
mod standard;
#[cfg(test)]
mod tests;
mod told;

use std::sync::Arc;

use opencode_llm::canonical::model::{ProtocolId, ResolvedModel, ToolSchema};
use opencode_llm::canonical::request::{InputSchema, SchemaForm};
use opencode_llm::normal_schema::NormalSchema;
use serde_json::{Value, json};

use self::names::Names;
use self::standard::Accepted;

const OPENAI: Accepted = Accepted {
    names: Names::Any,
    references: true,
    any_bounds: false,
};

const ANTHROPIC: Accepted = Accepted {
    names: Names::Anthropic,
    references: false,
    any_bounds: true,
};

/// Returns the subset that a model requires: the configured one, otherwise a guess from its names.
pub(super) fn subset(model: &ResolvedModel) -> ToolSchema {
    let names = [&model.id, &model.provider_id, &model.model_id].map(|name| name.to_lowercase());
    let named = |word: &str| names.iter().any(|name| name.contains(word));
    model.compatibility.tool_schema.unwrap_or_else(|| {
        if named("kimi") || named("moonshot") {
            ToolSchema::Moonshot
        } else if named("gemini") {
            ToolSchema::Gemini
        } else if named("claude") {
            ToolSchema::Anthropic
        } else {
            ToolSchema::Standard
        }
    })
}

/// Returns the normal form.
fn normal(schema: &InputSchema) -> Arc<Value> {
    schema.form(SchemaForm::Normal, || NormalSchema::of(schema).schema)
}

/// Returns the schema for OpenAI protocols, in the form for the model.
pub(super) fn for_openai(schema: &InputSchema, subset: ToolSchema) -> Arc<Value> {
    schema.form(SchemaForm::OpenAi(subset), || {
        openai_form(&normal(schema), subset)
    })
}

fn openai_form(schema: &Value, subset: ToolSchema) -> Value {
    let mut form = match subset {
        ToolSchema::Standard => standard::project(schema, OPENAI),
        ToolSchema::Anthropic => standard::project(
            schema,
            Accepted {
                any_bounds: false,
                ..ANTHROPIC
            },
        ),
        ToolSchema::Gemini => gemini::project(schema),
        ToolSchema::Moonshot => moonshot::project(schema),
    };
    if let Value::Object(form) = &mut form {
        form.entry("properties").or_insert_with(|| json!({}));
    }
    form
}

/// Returns the schema for Anthropic and Bedrock, in the form for the model.
pub(super) fn for_anthropic(schema: &InputSchema, subset: ToolSchema) -> Arc<Value> {
    schema.form(SchemaForm::Anthropic(subset), || {
        let schema = normal(schema);
        match subset {
            ToolSchema::Standard | ToolSchema::Anthropic => standard::project(&schema, ANTHROPIC),
            ToolSchema::Gemini => gemini::project(&schema),
            ToolSchema::Moonshot => moonshot::project(&schema),
        }
    })
}

/// Returns the schema for Gemini. `None` for a tool without parameters.
pub(super) fn for_gemini(schema: &InputSchema) -> Option<Arc<Value>> {
    let form = schema.form(SchemaForm::Gemini, || {
        gemini_form(&normal(schema)).unwrap_or_default()
    });
    (!form.is_null()).then_some(form)
}

fn gemini_form(schema: &Value) -> Option<Value> {
    let form = gemini::project(schema);
    let is_open = schema
        .get("additionalProperties")
        .is_some_and(|rest| rest != false)
        || schema.get("patternProperties").is_some();
    (is_open || form.get("properties").is_some()).then_some(form)
}

/// Returns the schema for a model of the program, whose provider is unknown.
pub(super) fn for_program(schema: &InputSchema, subset: ToolSchema) -> Arc<Value> {
    schema.form(SchemaForm::Program(subset), || {
        program_form(&normal(schema), subset)
    })
}

fn program_form(schema: &Value, subset: ToolSchema) -> Value {
    let accepted = Accepted {
        names: match subset {
            ToolSchema::Anthropic => Names::Anthropic,
            ToolSchema::Gemini => Names::Gemini,
            ToolSchema::Moonshot => Names::Moonshot,
            ToolSchema::Standard => Names::Any,
        },
        references: true,
        any_bounds: false,
    };
    standard::project(schema, accepted)
}

/// Changes the arguments of a call back to the form that the tool expects.
pub(super) fn restore(model: &ResolvedModel, schema: &InputSchema, input: &mut Value) {
    let names = match (model.protocol, subset(model)) {
        (ProtocolId::Gemini, _) | (_, ToolSchema::Gemini) => Names::Gemini,
        (_, ToolSchema::Moonshot) => Names::Moonshot,
        (ProtocolId::AnthropicMessages | ProtocolId::BedrockConverse, _)
        | (_, ToolSchema::Anthropic) => Names::Anthropic,
        (_, ToolSchema::Standard) => Names::Any,
    };
    restore::restore(&normal(schema), names, input);
}
