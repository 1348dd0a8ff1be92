//! Minor deviations of servers from the protocol.

use super::*;

/// Returns the texts, and the calls with their input.
fn texts_and_calls(events: &[Value]) -> Vec<(String, String)> {
    let told = |event: LlmEvent| match event {
        LlmEvent::TextDelta { id, text, .. } | LlmEvent::ReasoningDelta { id, text, .. } => {
            Some((id.to_string(), text))
        }
        LlmEvent::ToolCall { id, input, .. } => Some((id.to_string(), input.to_string())),
        _ => None,
    };
    events_of(events).into_iter().filter_map(told).collect()
}

#[test]
fn a_text_may_arrive_without_deltas() {
    let whole =
        |id: &str, part: Value| done(json!({"id": id, "type": "message", "content": [part]}));
    let events = [
        whole("a", json!({"type": "output_text", "text": "Hi."})),
        whole("b", json!({"type": "refusal", "refusal": "No."})),
        more("output_text", "c", "Bye."),
        whole("c", json!({"type": "output_text", "text": "Bye."})),
        completed(),
    ];
    let expected = [("a", "Hi."), ("b", "No."), ("c", "Bye.")];
    assert_eq!(
        texts_and_calls(&events),
        expected.map(|(id, text)| (id.to_owned(), text.to_owned()))
    );
}

#[test]
fn items_keep_their_position_if_their_identifiers_change() {
    let at = |place: i64, mut event: Value| {
        event["output_index"] = place.into();
        event
    };
    let item = |id: &str, kind: &str| json!({"id": id, "type": kind});
    let call = |id: &str, arguments: &str| {
        let mut call = function_call(arguments);
        call["id"] = id.into();
        call
    };
    let events = [
        at(0, added(item("r1", "reasoning"))),
        at(0, more("reasoning_summary_text", "r2", "Hm")),
        at(0, done(item("r3", "reasoning"))),
        at(1, added(item("m1", "message"))),
        at(1, more("output_text", "m2", "a")),
        at(1, more("output_text", "m3", "b")),
        at(1, done(item("m4", "message"))),
        at(2, added(call("f1", ""))),
        at(2, more("function_call_arguments", "f2", "{\"a\":")),
        at(2, more("function_call_arguments", "f3", "1}")),
        at(2, done(call("f4", "{\"a\":1}"))),
        completed(),
    ];
    let expected = [
        ("r1:0", "Hm"),
        ("m1", "a"),
        ("m1", "b"),
        ("call_1", "{\"a\":1}"),
    ];
    assert_eq!(
        texts_and_calls(&events),
        expected.map(|(id, text)| (id.to_owned(), text.to_owned()))
    );
}
