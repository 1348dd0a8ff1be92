//! The request body.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::model::CompatibleServer;
use opencode_llm::canonical::request::{GenerationControls, JsonMap, LlmRequest, ToolChoice};
use serde_json::{Value, json};

use super::NAMESPACE;
use super::dialect::Dialect;
use crate::body::{self, Frame, Members, option};
use crate::openai;

/// Model Request Options that map directly to a member.
const PLAIN_OPTIONS: [(&str, &str); 4] = [
    ("store", "store"),
    ("serviceTier", "service_tier"),
    (PARALLEL, "parallel_tool_calls"),
    ("textVerbosity", "verbosity"),
];

/// The option about parallel tool calls. Servers refuse it in a request without tools.
const PARALLEL: &str = "parallelToolCalls";

/// Encodes the body.
pub(super) fn encode(request: &LlmRequest) -> Result<Vec<u8>, LlmError> {
    let dialect = Dialect::of(&request.model);
    let frame = Frame {
        opening: br#","messages":["#,
        offers_tools: true,
        members: members(request, &dialect)?,
        ..Frame::default()
    };
    body::encode(request, dialect, frame, |state| state.places.marks())
}

/// Returns the members after the tools.
fn members(request: &LlmRequest, dialect: &Dialect) -> Result<Members, LlmError> {
    let mut members = Members::default();
    // Servers refuse a tool choice without tools.
    if let Some(choice) = &request.tool_choice
        && !request.tools.is_empty()
    {
        members.add("tool_choice", tool_choice(choice));
    }
    if let Some(format) = &request.output {
        let schema = json!({
            "name": format.name, "strict": format.is_strict(), "schema": format.schema,
        });
        members.add(
            "response_format",
            json!({"type": "json_schema", "json_schema": schema}),
        );
    }
    members.add("stream", true);
    if dialect.usage_chunk {
        members.add("stream_options", json!({"include_usage": true}));
    }
    if dialect.server == Some(CompatibleServer::OpenRouter) {
        members.add("usage", json!({"include": true}));
        members.add_some("prompt_cache_key", request.cache_key.clone());
    }
    add_generation(&mut members, request.effective_generation(), dialect);
    let mut options = request.effective_options(NAMESPACE);
    if request.tools.is_empty() {
        options.shift_remove(PARALLEL);
    }
    add_options(&mut members, &options, dialect)?;
    Ok(members)
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Tool(name) => json!({"type": "function", "function": {"name": name}}),
    }
}

fn add_generation(members: &mut Members, controls: GenerationControls, dialect: &Dialect) {
    let limit = if dialect.openai_reasoning {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    members.add_some(limit, controls.max_tokens);
    if !dialect.openai_reasoning {
        members.add_number("temperature", controls.temperature);
        members.add_number("top_p", controls.top_p);
        members.add_number("frequency_penalty", controls.frequency_penalty);
        members.add_number("presence_penalty", controls.presence_penalty);
    }
    members.add_some("seed", controls.seed);
    members.add_some("stop", controls.stop.filter(|stop| !stop.is_empty()));
}

fn add_options(
    members: &mut Members,
    options: &JsonMap,
    dialect: &Dialect,
) -> Result<(), LlmError> {
    for (name, member) in PLAIN_OPTIONS {
        members.add_some(member, option(options, name).cloned());
    }
    // Compatible servers have their own levels.
    let effort = openai::effort(options, dialect.openai, "openai-chat")?;
    members.add_some("reasoning_effort", effort);
    Ok(())
}
