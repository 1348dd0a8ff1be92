//! Deviations of servers from the protocol.

use super::*;

#[test]
fn the_signatures_of_calls_are_kept() {
    let signed = |mut chunk: Value, signature: Value| {
        chunk["choices"][0]["delta"]["tool_calls"][0]["extra_content"] =
            json!({"google": {"thought_signature": signature}});
        chunk
    };
    let first = tool(Some(0), Some("a"), Some("read"), json!("{}"));
    let bare = delta(json!({"tool_calls": [{"index": 0}]}));
    let long = "S".repeat(2 << 20);
    for (chunks, expected) in [
        (vec![signed(first.clone(), json!("S"))], Some("S")),
        (
            vec![first.clone(), signed(bare.clone(), json!("S"))],
            Some("S"),
        ),
        (vec![signed(bare, json!("S")), first.clone()], None),
        (vec![signed(first.clone(), json!(""))], None),
        (vec![signed(first.clone(), json!(1))], None),
        (vec![signed(first, json!(long))], None),
    ] {
        let chunks = [
            chunks,
            vec![json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})],
        ]
        .concat();
        let events = events_of(&chunks);
        let mut calls = events.iter().filter_map(|event| match event {
            LlmEvent::ToolCall {
                provider_metadata, ..
            } => Some(provider_metadata.as_ref()),
            _ => None,
        });
        let metadata = calls.next().unwrap().map(|it| json!(it));
        let expected = expected.map(|it| json!({"openai": {"thoughtSignature": it}}));
        assert_eq!(metadata, expected);
        assert!(calls.next().is_none());
    }
}

#[test]
fn tool_call_dialects() {
    let read = |id: &str, parts: &[&str], value: Value| {
        [input(id, "read", parts), called(id, "read", value)].concat()
    };
    let (first, second) = (
        "call_00000000000040008000000000000001",
        "call_00000000000040028000000000000003",
    );
    let rows: Vec<(&str, Vec<Value>, Vec<LlmEvent>)> = vec![
        (
            "no index: the identifier decides",
            vec![
                tool(None, Some("a"), Some("read"), json!("{\"p\"")),
                tool(None, Some("b"), Some("read"), json!("{}")),
                tool(None, Some("a"), None, json!(":1}")),
            ],
            [
                input("a", "read", &["{\"p\""]),
                input("b", "read", &["{}"]),
                vec![input_delta("a", "read", ":1}")],
                called("a", "read", json!({"p": 1})),
                called("b", "read", json!({})),
            ]
            .concat(),
        ),
        (
            "neither index nor identifier: the last open call goes on",
            vec![
                tool(None, Some("a"), Some("read"), json!("{")),
                tool(None, None, None, json!("}")),
            ],
            read("a", &["{", "}"], json!({})),
        ),
        (
            "no identifier at all",
            vec![
                tool(Some(0), None, Some("read"), json!("{")),
                tool(Some(0), None, None, json!("}")),
                tool(Some(1), Some(""), Some("read"), json!("{}")),
            ],
            [
                input(first, "read", &["{", "}"]),
                input(second, "read", &["{}"]),
                called(first, "read", json!({})),
                called(second, "read", json!({})),
            ]
            .concat(),
        ),
        (
            "neither identifier nor usable index, each call in one piece",
            vec![
                tool(Some(0), None, Some("read"), json!("{\"a\":1}")),
                tool(Some(0), None, Some("read"), json!("{}")),
                tool(Some(0), None, Some("read"), json!("")),
            ],
            [
                input(first, "read", &["{\"a\":1}"]),
                input(second, "read", &["{}"]),
                called(first, "read", json!({"a": 1})),
                called(second, "read", json!({})),
            ]
            .concat(),
        ),
        (
            "an identifier that comes late does not open another call",
            vec![
                tool(Some(0), None, Some("read"), json!("{")),
                tool(Some(0), Some("late"), None, json!("}")),
            ],
            read(first, &["{", "}"], json!({})),
        ),
        (
            "empty identifier and name are absent",
            vec![
                tool(Some(0), Some("a"), Some("read"), json!("{")),
                tool(Some(0), Some(""), Some(""), json!("}")),
            ],
            read("a", &["{", "}"], json!({})),
        ),
        (
            "identifier and name repeated",
            vec![
                tool(Some(0), Some("a"), Some("read"), json!("{")),
                tool(Some(0), Some("a"), Some("read"), json!("}")),
            ],
            read("a", &["{", "}"], json!({})),
        ),
        (
            "a new identifier under the same index is another call",
            vec![
                tool(Some(0), Some("a"), Some("read"), json!("{}")),
                tool(Some(0), Some("b"), Some("read"), json!("{")),
                tool(Some(0), None, None, json!("}")),
            ],
            [
                input("a", "read", &["{}"]),
                input("b", "read", &["{", "}"]),
                called("a", "read", json!({})),
                called("b", "read", json!({})),
            ]
            .concat(),
        ),
        (
            "a name that comes late",
            vec![
                tool(Some(0), Some("a"), None, json!("{")),
                tool(Some(0), None, Some("read"), json!("}")),
            ],
            read("a", &["{}"], json!({})),
        ),
        (
            "input as an object",
            vec![tool(Some(0), Some("a"), Some("read"), json!({"p": [1]}))],
            read("a", &["{\"p\":[1]}"], json!({"p": [1]})),
        ),
        (
            "no input",
            vec![tool(Some(0), Some("a"), Some("read"), Value::Null)],
            read("a", &[], json!({})),
        ),
        (
            "blank input",
            vec![tool(Some(0), Some("a"), Some("read"), json!(" \n"))],
            read("a", &[" \n"], json!({})),
        ),
        (
            "calls are completed in order of their indices",
            vec![
                tool(Some(1), Some("b"), Some("read"), json!("{}")),
                tool(Some(0), Some("a"), Some("read"), json!("{}")),
            ],
            [
                input("b", "read", &["{}"]),
                input("a", "read", &["{}"]),
                called("a", "read", json!({})),
                called("b", "read", json!({})),
            ]
            .concat(),
        ),
    ];
    for (name, mut chunks, expected) in rows {
        chunks.push(stop("tool_calls"));
        let expected = [
            vec![start()],
            expected,
            finished(FinishReason::ToolCalls, None),
        ]
        .concat();
        assert_eq!(events_of(&chunks), expected, "{name}");
    }
}

