//! Replies: texts, reasoning, calls, provider-executed calls, counts and reasons.

use opencode_llm::{BlockId, FinishReason, ProviderMetadata, Usage};

use super::*;

fn step() -> LlmEvent {
    LlmEvent::StepStart { index: 0 }
}

fn text_begins(
    id: &str,
    pieces: &[&str],
    provider_metadata: Option<ProviderMetadata>,
) -> Vec<LlmEvent> {
    let id: BlockId = id.into();
    let mut events = vec![LlmEvent::TextStart {
        id: BlockId::clone(&id),
        provider_metadata,
    }];
    events.extend(pieces.iter().map(|piece| LlmEvent::TextDelta {
        id: BlockId::clone(&id),
        text: (*piece).into(),
        provider_metadata: None,
    }));
    events
}

fn text_ends(id: &str, provider_metadata: Option<ProviderMetadata>) -> Vec<LlmEvent> {
    vec![LlmEvent::TextEnd {
        id: id.into(),
        provider_metadata,
    }]
}

fn sealed(item: &str, sealed: Option<&str>) -> Option<ProviderMetadata> {
    attached(json!({"itemId": item, "reasoningEncryptedContent": sealed}))
}

fn thought_begins(
    id: &str,
    piece: Option<&str>,
    provider_metadata: Option<ProviderMetadata>,
) -> Vec<LlmEvent> {
    let mut events = vec![LlmEvent::ReasoningStart {
        id: id.into(),
        provider_metadata,
    }];
    events.extend(piece.map(|piece| LlmEvent::ReasoningDelta {
        id: id.into(),
        text: piece.into(),
        provider_metadata: None,
    }));
    events
}

fn thought_ends(id: &str, provider_metadata: Option<ProviderMetadata>) -> Vec<LlmEvent> {
    vec![LlmEvent::ReasoningEnd {
        id: id.into(),
        provider_metadata,
    }]
}

fn called(pieces: &[&str], input: Value) -> Vec<LlmEvent> {
    let (id, name): (BlockId, BlockId) = ("call_1".into(), "read".into());
    let item = || attached(json!({"itemId": "fc_1"}));
    let mut events = vec![LlmEvent::ToolInputStart {
        id: BlockId::clone(&id),
        name: BlockId::clone(&name),
        provider_metadata: item(),
    }];
    events.extend(pieces.iter().map(|piece| LlmEvent::ToolInputDelta {
        id: BlockId::clone(&id),
        name: BlockId::clone(&name),
        text: (*piece).into(),
    }));
    events.push(LlmEvent::ToolInputEnd {
        id: BlockId::clone(&id),
        name: BlockId::clone(&name),
        provider_metadata: item(),
    });
    events.push(LlmEvent::ToolCall {
        id,
        name,
        input,
        provider_executed: false,
        provider_metadata: item(),
    });
    events
}

fn finished(
    reason: FinishReason,
    usage: Option<Usage>,
    provider_metadata: Option<ProviderMetadata>,
) -> Vec<LlmEvent> {
    vec![
        LlmEvent::StepFinish {
            index: 0,
            reason,
            usage: usage.clone(),
            provider_metadata: provider_metadata.clone(),
        },
        LlmEvent::Finish {
            reason,
            usage,
            provider_metadata,
        },
    ]
}

fn counted() -> Option<Usage> {
    Some(Usage {
        input_tokens: Some(100),
        output_tokens: Some(10),
        non_cached_input_tokens: Some(100),
        provider_metadata: attached(json!({"input_tokens": 100, "output_tokens": 10})),
        ..Usage::default()
    })
}

fn ended(reason: FinishReason) -> Vec<LlmEvent> {
    finished(reason, counted(), attached(json!({"responseId": "resp_1"})))
}

#[test]
fn a_whole_turn() {
    let phase = || attached(json!({"phase": "commentary"}));
    assert_eq!(
        events_of(&turn()),
        [
            vec![step()],
            thought_begins("rs_1:0", Some("I should."), sealed("rs_1", None)),
            thought_ends("rs_1:0", sealed("rs_1", Some("ENC"))),
            text_begins("ms_1", &["Rea", "ding ü."], phase()),
            called(&["{\"path\":", "\"a\"}"], json!({"path": "a"})),
            text_ends("ms_1", phase()),
            ended(FinishReason::ToolCalls),
        ]
        .concat()
    );
}

