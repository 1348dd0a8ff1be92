//! Streams.

use super::*;

fn short(event: &LlmEvent) -> String {
    let meta = |it: &Option<opencode_llm::ProviderMetadata>| {
        it.as_ref()
            .map_or(String::new(), |it| format!(" {}", json!(it)))
    };
    match event {
        LlmEvent::TextDelta { id, text, .. } | LlmEvent::ReasoningDelta { id, text, .. } => {
            format!("{id}: {text}")
        }
        LlmEvent::TextEnd {
            id,
            provider_metadata,
        }
        | LlmEvent::ReasoningEnd {
            id,
            provider_metadata,
        } => format!("-{id}{}", meta(provider_metadata)),
        LlmEvent::ToolCall {
            id, name, input, ..
        } => format!("{name} {id} {input}"),
        LlmEvent::Finish { reason, usage, .. } => {
            let counts = usage.as_ref().map(opencode_llm::Usage::counts);
            format!("{} {counts:?}", reason.as_str())
        }
        LlmEvent::ProviderError {
            message,
            kind,
            retryable,
            ..
        } => format!("error {} {retryable} {message}", kind.as_str()),
        _ => String::new(),
    }
}

fn shown(wire: &[u8]) -> Vec<String> {
    let (events, outcome) = decode(wire);
    assert_eq!(outcome, Ok(()), "{events:?}");
    let texts = events.iter().map(short);
    texts.filter(|it| !it.is_empty()).collect()
}

#[test]
fn reasoning_text_and_calls_are_read() {
    let counts = "Some(TokenCounts { input: 40, output: 10, reasoning: 0, cache_read: 60, cache_write: 40 })";
    assert_eq!(
        shown(&turn()),
        [
            "reasoning-0: I should.",
            r#"-reasoning-0 {"bedrock":{"signature":"SIG"}}"#,
            "text-1: Rea",
            "text-1: ding ü.",
            "-text-1",
            r#"read tooluse_1 {"path":"a"}"#,
            &format!("tool-calls {counts}"),
        ]
    );
}

#[test]
fn hidden_reasoning_is_kept() {
    let redacted = delta(0, json!({"reasoningContent": {"redactedContent": "R"}}));
    let wire = [
        redacted,
        stop(0),
        delta(1, json!({"text": "a"})),
        end("end_turn"),
    ]
    .concat();
    assert_eq!(
        shown(&wire)[0],
        r#"-reasoning-0 {"bedrock":{"redactedData":"R"}}"#
    );
}

#[test]
fn every_reason_is_mapped() {
    for (reason, expected) in [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("content_filtered", "content-filter"),
        ("guardrail_intervened", "content-filter"),
        ("new_reason", "error overloaded true"),
    ] {
        let wire = [delta(0, json!({"text": "a"})), end(reason)].concat();
        let last = shown(&wire).pop().unwrap();
        assert!(last.starts_with(expected), "{reason}: {last}");
    }
}

#[test]
fn exceptions_are_failures_with_their_kind() {
    let exception = |name: &str, message: &str| {
        let headers = [(":message-type", "exception"), (":exception-type", name)];
        frame(&headers, json!({ "message": message }).to_string())
    };
    for (name, message, expected) in [
        (
            "throttlingException",
            "slow",
            "error rate-limit true throttlingException: slow",
        ),
        (
            "serviceUnavailableException",
            "x",
            "error overloaded true serviceUnavailableException: x",
        ),
        (
            "internalServerException",
            "x",
            "error overloaded true internalServerException: x",
        ),
        (
            "modelStreamErrorException",
            "x",
            "error overloaded true server_error: x",
        ),
        (
            "accessDeniedException",
            "x",
            "error auth false permission: x",
        ),
        (
            "modelNotReadyException",
            "x",
            "error rate-limit true rate_limit_error: x",
        ),
        (
            "resourceNotFoundException",
            "x",
            "error invalid-request false invalid_request: x",
        ),
        (
            "validationException",
            "bad field",
            "error invalid-request false invalid_request: bad field",
        ),
        (
            "validationException",
            "Input is too long for requested model.",
            "error context-overflow false invalid_request: Input is too long for requested model.",
        ),
    ] {
        let name = name.replacen(char::is_lowercase, &name[..1], 1);
        let wire = [delta(0, json!({"text": "a"})), exception(&name, message)].concat();
        let last = shown(&wire).pop().unwrap();
        assert_eq!(last.to_lowercase(), expected.to_lowercase(), "{name}");
    }
    let headers = [
        (":message-type", "error"),
        (":error-code", "InternalFailure"),
        (":error-message", "it broke \"off\""),
    ];
    assert_eq!(
        shown(&frame(&headers, "")),
        ["error overloaded true internalfailure: it broke \"off\""]
            .map(|it| it.replace("internalfailure", "InternalFailure"))
    );
}

