//! The request body.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::json::deep_merge;
use opencode_llm::canonical::request::{GenerationControls, JsonMap, LlmRequest, ToolChoice};
use serde_json::{Value, json};

use super::style::Style;
use super::{NAMESPACE, OTHER_NAMESPACE};
use crate::body::{self, Frame, InsertedBytes, Members, ToolsMember, option};

/// Model Request Options that are members of the body itself.
const BODY_OPTIONS: [&str; 3] = ["safetySettings", "cachedContent", "labels"];

/// Model Request Options that are members of `generationConfig`.
const GENERATION_OPTIONS: [&str; 4] = [
    "thinkingConfig",
    "responseModalities",
    "mediaResolution",
    "imageConfig",
];

/// Encodes the body.
pub(super) fn encode(request: &LlmRequest) -> Result<Vec<u8>, LlmError> {
    let frame = Frame {
        names_model: false,
        // The server refuses declarations of functions without a permission to call them in some modes, so a turn
        // without tools has none.
        offers_tools: request.tool_choice != Some(ToolChoice::None),
        tools: ToolsMember {
            open: br#","tools":[{"functionDeclarations":["#,
            close: b"]}]".to_vec(),
        },
        members: members(request),
        ..Frame::default()
    };
    let style = Style::of(&request.model);
    body::encode(request, style, frame, |_| InsertedBytes::default())
}

/// Returns the options in effect. The usual namespace overrides the other one.
fn options(request: &LlmRequest) -> JsonMap {
    let mut options = request.effective_options(OTHER_NAMESPACE);
    deep_merge(&mut options, &request.effective_options(NAMESPACE));
    options
}

/// Returns the members after the tools.
fn members(request: &LlmRequest) -> Members {
    let options = options(request);
    let mut members = Members::default();
    let offers = !request.tools.is_empty();
    if let Some(choice) = request.tool_choice.as_ref().filter(|_| offers) {
        members.add_some("toolConfig", tool_config(choice));
    }
    let generation = generation(request, &options);
    if !generation.is_empty() {
        members.add("generationConfig", Value::Object(generation));
    }
    for name in BODY_OPTIONS {
        members.add_some(name, option(&options, name).cloned());
    }
    members
}

fn tool_config(choice: &ToolChoice) -> Option<Value> {
    let config = match choice {
        ToolChoice::None => return None,
        ToolChoice::Auto => json!({"mode": "AUTO"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    };
    Some(json!({"functionCallingConfig": config}))
}

fn generation(request: &LlmRequest, options: &JsonMap) -> JsonMap {
    let mut config = JsonMap::new();
    if let Some(Value::Object(given)) = option(options, "generationConfig") {
        config.clone_from(given);
    }
    add_controls(&mut config, request.effective_generation());
    for name in GENERATION_OPTIONS {
        match (config.get_mut(name), option(options, name)) {
            (Some(Value::Object(known)), Some(Value::Object(more))) => deep_merge(known, more),
            (_, Some(value)) => {
                config.insert(name.to_owned(), value.clone());
            }
            (_, None) => {}
        }
    }
    if let Some(format) = &request.output {
        config.insert("responseMimeType".to_owned(), "application/json".into());
        config.insert("responseJsonSchema".to_owned(), format.schema.clone());
    }
    config
}

fn add_controls(config: &mut JsonMap, controls: GenerationControls) {
    let number = |value: Option<f64>| value.map(Value::from).filter(|value| !value.is_null());
    let stop = controls.stop.filter(|stop| !stop.is_empty());
    let all = [
        ("maxOutputTokens", controls.max_tokens.map(Value::from)),
        ("temperature", number(controls.temperature)),
        ("topP", number(controls.top_p)),
        ("topK", controls.top_k.map(Value::from)),
        ("frequencyPenalty", number(controls.frequency_penalty)),
        ("presencePenalty", number(controls.presence_penalty)),
        ("seed", controls.seed.map(Value::from)),
        ("stopSequences", stop.map(Value::from)),
    ];
    for (name, value) in all {
        if let Some(value) = value {
            config.insert(name.to_owned(), value);
        }
    }
}
