//! Replies: blocks, calls, provider-executed calls, counts and reasons.

use opencode_llm::{BlockId, FinishReason, ProviderMetadata, Usage};

use super::*;

fn metadata(members: Value) -> Option<ProviderMetadata> {
    Some(Box::new(map(json!({"anthropic": members}))))
}

fn step() -> LlmEvent {
    LlmEvent::StepStart { index: 0 }
}

fn text(id: &str, parts: &[&str], attached: Option<ProviderMetadata>) -> Vec<LlmEvent> {
    let id: BlockId = id.into();
    let mut events = vec![LlmEvent::TextStart {
        id: BlockId::clone(&id),
        provider_metadata: None,
    }];
    events.extend(parts.iter().map(|part| LlmEvent::TextDelta {
        id: BlockId::clone(&id),
        text: (*part).into(),
        provider_metadata: None,
    }));
    events.push(LlmEvent::TextEnd {
        id,
        provider_metadata: attached,
    });
    events
}

fn thought(id: &str, parts: &[&str], attached: Option<ProviderMetadata>) -> Vec<LlmEvent> {
    let id: BlockId = id.into();
    let mut events = vec![LlmEvent::ReasoningStart {
        id: BlockId::clone(&id),
        provider_metadata: None,
    }];
    events.extend(parts.iter().map(|part| LlmEvent::ReasoningDelta {
        id: BlockId::clone(&id),
        text: (*part).into(),
        provider_metadata: None,
    }));
    events.push(LlmEvent::ReasoningEnd {
        id,
        provider_metadata: attached,
    });
    events
}

fn called(
    id: &str,
    name: &str,
    parts: &[&str],
    input: Value,
    provider_executed: bool,
) -> Vec<LlmEvent> {
    let (id, name): (BlockId, BlockId) = (id.into(), name.into());
    let mut events = vec![LlmEvent::ToolInputStart {
        id: BlockId::clone(&id),
        name: BlockId::clone(&name),
        provider_metadata: None,
    }];
    events.extend(parts.iter().map(|part| LlmEvent::ToolInputDelta {
        id: BlockId::clone(&id),
        name: BlockId::clone(&name),
        text: (*part).into(),
    }));
    events.push(LlmEvent::ToolInputEnd {
        id: BlockId::clone(&id),
        name: BlockId::clone(&name),
        provider_metadata: None,
    });
    events.push(LlmEvent::ToolCall {
        id,
        name,
        input,
        provider_executed,
        provider_metadata: None,
    });
    events
}

fn finished(
    reason: FinishReason,
    usage: Option<Usage>,
    attached: Option<ProviderMetadata>,
) -> Vec<LlmEvent> {
    vec![
        LlmEvent::StepFinish {
            index: 0,
            reason,
            usage: usage.clone(),
            provider_metadata: attached.clone(),
        },
        LlmEvent::Finish {
            reason,
            usage,
            provider_metadata: attached,
        },
    ]
}

fn counted() -> Option<Usage> {
    Some(Usage {
        input_tokens: Some(100),
        output_tokens: Some(10),
        non_cached_input_tokens: Some(100),
        provider_metadata: metadata(json!({"input_tokens": 100, "output_tokens": 10})),
        ..Usage::default()
    })
}

/// Returns the events of a reply with these blocks.
fn reply(blocks: &[Value]) -> Vec<LlmEvent> {
    events_of(&[&[message_start()], blocks, &[end("end_turn")]].concat())
}

fn expected(parts: &[Vec<LlmEvent>]) -> Vec<LlmEvent> {
    let done = finished(FinishReason::Stop, counted(), None);
    [&[step()], parts.concat().as_slice(), &done].concat()
}

#[test]
fn a_whole_turn() {
    let turn = turn();
    assert_eq!(
        events_of(&turn),
        [
            vec![step()],
            thought(
                "reasoning-0",
                &["I should."],
                metadata(json!({"signature": "SIG"}))
            ),
            text("text-1", &["Rea", "ding ü."], None),
            called(
                "toolu_1",
                "read",
                &["{\"path\":", "\"a\"}"],
                json!({"path": "a"}),
                false
            ),
            finished(FinishReason::ToolCalls, counted(), None),
        ]
        .concat()
    );
}

