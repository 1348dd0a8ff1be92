//! The request after an answer with mistakes: each call has one result, under an identifier of its own.

use std::collections::HashSet;
use std::sync::Arc;

use opencode_llm::{Message, Part, ToolCallPart, ToolResultPart, ToolResultValue};
use serde_json::json;

use super::wire::{Written, answer, written};
use super::*;

/// Returns the calls and the results of a request: identifiers and names, and the identifiers of the results.
fn sent(wire: Wire, body: &Value) -> (Vec<(String, String, Value)>, Vec<String>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let parse = |value: &Value| serde_json::from_str(&text(value)).unwrap();
    let (mut made, mut results) = (Vec::new(), Vec::new());
    let messages = [&body["messages"], &body["input"], &body["contents"]];
    for message in messages.into_iter().flat_map(list) {
        if wire == Wire::Responses {
            match &*text(&message["type"]) {
                "function_call" => made.push((
                    text(&message["call_id"]),
                    text(&message["name"]),
                    parse(&message["arguments"]),
                )),
                "function_call_output" => results.push(text(&message["call_id"])),
                _ => {}
            }
        }
        for call in list(&message["tool_calls"]) {
            let function = &call["function"];
            made.push((
                text(&call["id"]),
                text(&function["name"]),
                parse(&function["arguments"]),
            ));
        }
        if wire == Wire::Chat && message["role"] == "tool" {
            results.push(text(&message["tool_call_id"]));
        }
        for part in [&message["content"], &message["parts"]]
            .into_iter()
            .flat_map(list)
        {
            match &*text(&part["type"]) {
                "tool_use" | "tool-call" => made.push((
                    text(&part["id"]),
                    text(&part["name"]),
                    part["input"].clone(),
                )),
                "tool_result" => results.push(text(&part["tool_use_id"])),
                "tool-result" => results.push(text(&part["id"])),
                _ => {}
            }
            if let Some(call) = part.get("toolUse") {
                made.push((
                    text(&call["toolUseId"]),
                    text(&call["name"]),
                    call["input"].clone(),
                ));
            }
            if let Some(result) = part.get("toolResult") {
                results.push(text(&result["toolUseId"]));
            }
            if let Some(call) = part.get("functionCall") {
                made.push((text(&call["id"]), text(&call["name"]), call["args"].clone()));
            }
            if let Some(result) = part.get("functionResponse") {
                results.push(text(&result["id"]));
            }
        }
    }
    (made, results)
}

/// Sends the calls of an answer back as the host does, and checks the request.
pub(crate) fn check_next_request(wire: Wire, model_id: &str, written: &[Written]) {
    let (events, end) = decode(wire, &answer(wire, written, false));
    assert_eq!(end, Ok(()), "{wire:?} {events:?}");
    let (mut said, mut results) = (Vec::new(), Vec::new());
    for event in &events {
        let (LlmEvent::ToolCall {
            id,
            name,
            provider_metadata,
            ..
        }
        | LlmEvent::InvalidToolCall {
            id,
            name,
            provider_metadata,
            ..
        }) = event
        else {
            continue;
        };
        let (input, result) = match event {
            // The host stores other values as members of objects.
            LlmEvent::ToolCall { input, .. } => {
                let input = Some(input.clone()).filter(Value::is_object);
                let input = input.unwrap_or_else(|| json!({"value": 1}));
                (input, ToolResultValue::Text("ok".into()))
            }
            _ => (json!({}), ToolResultValue::Error("no".into())),
        };
        said.push(Part::ToolCall(ToolCallPart {
            id: id.to_string(),
            name: name.to_string(),
            input,
            provider_executed: false,
            provider_metadata: provider_metadata.clone(),
        }));
        results.push(Message::tool([Part::ToolResult(ToolResultPart {
            id: id.to_string(),
            name: name.to_string(),
            result,
            provider_executed: false,
            provider_metadata: provider_metadata.clone(),
        })]));
    }
    assert_eq!(said.len(), written.len(), "{wire:?} {events:?}");
    let mut request = request(wire);
    Arc::make_mut(&mut request.model).model_id = model_id.to_owned();
    let messages = [
        vec![Message::user([Part::text("Go")]), Message::assistant(said)],
        results,
    ]
    .concat();
    request.messages = messages.into();
    let body = protocol::adapter(request.model.protocol)
        .encode(&request)
        .unwrap()
        .body;
    let body: Value = serde_json::from_slice(&body).unwrap();
    let (made, results) = sent(wire, &body);
    assert_eq!(made.len(), written.len(), "{wire:?} {body}");
    let ids: Vec<_> = made.iter().map(|(id, ..)| id.clone()).collect();
    assert_eq!(ids, results, "{wire:?} {body}");
    let given: Vec<_> = ids.iter().filter(|id| !id.is_empty()).collect();
    assert_eq!(
        given.iter().collect::<HashSet<_>>().len(),
        given.len(),
        "{wire:?} {body}"
    );
    let is_plain = |text: &str| {
        text.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    for (id, name, input) in &made {
        assert!(input.is_object(), "{wire:?} {input}");
        assert!(
            (1..=64).contains(&name.len()) && is_plain(name),
            "{wire:?} {name:?}"
        );
        match wire {
            // The provider finds the call of a result by its position.
            Wire::Gemini => {}
            Wire::Chat if model_id.contains("mistral") => {
                assert!(
                    id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric()),
                    "{id}"
                );
            }
            Wire::Anthropic => assert!(!id.is_empty() && is_plain(id), "{id}"),
            Wire::Bedrock => assert!((1..=64).contains(&id.len()) && is_plain(id), "{id}"),
            Wire::Responses => assert!((1..=64).contains(&id.len()), "{id}"),
            Wire::Chat | Wire::Program => assert!(!id.is_empty()),
        }
    }
}

#[test]
fn the_next_request_is_valid() {
    let mut nameless = written("c1", "", &["{\"a\":1}"]);
    nameless.name = None;
    let mut anonymous = written("", "read", &["{}"]);
    anonymous.id = None;
    let order = [
        written("c1", "read", &["{\"path\": \"a.txt\""]),
        written("c1", "read", &["{\"path\":\"a.txt\"}"]),
        nameless,
        anonymous.clone(),
        anonymous,
        written("functions.read:0", "functions.read", &["{}"]),
        written("functions:read.0", "\u{fc}ber", &["{'a': 1}"]),
        written(&"long".repeat(50), "bash", &["{}"]),
        written(&"long".repeat(50), "bash", &["{}"]),
        written("abcDEF123", "bash", &["{}"]),
        written("abcDEF123", "bash", &["{}"]),
        written("call_1", "bash", &["{}"]),
        written("call_10", "bash", &["{}"]),
    ];
    for wire in ALL {
        check_next_request(wire, "m1", &order);
    }
    check_next_request(Wire::Chat, "mistral-large", &order);
}
