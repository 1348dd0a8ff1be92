//! Each request of a conversation continues the former one.

use super::growing::{check_prefix_grows, check_written_as_if_anew};
use super::*;

/// A growing conversation with every kind of message.
fn long_conversation() -> Vec<Message> {
    vec![
        Message::user([Part::text("read it")]),
        Message::assistant([
            text("Reading.", Some("S")),
            call("a", Some(json!({"callId": "a"}))),
            call("b", None),
        ]),
        result("a", ToolResultValue::Text("t".into())),
        result("b", ToolResultValue::Content(vec![image()])),
        Message::system("first"),
        Message::assistant([]),
        Message::user([Part::text("look \"ü\"\n")]),
        Message::system("second"),
        Message::assistant([Part::text("Bye.")]),
        Message::assistant([call("c", None)]),
        result("c", ToolResultValue::Json(json!({"x": 1}))),
        Message::user([Part::text("bye")]),
    ]
}

#[test]
fn a_growing_conversation_equals_a_new_one() {
    for id in ["gemini-3-pro", "gemini-2.5-pro"] {
        check_written_as_if_anew(&model(id), &long_conversation());
    }
}

#[test]
fn every_request_of_a_growing_conversation_contains_the_former_prefix() {
    for id in ["gemini-3-pro", "gemini-2.5-pro"] {
        check_prefix_grows(&model(id), &long_conversation());
    }
}
