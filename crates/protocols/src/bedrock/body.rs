//! The request body.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::json::{self, deep_merge};
use opencode_llm::canonical::request::{JsonMap, LlmRequest, Message, Role, ToolChoice};
use serde_json::{Value, json};

use super::NAMESPACE;
use super::style::{Marks, Style};
use crate::body::{self, Frame, InsertedBytes, Members, ToolsMember, option};

/// A mark at the end of a cacheable prefix. It follows the block, the system text or the tool that it marks.
const MARK: &[u8] = br#",{"cachePoint":{"type":"default"}}"#;

/// Model Request Options that are members of the body itself.
const BODY_OPTIONS: [&str; 4] = [
    "guardrailConfig",
    "performanceConfig",
    "serviceTier",
    "requestMetadata",
];

/// Encodes the body.
pub(super) fn encode(request: &LlmRequest) -> Result<Vec<u8>, LlmError> {
    let options = request.effective_options(NAMESPACE);
    let is_cached = options.get("cache").is_none_or(|cache| cache != "none");
    let marks = if is_cached {
        Marks::of(&request.model)
    } else {
        Marks::Nowhere
    };
    let frame = Frame {
        names_model: false,
        // The server requires the tools of calls in the history, also if the model may call none.
        offers_tools: true,
        tools: tools(request, marks == Marks::Everywhere),
        more_tools: placeholder(request).into_iter().collect(),
        members: members(request, &options),
        ..Frame::default()
    };
    body::encode(request, Style::of(&request.model), frame, |state| {
        let places = [state.system, state.user].into_iter().flatten();
        InsertedBytes {
            text: places
                .filter(|_| marks != Marks::Nowhere)
                .map(|place| (place, MARK))
                .collect(),
            tool: None,
        }
    })
}

/// Returns a tool for a request without tools whose history has calls. The server refuses it otherwise.
fn placeholder(request: &LlmRequest) -> Option<Value> {
    let is_result = |message: &Message| message.role == Role::Tool;
    (request.tools.is_empty() && request.messages.iter().any(is_result)).then(|| {
        json!({"toolSpec": {
            "name": "unavailable",
            "description": "No tool is available. Do not call this one.",
            "inputSchema": {"json": {"type": "object"}},
        }})
    })
}

/// Returns the bytes around the tools: their mark and the choice of a tool.
fn tools(request: &LlmRequest, marks: bool) -> ToolsMember {
    let mut close = Vec::new();
    if marks {
        close.extend_from_slice(MARK);
    }
    close.push(b']');
    let choice = match &request.tool_choice {
        None | Some(ToolChoice::None) => None,
        Some(ToolChoice::Auto) => Some(json!({"auto": {}})),
        Some(ToolChoice::Required) => Some(json!({"any": {}})),
        Some(ToolChoice::Tool(name)) => Some(json!({"tool": {"name": name}})),
    };
    if let Some(choice) = choice {
        close.extend_from_slice(br#","toolChoice":"#);
        json::write(&mut close, &choice);
    }
    close.push(b'}');
    ToolsMember {
        open: br#","toolConfig":{"tools":["#,
        close,
    }
}

/// Returns the members after the tools.
fn members(request: &LlmRequest, options: &JsonMap) -> Members {
    let mut members = Members::default();
    let controls = request.effective_generation();
    let is_forced = matches!(
        request.tool_choice,
        Some(ToolChoice::Required | ToolChoice::Tool(_))
    );
    // A forced tool leaves the model no decision, so reasoning is not requested.
    let reasoning = option(options, "reasoningConfig").filter(|_| !is_forced);
    let budget = reasoning.and_then(budget_of).unwrap_or_default();
    let reasons = reasoning.is_some_and(|it| it.get("type") != Some(&"disabled".into()));
    let limit = Some(request.model.limits.output).filter(|limit| *limit > 0);
    let answer = request.answer_tokens();
    let most = answer.map(|answer| answer.saturating_add(budget));
    let most = most.map(|most| {
        limit
            .filter(|_| budget > 0)
            .map_or(most, |limit| most.min(limit))
    });
    if let Some(most) = most {
        members.add_within("inferenceConfig", "maxTokens", most);
    }
    // The server refuses sampling controls while a model reasons.
    let sampling = [
        ("temperature", controls.temperature),
        ("topP", controls.top_p),
    ];
    for (name, value) in sampling.into_iter().filter(|_| !reasons) {
        if let Some(value) = value.map(Value::from).filter(|value| !value.is_null()) {
            members.add_within("inferenceConfig", name, value);
        }
    }
    if let Some(stop) = controls.stop.filter(|stop| !stop.is_empty()) {
        members.add_within("inferenceConfig", "stopSequences", stop);
    }
    let mut more = JsonMap::new();
    if let Some(top_k) = controls.top_k.filter(|_| !reasons) {
        more.insert("top_k".to_owned(), top_k.into());
    }
    if let Some(reasoning) = reasoning {
        deep_merge(&mut more, &reasoning_fields(&request.model.id, reasoning));
    }
    if let Some(Value::Object(given)) = option(options, "additionalModelRequestFields") {
        deep_merge(&mut more, given);
    }
    if !more.is_empty() {
        members.add("additionalModelRequestFields", Value::Object(more));
    }
    for name in BODY_OPTIONS {
        members.add_some(name, option(options, name).cloned());
    }
    members
}

fn budget_of(reasoning: &Value) -> Option<u64> {
    reasoning.get("budgetTokens")?.as_u64()
}

/// Returns the settings of reasoning in the form of the model.
fn reasoning_fields(model: &str, reasoning: &Value) -> JsonMap {
    let kind = reasoning
        .get("type")
        .cloned()
        .unwrap_or_else(|| "enabled".into());
    let effort = reasoning
        .get("maxReasoningEffort")
        .filter(|it| !it.is_null());
    let fields = if model.contains("claude") {
        // Models that choose their own budget have a name for it.
        let is_open = kind == "enabled" && budget_of(reasoning).is_none();
        let kind = if is_open { "adaptive".into() } else { kind };
        let mut thinking = json!({"type": kind});
        if let Some(budget) = budget_of(reasoning) {
            thinking["budget_tokens"] = budget.into();
        }
        if let Some(display) = reasoning.get("display").filter(|it| !it.is_null()) {
            thinking["display"] = display.clone();
        }
        let mut fields = json!({"thinking": thinking});
        if let Some(effort) = effort {
            fields["output_config"] = json!({"effort": effort});
        }
        fields
    } else if model.contains("openai.") {
        effort.map_or_else(|| json!({}), |effort| json!({"reasoning_effort": effort}))
    } else {
        json!({"reasoningConfig": reasoning})
    };
    fields.as_object().cloned().unwrap_or_default()
}
