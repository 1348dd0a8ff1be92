//! The request body.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::request::{JsonMap, LlmRequest, ToolChoice};
use serde_json::{Value, json};

use super::NAMESPACE;
use super::cache::Policy;
use super::style::Style;
use super::thinking::Thinking;
use crate::body::{self, Frame, Members, option};

/// Maximum number of output tokens if neither the request nor the catalogue names one. The server
/// requires a limit.
const USUAL_MAX_TOKENS: u64 = 4096;

/// Encodes the body.
pub(super) fn encode(request: &LlmRequest) -> Result<Vec<u8>, LlmError> {
    let options = request.effective_options(NAMESPACE);
    let policy = Policy::of(&options)?;
    // A turn without tools omits their definitions, as in the recorded exchanges of the protocol.
    // This invalidates the cached prefix once, at the end of an activity.
    let offers_tools = request.tool_choice != Some(ToolChoice::None);
    let has_tools = offers_tools && !request.tools.is_empty();
    let names_model = request.model.compatibility.version_in_body.is_none();
    let frame = Frame {
        names_model,
        opening: if names_model { b"," } else { b"" },
        offers_tools,
        members: members(request, &options, has_tools)?,
        ..Frame::default()
    };
    let style = Style::of(&request.model);
    body::encode(request, style, frame, |state| {
        policy.marks(&state.places, has_tools)
    })
}

/// Returns the members after the tools.
fn members(request: &LlmRequest, options: &JsonMap, has_tools: bool) -> Result<Members, LlmError> {
    let mut members = Members::default();
    let choice = request.tool_choice.as_ref().filter(|_| has_tools);
    let is_forced = matches!(choice, Some(ToolChoice::Required | ToolChoice::Tool(_)));
    // A forced tool leaves the model no decision, so thinking is not requested.
    let thinking = match Thinking::of(options)? {
        thinking if is_forced && thinking.is_on() => Thinking::Unset,
        thinking => thinking,
    };
    if has_tools {
        members.add_some("tool_choice", tool_choice(choice, options));
    }
    let version = request.model.compatibility.version_in_body;
    members.add_some("anthropic_version", version);
    members.add("stream", true);
    add_generation(&mut members, request, &thinking);
    members.add_some("thinking", thinking.wire());
    for (name, member) in [("effort", "effort"), ("taskBudget", "task_budget")] {
        if let Some(value) = option(options, name) {
            members.add_within("output_config", member, value.clone());
        }
    }
    let user = option(options, "metadata").and_then(|metadata| metadata.get("userId"));
    if let Some(user) = user.filter(|user| !user.is_null()) {
        members.add("metadata", json!({"user_id": user}));
    }
    Ok(members)
}

fn tool_choice(choice: Option<&ToolChoice>, options: &JsonMap) -> Option<Value> {
    let one_at_a_time = options.get("disableParallelToolUse") == Some(&Value::Bool(true));
    let mut choice = match choice {
        None | Some(ToolChoice::None) if !one_at_a_time => return None,
        None | Some(ToolChoice::None | ToolChoice::Auto) => json!({"type": "auto"}),
        Some(ToolChoice::Required) => json!({"type": "any"}),
        Some(ToolChoice::Tool(name)) => json!({"type": "tool", "name": name}),
    };
    if one_at_a_time {
        choice["disable_parallel_tool_use"] = true.into();
    }
    Some(choice)
}

fn add_generation(members: &mut Members, request: &LlmRequest, thinking: &Thinking) {
    let controls = request.effective_generation();
    let limit = Some(request.model.limits.output).filter(|limit| *limit > 0);
    let answer = request.answer_tokens().unwrap_or(USUAL_MAX_TOKENS);
    let wanted = answer.saturating_add(thinking.budget());
    // Without a thinking budget, the requested limit stays unchanged.
    let most = limit.filter(|_| thinking.budget() > 0).unwrap_or(wanted);
    members.add("max_tokens", wanted.min(most));
    if thinking.is_on() {
        let sampled = [controls.temperature, controls.top_p];
        if controls.top_k.is_some() || sampled.iter().any(Option::is_some) {
            tracing::warn!("sampling cannot be controlled while the model thinks; it is left out");
        }
    } else {
        members.add_number("temperature", controls.temperature);
        members.add_number("top_p", controls.top_p);
        members.add_some("top_k", controls.top_k);
    }
    members.add_some(
        "stop_sequences",
        controls.stop.filter(|stop| !stop.is_empty()),
    );
}
