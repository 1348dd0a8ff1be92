//! The request body.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::request::{JsonMap, LlmRequest, ToolChoice};
use serde_json::{Value, json};

use super::style::{Style, stores};
use super::{NAMESPACE, PROTOCOL};
use crate::body::{self, Frame, InsertedBytes, Members, option};
use crate::openai;

/// Model Request Options that map directly to a member.
const PLAIN_OPTIONS: [(&str, &str); 3] = [
    ("serviceTier", "service_tier"),
    (PARALLEL, "parallel_tool_calls"),
    ("instructions", "instructions"),
];

/// The option about parallel tool calls. Servers refuse it in a request without tools.
const PARALLEL: &str = "parallelToolCalls";

/// The value of `include` that requests encrypted reasoning, for replay without a store.
const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";

/// Encodes the body.
pub(super) fn encode(request: &LlmRequest) -> Result<Vec<u8>, LlmError> {
    let mut options = request.effective_options(NAMESPACE);
    if request.tools.is_empty() {
        options.shift_remove(PARALLEL);
    }
    let offers = !request.tools.is_empty() && request.tool_choice != Some(ToolChoice::None);
    let frame = Frame {
        opening: br#","input":["#,
        offers_tools: true,
        more_tools: if offers {
            hosted_tools(&options)?
        } else {
            Vec::new()
        },
        members: members(request, &options)?,
        ..Frame::default()
    };
    body::encode(request, Style::of(request), frame, |_| {
        InsertedBytes::default()
    })
}

/// Returns the configured provider-executed tools.
fn hosted_tools(options: &JsonMap) -> Result<Vec<Value>, LlmError> {
    match option(options, "hostedTools") {
        None => Ok(Vec::new()),
        Some(Value::Array(tools)) => Ok(tools.clone()),
        Some(_) => Err(LlmError::invalid_request("hostedTools must be an array")),
    }
}

/// Returns the members after the tools.
fn members(request: &LlmRequest, options: &JsonMap) -> Result<Members, LlmError> {
    let mut members = Members::default();
    // Servers refuse a tool choice without tools.
    if let Some(choice) = &request.tool_choice
        && !request.tools.is_empty()
    {
        members.add("tool_choice", tool_choice(choice));
    }
    let store = option(options, "store").cloned();
    members.add("store", store.unwrap_or(Value::Bool(false)));
    let key = option(options, "promptCacheKey").cloned();
    members.add_some(
        "prompt_cache_key",
        key.or_else(|| Some(request.cache_key.clone()?.into())),
    );
    for (name, member) in PLAIN_OPTIONS {
        members.add_some(member, option(options, name).cloned());
    }
    members.add_some("include", include(request, options)?);
    let is_own = request.model.is_at_openai();
    if let Some(effort) = openai::effort(options, is_own, PROTOCOL)? {
        members.add_within("reasoning", "effort", effort);
    }
    if let Some(summary) = option(options, "reasoningSummary") {
        members.add_within("reasoning", "summary", summary.clone());
    }
    if let Some(verbosity) = option(options, "textVerbosity") {
        members.add_within("text", "verbosity", verbosity.clone());
    }
    if let Some(format) = &request.output {
        let format = json!({
            "type": "json_schema", "name": format.name, "strict": format.is_strict(),
            "schema": format.schema,
        });
        members.add_within("text", "format", format);
    }
    let controls = request.effective_generation();
    members.add_some("max_output_tokens", controls.max_tokens);
    if !openai::is_own_reasoning(&request.model) {
        members.add_number("temperature", controls.temperature);
        members.add_number("top_p", controls.top_p);
    }
    members.add("stream", true);
    Ok(members)
}

/// Returns the additional content that the answer must contain.
fn include(request: &LlmRequest, options: &JsonMap) -> Result<Option<Value>, LlmError> {
    let mut include = match option(options, "include") {
        None => Vec::new(),
        Some(Value::Array(include)) => include.clone(),
        Some(_) => return Err(LlmError::invalid_request("include must be an array")),
    };
    // Models that do not reason refuse a request for reasoning.
    let reasons =
        openai::is_reasoning_id(&request.model.id) || openai::is_own_reasoning(&request.model);
    if reasons && !stores(request) && !include.iter().any(|it| it == ENCRYPTED_REASONING) {
        include.push(ENCRYPTED_REASONING.into());
    }
    Ok((!include.is_empty()).then(|| include.into()))
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Tool(name) => json!({"type": "function", "name": name}),
    }
}
