//! Failing replies.

use opencode_llm::{ErrorKind, LlmErrorReason};

use super::*;

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
fn a_reply_without_a_finish_fails_unless_the_server_sends_done() {
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
    // Without the marker, the same stream is incomplete, even if it looks complete.
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
fn broken_output_fails_and_names_the_invalid_piece() {
    let raw_of = |error: &LlmError| match error.reason() {
        LlmErrorReason::InvalidProviderOutput { route, raw } => {
            assert_eq!(route, "mock/openai-chat");
            raw.clone()
        }
        other => panic!("{other:?}"),
    };
    let huge = format!("data: {}\n\n", "x".repeat(100_000));
    for (wire, place) in [
        (
            "data: not json\n\n",
            "1: expected ident at line 1 column 2, in \"not json\"",
        ),
        ("data: {}\n\ndata: {\"a\":\n\n", "2: EOF while parsing"),
        (
            "data: {\"a\":1}{\"b\"\n\n",
            "1: trailing characters at line 1 column 8",
        ),
        ("data: \u{0}\n\n", "1: expected value at line 1 column 1"),
        (&huge, "1: expected value at line 1 column 1, in \"xxx"),
    ] {
        let (events, end) = decode(&[wire.as_bytes()]);
        let error = end.unwrap_err();
        assert_eq!(events, []);
        let expected = format!("Invalid mock/openai-chat stream event {place}");
        assert!(error.to_string().starts_with(&expected), "{error}");
        assert!(error.to_string().len() < 300, "{error}");
        assert!(raw_of(&error).unwrap().len() <= 16_384);
    }
    // A byte that is not UTF-8 costs its character and not the answer.
    let invalid_utf8 = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xffb\"}}]}\n\n";
    let (events, _) = decode(&[invalid_utf8]);
    assert_eq!(events, [vec![start()], text(&["a\u{fffd}b"])].concat());
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
        .map(|n| tool(Some(n), Some(&format!("c{n}")), None, json!("")))
        .collect();
    assert_eq!(
        failure_of(&calls).1.to_string(),
        "Too much tool input in one step from mock/openai-chat"
    );
}

#[test]
fn a_name_in_many_pieces_takes_no_quadratic_time() {
    let piece = |name: &str| tool(Some(0), Some("a"), Some(name), json!(""));
    let mut chunks = vec![piece("x")];
    chunks.resize(200_000, piece("y"));
    chunks.push(json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}));
    let events = events_of(&chunks);
    let failed = |event: &LlmEvent| matches!(event, LlmEvent::InvalidToolCall { .. });
    assert!(events.iter().any(failed), "{events:?}");
}

#[test]
fn an_answer_that_is_not_a_stream_may_contain_the_error() {
    let rows = [
        (
            "{\"error\":{\"message\":\"boom\",\"type\":\"server_error\"}}".to_owned(),
            "server_error: boom",
            ErrorKind::Overloaded,
        ),
        (
            "\n{\n  \"error\": {\n    \"message\": \"prompt is too long\"\n  }\n}\n".to_owned(),
            "prompt is too long",
            ErrorKind::ContextOverflow,
        ),
        (
            "[{\"error\":{\"code\":429,\"message\":\"wait\"}}]".to_owned(),
            "429: wait",
            ErrorKind::RateLimit,
        ),
        (
            "{\"error\":\"a\\ud83d\"}".to_owned(),
            "a\u{fffd}",
            ErrorKind::Unknown,
        ),
        (
            "{\"detail\":\"unauthorized\"}".to_owned(),
            "unauthorized",
            ErrorKind::Unknown,
        ),
        (
            "event: error\ndata: {\"message\":\"boom\"}\n\n".to_owned(),
            "boom",
            ErrorKind::Unknown,
        ),
        (
            "event: error\ndata: boom\n\n".to_owned(),
            "boom",
            ErrorKind::Unknown,
        ),
        (
            "event: error\ndata: {}\n\n".to_owned(),
            "The provider reported an error without a message",
            ErrorKind::Unknown,
        ),
    ];
    for (wire, message, kind) in rows {
        let failure = LlmEvent::ProviderError {
            message: message.into(),
            kind,
            retryable: kind.is_retryable(),
            provider_metadata: None,
        };
        let pieces: Vec<&[u8]> = wire.as_bytes().chunks(7).collect();
        assert_eq!(decode(&pieces), (vec![start(), failure], Ok(())), "{wire}");
    }
}

#[test]
fn an_answer_that_is_not_a_stream_and_has_no_error_is_an_early_end() {
    let rows = [
        "{\"choices\":[{\"message\":{\"content\":null}}]}",
        "{\"error\":null,\"message\":{}}",
        "{\"error\":{",
        "<html></html>",
        "",
    ];
    for wire in rows {
        let (events, end) = decode(&[wire.as_bytes()]);
        assert_eq!(events, []);
        assert_eq!(
            end.unwrap_err().to_string(),
            "The mock/openai-chat stream ended before a finish event"
        );
    }
    let long = format!("{{\"error\":{{\"message\":\"{}\"}}}}", "x".repeat(1 << 20));
    let (events, _) = decode(&[long.as_bytes()]);
    assert!(
        matches!(&events[..], [_, LlmEvent::ProviderError { message, .. }]
        if message.len() < long.len())
    );
}