#[test]
fn unreadable_thoughts_are_kept() {
    let signature = |text: &str| json!({"type": "signature_delta", "signature": text});
    let blocks = [
        start(
            0,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        delta(0, signature("S")),
        stop(0),
        start(1, json!({"type": "redacted_thinking", "data": "R"})),
        stop(1),
        start(
            2,
            json!({"type": "thinking", "thinking": "whole", "signature": "T"}),
        ),
        stop(2),
        start(3, json!({"type": "thinking", "thinking": ""})),
        stop(3),
    ];
    assert_eq!(
        reply(&blocks),
        expected(&[
            thought("reasoning-0", &[], metadata(json!({"signature": "S"}))),
            thought("reasoning-1", &[], metadata(json!({"redactedData": "R"}))),
            thought(
                "reasoning-2",
                &["whole"],
                metadata(json!({"signature": "T"}))
            ),
        ])
    );
}

#[test]
fn citations_of_texts_are_read() {
    let blocks = [
        start(0, assistant_text("")),
        stop(0),
        start(1, assistant_text("a")),
        delta(
            1,
            json!({"type": "citations_delta", "citation": {"url": "u"}}),
        ),
        delta(1, json!({"type": "citations_delta", "citation": null})),
        delta(1, json!({"type": "text_delta", "text": "b"})),
        stop(1),
    ];
    let cited = metadata(json!({"citations": [{"url": "u"}]}));
    assert_eq!(
        reply(&blocks),
        expected(&[text("text-1", &["a", "b"], cited)])
    );
}

/// The identifier of a call for which the server sent none.
const RANDOM: &str = "call_00000000000040008000000000000000";

#[test]
fn every_form_of_a_call_is_read() {
    let input = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
    let blocks = [
        start(0, json!({"type": "tool_use", "id": "none", "name": "read"})),
        stop(0),
        start(
            1,
            json!({"type": "tool_use", "id": "given", "name": "read", "input": {"a": 1}}),
        ),
        stop(1),
        start(2, json!({"type": "tool_use", "name": "read", "input": {}})),
        delta(2, input("{}")),
        // The end of a block may be missing.
    ];
    assert_eq!(
        reply(&blocks),
        expected(&[
            called("none", "read", &[], json!({}), false),
            called("given", "read", &["{\"a\":1}"], json!({"a": 1}), false),
            called(RANDOM, "read", &["{}"], json!({}), false),
        ])
    );
}

#[test]
fn a_server_call_has_its_result() {
    let use_of =
        |id: &str| json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}});
    let result = |id: &str, content: Value| json!({"type": "web_search_tool_result", "tool_use_id": id, "content": content});
    let found = json!([{"type": "web_search_result", "encrypted_content": "e"}]);
    let failed = json!({"type": "web_search_tool_result_error", "error_code": "unavailable"});
    let blocks = [
        start(0, use_of("a")),
        stop(0),
        start(1, result("a", found.clone())),
        stop(1),
        start(2, use_of("b")),
        stop(2),
        start(3, result("b", failed.clone())),
        stop(3),
        start(4, result("nobody's", json!([]))),
        stop(4),
    ];
    let settled = |id: &str, result: ToolResultValue| {
        vec![LlmEvent::ToolResult {
            id: id.into(),
            name: "web_search".into(),
            result,
            output: None,
            provider_executed: true,
            provider_metadata: metadata(json!({"blockType": "web_search_tool_result"})),
        }]
    };
    assert_eq!(
        reply(&blocks),
        expected(&[
            called("a", "web_search", &[], json!({}), true),
            settled("a", ToolResultValue::Json(found)),
            called("b", "web_search", &[], json!({}), true),
            settled("b", ToolResultValue::Error(failed)),
        ])
    );
}

#[test]
fn unknown_events_are_ignored() {
    let blocks = [
        json!({"type": "message_start", "message": null}),
        json!({"type": "future_event", "index": "x", "delta": 5, "content_block": []}),
        json!({"type": null}),
        json!({}),
        start(
            0,
            json!({"type": "mcp_tool_use", "id": "m", "name": "n", "input": {}}),
        ),
        delta(0, json!({"type": "input_json_delta", "partial_json": "{"})),
        stop(0),
        start(
            1,
            json!({"type": "mcp_tool_result", "tool_use_id": "m", "content": []}),
        ),
        stop(1),
        start(2, assistant_text("a")),
        delta(2, json!({"type": "future_delta", "text": "x"})),
        delta(2, json!({"type": "text_delta", "text": null})),
        stop(2),
        stop(9),
    ];
    assert_eq!(reply(&blocks), expected(&[text("text-2", &["a"], None)]));
}

