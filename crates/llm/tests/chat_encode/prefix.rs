//! Requests of one conversation continue each other.

use super::*;

/// A conversation with every kind of message, as it grows.
fn long_conversation() -> Vec<Message> {
    let mut messages = tool_turn();
    messages.extend([
        Message::system("first"),
        Message::assistant([call("i", json!({}))]),
        Message::tool([result(
            "i",
            ToolResultValue::Content(vec![file("image/png")]),
        )]),
        Message::system("second"),
        Message::assistant([]),
        Message::user([Part::text("look"), media("image/png", PNG, None)]),
        Message::system("third"),
        Message::user([Part::text("bye \"ü\"\n")]),
        Message::system("fourth"),
        Message::assistant([Part::text("Bye.")]),
    ]);
    messages
}

#[test]
fn a_growing_conversation_is_written_as_if_anew() {
    for provider in ["mock", "mistral", "deepseek"] {
        let model = model(|model| model.provider_id = provider.into());
        let messages = long_conversation();
        let mut growing = request_to(Arc::clone(&model), vec![]);
        growing.system = vec![SystemPart::new("s")];
        for end in 0..=messages.len() {
            growing.messages = messages[..end].to_vec().into();
            let mut fresh = request_to(Arc::clone(&model), messages[..end].to_vec());
            fresh.system = growing.system.clone();
            assert_eq!(bytes(&growing), bytes(&fresh), "{provider} {end}");
        }
    }
}

#[test]
fn each_request_continues_the_one_before() {
    // The closing delimiters of the last message are not part of the prefix.
    let prefix = |body: &[u8]| {
        let text = String::from_utf8(body.to_vec()).unwrap();
        let end = text.find(r#"],"stream""#).unwrap();
        text[..end].trim_end_matches(['}', ']', '"']).to_owned()
    };
    let messages = long_conversation();
    let mut request = request(vec![]);
    let mut before = String::new();
    for end in 1..=messages.len() {
        request.messages = messages[..end].to_vec().into();
        let written = prefix(&bytes(&request));
        assert!(written.starts_with(&before), "{end}: {written}");
        before = written;
    }
}

#[test]
fn a_different_conversation_is_not_continued() {
    let base = request(tool_turn());
    bytes(&base);
    let fresh = |change: &dyn Fn(&mut LlmRequest)| {
        let mut reused = base.clone();
        change(&mut reused);
        let mut anew = request(tool_turn());
        change(&mut anew);
        assert_eq!(bytes(&reused), bytes(&anew));
    };
    fn messages(request: &mut LlmRequest) -> &mut Vec<Message> {
        Arc::make_mut(&mut request.messages)
    }
    fresh(&|request| messages(request)[0] = Message::user([Part::text("other")]));
    fresh(&|request| messages(request).truncate(1));
    fresh(&|request| request.system = vec![SystemPart::new("new")]);
    fresh(&|request| request.model = model(|model| model.provider_id = "mistral".into()));
    fresh(&|request| {
        request.tools = Arc::new([ToolDefinition {
            name: "t".into(),
            description: "d".into(),
            input_schema: json!({}),
        }]);
    });
    fresh(&|request| {
        // A refused request leaves nothing half-written behind.
        messages(request).push(Message::tool([Part::text("no")]));
        assert!(
            protocol::adapter(ProtocolId::OpenAiChat)
                .encode(request)
                .is_err()
        );
        messages(request).pop();
    });
}