#[test]
fn broken_frames_and_early_ends_fail() {
    let failure = |wire: &[u8]| decode(wire).1.unwrap_err().to_string();
    let mut wire = turn();
    let middle = wire.len() / 2;
    wire[middle] ^= 1;
    assert!(failure(&wire).contains("Invalid amazon-bedrock/bedrock-converse stream"));
    let early = [delta(0, json!({"text": "a"})), stop(0)].concat();
    assert!(failure(&early).contains("ended before a finish event"));
    let mut large = turn();
    large[..4].copy_from_slice(&u32::MAX.to_be_bytes());
    assert!(failure(&large).contains("a frame is too large"));
}

#[test]
fn a_byte_that_is_not_utf_8_costs_its_character() {
    let headers = [
        (":message-type", "event"),
        (":event-type", "contentBlockDelta"),
    ];
    let payload = b"{\"contentBlockIndex\":0,\"delta\":{\"text\":\"a\xffb\"}}";
    let wire = [frame(&headers, payload), stop(0), end("end_turn")].concat();
    assert_eq!(shown(&wire)[0], "text-0: a\u{fffd}b");
}

#[test]
fn a_piece_of_a_call_at_the_place_of_a_text_fails_only_the_call() {
    let wire = [
        delta(0, json!({"text": "a"})),
        delta(0, json!({"toolUse": {"input": "{}"}})),
        stop(0),
        delta(1, json!({"text": "b"})),
        stop(1),
        end("end_turn"),
    ];
    let (events, outcome) = decode(&wire.concat());
    assert_eq!(outcome, Ok(()), "{events:?}");
    let failed = |event: &LlmEvent| matches!(event, LlmEvent::InvalidToolCall { .. });
    assert_eq!(events.iter().filter(|event| failed(event)).count(), 1);
    let texts: Vec<String> = events.iter().map(short).collect();
    assert!(texts.contains(&"text-0: a".to_owned()) && texts.contains(&"text-1: b".to_owned()));
}

#[test]
fn a_block_follows_the_last_possible_index() {
    let start = json!({"start": {"toolUse": {"toolUseId": "t", "name": "read"}}});
    let wire = [
        delta(u64::MAX, json!({"text": "a"})),
        event("contentBlockStart", start),
        end("tool_use"),
    ];
    assert_eq!(decode(&wire.concat()).1, Ok(()));
}

#[test]
fn an_error_instead_of_a_stream_is_reported() {
    let body = json!({"message": "The model is not enabled"}).to_string();
    for pieces in [vec![body.as_str()], vec![&body[..1], &body[1..]]] {
        let mut decoder = decoder();
        let mut events = Vec::new();
        for piece in pieces {
            decoder.push(piece.as_bytes(), &mut events).unwrap();
        }
        decoder.end(&mut events).unwrap();
        let Some(LlmEvent::ProviderError { message, .. }) = events.last() else {
            panic!("{events:?}")
        };
        assert_eq!(message, "The model is not enabled");
    }
}

#[test]
fn a_character_that_is_split_between_two_pieces_is_joined() {
    let headers = [
        (":message-type", "event"),
        (":event-type", "contentBlockDelta"),
    ];
    let piece = |text: &str| {
        let payload = format!(r#"{{"contentBlockIndex":0,"delta":{{"text":"{text}"}}}}"#);
        frame(&headers, payload)
    };
    let wire = [
        piece("a"),
        piece(r"\ud83d"),
        piece(r"\ude00b"),
        piece(r"\n\u00fc"),
        stop(0),
        end("end_turn"),
    ];
    let said = shown(&wire.concat());
    let texts: Vec<&str> = said
        .iter()
        .filter_map(|line| line.strip_prefix("text-0: "))
        .collect();
    assert_eq!(texts.concat(), "a😀b\nü");
}
