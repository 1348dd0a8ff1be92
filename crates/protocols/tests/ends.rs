//! The ends of answers, by protocol: what their names mean, and what becomes of the calls of an answer that failed.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

#[path = "common/event_stream.rs"]
mod event_stream;

use std::sync::Arc;

use opencode_llm::{ErrorKind, LlmEvent, LlmRequest, ProtocolId, ResolvedModel, Sources};
use opencode_protocols::{self as protocol};
use serde_json::{Value, json};

use self::event_stream::frame;

const ALL: [ProtocolId; 6] = [
    ProtocolId::OpenAiChat,
    ProtocolId::OpenAiResponses,
    ProtocolId::AnthropicMessages,
    ProtocolId::Gemini,
    ProtocolId::BedrockConverse,
    ProtocolId::Program(0),
];

/// The content of an answer before its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Text,
    Call,
}

/// Returns the pieces of an answer that ends with a name. Each piece arrives alone.
fn answer(id: ProtocolId, before: Before, name: &str) -> Vec<Vec<u8>> {
    let events = match id {
        ProtocolId::OpenAiChat => chat(before, json!({"delta": {}, "finish_reason": name})),
        ProtocolId::OpenAiResponses => responses(
            before,
            "response.incomplete",
            json!({"id": "r1", "status": "incomplete", "incomplete_details": {"reason": name}}),
        ),
        ProtocolId::AnthropicMessages => anthropic(before, name),
        ProtocolId::Gemini => gemini(before, json!({"finishReason": name})),
        ProtocolId::BedrockConverse => return bedrock(before, name),
        ProtocolId::Program(_) => return program(before, name),
    };
    let events = events.iter();
    events
        .map(|event| format!("data: {event}\n\n").into_bytes())
        .collect()
}

fn chat(before: Before, end: Value) -> Vec<Value> {
    let chunk = |choice: Value| json!({"choices": [choice]});
    let call = json!([{"index": 0, "id": "c1", "function": {"name": "read", "arguments": "{}"}}]);
    let mut chunks = match before {
        Before::Nothing => vec![],
        Before::Text => vec![chunk(json!({"delta": {"content": "Half"}}))],
        Before::Call => vec![chunk(json!({"delta": {"tool_calls": call}}))],
    };
    chunks.push(chunk(end));
    chunks.push(json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}));
    chunks
}

fn responses(before: Before, kind: &str, response: Value) -> Vec<Value> {
    let call = json!({"type": "function_call", "id": "f1", "call_id": "c1", "name": "read", "arguments": "{}"});
    let mut events = match before {
        Before::Nothing => vec![],
        Before::Text => {
            vec![json!({"type": "response.output_text.delta", "item_id": "m1", "delta": "Half"})]
        }
        Before::Call => vec![json!({"type": "response.output_item.done", "item": call})],
    };
    events.push(json!({"type": kind, "response": response}));
    events
}