#[test]
fn a_summary_has_several_parts() {
    let item =
        |sealed: Value| json!({"id": "rs", "type": "reasoning", "encrypted_content": sealed});
    let events = [
        added(item(Value::Null)),
        part("added", "rs", 0),
        more("reasoning_summary_text", "rs", "A."),
        part("done", "rs", 0),
        part("added", "rs", 1),
        json!({"type": "response.reasoning_summary_text.delta", "item_id": "rs", "summary_index": 1, "delta": "B."}),
        part("done", "rs", 1),
        done(item(json!("ENC"))),
        completed(),
    ];
    let bare = || sealed("rs", None);
    assert_eq!(
        events_of(&events),
        [
            vec![step()],
            thought_begins("rs:0", Some("A."), bare()),
            thought_ends("rs:0", bare()),
            thought_begins("rs:1", Some("B."), bare()),
            thought_ends("rs:1", sealed("rs", Some("ENC"))),
            ended(FinishReason::Stop),
        ]
        .concat()
    );
    // With a store, a part does not wait for the end of its item.
    assert_eq!(
        events_with(json!({"store": true}), &events),
        [
            vec![step()],
            thought_begins("rs:0", Some("A."), bare()),
            thought_ends("rs:0", bare()),
            thought_begins("rs:1", Some("B."), bare()),
            thought_ends("rs:1", bare()),
            ended(FinishReason::Stop),
        ]
        .concat()
    );
}

#[test]
fn unannounced_items_are_read() {
    let events = [
        done(json!({"id": "rs", "type": "reasoning", "encrypted_content": "ENC"})),
        more("reasoning_text", "open", "Hm."),
        more("output_text", "ms", "a"),
        more("refusal", "no", "I cannot."),
        done(function_call("{\"a\":1}")),
        completed(),
    ];
    assert_eq!(
        events_of(&events),
        [
            vec![step()],
            thought_begins("rs:0", None, sealed("rs", Some("ENC"))),
            thought_ends("rs:0", sealed("rs", Some("ENC"))),
            thought_begins("open:0", Some("Hm."), sealed("open", None)),
            text_begins("ms", &["a"], None),
            text_begins("no", &["I cannot."], None),
            called(&["{\"a\":1}"], json!({"a": 1})),
            thought_ends("open:0", sealed("open", None)),
            text_ends("ms", None),
            text_ends("no", None),
            ended(FinishReason::ToolCalls),
        ]
        .concat()
    );
}

#[test]
fn the_complete_input_overrides_its_pieces() {
    let pieces = [
        added(function_call("")),
        more("function_call_arguments", "fc_1", "{\"a\":1}"),
        done(function_call("{\"a\":2}")),
        completed(),
    ];
    let expected = |input: Value| {
        [
            vec![step()],
            called(&["{\"a\":1}"], input),
            ended(FinishReason::ToolCalls),
        ]
        .concat()
    };
    assert_eq!(events_of(&pieces), expected(json!({"a": 2})));
    let without_end = [pieces[0].clone(), pieces[1].clone(), completed()];
    assert_eq!(events_of(&without_end), expected(json!({"a": 1})));
    let nothing = [added(function_call("")), completed()];
    assert_eq!(
        events_of(&nothing),
        [
            vec![step()],
            called(&[], json!({})),
            ended(FinishReason::ToolCalls)
        ]
        .concat()
    );
}

#[test]
fn a_server_call_has_its_result() {
    let rows = [
        (
            "web_search_call",
            json!({"action": {"query": "x"}}),
            "web_search",
            json!({"query": "x"}),
        ),
        ("web_search_call", json!({}), "web_search", json!({})),
        (
            "file_search_call",
            json!({"queries": ["q"], "results": null}),
            "file_search",
            json!({"queries": ["q"]}),
        ),
        (
            "code_interpreter_call",
            json!({"code": "1", "container_id": "c"}),
            "code_interpreter",
            json!({"code": "1", "container_id": "c"}),
        ),
        (
            "image_generation_call",
            json!({"status": "failed"}),
            "image_generation",
            json!({}),
        ),
        (
            "mcp_call",
            json!({"server_label": "s", "name": "n", "arguments": "{}"}),
            "mcp",
            json!({"server_label": "s", "name": "n", "arguments": "{}"}),
        ),
        (
            "local_shell_call",
            json!({"action": {"type": "exec"}}),
            "local_shell",
            json!({"type": "exec"}),
        ),
        ("future_call", json!({}), "future", json!({})),
    ];
    let item_id = || attached(json!({"itemId": "x_1"}));
    for (kind, members, name, input) in rows {
        for error in [Value::Null, json!({"message": "no"})] {
            let mut item = members.clone();
            item["type"] = kind.into();
            item["id"] = "x_1".into();
            item["error"] = error.clone();
            let call = LlmEvent::ToolCall {
                id: "x_1".into(),
                name: name.into(),
                input: input.clone(),
                provider_executed: true,
                provider_metadata: item_id(),
            };
            let result = LlmEvent::ToolResult {
                id: "x_1".into(),
                name: name.into(),
                result: if error.is_null() {
                    ToolResultValue::Json(item.clone())
                } else {
                    ToolResultValue::Error(error)
                },
                output: None,
                provider_executed: true,
                provider_metadata: item_id(),
            };
            let expected = [vec![step(), call, result], ended(FinishReason::Stop)].concat();
            assert_eq!(
                events_of(&[added(item.clone()), done(item.clone()), completed()]),
                expected
            );
            assert_eq!(events_of(&[done(item), completed()]), expected);
        }
    }
}

