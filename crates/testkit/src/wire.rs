//! Rules of the providers for the body of a request, for each protocol.

use std::collections::HashSet;
use std::sync::Arc;

use opencode_llm::{LlmRequest, PrefixCache, ProtocolId};
use opencode_protocols::adapter;
use serde_json::Value;

type Check = fn(&Value) -> Result<(), String>;

const PROTOCOLS: [(ProtocolId, Check); 4] = [
    (ProtocolId::OpenAiChat, chat),
    (ProtocolId::AnthropicMessages, anthropic),
    (ProtocolId::OpenAiResponses, responses),
    (ProtocolId::Program(1), program),
];

/// Encodes the request in each protocol. Fails if a provider would refuse the body.
pub(crate) fn check(request: &LlmRequest) -> Result<(), String> {
    for (protocol, check) in PROTOCOLS {
        let mut model = request.model.as_ref().clone();
        model.protocol = protocol;
        let request = LlmRequest {
            model: Arc::new(model),
            prefix: PrefixCache::default(),
            ..request.clone()
        };
        let wire = adapter(protocol).encode(&request);
        let wire = wire.map_err(|error| format!("{protocol:?}: {error}"))?;
        let body = serde_json::from_slice(&wire.body)
            .map_err(|error| format!("{protocol:?}: the body is no JSON: {error}"))?;
        check(&body).map_err(|problem| format!("{protocol:?}: {problem}: {body}"))?;
    }
    Ok(())
}

/// The last message is from the user or a tool. Two answers are never adjacent, and results follow
/// their calls.
fn chat(body: &Value) -> Result<(), String> {
    let messages = list(&body["messages"]);
    let is_opening = |message: &&Value| matches!(text(message, "role"), "system" | "developer");
    let opening = messages.iter().take_while(is_opening).count();
    let messages = &messages[opening..];
    let mut open = HashSet::new();
    let mut before = "";
    for (at, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        let of = |problem: &str| Err(format!("message {at} ({role}) {problem}"));
        if role != "tool" && !open.is_empty() {
            return of("stands before results");
        }
        match (before, role) {
            ("assistant", "assistant") => return of("follows an answer"),
            (_, "user") if is_empty(&message["content"]) => return of("is empty"),
            (_, "user") => {}
            (_, "assistant") => {
                let calls = list(&message["tool_calls"]);
                if message["content"].is_null() && calls.is_empty() {
                    return of("has neither text nor calls");
                }
                for call in calls {
                    check_name(text(&call["function"], "name"))?;
                    if !open.insert(text(call, "id")) {
                        return of("has two calls of one id");
                    }
                }
            }
            (_, "tool") if !open.remove(text(message, "tool_call_id")) => {
                return of("answers no call");
            }
            (_, "tool") => {}
            _ => return of("has an unknown role"),
        }
        before = role;
    }
    check_end(before, &open)
}

/// The last message is from the user or a tool, or it is an answer that the provider paused at a call of its own tool.
/// Two finished answers are never adjacent, no message is empty, and results follow their calls.
fn program(body: &Value) -> Result<(), String> {
    let mut open = HashSet::new();
    let mut before = "";
    for (at, message) in list(&body["messages"]).iter().enumerate() {
        let role = text(message, "role");
        let of = |problem: &str| Err(format!("message {at} ({role}) {problem}"));
        if role == "system" {
            continue;
        }
        let parts = list(&message["content"]);
        match (before, role) {
            _ if parts.is_empty() => return of("is empty"),
            ("assistant", "assistant") => return of("follows an answer"),
            (_, "user" | "assistant") if !open.is_empty() => return of("stands before results"),
            (_, "user" | "assistant" | "tool") => {}
            _ => return of("has an unknown role"),
        }
        for part in parts.iter().filter(|part| part["providerExecuted"] != true) {
            let id = text(part, "id");
            match text(part, "type") {
                "text"
                    if text(part, "text").trim().is_empty()
                        && part["providerMetadata"].is_null() =>
                {
                    return of("has a blank text");
                }
                "tool-call" => {
                    check_name(text(part, "name"))?;
                    if !part["input"].is_object() || !open.insert(id) {
                        return of("has a call without an input or an id of its own");
                    }
                }
                "tool-result" if !open.remove(id) => return of("answers no call"),
                _ => {}
            }
        }
        let is_paused = parts
            .last()
            .is_some_and(|part| part["providerExecuted"] == true);
        before = if is_paused { "paused" } else { role };
    }
    check_end(before, &open)
}

