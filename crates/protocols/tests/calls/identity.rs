//! Identifiers that are missing or repeated.

use serde_json::json;

use super::wire::{answer, anthropic, bedrock, chat, gemini, program, responses, written};
use super::*;

fn inputs(made: &[(String, String, Result<Value, String>)]) -> Vec<Value> {
    let inputs = made.iter().map(|(_, _, input)| input.clone().unwrap());
    inputs.collect()
}

#[test]
fn calls_with_one_identifier_are_two_calls() {
    let (one, other) = ("{\"path\":\"a.txt\"}", "{\"path\":\"b.txt\"}");
    for wire in ALL {
        let order = [
            written("c1", "read", &[one]),
            written("c1", "read", &[other]),
            written("c1_2", "bash", &["{}"]),
        ];
        let made = calls(wire, &answer(wire, &order, false));
        let expected = [
            read("c1", json!({"path": "a.txt"})),
            read("c1_2", json!({"path": "b.txt"})),
            ("c1_2_2".to_owned(), "bash".to_owned(), Ok(json!({}))),
        ];
        assert_eq!(made, expected, "{wire:?}");
    }
}

#[test]
fn a_call_without_an_identifier_gets_one() {
    let long = "x".repeat(20_000);
    for wire in ALL {
        for id in [None, Some(""), Some(&*long)] {
            let mut call = written("", "read", &["{}"]);
            call.id = id.map(str::to_owned);
            let made = calls(wire, &answer(wire, &[call.clone(), call], false));
            assert_eq!(inputs(&made), [json!({}), json!({})], "{wire:?}");
            assert!(
                made.iter().all(|(id, ..)| !id.is_empty() && id.len() < 100),
                "{wire:?}"
            );
            assert_ne!(made[0].0, made[1].0, "{wire:?}");
        }
    }
}

#[test]
fn deltas_of_chat_find_their_call() {
    let call = |index: Option<i64>, id: Option<&str>, name: Option<&str>, arguments: &str| json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
    let (a, b) = ("{\"path\":\"a\"}", "{\"path\":\"b\"}");
    let two = [json!({"path": "a"}), json!({"path": "b"})];
    let rows = [
        (
            "one index, two identifiers",
            vec![
                call(Some(0), Some("x"), Some("read"), a),
                call(Some(0), Some("y"), Some("read"), b),
            ],
            &two[..],
        ),
        (
            "one identifier, two indices",
            vec![
                call(Some(0), Some("x"), Some("read"), a),
                call(Some(1), Some("x"), Some("read"), b),
            ],
            &two,
        ),
        (
            "one identifier and one index",
            vec![
                call(Some(0), Some("x"), Some("read"), a),
                call(Some(0), Some("x"), Some("read"), b),
            ],
            &two,
        ),
        (
            "one identifier, no index",
            vec![
                call(None, Some("x"), Some("read"), a),
                call(None, Some("x"), Some("read"), b),
            ],
            &two,
        ),
        (
            "neither",
            vec![
                call(None, None, Some("read"), a),
                call(None, None, Some("read"), b),
            ],
            &two,
        ),
        (
            "interleaved",
            vec![
                call(Some(0), Some("x"), Some("read"), ""),
                call(Some(1), Some("x"), Some("read"), ""),
                call(Some(1), None, None, b),
                call(Some(0), None, None, a),
            ],
            &two,
        ),
        (
            "a repeated call",
            vec![
                call(Some(0), Some("x"), Some("read"), a),
                call(Some(0), Some("x"), Some("read"), a),
            ],
            &two[..1],
        ),
        (
            "a repeated call without an identifier",
            vec![
                call(Some(0), None, Some("read"), a),
                call(Some(0), None, Some("read"), a),
            ],
            &two[..1],
        ),
        (
            "an index that counts deltas",
            vec![
                call(Some(0), Some("x"), Some("read"), "{\"path\":"),
                call(Some(1), Some("x"), None, "\"a\"}"),
            ],
            &two[..1],
        ),
        (
            "no index",
            vec![
                call(None, Some("x"), Some("read"), ""),
                call(None, None, None, a),
            ],
            &two[..1],
        ),
    ];
    for (label, deltas, expected) in rows {
        let made = calls(Wire::Chat, &chat(&deltas, "tool_calls"));
        assert_eq!(inputs(&made), expected, "{label}");
        let mut ids: Vec<_> = made.iter().map(|(id, ..)| id).collect();
        ids.dedup();
        assert_eq!(ids.len(), expected.len(), "{label}");
    }
}

#[test]
fn deltas_after_the_end_of_a_call_change_nothing() {
    let call = json!({"index": 0, "id": "c", "function": {"name": "read", "arguments": "{}"}});
    let mut bytes = chat(&[call], "tool_calls");
    let late = chat(
        &[json!({"index": 0, "function": {"arguments": "more"}})],
        "stop",
    );
    bytes.truncate(bytes.len() - "data: [DONE]\n\n".len());
    bytes.extend(late);
    assert_eq!(calls(Wire::Chat, &bytes), [read("c", json!({}))]);
}