fn anthropic(before: Before, name: &str) -> Vec<Value> {
    let begin =
        |block: Value| json!({"type": "content_block_start", "index": 0, "content_block": block});
    let stop = json!({"type": "content_block_stop", "index": 0});
    let mut events =
        vec![json!({"type": "message_start", "message": {"usage": {"input_tokens": 1}}})];
    match before {
        Before::Nothing => {}
        Before::Text => events.extend([begin(json!({"type": "text", "text": "Half"})), stop]),
        Before::Call => events.extend([
            begin(json!({"type": "tool_use", "id": "c1", "name": "read", "input": {}})),
            stop,
        ]),
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": name}}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn gemini(before: Before, end: Value) -> Vec<Value> {
    let piece = |part: Value| json!({"candidates": [{"content": {"parts": [part]}}]});
    let mut pieces = match before {
        Before::Nothing => vec![],
        Before::Text => vec![piece(json!({"text": "Half"}))],
        Before::Call => vec![piece(json!({"functionCall": {"name": "read", "args": {}}}))],
    };
    pieces.push(json!({"candidates": [end], "usageMetadata": {"promptTokenCount": 1}}));
    pieces
}

fn bedrock(before: Before, name: &str) -> Vec<Vec<u8>> {
    let event = |kind: &str, payload: Value| {
        let headers = [(":message-type", "event"), (":event-type", kind)];
        frame(&headers, payload.to_string().as_bytes())
    };
    let start =
        json!({"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "c1", "name": "read"}}});
    let stop = event("contentBlockStop", json!({"contentBlockIndex": 0}));
    let mut events = vec![event("messageStart", json!({"role": "assistant"}))];
    match before {
        Before::Nothing => {}
        Before::Text => {
            let delta = json!({"contentBlockIndex": 0, "delta": {"text": "Half"}});
            events.extend([event("contentBlockDelta", delta), stop]);
        }
        Before::Call => events.extend([event("contentBlockStart", start), stop]),
    }
    events.push(event("messageStop", json!({"stopReason": name})));
    events.push(event("metadata", json!({"usage": {"inputTokens": 1}})));
    events
}

fn program(before: Before, name: &str) -> Vec<Vec<u8>> {
    let mut events = match before {
        Before::Nothing => vec![],
        Before::Text => vec![json!([{"type": "text-delta", "text": "Half"}])],
        Before::Call => {
            vec![json!([{"type": "tool-call", "id": "c1", "name": "read", "input": {}}])]
        }
    };
    events.push(json!([{"type": "finish", "reason": name}]));
    events
        .iter()
        .map(|it| it.to_string().into_bytes())
        .collect()
}

/// Returns the batches of events of an answer.
fn decode(id: ProtocolId, pieces: &[Vec<u8>]) -> Vec<Vec<LlmEvent>> {
    let model = ResolvedModel::new("mock", "m1", id, "http://localhost:1");
    let request = LlmRequest::new(Arc::new(model));
    let mut decoder = protocol::adapter(id).decoder(&request, &Sources::default());
    let mut batches = Vec::new();
    for piece in pieces {
        let mut batch = Vec::new();
        decoder.push(piece, &mut batch).unwrap();
        batches.push(batch);
    }
    let mut batch = Vec::new();
    decoder.end(&mut batch).unwrap();
    batches.push(batch);
    batches
}

/// Returns the last event of an answer, shortened.
fn end_of(id: ProtocolId, pieces: &[Vec<u8>]) -> String {
    match decode(id, pieces).into_iter().flatten().next_back() {
        Some(LlmEvent::Finish { reason, .. }) => reason.as_str().to_owned(),
        Some(LlmEvent::ProviderError {
            kind,
            retryable,
            message,
            ..
        }) => {
            assert!(
                message.contains("The provider ended its answer with"),
                "{message}"
            );
            let again = if retryable { " again" } else { "" };
            format!("{}{again}", kind.as_str())
        }
        other => panic!("{other:?}"),
    }
}

/// The names of all protocols, which gateways also pass on in others, and further ones of the same kinds.
const NAMES: [(&str, &str); 9] = [
    (
        "stop",
        "stop STOP Stop `stop` stop_sequence STOP_SEQUENCE stopSequence end_turn EndTurn pause_turn eos eos_token \
         <|eot_id|> <|im_end|> </s> <|endoftext|> COMPLETE completed done finished normal FINISH_REASON_STOP \
         FinishReason.STOP REASON_STOP END_ID matched_stop stop_criteria_met end_of_turn compaction",
    ),
    (
        "tool-calls",
        "tool_calls TOOL_CALL tool_use toolUse function_call FINISH_REASON_TOOL_CALLS",
    ),
    (
        "length",
        "length LENGTH max_tokens MAX_TOKENS maxTokens model_length max_output_tokens token_limit max_new_tokens \
         model_context_window_exceeded REASON_MAX_LEN REASON_MAX_CONTEXT max_turns",
    ),
    (
        "content-filter",
        "content_filter CONTENT_FILTERED contentFiltered guardrail_intervened refusal sensitive SAFETY RECITATION \
         LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION \
         MODEL_ARMOR ERROR_TOXIC content_policy_violation",
    ),
    (
        "invalid-output again",
        "MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE \
         MALFORMED_RESPONSE malformed_model_output malformed_tool_use IMAGE_OTHER NO_IMAGE malformed_json",
    ),
    (
        "transport again",
        "network_error NETWORK_ERROR connection_lost",
    ),
    (
        "timeout again",
        "timeout TIMED_OUT time_limit REASON_TIME_LIMIT",
    ),
    ("rate-limit again", "rate_limited rate_limit_exceeded"),
    (
        "overloaded again",
        "error ERROR Server`Error insufficient_system_resource abort aborted cancelled USER_CANCEL OTHER failed \
         not_completed stopped_by_error unknown something backend_failure notice 1",
    ),
];

#[test]
fn every_name_has_one_meaning_in_every_protocol() {
    for id in ALL {
        for (expected, names) in NAMES {
            for name in names.split_whitespace() {
                let name = name.replace('`', " ");
                // A program that knows no reason says so.
                let expected = match (id, name.as_str()) {
                    (ProtocolId::Program(_), "unknown") => "unknown",
                    _ => expected,
                };
                let before = match expected {
                    "tool-calls" => Before::Call,
                    _ => Before::Text,
                };
                let end = end_of(id, &answer(id, before, &name));
                assert_eq!(end, expected, "{id:?} {name:?}");
            }
        }
    }
}

#[test]
fn an_end_that_announces_a_call_is_a_failure_without_one() {
    for id in ALL {
        for before in [Before::Nothing, Before::Text] {
            for name in NAMES[1].1.split_whitespace() {
                let end = end_of(id, &answer(id, before, name));
                assert_eq!(end, "invalid-output again", "{id:?} {name:?}");
            }
        }
    }
}

#[test]
fn a_window_that_is_full_before_any_output_is_a_refusal_for_size() {
    for id in ALL {
        let pieces = answer(id, Before::Nothing, "model_context_window_exceeded");
        assert_eq!(end_of(id, &pieces), "context-overflow", "{id:?}");
    }
}

#[test]
fn a_call_of_a_failed_answer_comes_together_with_the_failure() {
    for id in ALL {
        let batches = decode(id, &answer(id, Before::Call, "error"));
        let has_call = |batch: &Vec<LlmEvent>| {
            let mut events = batch.iter();
            events.any(|event| matches!(event, LlmEvent::ToolCall { .. }))
        };
        let failed = batches
            .iter()
            .position(|batch| matches!(batch.last(), Some(LlmEvent::ProviderError { .. })));
        let called = batches.iter().position(has_call);
        assert!(failed.is_some(), "{id:?}");
        assert!(called.is_none_or(|called| Some(called) == failed), "{id:?}");
        // A call of a good answer does not wait for the end of the connection.
        let batches = decode(id, &answer(id, Before::Call, "stop"));
        let called = batches.iter().position(has_call).unwrap();
        let last = batches.len() - 1;
        assert!(called < last, "{id:?}");
    }
}

#[test]
fn a_chat_server_says_in_other_members_that_its_answer_failed() {
    let failed = |end: Value| {
        let chunks = chat(Before::Text, end);
        let pieces = chunks
            .iter()
            .map(|chunk| format!("data: {chunk}\n\n").into_bytes());
        let pieces: Vec<_> = pieces.chain([b"data: [DONE]\n\n".to_vec()]).collect();
        match decode(ProtocolId::OpenAiChat, &pieces)
            .into_iter()
            .flatten()
            .next_back()
        {
            Some(LlmEvent::ProviderError { message, kind, .. }) => (message, Some(kind)),
            Some(LlmEvent::Finish { reason, .. }) => (reason.as_str().to_owned(), None),
            other => panic!("{other:?}"),
        }
    };
    let ended = |name: &str| format!("The provider ended its answer with {name:?}");
    let rows = [
        (
            json!({"delta": {}, "finish_reason": "error", "error": {"code": 502, "message": "lost"}}),
            "502: lost".to_owned(),
            Some(ErrorKind::Overloaded),
        ),
        (
            json!({"delta": {}, "finish_reason": null, "error": {"message": "lost"}}),
            "lost".to_owned(),
            Some(ErrorKind::Overloaded),
        ),
        (
            json!({"delta": {}, "finish_reason": "stop", "error": "lost"}),
            format!("{}: lost", ended("error")),
            Some(ErrorKind::Overloaded),
        ),
        (
            json!({"delta": {}, "finish_reason": "stop", "native_finish_reason": "MALFORMED_FUNCTION_CALL"}),
            ended("MALFORMED_FUNCTION_CALL"),
            Some(ErrorKind::InvalidOutput),
        ),
        (
            json!({"delta": {}, "finish_reason": "stop", "native_finish_reason": "max_tokens"}),
            "length".to_owned(),
            None,
        ),
        (
            json!({"delta": {}, "finish_reason": "stop", "native_finish_reason": "a name of its own"}),
            "stop".to_owned(),
            None,
        ),
        (
            json!({"delta": {}, "finish_reason": "stop", "error": null, "native_finish_reason": null}),
            "stop".to_owned(),
            None,
        ),
    ];
    for (end, message, kind) in rows {
        assert_eq!(failed(end.clone()), (message, kind), "{end}");
    }
    // A gateway may send the end of its provider after its own.
    let mut chunks = chat(Before::Text, json!({"delta": {}, "finish_reason": "stop"}));
    chunks.push(json!({"choices": [{"delta": {}, "finish_reason": "error"}]}));
    let pieces: Vec<_> = chunks
        .iter()
        .map(|it| format!("data: {it}\n\n").into_bytes())
        .collect();
    assert_eq!(end_of(ProtocolId::OpenAiChat, &pieces), "overloaded again");
    let refused = json!({"choices": null, "base_resp": {"status_code": 1027, "status_msg": "output new_sensitive"}});
    let pieces = [format!("data: {refused}\n\n").into_bytes()];
    let last = decode(ProtocolId::OpenAiChat, &pieces)
        .into_iter()
        .flatten()
        .next_back();
    let Some(LlmEvent::ProviderError { message, .. }) = last else {
        panic!("{last:?}");
    };
    assert_eq!(message, "1027: output new_sensitive");
}

#[test]
fn a_response_says_in_its_status_that_it_failed() {
    let rows = [
        ("response.completed", json!({"status": "completed"}), "stop"),
        ("response.completed", json!({}), "stop"),
        (
            "response.completed",
            json!({"status": "in_progress"}),
            "stop",
        ),
        ("response.done", json!({"status": "completed"}), "stop"),
        (
            "response.completed",
            json!({"status": "failed"}),
            "overloaded again",
        ),
        (
            "response.completed",
            json!({"status": "cancelled"}),
            "overloaded again",
        ),
        (
            "response.completed",
            json!({"status": "incomplete"}),
            "overloaded again",
        ),
        (
            "response.incomplete",
            json!({"status": "completed"}),
            "overloaded again",
        ),
        (
            "response.incomplete",
            json!({"incomplete_details": null}),
            "overloaded again",
        ),
        (
            "response.incomplete",
            json!({"incomplete_details": {"reason": "max_output_tokens"}}),
            "length",
        ),
        (
            "response.incomplete",
            json!({"incomplete_details": {"reason": "content_filter"}}),
            "content-filter",
        ),
        (
            "response.failed",
            json!({"status": "failed", "error": null}),
            "overloaded again",
        ),
        (
            "response.cancelled",
            json!({"status": "cancelled"}),
            "overloaded again",
        ),
    ];
    for (kind, response, expected) in rows {
        let events = responses(Before::Text, kind, response.clone());
        let pieces: Vec<_> = events
            .iter()
            .map(|it| format!("data: {it}\n\n").into_bytes())
            .collect();
        let end = end_of(ProtocolId::OpenAiResponses, &pieces);
        assert_eq!(end, expected, "{kind} {response}");
    }
}

#[test]
fn a_provider_explains_a_failed_end() {
    let end = json!({"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed function call: safety()"});
    let pieces = gemini(Before::Text, end);
    let pieces: Vec<_> = pieces
        .iter()
        .map(|it| format!("data: {it}\n\n").into_bytes())
        .collect();
    let last = decode(ProtocolId::Gemini, &pieces)
        .into_iter()
        .flatten()
        .next_back();
    let Some(LlmEvent::ProviderError { message, kind, .. }) = last else {
        panic!("{last:?}");
    };
    let expected = "The provider ended its answer with \"MALFORMED_FUNCTION_CALL\": Malformed function call: safety()";
    assert_eq!(
        (message.as_str(), kind),
        (expected, ErrorKind::InvalidOutput)
    );
}
