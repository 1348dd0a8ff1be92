//! Unpaired surrogates, which a Rust string cannot hold.

use opencode_llm::FinishReason;

use super::*;

/// Returns the deltas of a reply and its finish reason.
fn deltas(blocks: &[&str]) -> Vec<(String, String)> {
    let frames: String = blocks
        .iter()
        .map(|frame| format!("data: {frame}\n\n"))
        .collect();
    let wire = frames + &sse(&[end("end_turn")]);
    let (events, outcome) = decode(&[wire.as_bytes()]);
    assert_eq!(outcome, Ok(()), "{events:?}");
    let reason = events.iter().find_map(|event| match event {
        LlmEvent::Finish { reason, .. } => Some(*reason),
        _ => None,
    });
    assert_eq!(reason, Some(FinishReason::Stop));
    let shown = |event: LlmEvent| match event {
        LlmEvent::TextDelta { id, text, .. }
        | LlmEvent::ReasoningDelta { id, text, .. }
        | LlmEvent::ToolInputDelta { id, text, .. } => Some((id.to_string(), text)),
        LlmEvent::ToolCall { id, input, .. } => Some((id.to_string(), input.to_string())),
        _ => None,
    };
    events.into_iter().filter_map(shown).collect()
}

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter()
        .map(|(id, text)| ((*id).to_owned(), (*text).to_owned()))
        .collect()
}

#[test]
fn a_character_that_is_split_between_two_deltas_is_joined() {
    let frames = [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"x\ud83d"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a\ud83d"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"\ude01"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"\ude00b\ud83d"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_stop","index":0}"#,
    ];
    assert_eq!(
        deltas(&frames),
        pairs(&[
            ("reasoning-0", "x"),
            ("text-1", "a"),
            ("reasoning-0", "😁"),
            ("text-1", "😀b"),
            ("text-1", "\u{fffd}"),
        ])
    );
}

#[test]
fn tool_input_with_a_lone_surrogate_is_read() {
    let frames = [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"write","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":\"\ud83d"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\ude00\\ud800b\"}"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
    ];
    assert_eq!(
        deltas(&frames),
        pairs(&[
            ("t", "{\"a\":\""),
            ("t", "😀\\ud800b\"}"),
            ("t", "{\"a\":\"😀\u{fffd}b\"}"),
        ])
    );
}