#[test]
fn an_image_is_a_file_of_its_call() {
    for (format, mime) in [
        (json!("webp"), "image/webp"),
        (Value::Null, "image/png"),
        (json!("p;g"), "application/octet-stream"),
    ] {
        let mut item =
            json!({"type": "image_generation_call", "id": "ig_1", "output_format": format});
        item["result"] = "iVBO".into();
        let events = events_of(&[done(item.clone()), completed()]);
        item["result"] = Value::Null;
        let file = ToolContent::File {
            uri: format!("data:{mime};base64,iVBO"),
            mime: mime.into(),
            name: None,
        };
        let result = LlmEvent::ToolResult {
            id: "ig_1".into(),
            name: "image_generation".into(),
            result: ToolResultValue::Json(item.clone()),
            output: Some(Box::new(opencode_llm::ToolOutput {
                structured: item,
                content: vec![file],
            })),
            provider_executed: true,
            provider_metadata: attached(json!({"itemId": "ig_1"})),
        };
        assert!(events.contains(&result), "{events:?}");
    }
}

#[test]
fn unknown_events_are_ignored() {
    let events = [
        json!({"type": "response.future", "delta": {"a": 1}, "item": 5, "response": []}),
        json!({"type": null}),
        json!({}),
        added(json!({"type": "future", "id": "f"})),
        added(json!(null)),
        done(json!({"type": "future", "id": "f"})),
        json!({"type": "response.output_text.delta", "item_id": "ms", "delta": ""}),
        json!({"type": "response.output_text.annotation.added", "item_id": "ms", "annotation": {}}),
        completed(),
    ];
    assert_eq!(
        events_of(&events),
        [vec![step()], ended(FinishReason::Stop)].concat()
    );
    let mut text = sse(&events[..8]);
    text.push_str("data: [DONE]\n\n");
    text.push_str(&sse(&events[8..]));
    assert_eq!(decode(&[text.as_bytes()]), (events_of(&events), Ok(())));
}

#[test]
fn every_stop_reason_is_mapped() {
    let cut = |reason: Value| {
        json!({"type": "response.incomplete", "response": {"id": "resp_1", "incomplete_details": reason,
        "usage": {"input_tokens": 100, "output_tokens": 10}}})
    };
    let rows = [
        (
            json!({"reason": "max_output_tokens"}),
            FinishReason::Length,
            FinishReason::Length,
        ),
        (
            json!({"reason": "content_filter"}),
            FinishReason::ContentFilter,
            FinishReason::ContentFilter,
        ),
    ];
    for (reason, plain, with_call) in rows {
        let events = events_of(&[cut(reason.clone())]);
        assert_eq!(events, [vec![step()], ended(plain)].concat(), "{reason}");
        let events = events_of(&[done(function_call("{}")), cut(reason)]);
        assert_eq!(events[events.len() - 2..], ended(with_call));
    }
}

#[test]
fn counts() {
    let report = json!({
        "input_tokens": 100, "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
        "output_tokens": 25, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 125,
    });
    let usage = Usage {
        input_tokens: Some(100),
        output_tokens: Some(25),
        non_cached_input_tokens: Some(10),
        cache_read_input_tokens: Some(60),
        cache_write_input_tokens: Some(30),
        reasoning_tokens: Some(5),
        total_tokens: Some(125),
        cost: None,
        provider_metadata: attached(report.clone()),
    };
    let events = [
        json!({"type": "response.created", "response": {"id": "resp_0"}}),
        json!({"type": "response.completed", "response": {"usage": report, "service_tier": "flex"}}),
    ];
    let about = attached(json!({"responseId": "resp_0", "serviceTier": "flex"}));
    assert_eq!(
        events_of(&events),
        [
            vec![step()],
            finished(FinishReason::Stop, Some(usage), about)
        ]
        .concat()
    );
    let none = [json!({"type": "response.completed", "response": null})];
    assert_eq!(
        events_of(&none),
        [vec![step()], finished(FinishReason::Stop, None, None)].concat()
    );
}

#[test]
fn a_stored_text_has_its_item_identifier() {
    let events = [
        added(json!({"id": "ms", "type": "message"})),
        more("output_text", "ms", "a"),
        completed(),
    ];
    let item = || attached(json!({"itemId": "ms"}));
    assert_eq!(
        events_with(json!({"store": true}), &events),
        [
            vec![step()],
            text_begins("ms", &["a"], item()),
            text_ends("ms", item()),
            ended(FinishReason::Stop)
        ]
        .concat()
    );
}

#[test]
fn the_stream_may_be_split_anywhere() {
    let text = sse(&turn());
    let whole = decode(&[text.as_bytes()]);
    for at in 0..text.len() {
        let (head, tail) = text.as_bytes().split_at(at);
        assert_eq!(decode(&[head, tail]), whole, "split at {at}");
    }
}