/// User and assistant messages alternate. Tool results are at the start of the message after their calls.
fn anthropic(body: &Value) -> Result<(), String> {
    let mut open: HashSet<&str> = HashSet::new();
    let mut before = "";
    let mut is_paused = false;
    for (at, message) in list(&body["messages"]).iter().enumerate() {
        let role = text(message, "role");
        let of = |problem: &str| Err(format!("message {at} ({role}) {problem}"));
        let blocks = list(&message["content"]);
        if role == before || (before.is_empty() && role != "user") {
            return of("is out of turn");
        }
        for block in blocks {
            match text(block, "type") {
                "text" if text(block, "text").trim().is_empty() => return of("has a blank text"),
                "tool_result" if !open.remove(text(block, "tool_use_id")) => {
                    return of("answers no call");
                }
                "tool_result" => {}
                _ if role == "user" && !open.is_empty() => return of("lacks results"),
                "tool_use" => {
                    check_name(text(block, "name"))?;
                    if !block["input"].is_object() || !open.insert(text(block, "id")) {
                        return of("has a call without an input or an id of its own");
                    }
                }
                _ => {}
            }
        }
        match blocks.last().map(|block| text(block, "type")) {
            None => return of("is empty"),
            Some("thinking" | "redacted_thinking") => return of("ends with a thought"),
            Some(kind) => {
                before = role;
                is_paused = kind == "server_tool_use" || kind.ends_with("_tool_result");
            }
        }
    }
    // The server continues an answer that it paused at a call of its own tool.
    if is_paused && before == "assistant" {
        before = "paused";
    }
    check_end(before, &open)
}

/// Every call has a result, output follows every reasoning item, and the required members are present.
fn responses(body: &Value) -> Result<(), String> {
    let mut open = HashSet::new();
    let mut before = "";
    for (at, item) in list(&body["input"]).iter().enumerate() {
        let kind = item["type"].as_str().unwrap_or("message");
        let role = text(item, "role");
        let of = |problem: &str| Err(format!("item {at} ({kind} {role}) {problem}"));
        let is_answer = role == "assistant" || kind == "function_call";
        if before == "reasoning" && !(is_answer || kind == "reasoning" || kind.ends_with("_call")) {
            return of("follows a thought that led to nothing");
        }
        match kind {
            "reasoning" if !item["id"].is_string() || !item["summary"].is_array() => {
                return of("lacks its id or summary");
            }
            "function_call" => {
                check_name(text(item, "name"))?;
                if !item["arguments"].is_string() || !open.insert(text(item, "call_id")) {
                    return of("has no arguments or no id of its own");
                }
            }
            "function_call_output" if !open.remove(text(item, "call_id")) => {
                return of("answers no call");
            }
            "message" if is_empty(&item["content"]) => return of("is empty"),
            "message" => check_content(item)?,
            _ => {}
        }
        before = if kind == "message" { role } else { kind };
    }
    check_end(before, &open)
}

fn check_content(item: &Value) -> Result<(), String> {
    for part in list(&item["content"]) {
        let lacks = match text(part, "type") {
            "input_image" if !part["detail"].is_string() => "an image lacks its detail",
            "output_text" if !(item["id"].is_string() && item["status"].is_string()) => {
                "an answer in parts lacks its id or status"
            }
            "output_text" if item["type"] != "message" => "an answer in parts lacks its type",
            _ => continue,
        };
        return Err(lacks.into());
    }
    Ok(())
}

fn check_end(last: &str, open: &HashSet<&str>) -> Result<(), String> {
    if !open.is_empty() {
        return Err(format!("the calls {open:?} have no results"));
    }
    if matches!(last, "" | "assistant" | "reasoning" | "function_call") {
        return Err(format!("the conversation ends with {last:?}"));
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if (1..=64).contains(&name.len()) && name.chars().all(is_allowed) {
        return Ok(());
    }
    Err(format!("{name:?} is no name of a tool"))
}

fn is_empty(content: &Value) -> bool {
    match content {
        Value::String(_) => false,
        Value::Array(parts) => parts.is_empty(),
        _ => true,
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}
