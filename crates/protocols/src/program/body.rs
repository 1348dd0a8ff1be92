//! The request as the program receives it.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::model::PROGRAM_OPTIONS;
use opencode_llm::canonical::request::{GenerationControls, LlmRequest, ToolChoice};
use serde_json::{Map, Value, json};

use super::messages::ProgramForm;
use crate::body::{self, Frame, InsertedBytes, Members};

/// Encodes the request.
pub(super) fn encode(request: &LlmRequest) -> Result<Vec<u8>, LlmError> {
    let frame = Frame {
        opening: br#","messages":["#,
        offers_tools: true,
        members: members(request),
        ..Frame::default()
    };
    body::encode(request, ProgramForm::of(&request.model), frame, |_| {
        InsertedBytes::default()
    })
}

/// Returns the members after the tools. Settings that are not set are omitted, objects are never omitted.
fn members(request: &LlmRequest) -> Members {
    let mut members = Members::default();
    let choice = request.tool_choice.as_ref();
    members.add_some("toolChoice", choice.map(tool_choice));
    members.add("generation", Value::Object(Map::new()));
    add_generation(&mut members, request.effective_generation());
    members.add("options", request.effective_options(PROGRAM_OPTIONS));
    members.add("headers", headers(request));
    members.add_some("cacheKey", request.cache_key.clone());
    members
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({"type": "auto"}),
        ToolChoice::None => json!({"type": "none"}),
        ToolChoice::Required => json!({"type": "required"}),
        ToolChoice::Tool(name) => json!({"type": "tool", "name": name}),
    }
}

fn add_generation(members: &mut Members, controls: GenerationControls) {
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            members.add_within("generation", name, value);
        }
    };
    // JSON cannot express numbers that are not finite.
    let number = |value: Option<f64>| value.filter(|it| it.is_finite()).map(Value::from);
    add("maxTokens", controls.max_tokens.map(Value::from));
    add("temperature", number(controls.temperature));
    add("topP", number(controls.top_p));
    add("topK", controls.top_k.map(Value::from));
    add("frequencyPenalty", number(controls.frequency_penalty));
    add("presencePenalty", number(controls.presence_penalty));
    add("seed", controls.seed.map(Value::from));
    add("stop", controls.stop.map(Value::from));
}

/// Returns the headers with lower-case names. Those of the request replace those of the model.
fn headers(request: &LlmRequest) -> Map<String, Value> {
    let all = request.model.headers.iter().chain(&request.http.headers);
    all.map(|(name, value)| (name.to_ascii_lowercase(), value.clone().into()))
        .collect()
}
