//! The grammar of the event stream.

use opencode_llm::{
    ErrorKind, FinishReason, Lifecycle, LlmError, LlmEvent, ProviderMetadata, ToolResultValue,
};
use serde_json::{Value, json};

fn metadata(value: Value) -> Option<ProviderMetadata> {
    value.as_object().cloned().map(Box::new)
}

fn text_start(id: &str) -> LlmEvent {
    LlmEvent::TextStart {
        id: id.into(),
        provider_metadata: None,
    }
}

fn text_delta(id: &str, text: &str, pm: Value) -> LlmEvent {
    LlmEvent::TextDelta {
        id: id.into(),
        text: text.into(),
        provider_metadata: metadata(pm),
    }
}

fn text_end(id: &str, pm: Value) -> LlmEvent {
    LlmEvent::TextEnd {
        id: id.into(),
        provider_metadata: metadata(pm),
    }
}

fn reasoning_start(id: &str, pm: Value) -> LlmEvent {
    LlmEvent::ReasoningStart {
        id: id.into(),
        provider_metadata: metadata(pm),
    }
}

fn reasoning_end(id: &str, pm: Value) -> LlmEvent {
    LlmEvent::ReasoningEnd {
        id: id.into(),
        provider_metadata: metadata(pm),
    }
}

fn input_start(id: &str, name: &str) -> LlmEvent {
    LlmEvent::ToolInputStart {
        id: id.into(),
        name: name.into(),
        provider_metadata: metadata(json!({"openai": {"itemId": "fc"}})),
    }
}

fn input_delta(id: &str, name: &str, text: &str) -> LlmEvent {
    LlmEvent::ToolInputDelta {
        id: id.into(),
        name: name.into(),
        text: text.into(),
    }
}

fn input_end(id: &str, name: &str, pm: Value) -> LlmEvent {
    LlmEvent::ToolInputEnd {
        id: id.into(),
        name: name.into(),
        provider_metadata: metadata(pm),
    }
}

fn tool_call(id: &str, name: &str, pm: Value) -> LlmEvent {
    LlmEvent::ToolCall {
        id: id.into(),
        name: name.into(),
        input: json!({}),
        provider_executed: false,
        provider_metadata: metadata(pm),
    }
}

fn tool_result(id: &str, name: &str) -> LlmEvent {
    LlmEvent::ToolResult {
        id: id.into(),
        name: name.into(),
        result: ToolResultValue::Json(json!([])),
        output: None,
        provider_executed: true,
        provider_metadata: None,
    }
}

fn step_finish() -> LlmEvent {
    LlmEvent::StepFinish {
        index: 0,
        reason: FinishReason::Stop,
        usage: None,
        provider_metadata: None,
    }
}

fn finish() -> LlmEvent {
    LlmEvent::Finish {
        reason: FinishReason::Stop,
        usage: None,
        provider_metadata: None,
    }
}

fn provider_error() -> LlmEvent {
    LlmEvent::ProviderError {
        message: "boom".into(),
        kind: ErrorKind::Unknown,
        retryable: false,
        provider_metadata: None,
    }
}

const STEP_START: LlmEvent = LlmEvent::StepStart { index: 0 };

fn run(events: Vec<LlmEvent>) -> (Vec<LlmEvent>, Result<(), LlmError>) {
    let mut lifecycle = Lifecycle::new("mock/test");
    let mut out = Vec::new();
    for event in events {
        if let Err(error) = lifecycle.accept(event, &mut out) {
            assert!(lifecycle.is_over());
            return (out, Err(error));
        }
    }
    let end = lifecycle.end();
    (out, end)
}

#[test]
fn open_blocks_are_closed_with_reasoning_first() {
    let (out, end) = run(vec![
        text_start("t"),
        reasoning_start("r2", json!(null)),
        reasoning_start("r1", json!({"a": {"x": 1}})),
        text_delta("t", "hi", json!({"a": {"y": 2}})),
        step_finish(),
        finish(),
    ]);
    assert_eq!(end, Ok(()));
    assert_eq!(
        out,
        [
            STEP_START,
            text_start("t"),
            reasoning_start("r2", json!(null)),
            reasoning_start("r1", json!({"a": {"x": 1}})),
            text_delta("t", "hi", json!({"a": {"y": 2}})),
            reasoning_end("r2", json!(null)),
            reasoning_end("r1", json!({"a": {"x": 1}})),
            text_end("t", json!({"a": {"y": 2}})),
            step_finish(),
            finish(),
        ]
    );
}

#[test]
fn metadata_of_a_block_is_collected_at_its_end() {
    let (out, _) = run(vec![
        reasoning_start("r", json!({"openai": {"itemId": "i", "n": 1}})),
        LlmEvent::ReasoningDelta {
            id: "r".into(),
            text: String::new(),
            provider_metadata: metadata(json!({"openai": {"n": 2}})),
        },
        reasoning_end("r", json!({"openai": {"signature": "s"}, "other": 1})),
    ]);
    // The empty delta is dropped, but its metadata is kept.
    assert_eq!(
        out,
        [
            STEP_START,
            reasoning_start("r", json!({"openai": {"itemId": "i", "n": 1}})),
            reasoning_end(
                "r",
                json!({"openai": {"itemId": "i", "n": 2, "signature": "s"}, "other": 1})
            ),
        ]
    );
}

