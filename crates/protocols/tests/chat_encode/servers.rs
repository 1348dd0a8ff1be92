//! Servers that extend the protocol.

use opencode_llm::CompatibleServer;

use super::*;

fn at(server: CompatibleServer) -> Arc<ResolvedModel> {
    model(|model| model.compatibility.compatible_server = Some(server))
}

fn sent_to(server: CompatibleServer, messages: Vec<Message>) -> (Vec<(String, String)>, Value) {
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
        CompatibleServer::OpenRouter,
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

/// Encodes a conversation with a model of Anthropic at OpenRouter.
fn sent_to_claude(messages: Vec<Message>) -> Value {
    let claude = model(|model| {
        model.compatibility.compatible_server = Some(CompatibleServer::OpenRouter);
        model.id = "anthropic/claude-sonnet-4.5".into();
    });
    let mut request = request_to(claude, messages);
    request.system = vec![SystemPart::new("Be brief.")];
    let wire = protocol::adapter(ProtocolId::OpenAiChat).encode(&request);
    serde_json::from_slice(&wire.unwrap().body).unwrap()
}

#[test]
fn models_of_anthropic_at_openrouter_get_cache_marks() {
    let marked =
        |text: &str| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
    let plain = |text: &str| json!({"type": "text", "text": text});
    let mut messages = vec![Message::user([Part::text("Go"), Part::text(" on")])];
    let system = json!({"role": "system", "content": [marked("Be brief.")]});
    let first = |text: Value| json!({"role": "user", "content": [text]});
    let body = sent_to_claude(messages.clone());
    assert_eq!(body["messages"], json!([system, first(marked("Go on"))]));

    // Results and updates do not move the mark of the prompt.
    messages.extend([
        Message::assistant([call("a", json!({}))]),
        Message::tool([result("a", ToolResultValue::Text("t".into()))]),
        Message::assistant([Part::text("Done.")]),
    ]);
    let body = sent_to_claude(messages.clone());
    assert_eq!(body["messages"][1], first(marked("Go on")));
    let image = media("image/png", PNG, None);
    messages.push(Message::user([Part::text("See"), image]));
    messages.push(Message::system("Now."));
    let body = sent_to_claude(messages);
    assert_eq!(body["messages"][0], system);
    assert_eq!(body["messages"][1], first(plain("Go on")));
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"][0], marked("See"));
    assert_eq!(last["content"][1]["type"], "image_url");
    assert_eq!(last["content"][2]["type"], "text");
    assert_eq!(last["content"][2].get("cache_control"), None);
    let (_, other) = sent_to(
        CompatibleServer::OpenRouter,
        vec![Message::user([Part::text("Go")])],
    );
    assert_eq!(other["messages"][0]["content"], "Go");
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
    let (_, body) = sent_to(CompatibleServer::Copilot, messages());
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
    let (headers, _) = sent_to(
        CompatibleServer::Copilot,
        vec![user(), Message::system("Now.")],
    );
    assert_eq!(headers, pairs(&[intent, ("x-initiator", "user")]));
    let by_agent = LlmRequest {
        is_by_agent: true,
        ..request_to(at(CompatibleServer::Copilot), vec![user()])
    };
    let wire = protocol::adapter(ProtocolId::OpenAiChat).encode(&by_agent);
    let headers = wire.unwrap().headers;
    assert_eq!(headers, pairs(&[intent, ("x-initiator", "agent")]));
    let (headers, body) = sent_to(CompatibleServer::Copilot, turn(vec![text("t")]));
    assert_eq!(headers, pairs(&[intent, ("x-initiator", "agent")]));
    assert_eq!(body["messages"][1]["reasoning_text"], "Hm.");
    assert_eq!(body["messages"][1]["reasoning_opaque"], "sealed");
    let (headers, _) = sent_to(CompatibleServer::Copilot, turn(vec![file("image/png")]));
    let vision = ("copilot-vision-request", "true");
    assert_eq!(headers, pairs(&[intent, ("x-initiator", "agent"), vision]));
}

#[test]
fn each_server_has_its_own_extensions() {
    let at = |server: Option<CompatibleServer>| {
        let model = model(|model| model.compatibility.compatible_server = server);
        let request = request_to(model, vec![Message::user([Part::text("Go")])]);
        let wire = protocol::adapter(ProtocolId::OpenAiChat)
            .encode(&request)
            .unwrap();
        let body: Value = serde_json::from_slice(&wire.body).unwrap();
        (wire.headers.len(), body.get("usage").is_some())
    };
    assert_eq!(at(Some(CompatibleServer::OpenRouter)), (0, true));
    assert_eq!(at(Some(CompatibleServer::Copilot)), (2, false));
    assert_eq!(at(None), (0, false));
}
