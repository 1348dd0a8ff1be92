//! Failures of a stream, and the property that every stream has exactly one outcome.

use opencode_llm::ErrorKind;
use proptest::prelude::*;

use super::outcome::check_one_outcome;
use super::*;

fn failure_of(events: &[Value]) -> (Vec<LlmEvent>, String, ErrorKind) {
    let (seen, end) = decode(&[sse(events).as_bytes()]);
    let error = end.unwrap_err();
    (seen, error.to_string(), error.kind())
}

#[test]
fn failures_that_the_provider_reports() {
    let rows = [
        (
            json!({"type": "overloaded_error", "message": "Overloaded"}),
            "overloaded_error: Overloaded",
            ErrorKind::Overloaded,
            true,
        ),
        (
            json!({"type": "rate_limit_error", "message": "slow"}),
            "rate_limit_error: slow",
            ErrorKind::RateLimit,
            true,
        ),
        (
            json!({"type": "api_error", "message": "oops"}),
            "api_error: oops",
            ErrorKind::Overloaded,
            true,
        ),
        (
            json!({"type": "timeout_error", "message": "late"}),
            "timeout_error: late",
            ErrorKind::Overloaded,
            true,
        ),
        (
            json!({"type": "authentication_error", "message": "no"}),
            "authentication_error: no",
            ErrorKind::Auth,
            false,
        ),
        (
            json!({"type": "permission_error", "message": "no"}),
            "permission_error: no",
            ErrorKind::Auth,
            false,
        ),
        (
            json!({"type": "invalid_request_error", "message": "bad"}),
            "invalid_request_error: bad",
            ErrorKind::InvalidRequest,
            false,
        ),
        (
            json!({"type": "invalid_request_error", "message": "prompt is too long: 9 tokens"}),
            "invalid_request_error: prompt is too long: 9 tokens",
            ErrorKind::ContextOverflow,
            false,
        ),
        (
            json!({"type": "request_too_large", "message": "big"}),
            "request_too_large: big",
            ErrorKind::ContextOverflow,
            false,
        ),
        (
            json!(null),
            "The provider reported an error without a message",
            ErrorKind::Unknown,
            false,
        ),
    ];
    for (error, message, kind, retryable) in rows {
        let text = start(0, assistant_text("a"));
        let late = end("end_turn");
        let events = events_of(&[
            message_start(),
            text,
            json!({"type": "error", "error": error}),
            late,
        ]);
        let expected = LlmEvent::ProviderError {
            message: message.into(),
            kind,
            retryable,
            provider_metadata: None,
        };
        assert_eq!(
            (events.len(), events.last()),
            (4, Some(&expected)),
            "{message}"
        );
    }
}

#[test]
fn streams_that_are_not_the_protocol() {
    let too_early = "The mock/anthropic-messages stream ended before a finish event";
    let rows: Vec<(Vec<Value>, String)> = vec![
        (vec![], too_early.into()),
        (vec![message_start()], too_early.into()),
        (turn()[..9].to_vec(), too_early.into()),
        (vec![json!({"type": "message_stop"})], too_early.into()),
    ];
    for (events, message) in rows {
        let (_, found, kind) = failure_of(&events);
        assert_eq!(
            (found, kind),
            (message, ErrorKind::InvalidOutput),
            "{events:?}"
        );
    }
    let (_, end) = decode(&[b"data: {\"type\":\n\n"]);
    let message = end.unwrap_err().to_string();
    let expected = "Invalid mock/anthropic-messages stream event 1: EOF while parsing";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn a_cut_at_any_byte_fails_after_the_complete_events() {
    let text = sse(&turn());
    let (whole, _) = decode(&[text.as_bytes()]);
    // The event with the reason decides the outcome. The stop event after it adds no information.
    let until = text.find("event: message_stop").unwrap();
    for at in 0..until - 3 {
        let (events, end) = decode(&[&text.as_bytes()[..at]]);
        let error = end.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOutput, "{at}");
        assert_eq!(events, whole[..events.len()], "{at}");
    }
}

#[test]
fn the_size_of_a_reply_is_bounded() {
    let piece = "x".repeat(20 << 20);
    let call = start(0, json!({"type": "tool_use", "id": "t", "name": "read"}));
    let more = delta(
        0,
        json!({"type": "input_json_delta", "partial_json": piece}),
    );
    let (_, message, _) = failure_of(&[call, more.clone(), more.clone(), more.clone(), more]);
    assert_eq!(
        message,
        "Too much tool input in one step from mock/anthropic-messages"
    );

    let cited = json!({"type": "citations_delta", "citation": {"cited_text": piece}});
    let more = delta(0, cited);
    let text = start(0, assistant_text("a"));
    let (_, message, _) = failure_of(&[text, more.clone(), more.clone(), more.clone(), more]);
    assert_eq!(
        message,
        "Too much tool input in one step from mock/anthropic-messages"
    );

    let many: Vec<Value> = (0..16_385)
        .map(|index| start(index, json!({"type": "future"})))
        .collect();
    let (_, message, _) = failure_of(&many);
    assert_eq!(
        message,
        "Invalid content block 16384 in the anthropic-messages stream"
    );
}

fn arbitrary_text() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        "[a-c]{0,2}".prop_map(Value::from),
        Just(json!("{}")),
        Just(json!(5)),
        Just(json!({"a": []})),
    ]
}

fn arbitrary_event() -> impl Strategy<Value = String> {
    let kinds = prop::sample::select(vec![
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "ping",
        "future",
    ]);
    let blocks = prop::sample::select(vec![
        "text",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "server_tool_use",
        "web_search_tool_result",
        "future",
    ]);
    let deltas = prop::sample::select(vec![
        "text_delta",
        "thinking_delta",
        "signature_delta",
        "input_json_delta",
        "citations_delta",
    ]);
    let event = (
        kinds,
        blocks,
        deltas,
        -1_i64..3,
        arbitrary_text(),
        arbitrary_text(),
    )
        .prop_map(|(kind, block, delta, index, one, other)| {
            json!({
                "type": kind, "index": index,
                "content_block": {"type": block, "id": one, "name": other, "text": one,
                    "thinking": one, "data": one, "tool_use_id": one, "content": other},
                "delta": {"type": delta, "text": one, "thinking": one, "signature": other,
                    "partial_json": one, "citation": other,
                    "stop_reason": if index == 0 { other.clone() } else { Value::Null }},
                "usage": {"input_tokens": other},
            })
            .to_string()
        });
    prop_oneof![
        10 => event,
        1 => Just("{\"type\":\"error\",\"error\":{\"message\":\"x\"}}".to_owned()),
        1 => Just("{\"type\":\"message_stop\"}".to_owned()),
        1 => Just("{\"type\":".to_owned()),
        1 => "[ -~]{0,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_events_has_one_outcome(
        events in prop::collection::vec(arbitrary_event(), 0..14),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let wire: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        check_one_outcome(decoder(), wire.as_bytes(), &cuts);
    }

    #[test]
    fn any_bytes_have_one_outcome(
        wire in prop::collection::vec(any::<u8>(), 0..200),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        check_one_outcome(decoder(), &wire, &cuts);
    }

    #[test]
    fn splitting_the_stream_changes_nothing(
        events in prop::collection::vec(arbitrary_event(), 0..8),
        at in any::<usize>(),
    ) {
        let wire: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        let (head, tail) = wire.as_bytes().split_at(at % (wire.len() + 1));
        prop_assert_eq!(decode(&[head, tail]), decode(&[wire.as_bytes()]));
    }
}