#[test]
fn items_of_responses_with_one_identifier_are_two_calls() {
    let item = |id: Option<&str>, path: &str| {
        json!({"type": "function_call", "id": id, "call_id": "c1", "name": "read",
        "arguments": format!("{{\"path\":\"{path}\"}}")})
    };
    let event = |kind: &str, place: Option<i64>, item: Value| json!({"type": format!("response.output_item.{kind}"), "output_index": place, "item": item});
    let rows = [
        (
            "items differ",
            [(Some(0), Some("f1")), (Some(1), Some("f2"))],
        ),
        ("no items", [(Some(0), None), (Some(1), None)]),
        ("nothing", [(None, None), (None, None)]),
        ("one item", [(Some(0), Some("f1")), (Some(1), Some("f1"))]),
        (
            "one item, no place",
            [(None, Some("f1")), (None, Some("f1"))],
        ),
        ("one place", [(Some(0), Some("f1")), (Some(0), Some("f2"))]),
        (
            "one place and one item",
            [(Some(0), Some("f1")), (Some(0), Some("f1"))],
        ),
    ];
    for (label, [(place, id), (other_place, other_id)]) in rows {
        let (one, other) = (item(id, "a"), item(other_id, "b"));
        let done = [
            event("done", place, one.clone()),
            event("done", other_place, other.clone()),
        ];
        let added = |place, item: &Value| {
            let mut empty = item.clone();
            empty["arguments"] = "".into();
            event("added", place, empty)
        };
        let each = [
            added(place, &one),
            done[0].clone(),
            added(other_place, &other),
            done[1].clone(),
        ];
        for events in [&done[..], &each] {
            let made = calls(Wire::Responses, &responses(events, false));
            let expected = [
                read("c1", json!({"path": "a"})),
                read("c1_2", json!({"path": "b"})),
            ];
            assert_eq!(made, expected, "{label} {events:?}");
        }
    }
}

#[test]
fn blocks_at_one_index_are_two_calls() {
    let block = json!({"type": "tool_use", "id": "c", "name": "read"});
    let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
    let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"a\":1}"}});
    let events = [start.clone(), delta.clone(), start, delta];
    let expected = [read("c", json!({"a": 1})), read("c_2", json!({"a": 1}))];
    assert_eq!(
        calls(Wire::Anthropic, &anthropic(&events, "tool_use")),
        expected
    );

    let start = (
        "contentBlockStart",
        json!({"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "c", "name": "read"}}}),
    );
    let delta = (
        "contentBlockDelta",
        json!({"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{\"a\":1}"}}}),
    );
    let events = [start.clone(), delta.clone(), start, delta];
    assert_eq!(
        calls(Wire::Bedrock, &bedrock(&events, "tool_use")),
        expected
    );
}

#[test]
fn calls_of_the_provider_may_repeat_identifiers() {
    let hosted = |n: i64| {
        let block =
            json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": n}});
        let result = json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": [n]});
        [
            json!({"type": "content_block_start", "index": 2 * n, "content_block": block}),
            json!({"type": "content_block_stop", "index": 2 * n}),
            json!({"type": "content_block_start", "index": 2 * n + 1, "content_block": result}),
            json!({"type": "content_block_stop", "index": 2 * n + 1}),
        ]
    };
    let made = calls(
        Wire::Anthropic,
        &anthropic(&[hosted(0), hosted(1)].concat(), "end_turn"),
    );
    let ids: Vec<_> = made.iter().map(|(id, ..)| &**id).collect();
    assert_eq!(ids, ["s", "s_2"]);

    let search =
        json!({"type": "web_search_call", "id": "ws", "status": "completed", "action": {}});
    let done = json!({"type": "response.output_item.done", "item": search});
    let call = json!({"type": "response.output_item.done", "item": {"type": "function_call", "id": "f", "call_id": "ws", "name": "read", "arguments": "{}"}});
    let made = calls(
        Wire::Responses,
        &responses(&[done.clone(), done, call], false),
    );
    let ids: Vec<_> = made.iter().map(|(id, ..)| &**id).collect();
    assert_eq!(ids, ["ws", "ws_2"]);

    let made = |q: i64| json!({"type": "tool-call", "id": "s", "name": "search", "input": {"q": q}, "providerExecuted": true});
    let result = json!({"type": "tool-result", "id": "s", "result": {"type": "json", "value": []}});
    let events = [made(0), result.clone(), made(1), result];
    let made = calls(Wire::Program, &program(&events, "stop"));
    assert_eq!(inputs(&made), [json!({"q": 0}), json!({"q": 1})]);
}

#[test]
fn the_identifier_of_gemini_goes_back_with_its_call_only() {
    let part =
        |path: &str| json!({"functionCall": {"id": "c1", "name": "read", "args": {"path": path}}});
    let (events, end) = decode(Wire::Gemini, &gemini(&[part("a"), part("b")]));
    assert_eq!(end, Ok(()));
    let given = events.iter().filter_map(|event| match event {
        LlmEvent::ToolCall {
            provider_metadata, ..
        } => Some(json!(provider_metadata)),
        _ => None,
    });
    let expected = [
        json!({"google": {"callId": "c1"}}),
        json!({"google": {"callId": "c1_2"}}),
    ];
    assert_eq!(given.collect::<Vec<_>>(), expected);
}
