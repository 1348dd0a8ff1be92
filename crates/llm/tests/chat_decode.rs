//! What the bytes of an OpenAI Chat Completions stream become.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use opencode_llm::protocol::{self, Decoder};
use opencode_llm::{
    ErrorKind, FinishReason, LlmError, LlmErrorReason, LlmEvent, ProtocolId, ResolvedModel,
    Sources, Usage,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn decoder() -> Box<dyn Decoder> {
    let model = ResolvedModel::new("mock", "m1", ProtocolId::OpenAiChat, "http://localhost/v1");
    let counter = Arc::new(AtomicU64::new(0));
    let sources = Sources::new(
        move || counter.fetch_add(1, Ordering::Relaxed),
        || SystemTime::UNIX_EPOCH,
    );
    protocol::adapter(ProtocolId::OpenAiChat).decoder(&model, &sources)
}

type Outcome = (Vec<LlmEvent>, Result<(), LlmError>);

fn decode(chunks: &[&[u8]]) -> Outcome {
    let mut decoder = decoder();
    let mut events = Vec::new();
    for chunk in chunks {
        if let Err(error) = decoder.push(chunk, &mut events) {
            return (events, Err(error));
        }
    }
    let end = decoder.end(&mut events);
    (events, end)
}

/// A stream of chunks, with `[DONE]` at the end.
fn sse(chunks: &[Value]) -> String {
    let mut text: String = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    text.push_str("data: [DONE]\n\n");
    text
}

fn events_of(chunks: &[Value]) -> Vec<LlmEvent> {
    let (events, end) = decode(&[sse(chunks).as_bytes()]);
    assert_eq!(end, Ok(()), "{events:?}");
    events
}

fn failure_of(chunks: &[Value]) -> (Vec<LlmEvent>, LlmError) {
    let (events, end) = decode(&[sse(chunks).as_bytes()]);
    (events, end.unwrap_err())
}

fn delta(delta: Value) -> Value {
    json!({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn stop(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn tool(index: Option<i64>, id: Option<&str>, name: Option<&str>, arguments: Value) -> Value {
    let mut call = json!({"type": "function", "function": {"arguments": arguments}});
    if let Some(index) = index {
        call["index"] = index.into();
    }
    if let Some(id) = id {
        call["id"] = id.into();
    }
    if let Some(name) = name {
        call["function"]["name"] = name.into();
    }
    delta(json!({"tool_calls": [call]}))
}

// The expected side, without repeating what every test has in common.

fn start() -> LlmEvent {
    LlmEvent::StepStart { index: 0 }
}

fn text(parts: &[&str]) -> Vec<LlmEvent> {
    let mut events = vec![LlmEvent::TextStart {
        id: "text-0".into(),
        provider_metadata: None,
    }];
    events.extend(parts.iter().map(|part| LlmEvent::TextDelta {
        id: "text-0".into(),
        text: (*part).into(),
        provider_metadata: None,
    }));
    events
}

fn text_end() -> LlmEvent {
    LlmEvent::TextEnd {
        id: "text-0".into(),
        provider_metadata: None,
    }
}

fn reasoning(id: &str, parts: &[&str]) -> Vec<LlmEvent> {
    let mut events = vec![LlmEvent::ReasoningStart {
        id: id.into(),
        provider_metadata: None,
    }];
    events.extend(parts.iter().map(|part| LlmEvent::ReasoningDelta {
        id: id.into(),
        text: (*part).into(),
        provider_metadata: None,
    }));
    events
}

fn reasoning_end(id: &str) -> LlmEvent {
    LlmEvent::ReasoningEnd {
        id: id.into(),
        provider_metadata: None,
    }
}

fn input(id: &str, name: &str, parts: &[&str]) -> Vec<LlmEvent> {
    let mut events = vec![LlmEvent::ToolInputStart {
        id: id.into(),
        name: name.into(),
        provider_metadata: None,
    }];
    events.extend(parts.iter().map(|part| input_delta(id, name, part)));
    events
}

fn input_delta(id: &str, name: &str, text: &str) -> LlmEvent {
    LlmEvent::ToolInputDelta {
        id: id.into(),
        name: name.into(),
        text: text.into(),
    }
}

fn called(id: &str, name: &str, input: Value) -> Vec<LlmEvent> {
    vec![
        LlmEvent::ToolInputEnd {
            id: id.into(),
            name: name.into(),
            provider_metadata: None,
        },
        LlmEvent::ToolCall {
            id: id.into(),
            name: name.into(),
            input,
            provider_executed: false,
            provider_metadata: None,
        },
    ]
}

fn finished(reason: FinishReason, usage: Option<Usage>) -> Vec<LlmEvent> {
    vec![
        LlmEvent::StepFinish {
            index: 0,
            reason,
            usage: usage.clone(),
            provider_metadata: None,
        },
        LlmEvent::Finish {
            reason,
            usage,
            provider_metadata: None,
        },
    ]
}

fn usage(input: u64, output: u64, cached: Option<u64>, raw: Value) -> Option<Usage> {
    Some(Usage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        non_cached_input_tokens: Some(input - cached.unwrap_or(0)),
        cache_read_input_tokens: cached,
        cache_write_input_tokens: None,
        reasoning_tokens: None,
        total_tokens: None,
        provider_metadata: json!({"openai": raw}).as_object().cloned().map(Box::new),
    })
}

/// A reply with everything: reasoning, text, two parallel calls, usage.
fn full_reply() -> (Vec<Value>, Vec<LlmEvent>) {
    let raw = json!({"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}});
    let chunks = vec![
        delta(json!({"role": "assistant", "content": null, "reasoning_content": "Hm"})),
        delta(json!({"content": "", "reasoning_content": "m."})),
        delta(json!({"content": "Grüße 🌍"})),
        delta(json!({"content": " \"x\"\n"})),
        tool(Some(0), Some("call_a"), Some("read"), json!("")),
        tool(Some(1), Some("call_b"), Some("grep"), json!("{}")),
        tool(Some(0), None, None, json!("{\"path\":")),
        tool(Some(0), None, None, json!("\"a\"}")),
        stop("tool_calls"),
        json!({"choices": [], "usage": raw}),
    ];
    let events = [
        vec![start()],
        reasoning("reasoning-0", &["Hm", "m."]),
        vec![reasoning_end("reasoning-0")],
        text(&["Grüße 🌍", " \"x\"\n"]),
        input("call_a", "read", &[]),
        input("call_b", "grep", &["{}"]),
        vec![
            input_delta("call_a", "read", "{\"path\":"),
            input_delta("call_a", "read", "\"a\"}"),
        ],
        called("call_a", "read", json!({"path": "a"})),
        called("call_b", "grep", json!({})),
        vec![text_end()],
        finished(FinishReason::ToolCalls, usage(100, 10, Some(40), raw)),
    ]
    .concat();
    (chunks, events)
}

#[test]
fn a_full_reply_survives_every_split() {
    let (chunks, expected) = full_reply();
    let plain = sse(&chunks);
    let noisy = format!(
        "\u{feff}: open\n\n{}",
        plain
            .replace("data: {", "event: x\nid: 7\ndata:{")
            .replace("\n\n", "\n\n: ping\n\n")
    );
    let wires = [
        plain.clone(),
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\r"),
        noisy,
        plain.trim_end().to_owned(),
        plain.replace("data: [DONE]\n\n", ""),
        format!("{plain}data: not json\n\n"),
    ];
    for wire in wires {
        let bytes = wire.as_bytes();
        for at in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(at);
            assert_eq!(
                decode(&[head, tail]),
                (expected.clone(), Ok(())),
                "split at {at}"
            );
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(decode(&single), (expected.clone(), Ok(())));
    }
}

#[test]
fn finish_reasons() {
    let rows = [
        ("stop", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("tool_calls", FinishReason::ToolCalls),
        ("function_call", FinishReason::ToolCalls),
        ("end_turn", FinishReason::Unknown),
        ("eos", FinishReason::Unknown),
    ];
    for (wire, reason) in rows {
        let expected = [vec![start()], finished(reason, None)].concat();
        assert_eq!(events_of(&[stop(wire)]), expected);
    }
    let with_call = [
        tool(Some(0), Some("c"), Some("read"), json!("{}")),
        stop("stop"),
    ];
    assert!(matches!(
        events_of(&with_call).last(),
        Some(LlmEvent::Finish {
            reason: FinishReason::ToolCalls,
            ..
        })
    ));
}

#[test]
fn usage_arrives_in_many_places() {
    let report = |output: u64| json!({"prompt_tokens": 5, "completion_tokens": output});
    let hello = || delta(json!({"content": "Hi"}));
    let with_usage = |mut chunk: Value, output: u64| {
        chunk["usage"] = report(output);
        chunk
    };
    let rows = [
        vec![hello(), with_usage(stop("stop"), 2)],
        vec![
            hello(),
            stop("stop"),
            json!({"choices": [], "usage": report(2)}),
        ],
        vec![hello(), stop("stop"), with_usage(stop("stop"), 2)],
        vec![with_usage(hello(), 1), with_usage(stop("stop"), 2)],
        vec![
            hello(),
            stop("stop"),
            json!({"usage": report(2)}),
            json!({"choices": null, "usage": null}),
        ],
    ];
    let expected = [
        vec![start()],
        text(&["Hi"]),
        vec![text_end()],
        finished(FinishReason::Stop, usage(5, 2, None, report(2))),
    ]
    .concat();
    for chunks in rows {
        assert_eq!(events_of(&chunks), expected, "{chunks:?}");
    }
}

#[test]
fn tool_call_dialects() {
    let read = |id: &str, parts: &[&str], value: Value| {
        [input(id, "read", parts), called(id, "read", value)].concat()
    };
    let (first, second) = (
        "call_00000000-0000-4000-8000-000000000001",
        "call_00000000-0000-4002-8000-000000000003",
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
                read("a", &["{}"], json!({})),
                read("b", &["{", "}"], json!({})),
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
fn a_whole_call_may_come_with_the_finish() {
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
    // A server that repeats the finish chunk repeats no call; one that only closes the call again adds nothing.
    let closing = tool(Some(0), None, None, json!(""));
    assert_eq!(events_of(&[chunk, closing, stop("stop")]), expected);
}

#[test]
fn reasoning_has_many_names() {
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
fn reasoning_that_resumes_is_another_block_and_tags_stay_text() {
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
fn odd_chunks_are_tolerated() {
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

#[test]
fn failures_inside_the_stream_are_events() {
    let rows = [
        (
            json!({"error": {"message": "too big", "code": "context_length_exceeded", "type": "invalid_request_error"}}),
            "context_length_exceeded: too big",
            ErrorKind::ContextOverflow,
        ),
        (
            json!({"error": {"message": "boom", "type": "server_error"}}),
            "server_error: boom",
            ErrorKind::Overloaded,
        ),
        (
            json!({"error": {"code": 502, "message": "upstream"}, "choices": [{"delta": {"content": ""}, "finish_reason": "error"}]}),
            "502: upstream",
            ErrorKind::Overloaded,
        ),
        (
            json!({"error": {"code": "rate_limit_exceeded"}}),
            "rate_limit_exceeded",
            ErrorKind::RateLimit,
        ),
        (
            json!({"error": "prompt is too long"}),
            "prompt is too long",
            ErrorKind::ContextOverflow,
        ),
        (
            json!({"object": "error", "message": "bad", "type": "BadRequestError", "code": 400}),
            "400: bad",
            ErrorKind::InvalidRequest,
        ),
        (
            json!({"error": {"x": 1}}),
            "The provider reported an error without a message",
            ErrorKind::Unknown,
        ),
    ];
    for (chunk, message, kind) in rows {
        let expected = [
            vec![start()],
            text(&["Hi"]),
            vec![LlmEvent::ProviderError {
                message: message.into(),
                kind,
                retryable: matches!(kind, ErrorKind::Overloaded | ErrorKind::RateLimit),
                provider_metadata: None,
            }],
        ]
        .concat();
        let chunks = [delta(json!({"content": "Hi"})), chunk, stop("stop")];
        assert_eq!(events_of(&chunks), expected);
    }
}

#[test]
fn a_reply_without_a_finish_fails_unless_the_server_says_it_is_done() {
    let report = json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}});
    let hello = delta(json!({"content": "Hi"}));
    let call = tool(Some(0), Some("a"), Some("read"), json!("{}"));
    let ended = "The mock/openai-chat stream ended before a finish event";

    for chunks in [
        vec![],
        vec![hello.clone()],
        vec![report.clone()],
        vec![call.clone()],
    ] {
        let (_, error) = failure_of(&chunks);
        assert_eq!(error.to_string(), ended);
        assert_eq!(error.kind(), ErrorKind::InvalidOutput);
    }
    let said_done = [hello.clone(), call, report.clone()];
    assert!(matches!(
        events_of(&said_done).last(),
        Some(LlmEvent::Finish {
            reason: FinishReason::Unknown,
            ..
        })
    ));
    // The same without the marker is a cut stream, however complete it looks.
    let cut = sse(&[hello, report]).replace("data: [DONE]\n\n", "");
    let (events, end) = decode(&[cut.as_bytes()]);
    assert_eq!(end.unwrap_err().to_string(), ended);
    assert_eq!(events, [vec![start()], text(&["Hi"])].concat());
}

#[test]
fn a_cut_frame_is_an_early_end() {
    let wire = format!(
        "data: {}\n\ndata: {{\"choices\":[{{\"del",
        delta(json!({"content": "Hi"}))
    );
    let (events, end) = decode(&[wire.as_bytes()]);
    assert_eq!(events, [vec![start()], text(&["Hi"])].concat());
    assert_eq!(
        end.unwrap_err().to_string(),
        "The mock/openai-chat stream ended before a finish event"
    );
}

#[test]
fn broken_output_fails_with_the_piece_at_fault() {
    let raw_of = |error: &LlmError| match error.reason() {
        LlmErrorReason::InvalidProviderOutput { route, raw } => {
            assert_eq!(route, "mock/openai-chat");
            raw.clone()
        }
        other => panic!("{other:?}"),
    };
    let (_, error) = failure_of(&[
        tool(Some(0), Some("a"), Some("read"), json!("{\"p\":")),
        stop("tool_calls"),
    ]);
    assert_eq!(
        error.to_string(),
        "Invalid JSON input for openai-chat tool call read"
    );
    assert_eq!(raw_of(&error).as_deref(), Some("{\"p\":"));

    let (_, error) = failure_of(&[
        tool(Some(0), Some("a"), None, json!("{}")),
        stop("tool_calls"),
    ]);
    assert_eq!(
        error.to_string(),
        "openai-chat tool call delta is missing a name"
    );

    let huge = format!("data: {}\n\n", "x".repeat(100_000));
    for wire in [
        "data: not json\n\n",
        "data: \"text\"\n\n",
        "data: {\"choices\": 5}\n\n",
        "data: \u{0}\n\n",
        &huge,
    ] {
        let (events, end) = decode(&[wire.as_bytes()]);
        let error = end.unwrap_err();
        assert_eq!(events, []);
        assert_eq!(error.to_string(), "Invalid mock/openai-chat stream event");
        assert!(raw_of(&error).unwrap().len() <= 16_384);
    }
    let invalid_utf8 = b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n\n";
    assert!(decode(&[invalid_utf8]).1.is_err());
}

#[test]
fn broken_tool_sequences_fail() {
    let changed_name = [
        tool(Some(0), Some("a"), Some("read"), json!("{")),
        tool(Some(0), None, Some("write"), json!("}")),
    ];
    let after_the_end = [
        tool(Some(0), Some("a"), Some("read"), json!("{}")),
        stop("tool_calls"),
        tool(Some(0), None, None, json!("more")),
    ];
    let same_id_twice = [
        tool(Some(0), Some("a"), Some("read"), json!("{}")),
        tool(Some(1), Some("a"), Some("read"), json!("{}")),
    ];
    for chunks in [changed_name.as_slice(), &after_the_end, &same_id_twice] {
        let (_, error) = failure_of(chunks);
        assert!(
            error
                .to_string()
                .starts_with("Invalid event stream from mock/openai-chat: "),
            "{error}"
        );
    }
}

#[test]
fn an_unbounded_frame_and_unbounded_calls_are_refused() {
    let mut decoder = decoder();
    let mut events = Vec::new();
    decoder.push(b"data: ", &mut events).unwrap();
    let piece = vec![b' '; 8 << 20];
    let error = (0..9)
        .find_map(|_| decoder.push(&piece, &mut events).err())
        .unwrap();
    assert_eq!(
        error.to_string(),
        "Invalid mock/openai-chat stream: a stream frame is larger than 67108864 bytes"
    );
    assert!(decoder.is_over());

    let calls: Vec<Value> = (0..5000)
        .map(|n| tool(Some(n), None, None, json!("")))
        .collect();
    assert_eq!(
        failure_of(&calls).1.to_string(),
        "Too much tool input in one step from mock/openai-chat"
    );
}

#[test]
fn twenty_thousand_deltas_decode_quickly() {
    let one = format!("data: {}\n\n", delta(json!({"content": "word "})));
    let wire = one.repeat(20_000) + &sse(&[stop("stop")]);
    let run = || {
        let begin = Instant::now();
        let mut decoder = decoder();
        let mut count = 0;
        for chunk in wire.as_bytes().chunks(16 << 10) {
            let mut events = Vec::new();
            decoder.push(chunk, &mut events).unwrap();
            count += events.len();
        }
        assert_eq!(count, 20_000 + 5);
        begin.elapsed()
    };
    // The best of a few runs, because the machine may be busy with other tests.
    let best = (0..5).map(|_| run()).min().unwrap();
    // Unoptimised code is some ten times slower than what is shipped.
    let budget = if cfg!(debug_assertions) { 0 } else { 0 };
    assert!(best < Duration::from_millis(budget), "{best:?}");
}

// Properties: whatever arrives, there is exactly one outcome and the events before it are well formed.

fn arbitrary_text() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        "[a-c]{0,2}".prop_map(Value::from),
        Just(json!("{}")),
        Just(json!("{\"a\":")),
        Just(json!(5)),
        Just(json!({"a": []})),
    ]
}

fn arbitrary_call() -> impl Strategy<Value = Value> {
    let index = prop_oneof![Just(Value::Null), (-1_i64..3).prop_map(Value::from)];
    (index, arbitrary_text(), arbitrary_text(), arbitrary_text()).prop_map(|(index, id, name, arguments)| {
        json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}})
    })
}

fn arbitrary_chunk() -> impl Strategy<Value = String> {
    let reason = prop_oneof![
        6 => Just(Value::Null),
        1 => Just(json!("")),
        1 => Just(json!("stop")),
        1 => Just(json!("tool_calls")),
    ];
    let calls = prop::collection::vec(arbitrary_call(), 0..3);
    let choice = (arbitrary_text(), arbitrary_text(), calls, reason).prop_map(|(content, thought, calls, reason)| {
        json!({"choices": [{"delta": {"content": content, "reasoning": thought, "tool_calls": calls},
            "finish_reason": reason}], "usage": {"prompt_tokens": 1}})
        .to_string()
    });
    prop_oneof![
        8 => choice,
        1 => Just("{\"error\":{\"message\":\"x\"}}".to_owned()),
        1 => Just("[DONE]".to_owned()),
        1 => Just("{\"choices\":".to_owned()),
        1 => "[ -~]{0,8}",
    ]
}

fn check_one_outcome(wire: &[u8], cuts: &[usize]) {
    let mut decoder = decoder();
    let mut events = Vec::new();
    let mut errors = Vec::new();
    let mut rest = wire;
    for cut in cuts {
        let (head, tail) = rest.split_at(*cut % (rest.len() + 1));
        errors.extend(decoder.push(head, &mut events).err());
        rest = tail;
    }
    errors.extend(decoder.push(rest, &mut events).err());
    errors.extend(decoder.end(&mut events).err());
    assert!(decoder.is_over());
    let before = (events.len(), errors.len());
    let _ = decoder.push(wire, &mut events);
    let _ = decoder.end(&mut events);
    assert_eq!(before, (events.len(), errors.len()));

    let terminals = events.iter().filter(|event| event.is_terminal()).count();
    assert_eq!(terminals + errors.len(), 1, "{events:?} {errors:?}");
    assert!(terminals == 0 || events.last().is_some_and(LlmEvent::is_terminal));
    let starts = events
        .iter()
        .filter(|event| matches!(event, LlmEvent::StepStart { .. }))
        .count();
    assert_eq!(starts, usize::from(!events.is_empty()));
    let empty = |event: &LlmEvent| match event {
        LlmEvent::TextDelta { text, .. }
        | LlmEvent::ReasoningDelta { text, .. }
        | LlmEvent::ToolInputDelta { text, .. } => text.is_empty(),
        _ => false,
    };
    assert!(!events.iter().any(empty));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_chunks_has_one_outcome(
        chunks in prop::collection::vec(arbitrary_chunk(), 0..12),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let wire: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        check_one_outcome(wire.as_bytes(), &cuts);
    }

    #[test]
    fn any_bytes_have_one_outcome(
        wire in prop::collection::vec(any::<u8>(), 0..200),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        check_one_outcome(&wire, &cuts);
    }

    #[test]
    fn splitting_changes_nothing(
        chunks in prop::collection::vec(arbitrary_chunk(), 0..8),
        at in any::<usize>(),
    ) {
        let wire: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        let (head, tail) = wire.as_bytes().split_at(at % (wire.len() + 1));
        prop_assert_eq!(decode(&[head, tail]), decode(&[wire.as_bytes()]));
    }
}
