//! Failures of a stream, and the property that every stream has exactly one outcome.

use opencode_llm::ErrorKind;
use proptest::prelude::*;

use super::outcome::check_one_outcome;
use super::*;

fn failure_of(events: &[Value]) -> (String, ErrorKind) {
    let (_, end) = decode(&[sse(events).as_bytes()]);
    let error = end.unwrap_err();
    (error.to_string(), error.kind())
}

#[test]
fn failures_that_the_provider_reports() {
    let failed = |error: Value| json!({"type": "response.failed", "response": {"error": error}});
    let rows = [
        (
            failed(json!({"code": "server_error", "message": "boom"})),
            "server_error: boom",
            ErrorKind::Overloaded,
            true,
        ),
        (
            failed(json!({"code": "rate_limit_exceeded", "message": "slow"})),
            "rate_limit_exceeded: slow",
            ErrorKind::RateLimit,
            true,
        ),
        (
            failed(
                json!({"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}),
            ),
            "context_length_exceeded: Your input exceeds the context window of this model.",
            ErrorKind::ContextOverflow,
            false,
        ),
        (
            failed(json!(null)),
            "The provider ended its answer with \"failed\"",
            ErrorKind::Overloaded,
            true,
        ),
        (
            json!({"type": "error", "code": "insufficient_quota", "message": "no"}),
            "insufficient_quota: no",
            ErrorKind::Quota,
            false,
        ),
        (
            json!({"type": "error", "code": null, "message": "boom"}),
            "boom",
            ErrorKind::Unknown,
            false,
        ),
        (
            json!({"type": "error", "error": {"type": "invalid_request_error", "code": null, "message": "bad"}}),
            "invalid_request_error: bad",
            ErrorKind::InvalidRequest,
            false,
        ),
    ];
    for (event, message, kind, retryable) in rows {
        let events = events_of(&[more("output_text", "ms", "a"), event, completed()]);
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
    let too_early = "The mock/openai-responses stream ended before a finish event";
    let rows: Vec<(Vec<Value>, &str)> =
        vec![(vec![], too_early), (turn()[..16].to_vec(), too_early)];
    for (events, message) in rows {
        let limit = "limit of output tokens";
        let kind = match message.ends_with(limit) {
            true => ErrorKind::OutputLength,
            false => ErrorKind::InvalidOutput,
        };
        let expected = (message.to_owned(), kind);
        assert_eq!(failure_of(&events), expected, "{events:?}");
    }
    let (_, end) = decode(&[b"data: {\"type\":\n\n"]);
    let message = end.unwrap_err().to_string();
    assert!(
        message.starts_with("Invalid mock/openai-responses stream event 1: EOF while parsing"),
        "{message}"
    );
}

#[test]
fn a_cut_at_any_byte_fails_after_the_complete_events() {
    let text = sse(&turn());
    let (whole, _) = decode(&[text.as_bytes()]);
    for at in 0..text.len() - 3 {
        let (events, end) = decode(&[&text.as_bytes()[..at]]);
        assert_eq!(end.unwrap_err().kind(), ErrorKind::InvalidOutput, "{at}");
        assert_eq!(events, whole[..events.len()], "{at}");
    }
}

#[test]
fn the_size_of_a_reply_is_bounded() {
    let piece = "x".repeat(20 << 20);
    let whole = json!({"type": "response.function_call_arguments.done", "item_id": "fc_1", "arguments": piece});
    let wholes = [vec![added(function_call(""))], vec![whole; 4]].concat();
    assert_eq!(
        failure_of(&wholes).0,
        "Too much tool input in one step from mock/openai-responses"
    );
    let input = more("function_call_arguments", "fc_1", &piece);
    let events = [
        added(function_call("")),
        input.clone(),
        input.clone(),
        input.clone(),
        input,
    ];
    assert_eq!(
        failure_of(&events).0,
        "Too much tool input in one step from mock/openai-responses"
    );

    let parts = (0..1025).flat_map(|n| [part("added", "rs", n), part("done", "rs", n)]);
    let parts: Vec<Value> = parts.collect();
    assert_eq!(
        failure_of(&parts).0,
        "Too many parts of one reasoning item in the openai-responses stream"
    );

    let many = (0..16_385).map(|n| added(json!({"type": "message", "id": format!("ms_{n}")})));
    let many: Vec<Value> = many.collect();
    assert_eq!(
        failure_of(&many).0,
        "Too many items in one openai-responses stream"
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
        "response.created",
        "response.output_item.added",
        "response.output_item.done",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_part.done",
        "response.reasoning_summary_text.delta",
        "response.output_text.delta",
        "response.function_call_arguments.delta",
        "response.future",
    ]);
    let items = prop::sample::select(vec![
        "reasoning",
        "message",
        "function_call",
        "web_search_call",
        "future",
    ]);
    let event = (
        kinds,
        items,
        -1_i64..3,
        arbitrary_text(),
        arbitrary_text(),
        "[ab]",
    )
        .prop_map(|(kind, item, index, one, other, id)| {
            json!({
                "type": kind, "item_id": id, "summary_index": index, "delta": one,
                "item": {"type": item, "id": id, "call_id": one, "name": other, "arguments": one,
                    "encrypted_content": other, "phase": one, "error": other},
                "response": {"id": one},
            })
            .to_string()
        });
    prop_oneof![
        10 => event,
        1 => Just("{\"type\":\"error\",\"message\":\"x\"}".to_owned()),
        1 => Just("{\"type\":\"response.completed\"}".to_owned()),
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
        check_one_outcome(decoder_of(json!({})), wire.as_bytes(), &cuts);
    }

    #[test]
    fn any_bytes_have_one_outcome(
        wire in prop::collection::vec(any::<u8>(), 0..200),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        check_one_outcome(decoder_of(json!({})), &wire, &cuts);
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
