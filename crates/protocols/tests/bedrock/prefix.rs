//! Each request of a conversation continues the former one.

use super::growing::{check_prefix_grows, check_written_as_if_anew};
use super::*;

/// A growing conversation with every kind of message.
fn long_conversation() -> Vec<Message> {
    vec![
        Message::user([Part::text("read it")]),
        Message::assistant([
            reasoning("Hm.", json!({"signature": "S"})),
            Part::text("Reading."),
            call("a"),
            call("b"),
        ]),
        result("a", ToolResultValue::Text("t".into())),
        result("b", ToolResultValue::Json(json!({"x": 1}))),
        Message::system("first"),
        Message::assistant([]),
        Message::user([Part::text("look \"ü\"\n")]),
        Message::system("second"),
        Message::assistant([Part::text("Bye.")]),
        Message::assistant([call("c")]),
        result("c", ToolResultValue::Text(String::new())),
        Message::user([Part::text("bye")]),
    ]
}

#[test]
fn a_growing_conversation_equals_a_new_one() {
    for id in [CLAUDE, "meta.llama3"] {
        check_written_as_if_anew(&model(id), &long_conversation());
    }
}

#[test]
fn every_request_of_a_growing_conversation_contains_the_former_prefix() {
    for id in [CLAUDE, "meta.llama3"] {
        check_prefix_grows(&model(id), &long_conversation());
    }
}
