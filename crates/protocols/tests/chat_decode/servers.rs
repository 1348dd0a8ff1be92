//! Servers that extend the protocol.

use opencode_llm::{CompatibleServer, ToolContent};

use super::*;

/// The events of a reply of a server.
fn reply_of(server: CompatibleServer, chunks: &[Value]) -> Vec<LlmEvent> {
    let mut model = ResolvedModel::new("mock", "m1", ProtocolId::OpenAiChat, "http://localhost/v1");
    model.compatibility.compatible_server = Some(server);
    let request = LlmRequest::new(Arc::new(model));
    let adapter = protocol::adapter(ProtocolId::OpenAiChat);
    let mut decoder = adapter.decoder(&request, &Sources::default());
    let mut events = Vec::new();
    decoder.push(sse(chunks).as_bytes(), &mut events).unwrap();
    decoder.end(&mut events).unwrap();
    events
}

/// The texts and the metadata of the blocks of reasoning.
fn thoughts(events: &[LlmEvent]) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for event in events {
        match event {
            LlmEvent::ReasoningStart { .. } => found.push((String::new(), Value::Null)),
            LlmEvent::ReasoningDelta { text, .. } => found.last_mut().unwrap().0 += text,
            LlmEvent::ReasoningEnd {
                provider_metadata, ..
            } => {
                found.last_mut().unwrap().1 = json!(provider_metadata);
            }
            _ => {}
        }
    }
    found
}

#[test]
fn openrouter_gives_blocks_that_it_wants_back_and_a_cost() {
    let detail = |detail: Value| delta(json!({"reasoning_details": [detail]}));
    let text = |text: &str| json!({"type": "reasoning.text", "index": 0, "text": text});
    let sealed = json!({"type": "reasoning.encrypted", "index": 1, "data": "x"});
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.25});
    let events = reply_of(
        CompatibleServer::OpenRouter,
        &[
            detail(text("H")),
            detail(text("m.")),
            detail(json!({"type": "reasoning.text", "index": 0, "signature": "S"})),
            delta(json!({"content": "Yes."})),
            detail(sealed.clone()),
            stop("stop"),
            json!({"choices": [], "usage": usage}),
        ],
    );
    let first = json!({"type": "reasoning.text", "index": 0, "text": "Hm.", "signature": "S"});
    let metadata = |block: Value| json!({"openrouter": {"reasoning_details": [block]}});
    assert_eq!(
        thoughts(&events),
        [
            ("Hm.".to_owned(), metadata(first)),
            (String::new(), metadata(sealed)),
        ]
    );
    let Some(LlmEvent::Finish { usage, .. }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(usage.as_ref().unwrap().cost, Some(0.25));
}

#[test]
fn openrouter_returns_images() {
    let image = |url: &str| json!({"type": "image_url", "image_url": {"url": url}});
    let images = [
        image("data:image/webp;base64,UklG"),
        image("https://x.test/a.png"),
        image("file:///etc/passwd"),
        json!("another form"),
    ];
    let events = reply_of(
        CompatibleServer::OpenRouter,
        &[
            delta(json!({"content": "Here."})),
            delta(json!({"images": images})),
            delta(json!({"images": "another form"})),
            stop("stop"),
        ],
    );
    let files: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            LlmEvent::ToolResult { name, output, .. } => Some((&**name, output.clone()?.content)),
            _ => None,
        })
        .collect();
    let file = |uri: &str, mime: &str| {
        let content = ToolContent::File {
            uri: uri.into(),
            mime: mime.into(),
            name: None,
        };
        ("generated_file", vec![content])
    };
    let expected = [
        file("data:image/webp;base64,UklG", "image/webp"),
        file("https://x.test/a.png", "image/*"),
    ];
    assert_eq!(files, expected);
    let Some(LlmEvent::Finish { reason, .. }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(*reason, FinishReason::Stop);
}

#[test]
fn copilot_seals_its_reasoning() {
    let events = reply_of(
        CompatibleServer::Copilot,
        &[
            delta(json!({"reasoning_text": "Hm."})),
            delta(json!({"reasoning_opaque": "sealed"})),
            delta(json!({"content": "Yes."})),
            stop("stop"),
        ],
    );
    let metadata = json!({"copilot": {"reasoning_opaque": "sealed"}});
    assert_eq!(thoughts(&events), [("Hm.".to_owned(), metadata)]);
}

#[test]
fn other_servers_store_no_blocks() {
    let details = json!([{"type": "reasoning.text", "index": 0, "text": "Hm."}]);
    let chunks = [
        delta(json!({ "reasoning_details": details })),
        delta(json!({"content": "Yes."})),
        stop("stop"),
    ];
    let events = events_of(&chunks);
    assert_eq!(thoughts(&events), [("Hm.".to_owned(), Value::Null)]);
}
