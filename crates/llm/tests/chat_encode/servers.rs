//! Servers that extend the protocol.

use opencode_llm::ChatServer;

use super::*;

fn at(server: ChatServer) -> Arc<ResolvedModel> {
    model(|model| model.compatibility.chat_server = Some(server))
}

fn sent_to(server: ChatServer, messages: Vec<Message>) -> (Vec<(String, String)>, Value) {
    let request = LlmRequest {
        cache_key: Some("ses_1".into()),
        ..request_to(at(server), messages)
    };
    let wire = protocol::adapter(ProtocolId::OpenAiChat).encode(&request);
    let wire = wire.unwrap();
    (wire.headers, serde_json::from_slice(&wire.body).unwrap())
}

fn pairs(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = headers.iter();
    owned
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[test]
fn openrouter_gets_its_blocks_of_reasoning_back() {
    let first = json!({"type": "reasoning.text", "index": 0, "text": "Hm.", "signature": "S"});
    let second = json!({"type": "reasoning.encrypted", "index": 1, "data": "x"});
    let details = |block: &Value| Some(json!({"openrouter": {"reasoning_details": [block]}}));
    let (headers, body) = sent_to(
        ChatServer::OpenRouter,
        vec![
            Message::user([Part::text("Go")]),
            Message::assistant([
                reasoning("Hm.", details(&first)),
                Part::text("Yes."),
                reasoning("", details(&second)),
            ]),
            Message::user([Part::text("On")]),
        ],
    );
    assert_eq!(headers, []);
    assert_eq!(body["usage"], json!({"include": true}));
    assert_eq!(body["prompt_cache_key"], "ses_1");
    assert_eq!(
        body["messages"][1],
        json!({"role": "assistant", "content": "Yes.", "reasoning": "Hm.", "reasoning_details": [first, second]})
    );
}

#[test]
fn the_data_of_one_server_stay_away_from_others() {
    let details = json!({"openrouter": {"reasoning_details": [{"type": "reasoning.text"}]}});
    let messages = || {
        vec![
            Message::user([Part::text("Go")]),
            Message::assistant([reasoning("Hm.", Some(details.clone())), Part::text("Yes.")]),
            Message::user([Part::text("On")]),
        ]
    };
    let (_, body) = sent_to(ChatServer::Copilot, messages());
    let expected = json!({"role": "assistant", "content": "Yes.", "reasoning_text": "Hm."});
    assert_eq!(body["messages"][1], expected);
    let expected = json!({"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."});
    assert_eq!(wire_messages(messages())[1], expected);
}

#[test]
fn copilot_is_told_who_began_a_request_and_if_it_has_images() {
    let user = || Message::user([Part::text("Go")]);
    let opaque = Some(json!({"copilot": {"reasoning_opaque": "sealed"}}));
    let turn = |content: Vec<ToolContent>| {
        vec![
            user(),
            Message::assistant([reasoning("Hm.", opaque.clone()), call("a", json!({}))]),
            Message::tool([result("a", ToolResultValue::Content(content))]),
        ]
    };
    let intent = ("openai-intent", "conversation-edits");
    let (headers, _) = sent_to(ChatServer::Copilot, vec![user(), Message::system("Now.")]);
    assert_eq!(headers, pairs(&[intent, ("x-initiator", "user")]));
    let (headers, body) = sent_to(ChatServer::Copilot, turn(vec![text("t")]));
    assert_eq!(headers, pairs(&[intent, ("x-initiator", "agent")]));
    assert_eq!(body["messages"][1]["reasoning_text"], "Hm.");
    assert_eq!(body["messages"][1]["reasoning_opaque"], "sealed");
    let (headers, _) = sent_to(ChatServer::Copilot, turn(vec![file("image/png")]));
    let vision = ("copilot-vision-request", "true");
    assert_eq!(headers, pairs(&[intent, ("x-initiator", "agent"), vision]));
}

#[test]
fn the_address_of_a_server_is_known() {
    let at = |base: &str| {
        let model = ResolvedModel::new("p", "m", ProtocolId::OpenAiChat, base);
        let request = request_to(Arc::new(model), vec![Message::user([Part::text("Go")])]);
        let wire = protocol::adapter(ProtocolId::OpenAiChat)
            .encode(&request)
            .unwrap();
        let body: Value = serde_json::from_slice(&wire.body).unwrap();
        (wire.headers.len(), body.get("usage").is_some())
    };
    assert_eq!(at("https://openrouter.ai/api/v1"), (0, true));
    assert_eq!(at("https://api.githubcopilot.com"), (2, false));
    assert_eq!(at("https://openrouter.ai.evil.example/v1"), (0, false));
}
