//! Requests of one conversation continue each other.

use opencode_llm::{Prefix, PrefixReport};

use super::*;

/// A conversation with every kind of message, as it grows.
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
        Message::assistant(hosted("s", Some(json!({"anthropic": {"blockType": "b"}})))),
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
fn a_growing_conversation_is_written_as_if_anew() {
    for model in models() {
        let messages = long_conversation();
        let mut growing = request_to(Arc::clone(&model), vec![]);
        growing.system = vec![SystemPart::new("s")];
        for end in 0..=messages.len() {
            growing.messages = messages[..end].to_vec().into();
            let mut fresh = request_to(Arc::clone(&model), messages[..end].to_vec());
            fresh.system = growing.system.clone();
            assert_eq!(text_of(&growing), text_of(&fresh), "{end}");
        }
    }
}

fn report(request: &LlmRequest, former: Option<&Prefix>) -> PrefixReport {
    let adapter = protocol::adapter(ProtocolId::AnthropicMessages);
    adapter.prefix(request, former).unwrap()
}

#[test]
fn every_request_of_a_growing_conversation_says_all_of_the_former_prefix() {
    for model in models() {
        let messages = long_conversation();
        let mut request = request_to(model, vec![]);
        request.system = vec![SystemPart::new("s")];
        let mut former: Option<Prefix> = None;
        for end in 1..=messages.len() {
            request.messages = messages[..end].to_vec().into();
            // What closes a request is not repeated.
            request.closing = (end % 3 == 0).then(|| Message::assistant([Part::text("In short:")]));
            let told = report(&request, former.as_ref());
            let reused = former.as_ref().map_or(0, |former| former.bytes);
            assert_eq!(told.reused, reused, "{end}");
            let anew = LlmRequest {
                prefix: PrefixCache::default(),
                ..request.clone()
            };
            let anew = report(&anew, former.as_ref());
            assert_eq!(
                (anew.prefix, anew.reused),
                (told.prefix.clone(), reused),
                "{end}"
            );
            text_of(&request);
            former = Some(told.prefix);
        }
    }
}

#[test]
fn the_bytes_on_the_wire_grow_at_their_end_alone_but_for_marks() {
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
fn another_model_writes_anew() {
    let mut request = request(vec![Message::user([Part::text("q")]), Message::system("s")]);
    let former = report(&request, None).prefix;
    let [_, other] = models();
    request.model = other;
    let told = report(&request, Some(&former));
    assert_eq!(told.same_form, Some(false));
    assert!(told.reused < former.bytes);
}