#[test]
fn every_stop_reason_is_mapped() {
    let rows = [
        ("end_turn", FinishReason::Stop, None),
        (
            "pause_turn",
            FinishReason::Stop,
            metadata(json!({"pauseTurn": true})),
        ),
        ("max_tokens", FinishReason::Length, None),
        ("refusal", FinishReason::ContentFilter, None),
        ("compaction", FinishReason::Stop, None),
    ];
    for (reason, meaning, attached) in rows {
        let events = events_of(&[message_start(), end(reason)]);
        assert_eq!(
            events,
            [vec![step()], finished(meaning, counted(), attached)].concat(),
            "{reason}"
        );
    }
    // Without a call, its end is a failure.
    let announced = events_of(&[message_start(), end("tool_use")]);
    assert!(matches!(announced[..], [_, LlmEvent::ProviderError { .. }]));
    let mut stopped = end("stop_sequence");
    stopped["delta"]["stop_sequence"] = json!("END");
    let attached = metadata(json!({"stopSequence": "END"}));
    assert_eq!(
        events_of(&[message_start(), stopped]),
        [
            vec![step()],
            finished(FinishReason::Stop, counted(), attached)
        ]
        .concat()
    );
    // The reason may be missing. The message is complete without it.
    let mut silent = end("");
    silent["delta"]["stop_reason"] = Value::Null;
    let unknown = [
        vec![step()],
        finished(FinishReason::Unknown, counted(), None),
    ]
    .concat();
    assert_eq!(events_of(&[message_start(), silent.clone()]), unknown);
    let more = [
        message_start(),
        silent.clone(),
        json!({"type": "message_stop"}),
    ];
    assert_eq!(events_of(&more), unknown);
    assert_eq!(
        events_of(&[message_start(), silent, end("max_tokens")]),
        [
            vec![step()],
            finished(FinishReason::Length, counted(), None)
        ]
        .concat()
    );
}

#[test]
fn counts_of_cached_input_are_separate() {
    let first = json!({
        "input_tokens": 10, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 30}, "output_tokens": 1, "service_tier": "standard",
    });
    let last = json!({"output_tokens": 25, "input_tokens": null, "output_tokens_details": {"thinking_tokens": 5}});
    let raw = json!({
        "input_tokens": 10, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 30}, "output_tokens": 25, "service_tier": "standard",
        "output_tokens_details": {"thinking_tokens": 5},
    });
    let usage = Usage {
        input_tokens: Some(100),
        output_tokens: Some(25),
        non_cached_input_tokens: Some(10),
        cache_read_input_tokens: Some(60),
        cache_write_input_tokens: Some(30),
        reasoning_tokens: Some(5),
        total_tokens: None,
        cost: None,
        provider_metadata: metadata(raw),
    };
    let events = [
        json!({"type": "message_start", "message": {"usage": first}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": last}),
    ];
    assert_eq!(
        events_of(&events),
        [
            vec![step()],
            finished(FinishReason::Stop, Some(usage), None)
        ]
        .concat()
    );
    let none = [json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})];
    assert_eq!(
        events_of(&none),
        [vec![step()], finished(FinishReason::Stop, None, None)].concat()
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

#[test]
fn block_indexes_may_start_at_zero_again() {
    let events = [
        start(0, assistant_text("a")),
        stop(0),
        start(0, assistant_text("b")),
        delta(0, json!({"type": "text_delta", "text": "c"})),
        stop(0),
        end("end_turn"),
    ];
    let said = |event: LlmEvent| match event {
        LlmEvent::TextDelta { id, text, .. } => Some((id.to_string(), text)),
        _ => None,
    };
    let said: Vec<_> = events_of(&events).into_iter().filter_map(said).collect();
    let expected = [("text-0", "a"), ("text-0-1", "b"), ("text-0-1", "c")];
    assert_eq!(
        said,
        expected.map(|(id, text)| (id.to_owned(), text.to_owned()))
    );
}
