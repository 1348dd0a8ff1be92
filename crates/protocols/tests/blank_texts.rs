//! Texts without visible characters, which some models refuse, do not go to any model.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

#[path = "common/growing.rs"]
mod growing;

use std::sync::Arc;

use opencode_llm::{
    CompatibleServer, LlmRequest, Message, Part, ProtocolId, ReasoningPart, ResolvedModel,
    SystemPart, ToolCallPart, ToolContent, ToolResultPart, ToolResultValue,
};
use opencode_protocols::{self as protocol};
use serde_json::{Value, json};

const BLANK: [&str; 7] = [
    " ",
    "\n",
    "\r\n\t",
    "\u{a0}",
    "\u{200b}",
    "\u{feff}\n",
    "\u{3000}",
];

fn models() -> Vec<Arc<ResolvedModel>> {
    let of = |provider: &str, id: &str, protocol| {
        ResolvedModel::new(provider, id, protocol, "http://localhost:1/v1")
    };
    let mut models: Vec<ResolvedModel> = ProtocolId::ALL
        .into_iter()
        .chain([ProtocolId::Program(0)])
        .map(|protocol| of("p", "claude-sonnet-4.5", protocol))
        .collect();
    let mut copilot = of(
        "github-copilot",
        "claude-sonnet-4.5",
        ProtocolId::OpenAiChat,
    );
    copilot.compatibility.compatible_server = Some(CompatibleServer::Copilot);
    let mut router = of(
        "openrouter",
        "anthropic/claude-sonnet-4.5",
        ProtocolId::OpenAiChat,
    );
    router.compatibility.compatible_server = Some(CompatibleServer::OpenRouter);
    let mistral = of("mistral", "mistral-large", ProtocolId::OpenAiChat);
    models.extend([copilot, router, mistral]);
    models.into_iter().map(Arc::new).collect()
}

fn call(id: &str) -> Part {
    Part::ToolCall(ToolCallPart {
        id: id.into(),
        name: "read".into(),
        input: json!({"path": "a.txt"}),
        provider_executed: false,
        provider_metadata: None,
    })
}

fn result(id: &str, result: ToolResultValue) -> Message {
    Message::tool([Part::ToolResult(ToolResultPart {
        id: id.into(),
        name: "read".into(),
        result,
        provider_executed: false,
        provider_metadata: None,
    })])
}

/// A conversation with a blank text in every place.
fn conversation(blank: &str) -> Vec<Message> {
    let thought = Part::Reasoning(ReasoningPart {
        text: blank.into(),
        provider_metadata: None,
    });
    let piece = ToolContent::Text { text: blank.into() };
    let pieces = vec![piece.clone(), piece];
    vec![
        Message::user([Part::text(blank)]),
        Message::assistant([
            thought.clone(),
            Part::text(blank),
            call("c1"),
            Part::text(blank),
        ]),
        result("c1", ToolResultValue::Text(blank.into())),
        Message::assistant([thought, Part::text(blank)]),
        Message::user([Part::text(blank), Part::text("Go on.")]),
        Message::assistant([Part::text(blank)]),
        Message::system(blank),
        Message::assistant([call("c2")]),
        result("c2", ToolResultValue::Content(pieces)),
        Message::assistant([Part::text(blank), Part::text("Done."), Part::text(blank)]),
        Message::user([Part::text("And?")]),
    ]
}

fn body(model: &Arc<ResolvedModel>, messages: Vec<Message>) -> Value {
    let mut request = LlmRequest::new(Arc::clone(model));
    request.system = vec![SystemPart::new("\n"), SystemPart::new("s")];
    request.messages = messages.into();
    let wire = protocol::adapter(model.protocol).encode(&request).unwrap();
    serde_json::from_slice(&wire.body).unwrap()
}

fn is_blank(text: &str) -> bool {
    let is_invisible = |c| char::is_whitespace(c) || matches!(c, '\u{200b}' | '\u{feff}');
    !text.is_empty() && text.chars().all(is_invisible)
}

/// Returns the texts at any depth.
fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|it| texts(it, found)),
        Value::Object(members) => members.values().for_each(|it| texts(it, found)),
        _ => {}
    }
}

#[test]
fn no_blank_text_goes_to_any_model_and_calls_stay() {
    for model in models() {
        let name = format!("{} {}", model.provider_id, model.protocol.as_str());
        for blank in BLANK {
            let body = body(&model, conversation(blank));
            let mut found = Vec::new();
            texts(&body, &mut found);
            let refused = found.iter().filter(|text| is_blank(text)).count();
            assert_eq!(refused, 0, "{name} {blank:?}: {body}");
            let calls = found.iter().filter(|text| text.contains("a.txt")).count();
            assert_eq!(calls, 2, "{name} {blank:?}: {body}");
            assert!(found.contains(&"Done."), "{name} {blank:?}: {body}");
            // OpenAI refuses a result that is a list without parts.
            let body = body.to_string();
            let is_listed = body.contains(r#""output":[]"#) || body.contains(r#""value":[]"#);
            assert!(!is_listed, "{name} {blank:?}: {body}");
        }
    }
}

#[test]
fn a_message_that_is_blank_still_gives_the_word_to_the_model() {
    for model in models()
        .into_iter()
        .filter(|it| !matches!(it.protocol, ProtocolId::Program(_)))
    {
        let body = body(&model, vec![Message::user([Part::text("\n")])]);
        let mut found = Vec::new();
        texts(&body, &mut found);
        assert!(
            found.contains(&"Continue."),
            "{}: {body}",
            model.provider_id
        );
    }
}

#[test]
fn blank_texts_leave_the_prefix_stable() {
    for model in models() {
        let messages = conversation("\n");
        growing::check_written_as_if_anew(&model, &messages);
        growing::check_prefix_grows(&model, &messages);
    }
}
