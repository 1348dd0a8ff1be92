use std::sync::Arc;
use std::time::{Duration, SystemTime};

use opencode_llm::{
    ErrorKind, FinishReason, LlmError, LlmErrorReason, LlmEvent, LlmRequest, Sources, ToolContent,
    ToolResultValue, Usage,
};
use opencode_protocols::{self as protocol, Decoder};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::model;
use super::outcome::check_one_outcome;

fn decoder() -> Box<dyn Decoder> {
    let request = LlmRequest::new(model(|_| {}));
    let now = || SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let adapter = protocol::adapter(request.model.protocol);
    adapter.decoder(&request, &Sources::new(|| 0, now))
}

/// Decodes batches and the end of the stream.
fn decode(batches: &[Value]) -> (Vec<LlmEvent>, Result<(), LlmError>) {
    let texts: Vec<_> = batches.iter().map(Value::to_string).collect();
    decode_texts(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn decode_texts(batches: &[&str]) -> (Vec<LlmEvent>, Result<(), LlmError>) {
    let mut decoder = decoder();
    let mut events = Vec::new();
    for batch in batches {
        if let Err(error) = decoder.push(batch.as_bytes(), &mut events) {
            return (events, Err(error));
        }
    }
    let end = decoder.end(&mut events);
    (events, end)
}

fn answer(events: Value) -> Vec<LlmEvent> {
    let (events, end) = decode(&[events]);
    end.unwrap();
    events
}

fn refusal(events: Value) -> LlmError {
    decode(&[events]).1.unwrap_err()
}

fn texts(events: &[LlmEvent]) -> String {
    let text = |event: &LlmEvent| match event {
        LlmEvent::TextDelta { text, .. } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

#[test]
fn a_file_is_the_result_of_a_hosted_call() {
    let events = answer(json!([
        {"type": "file", "mediaType": "image/png", "data": "iVBO", "providerMetadata": {"p": {"a": 1}}},
        {"type": "finish", "reason": "stop"},
    ]));
    let content = events.iter().find_map(|event| match event {
        LlmEvent::ToolResult {
            name,
            output: Some(output),
            provider_executed: true,
            ..
        } => Some((name.to_string(), output.content.clone())),
        _ => None,
    });
    let file = ToolContent::File {
        uri: "data:image/png;base64,iVBO".into(),
        mime: "image/png".into(),
        name: None,
    };
    assert_eq!(content, Some(("generated_file".to_owned(), vec![file])));
    let events = answer(json!([
        {"type": "file", "mediaType": "image/png", "url": "https://x.test/a.png"},
        {"type": "finish", "reason": "stop"},
    ]));
    let has_address = |event: &LlmEvent| match event {
        LlmEvent::ToolResult {
            output: Some(output),
            ..
        } => {
            matches!(&output.content[..], [ToolContent::File { uri, .. }] if uri == "https://x.test/a.png")
        }
        _ => false,
    };
    assert!(events.iter().any(has_address), "{events:?}");
    let local = json!([{"type": "file", "mediaType": "image/png", "url": "file:///a"}]);
    let message = refusal(local).to_string();
    assert!(
        message.contains("must begin with http:// or https://"),
        "{message}"
    );
    for (event, member) in [
        (json!([{"type": "file", "data": "iVBO"}]), "mediaType"),
        (json!([{"type": "file", "mediaType": "image/png"}]), "data"),
    ] {
        let message = refusal(event).to_string();
        assert!(
            message.contains(&format!("file must have the member {member}")),
            "{message}"
        );
    }
}

#[test]
fn a_text_needs_only_deltas_and_a_finish() {
    let events = answer(json!([
        {"type": "text-delta", "text": "Hello"},
        {"type": "text-delta", "text": " world"},
        {"type": "finish", "reason": "stop", "usage": {"inputTokens": 3, "outputTokens": 2}},
    ]));
    let id: Arc<str> = "0".into();
    let usage = Some(Usage {
        input_tokens: Some(3),
        output_tokens: Some(2),
        ..Usage::default()
    });
    let provider_metadata = None;
    assert_eq!(
        events,
        [
            LlmEvent::StepStart { index: 0 },
            LlmEvent::TextStart {
                id: Arc::clone(&id),
                provider_metadata: None
            },
            LlmEvent::TextDelta {
                id: Arc::clone(&id),
                text: "Hello".into(),
                provider_metadata: None
            },
            LlmEvent::TextDelta {
                id: Arc::clone(&id),
                text: " world".into(),
                provider_metadata: None
            },
            LlmEvent::TextEnd {
                id,
                provider_metadata: None
            },
            LlmEvent::StepFinish {
                index: 0,
                reason: FinishReason::Stop,
                usage: usage.clone(),
                provider_metadata: None
            },
            LlmEvent::Finish {
                reason: FinishReason::Stop,
                usage,
                provider_metadata
            },
        ]
    );
}

#[test]
fn metadata_of_a_block_is_joined_at_its_end() {
    let events = answer(json!([
        {"type": "reasoning-start", "id": "r", "providerMetadata": {"a": {"x": 1}}},
        {"type": "reasoning-delta", "id": "r", "text": "", "providerMetadata": {"a": {"signature": "s"}}},
        {"type": "reasoning-end", "id": "r"},
        {"type": "finish", "reason": "stop"},
    ]));
    let end = events.iter().find_map(|event| match event {
        LlmEvent::ReasoningEnd {
            provider_metadata, ..
        } => provider_metadata.clone(),
        _ => None,
    });
    assert_eq!(json!(end), json!({"a": {"x": 1, "signature": "s"}}));
}

#[test]
fn a_call_may_be_streamed_or_come_whole() {
    let events = answer(json!([
        {"type": "tool-input-start", "id": "c1", "name": "read"},
        {"type": "tool-input-delta", "id": "c1", "text": "{\"a\""},
        {"type": "tool-input-delta", "id": "c1", "text": ":1}"},
        {"type": "tool-input-end", "id": "c1"},
        {"type": "tool-call", "id": "c1", "inputText": "{\"a\":1}"},
        {"type": "tool-call", "id": "c2", "name": "list", "input": {"b": 2}},
        {"type": "tool-call", "id": "c3", "name": "list", "inputText": " "},
        {"type": "finish", "reason": "stop"},
    ]));
    let calls: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            LlmEvent::ToolCall {
                id, name, input, ..
            } => Some(json!([&**id, &**name, input])),
            _ => None,
        })
        .collect();
    assert_eq!(
        json!(calls),
        json!([["c1", "read", {"a": 1}], ["c2", "list", {"b": 2}], ["c3", "list", {}]])
    );
    let Some(LlmEvent::Finish { reason, .. }) = events.last() else {
        panic!("{events:?}");
    };
    assert_eq!(*reason, FinishReason::ToolCalls);
}

#[test]
fn a_call_without_an_id_or_a_name_concerns_itself_alone() {
    let events = answer(json!([
        {"type": "tool-call", "name": "read", "input": {"n": 1}},
        {"type": "tool-call", "id": null, "name": "read", "input": {"n": 2}},
        {"type": "tool-call", "id": 7, "name": "read", "inputText": {"n": 3}, "providerExecuted": null},
        {"type": "tool-call", "id": "c", "input": {}},
        {"type": "tool-call", "id": "d", "name": {}, "input": {}},
        {"type": "tool-input-start", "name": "read"},
        {"type": "tool-input-delta", "text": "{\"n\""},
        {"type": "tool-input-delta", "text": ":4}"},
        {"type": "tool-input-end"},
        {"type": "tool-call", "inputText": "{\"n\":4}"},
        {"type": "tool-input-start", "id": "e"},
        {"type": "tool-input-delta", "id": "e", "text": "{\"n\":5}"},
        {"type": "tool-call", "name": "read", "inputText": "{\"n\":5}"},
        {"type": "tool-input-start", "id": "f"},
        {"type": "tool-call", "id": "f", "input": {}},
        {"type": "finish", "reason": "tool-calls"},
    ]));
    let calls = events.iter().filter_map(|event| match event {
        LlmEvent::ToolCall { id, input, .. } => Some((id.to_string(), input["n"].clone())),
        _ => None,
    });
    let (ids, inputs): (Vec<_>, Vec<_>) = calls.unzip();
    assert_eq!(inputs, [json!(1), json!(2), json!(3), json!(4), json!(5)]);
    assert_eq!([&*ids[2], &*ids[4]], ["7", "e"]);
    let random = [&ids[0], &ids[1], &ids[3]];
    assert!(random.iter().all(|id| !id.is_empty()), "{random:?}");
    assert!(ids[0] != ids[1] && ids[0] != ids[3] && ids[1] != ids[3]);
    let invalid = events.iter().filter_map(|event| match event {
        LlmEvent::InvalidToolCall {
            id, name, problem, ..
        } => Some(format!("{id} {name} {problem:?}")),
        _ => None,
    });
    assert_eq!(
        invalid.collect::<Vec<_>>(),
        ["c", "d", "f"].map(|id| format!("{id} unnamed_tool Name(\"The call names no tool\")"))
    );
}

#[test]
fn a_call_of_the_provider_has_its_result_in_the_stream() {
    let events = answer(json!([
        {"type": "tool-call", "id": "c1", "name": "web_search", "input": {"q": 1}, "providerExecuted": true},
        {"type": "tool-result", "id": "c1", "result": {"type": "json", "value": [1]}},
        {"type": "finish", "reason": "stop"},
    ]));
    assert!(events.iter().any(|event| matches!(
        event,
        LlmEvent::ToolResult { name, result: ToolResultValue::Json(value), provider_executed: true, .. }
            if &**name == "web_search" && *value == json!([1])
    )));
    let Some(LlmEvent::Finish { reason, .. }) = events.last() else {
        panic!("{events:?}");
    };
    assert_eq!(*reason, FinishReason::Stop);
}

#[test]
fn invalid_events_name_their_problem() {
    let rows = [
        (json!({"type": "text"}), "unknown type \"text\""),
        (
            json!({"type": "text-delta"}),
            "text-delta must have the member text",
        ),
        (
            json!({"type": "text-delta", "text": 1}),
            "expected a string",
        ),
        (
            json!({"type": "text-delta", "txt": "a"}),
            "unknown field `txt`",
        ),
        (json!({"text": "a"}), "missing field `type`"),
        (
            json!({"type": "finish"}),
            "finish must have the member reason",
        ),
        (
            json!({"type": "tool-result", "id": "a", "result": {"type": "text", "value": ""}}),
            "tool-result of an unknown call",
        ),
        (
            json!({"type": "text-end", "id": "a"}),
            "text block \"a\" is not open",
        ),
        (json!(7), "invalid type"),
    ];
    for (event, problem) in rows {
        let error = refusal(json!([event]));
        assert_eq!(error.kind(), ErrorKind::InvalidOutput, "{event}");
        let text = error.to_string();
        assert!(
            text.contains("mine/program") && text.contains(problem),
            "{event}: {text}"
        );
    }
    for batch in ["", "{}", "[", "[1,]", "null"] {
        let error = decode_texts(&[batch]).1.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOutput, "{batch}");
    }
}

#[test]
fn an_answer_without_a_finish_fails() {
    let (events, end) = decode(&[json!([{"type": "text-delta", "text": "Hel"}])]);
    assert_eq!(texts(&events), "Hel");
    let error = end.unwrap_err().to_string();
    assert_eq!(error, "The mine/program stream ended before a finish event");
}

#[test]
fn reported_errors_are_classified() {
    let rows = [
        (
            json!({"message": "prompt is too long: 5 tokens"}),
            ErrorKind::ContextOverflow,
            false,
        ),
        (
            json!({"code": "overloaded_error", "message": "busy"}),
            ErrorKind::Overloaded,
            true,
        ),
        (
            json!({"kind": "quota", "message": "none left"}),
            ErrorKind::Quota,
            false,
        ),
        (
            json!({"kind": "transport", "message": "no route"}),
            ErrorKind::Transport,
            false,
        ),
        (
            json!({"kind": "else", "message": "odd"}),
            ErrorKind::Unknown,
            false,
        ),
        (json!({}), ErrorKind::Unknown, false),
    ];
    for (mut event, expected, is_retryable) in rows {
        event["type"] = "error".into();
        let events = answer(json!([event]));
        let Some(LlmEvent::ProviderError {
            kind,
            retryable,
            message,
            ..
        }) = events.last()
        else {
            panic!("{events:?}");
        };
        assert_eq!((*kind, *retryable), (expected, is_retryable), "{event}");
        assert!(!message.is_empty());
    }
}

#[test]
fn a_response_that_refuses_the_request_is_classified_by_its_status() {
    let error = refusal(json!([{"type": "error", "message": "unused", "response": {
        "status": 429, "headers": {"Retry-After": "2"}, "body": "slow down", "url": "https://api.test/v1?key=secret",
    }}]));
    let reason = LlmErrorReason::RateLimit {
        retry_after_ms: Some(2_000),
    };
    assert_eq!(*error.reason(), reason);
    assert_eq!(
        error.to_string(),
        "Provider request failed with HTTP 429: slow down"
    );
    assert!(!format!("{error:?}").contains("secret"));
    let error = refusal(json!([{"type": "error", "response": {"status": 500}}]));
    assert_eq!(error.kind(), ErrorKind::Overloaded);
}

#[test]
fn characters_that_are_cut_between_deltas_are_joined() {
    let halves = [
        r#"[{"type":"text-delta","text":"a\ud83d"}]"#,
        r#"[{"type":"text-delta","text":"\ude00b"},{"type":"finish","reason":"stop"}]"#,
    ];
    let (events, end) = decode_texts(&halves);
    end.unwrap();
    assert_eq!(texts(&events), "a\u{1f600}b");
}

proptest! {
    #[test]
    fn every_input_has_one_outcome(events in prop::collection::vec(event(), 0..12), cut in any::<bool>()) {
        let wire = json!(events).to_string();
        let cuts = if cut { vec![wire.len() / 2] } else { Vec::new() };
        check_one_outcome(decoder(), wire.as_bytes(), &cuts);
    }
}

fn event() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        "text-start",
        "text-delta",
        "text-end",
        "reasoning-delta",
        "reasoning-end",
        "tool-input-start",
        "tool-input-delta",
        "tool-input-end",
        "tool-call",
        "tool-result",
        "finish",
        "error",
        "other",
    ]);
    let id = prop::sample::select(vec!["a", "b"]);
    let reason = prop::sample::select(vec!["stop", "length", "odd"]);
    (kind, id, reason, any::<bool>()).prop_map(|(kind, id, reason, has_name)| {
        let mut event = json!({"type": kind, "id": id, "text": "t", "reason": reason});
        event["result"] = json!({"type": "text", "value": "r"});
        if has_name {
            event["name"] = id.into();
        }
        event
    })
}