#[test]
fn tool_calls_are_accepted_with_and_without_streamed_input() {
    let (out, end) = run(vec![
        STEP_START,
        input_start("a", "read"),
        input_delta("a", "read", ""),
        input_delta("a", "read", "{}"),
        input_end("a", "read", json!(null)),
        tool_call("a", "read", json!({"openai": {"status": "done"}})),
        tool_call("b", "search", json!(null)),
        tool_result("b", "search"),
        step_finish(),
        finish(),
    ]);
    assert_eq!(end, Ok(()));
    assert_eq!(
        out,
        [
            STEP_START,
            input_start("a", "read"),
            input_delta("a", "read", "{}"),
            input_end("a", "read", json!({"openai": {"itemId": "fc"}})),
            tool_call(
                "a",
                "read",
                json!({"openai": {"itemId": "fc", "status": "done"}})
            ),
            tool_call("b", "search", json!(null)),
            tool_result("b", "search"),
            step_finish(),
            finish(),
        ]
    );
}

#[test]
fn events_in_a_wrong_order_fail_the_step() {
    let rows = [
        (vec![STEP_START, STEP_START], "the step started twice"),
        (
            vec![text_start("t"), text_start("t")],
            "text block \"t\" started twice",
        ),
        (
            vec![text_delta("t", "x", json!(null))],
            "text block \"t\" is not open",
        ),
        (
            vec![
                text_start("t"),
                text_end("t", json!(null)),
                text_delta("t", "x", json!(null)),
            ],
            "text block \"t\" is not open",
        ),
        (
            vec![reasoning_end("r", json!(null))],
            "reasoning block \"r\" is not open",
        ),
        (
            vec![input_start("a", "read"), input_start("a", "read")],
            "tool call \"a\" started twice",
        ),
        (
            vec![input_start("a", "read"), input_delta("a", "write", "x")],
            "tool call \"a\" changed its name from \"read\" to \"write\"",
        ),
        (
            vec![input_delta("a", "read", "x")],
            "tool call \"a\" was never started",
        ),
        (
            vec![
                input_start("a", "read"),
                tool_call("a", "read", json!(null)),
            ],
            "tool call \"a\" is out of order",
        ),
        (
            vec![
                tool_call("a", "read", json!(null)),
                tool_call("a", "read", json!(null)),
            ],
            "tool call \"a\" is out of order",
        ),
        (
            vec![tool_result("a", "read")],
            "tool call \"a\" was never started",
        ),
        (
            vec![
                tool_call("a", "read", json!(null)),
                tool_result("a", "read"),
                tool_result("a", "read"),
            ],
            "tool call \"a\" is out of order",
        ),
        (vec![finish()], "the reply finished before its step"),
        (
            vec![step_finish(), text_start("t")],
            "an event came after the step had finished",
        ),
    ];
    for (events, problem) in rows {
        let (_, outcome) = run(events);
        let error = outcome.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("Invalid event stream from mock/test: {problem}")
        );
        assert_eq!(error.kind(), ErrorKind::InvalidOutput);
    }
}

#[test]
fn no_event_follows_the_outcome() {
    let (out, end) = run(vec![
        provider_error(),
        text_start("t"),
        step_finish(),
        finish(),
    ]);
    assert_eq!((out, end), (vec![STEP_START, provider_error()], Ok(())));
    let (out, end) = run(vec![step_finish(), finish(), provider_error()]);
    assert_eq!(
        (out, end),
        (vec![STEP_START, step_finish(), finish()], Ok(()))
    );
}

#[test]
fn a_closed_block_may_be_opened_again() {
    let (_, end) = run(vec![
        text_start("t"),
        text_end("t", json!(null)),
        text_start("t"),
        step_finish(),
        finish(),
    ]);
    assert_eq!(end, Ok(()));
}

#[test]
fn a_stream_without_an_end_fails() {
    for events in [vec![], vec![text_start("t")], vec![step_finish()]] {
        let (_, end) = run(events);
        assert_eq!(
            end.unwrap_err().to_string(),
            "The mock/test stream ended before a finish event"
        );
    }
}

#[test]
fn the_number_of_blocks_and_calls_is_bounded() {
    let blocks = (0..300).map(|n| text_start(&n.to_string())).collect();
    assert!(run(blocks).1.is_err());
    let calls = (0..5000)
        .map(|n| tool_call(&n.to_string(), "x", json!(null)))
        .collect();
    assert!(run(calls).1.is_err());
}

#[test]
fn unstorable_output_ends_the_step() {
    let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({"a": inner}));
    let called = |name: &str, id: &str, input: Value| LlmEvent::ToolCall {
        id: id.into(),
        name: name.into(),
        input,
        provider_executed: false,
        provider_metadata: None,
    };
    let long = "x".repeat(10 << 20);
    for (event, expected) in [
        (called("t", "a", nested(100)), None),
        (called("t", "a", nested(101)), Some("nested more than 100")),
        (called("t", "a", nested(126)), Some("nested more than 100")),
        (
            called(&long, "a", json!({})),
            Some("the name of a tool has 10485760 bytes"),
        ),
        (
            called("t", &long, json!({})),
            Some("an identifier has 10485760 bytes"),
        ),
        (
            LlmEvent::TextStart {
                id: "t".into(),
                provider_metadata: Some(Box::new(
                    json!({"x": nested(101)}).as_object().unwrap().clone(),
                )),
            },
            Some("provider metadata is nested"),
        ),
    ] {
        let problem = Lifecycle::new("mock").accept(event, &mut Vec::new()).err();
        let problem = problem.map(|error| error.to_string());
        match expected {
            None => assert_eq!(problem, None),
            Some(expected) => {
                let problem = problem.unwrap();
                assert!(
                    problem.contains(expected) && problem.len() < 300,
                    "{problem}"
                );
            }
        }
    }
}