#[test]
fn a_complete_call_may_arrive_with_the_finish() {
    let mut chunk = tool(Some(0), Some("a"), Some("read"), json!("{}"));
    chunk["choices"][0]["finish_reason"] = json!("stop");
    let expected = [
        vec![start()],
        input("a", "read", &["{}"]),
        called("a", "read", json!({})),
        finished(FinishReason::ToolCalls, None),
    ]
    .concat();
    assert_eq!(events_of(&[chunk.clone()]), expected);
    // A repeated finish chunk does not repeat the call. An extra chunk that only closes the call adds no events.
    let closing = tool(Some(0), None, None, json!(""));
    assert_eq!(events_of(&[chunk, closing, stop("stop")]), expected);
}

#[test]
fn reasoning_has_several_member_names() {
    let rows = [
        json!({"reasoning_content": "Hm"}),
        json!({"reasoning": "Hm"}),
        json!({"reasoning_text": "Hm"}),
        json!({"thinking": "Hm"}),
        json!({"reasoning_details": [{"type": "reasoning.text", "text": "H"}, {"type": "reasoning.summary", "summary": "m"},
            {"type": "reasoning.encrypted", "data": "x"}]}),
        json!({"reasoning": "Hm", "reasoning_content": "Hm", "reasoning_details": [{"text": "Hm"}]}),
        json!({"reasoning_content": null, "reasoning": {"odd": [1, {"a": true}]}, "thinking": "Hm"}),
    ];
    let expected = [
        vec![start()],
        reasoning("reasoning-0", &["Hm"]),
        vec![reasoning_end("reasoning-0")],
        finished(FinishReason::Stop, None),
    ]
    .concat();
    for row in rows {
        assert_eq!(
            events_of(&[delta(row.clone()), stop("stop")]),
            expected,
            "{row}"
        );
    }
}

#[test]
fn resumed_reasoning_is_a_new_block_and_tags_stay_text() {
    let chunks = [
        delta(json!({"reasoning_content": "a"})),
        delta(json!({"content": "<think>b</think>"})),
        delta(json!({"reasoning_content": "c"})),
        tool(Some(0), Some("t"), Some("read"), json!("{}")),
        delta(json!({"content": "d"})),
        stop("stop"),
    ];
    let expected = [
        vec![start()],
        reasoning("reasoning-0", &["a"]),
        vec![reasoning_end("reasoning-0")],
        text(&["<think>b</think>"]),
        reasoning("reasoning-1", &["c"]),
        vec![reasoning_end("reasoning-1")],
        input("t", "read", &["{}"]),
        vec![text(&["d"]).remove(1)],
        called("t", "read", json!({})),
        vec![text_end()],
        finished(FinishReason::ToolCalls, None),
    ]
    .concat();
    assert_eq!(events_of(&chunks), expected);
}

#[test]
fn irregular_chunks_are_tolerated() {
    let chunks = [
        json!({"prompt_filter_results": [{"prompt_index": 0}], "id": "", "model": ""}),
        json!({"choices": null, "error": null, "object": null}),
        json!({"choices": [null]}),
        json!({"choices": [{"delta": null, "finish_reason": null, "logprobs": {"content": []}}]}),
        json!({"choices": [{"index": 0}]}),
        delta(
            json!({"role": null, "content": null, "tool_calls": null, "reasoning_details": null, "refusal": null}),
        ),
        delta(json!({"tool_calls": []})),
        json!({"choices": [{"delta": {"content": "Hi"}}, {"index": 1, "delta": {"content": "other"}}]}),
        json!({"choices": [{"delta": {"content": null}, "finish_reason": ""}]}),
        stop("stop"),
    ];
    let expected = [
        vec![start()],
        text(&["Hi"]),
        vec![text_end()],
        finished(FinishReason::Stop, None),
    ]
    .concat();
    assert_eq!(events_of(&chunks), expected);
}
