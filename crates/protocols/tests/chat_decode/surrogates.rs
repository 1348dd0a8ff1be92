//! Unpaired surrogates, which a Rust string cannot hold.

use super::*;

/// Decodes raw frames, because a JSON value cannot contain an unpaired surrogate.
fn events_of_raw(frames: &[&str]) -> Vec<LlmEvent> {
    let wire: String = frames
        .iter()
        .map(|frame| format!("data: {frame}\n\n"))
        .collect();
    let wire = wire + &sse(&[stop("stop")]);
    let (events, end) = decode(&[wire.as_bytes()]);
    assert_eq!(end, Ok(()), "{frames:?}");
    events
}

fn content(text: &str) -> String {
    format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#)
}

fn thought(text: &str) -> String {
    format!(r#"{{"choices":[{{"delta":{{"reasoning":"{text}"}}}}]}}"#)
}

fn arguments(text: &str) -> String {
    let head = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":""#;
    format!(r#"{head}{text}"}}}}]}}}}]}}"#)
}

#[test]
fn a_character_that_is_split_between_two_deltas_is_joined() {
    let rows: [(&[&str], &[&str]); 7] = [
        (&[r"a\ud83d", r"\ude00b"], &["a", "😀b"]),
        (&[r"\ud83d", "", r"\ude00"], &["😀"]),
        (&[r"a\ud83d", "b"], &["a", "\u{fffd}b"]),
        (
            &[r"a\ud83d", r"\ud83d", r"\ude00"],
            &["a", "\u{fffd}", "😀"],
        ),
        (&[r"\ude00b"], &["\u{fffd}b"]),
        (&[r"a\ud83d"], &["a", "\u{fffd}"]),
        (&[r"a\ud83db\ud83d\ude00"], &["a\u{fffd}b😀"]),
    ];
    for (texts, expected) in rows {
        let frames: Vec<String> = texts.iter().map(|text| content(text)).collect();
        let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
        let expected = [
            vec![start()],
            text(expected),
            vec![text_end()],
            finished(FinishReason::Stop, None),
        ]
        .concat();
        assert_eq!(events_of_raw(&frames), expected, "{texts:?}");
    }
}

#[test]
fn each_block_keeps_its_own_leading_surrogate() {
    let frames = [
        thought(r"x\ud83d"),
        content(r"a\ud83d"),
        arguments(r#"{\"p\":\"\ud83d"#),
        content(r"\ude01b"),
        arguments(r#"\ude02\"}"#),
    ];
    let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
    let expected = [
        vec![start()],
        reasoning("reasoning-0", &["x", "\u{fffd}"]),
        vec![reasoning_end("reasoning-0")],
        text(&["a"]),
        input("a", "read", &["{\"p\":\""]),
        vec![text(&["😁b"]).remove(1)],
        vec![input_delta("a", "read", "😂\"}")],
        called("a", "read", json!({"p": "😂"})),
        vec![text_end()],
        finished(FinishReason::ToolCalls, None),
    ]
    .concat();
    assert_eq!(events_of_raw(&frames), expected);
}

#[test]
fn tool_input_with_a_lone_surrogate_is_read() {
    let whole = r#"{\"path\":\"x\",\"content\":\"a\\ud800b\"}"#;
    let raw = r#"{"path":"x","content":"a\ud800b"}"#;
    let expected = [
        vec![start()],
        input("a", "read", &[raw]),
        called("a", "read", json!({"path": "x", "content": "a\u{fffd}b"})),
        finished(FinishReason::ToolCalls, None),
    ]
    .concat();
    assert_eq!(events_of_raw(&[&arguments(whole)]), expected);
}

#[test]
fn the_message_of_a_failure_may_contain_a_lone_surrogate() {
    let wire = "data: {\"error\":{\"message\":\"a\\ud83d\"}}\n\n";
    let (events, end) = decode(&[wire.as_bytes()]);
    assert_eq!(end, Ok(()));
    let failure = LlmEvent::ProviderError {
        message: "a\u{fffd}".into(),
        kind: opencode_llm::ErrorKind::Unknown,
        retryable: false,
        provider_metadata: None,
    };
    assert_eq!(events, [start(), failure]);
}
