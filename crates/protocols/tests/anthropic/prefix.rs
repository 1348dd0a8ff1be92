//! Each request of a conversation continues the former one.

use super::growing::{check_prefix_grows, check_written_as_if_anew, report};
use super::*;

/// A growing conversation with every kind of message.
fn long_conversation() -> Vec<Message> {
    let mut messages = tool_turn();
    messages.extend([
        Message::system("first"),
        Message::assistant([call("i", json!({})), Part::text("x")]),
        result("i", ToolResultValue::Text("t".into())),
        Message::system("second"),
        Message::assistant([]),
        Message::user([Part::text("look"), media("image/png", PNG, None)]),
        Message::system("third"),
        Message::system("fourth"),
        Message::user([Part::text("bye \"ü\"\n")]),
        Message::assistant([Part::text("Bye.")]),
        Message::assistant(hosted(
            "s",
            Some(json!({"anthropic": {"blockType": "web_search_tool_result"}})),
        )),
        Message::system("fifth"),
    ]);
    messages
}

fn models() -> [Arc<ResolvedModel>; 2] {
    [
        model(|_| {}),
        model(|model| model.compatibility.mid_conversation_system = Some(true)),
    ]
}

#[test]
fn a_growing_conversation_equals_a_new_one() {
    for model in models() {
        check_written_as_if_anew(&model, &long_conversation());
    }
}

#[test]
fn every_request_of_a_growing_conversation_contains_the_former_prefix() {
    for model in models() {
        check_prefix_grows(&model, &long_conversation());
    }
}

#[test]
fn the_sent_bytes_grow_only_at_their_end_except_for_marks() {
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    for model in models() {
        let messages = long_conversation();
        let mut request = request_to(model, vec![]);
        request.system = vec![SystemPart::new("s")];
        request.tools = Arc::new([tool("read")]);
        let mut before = String::new();
        for end in 1..=messages.len() {
            request.messages = messages[..end].to_vec().into();
            let told = report(&request, None);
            let sent = text_of(&request);
            assert_eq!(sent.matches(mark).count(), 3, "{end}");
            let plain = sent.replace(mark, "");
            let opening = r#"{"model":"claude","#.len();
            let bytes = usize::try_from(told.prefix.bytes).unwrap();
            let prefix = &plain[opening..opening + bytes];
            assert!(
                told.prefix
                    .sha256
                    .starts_with(&opencode_llm::short_hash(prefix.as_bytes()))
            );
            assert!(prefix.starts_with(&before), "{end}: {prefix}");
            before = prefix.to_owned();
        }
    }
}

#[test]
fn another_model_starts_a_new_body() {
    let mut request = request(vec![Message::user([Part::text("q")]), Message::system("s")]);
    let former = report(&request, None).prefix;
    let [_, other] = models();
    request.model = other;
    let told = report(&request, Some(&former));
    assert_eq!(told.same_form, Some(false));
    assert!(told.reused < former.bytes);
}
