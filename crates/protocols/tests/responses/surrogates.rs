//! Unpaired surrogates, which a Rust string cannot hold.

use super::*;

/// Returns the deltas and calls of a reply.
fn decoded_texts(frames: &[&str]) -> Vec<(String, String)> {
    let frames: String = frames
        .iter()
        .map(|frame| format!("data: {frame}\n\n"))
        .collect();
    let wire = frames + "data: {\"type\":\"response.completed\",\"response\":{}}\n\n";
    let (events, outcome) = decode(&[wire.as_bytes()]);
    assert_eq!(outcome, Ok(()), "{events:?}");
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
        r#"{"type":"response.output_text.delta","item_id":"m1","delta":"a\ud83d"}"#,
        r#"{"type":"response.output_text.delta","item_id":"m2","delta":"b\ud83d"}"#,
        r#"{"type":"response.output_text.delta","item_id":"m1","delta":"\ude00c"}"#,
    ];
    assert_eq!(
        decoded_texts(&frames),
        pairs(&[("m1", "a"), ("m2", "b"), ("m1", "😀c"), ("m2", "\u{fffd}")])
    );
}

#[test]
fn tool_input_with_a_lone_surrogate_is_read() {
    let frames = [
        r#"{"type":"response.output_item.added","item":{"type":"function_call","id":"f1","call_id":"c1","name":"write","arguments":""}}"#,
        r#"{"type":"response.output_item.done","item":{"type":"function_call","id":"f1","call_id":"c1","name":"write","arguments":"{\"a\":\"\\ud800\",\"b\":\"\ud800x\"}"}}"#,
    ];
    assert_eq!(
        decoded_texts(&frames),
        pairs(&[
            ("c1", "{\"a\":\"\\ud800\",\"b\":\"\u{fffd}x\"}"),
            ("c1", "{\"a\":\"\u{fffd}\",\"b\":\"\u{fffd}x\"}"),
        ])
    );
}
