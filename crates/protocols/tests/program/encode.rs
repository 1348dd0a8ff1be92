use std::sync::Arc;

use opencode_llm::{
    GenerationControls, JsonMap, LlmRequest, Media, Message, Part, PrefixCache, ReasoningPart,
    SystemPart, ToolCallPart, ToolChoice, ToolContent, ToolDefinition, ToolResultPart,
    ToolResultValue,
};
use opencode_protocols::{self as protocol};
use serde_json::{Value, json};

use super::{model, request_to};

const PNG: &str = "iVBORw0KGgo=";

fn bytes(request: &LlmRequest) -> Vec<u8> {
    let adapter = protocol::adapter(request.model.protocol);
    adapter.encode(request).unwrap().body
}

fn body(request: &LlmRequest) -> Value {
    serde_json::from_slice(&bytes(request)).unwrap()
}

fn messages(messages: Vec<Message>) -> Value {
    body(&request_to(model(|_| {}), messages))["messages"].clone()
}

fn map(value: Value) -> JsonMap {
    value.as_object().unwrap().clone()
}

fn hello() -> Message {
    Message::user([Part::text("hi")])
}

fn result(result: ToolResultValue) -> Part {
    Part::ToolResult(ToolResultPart {
        id: "c1".into(),
        name: "read".into(),
        result,
        provider_executed: false,
        provider_metadata: None,
    })
}

fn reasoning(text: &str, metadata: Option<Value>) -> Part {
    Part::Reasoning(ReasoningPart {
        text: text.into(),
        provider_metadata: metadata.map(map).map(Box::new),
    })
}

#[test]
fn a_request_has_every_setting() {
    let model = model(|model| {
        model.generation.temperature = Some(0.5);
        model.generation.seed = Some(1);
        model.headers = vec![("X-One".into(), "1".into()), ("x-two".into(), "2".into())];
        model.provider_options = map(json!({"program": {"a": {"b": 1}}, "openai": {"c": 1}}));
    });
    let mut request = request_to(model, vec![hello()]);
    request.system = vec![SystemPart::new("one"), SystemPart::new("two")];
    request.tools = Arc::from([ToolDefinition {
        name: "read".into(),
        description: "Reads".into(),
        input_schema: json!({"type": "object"}).into(),
    }]);
    request.tool_choice = Some(ToolChoice::Tool("read".into()));
    request.generation = GenerationControls {
        max_tokens: Some(9),
        temperature: Some(f64::NAN),
        stop: Some(vec!["end".into()]),
        ..GenerationControls::default()
    };
    request.provider_options = map(json!({"program": {"a": {"d": 2}}}));
    request.http.headers = vec![("x-ONE".into(), "3".into())];
    request.cache_key = Some("ses_1".into());
    assert_eq!(
        body(&request),
        json!({
            "model": "m1",
            "messages": [
                {"role": "system", "content": "one\ntwo"},
                {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            ],
            "tools": [{"name": "read", "description": "Reads", "inputSchema": {"type": "object"}}],
            "toolChoice": {"type": "tool", "name": "read"},
            "generation": {"maxTokens": 9, "seed": 1, "stop": ["end"]},
            "options": {"a": {"b": 1, "d": 2}},
            "headers": {"x-one": "3", "x-two": "2"},
            "cacheKey": "ses_1",
        })
    );
}

#[test]
fn parts_keep_the_metadata_of_their_provider() {
    let answer = Message::assistant([
        reasoning("", Some(json!({"anthropic": {"signature": "s"}}))),
        reasoning("", None),
        Part::text(""),
        Part::text("I read."),
        Part::ToolCall(ToolCallPart {
            id: "c1".into(),
            name: "read".into(),
            input: json!({"path": "a"}),
            provider_executed: false,
            provider_metadata: Some(Box::new(map(json!({"google": {"thoughtSignature": "t"}})))),
        }),
    ]);
    let failure = ToolResultValue::Error("no".into());
    let written = messages(vec![hello(), answer, Message::tool([result(failure)])]);
    assert_eq!(
        written[1],
        json!({"role": "assistant", "content": [
            {"type": "reasoning", "text": "", "providerMetadata": {"anthropic": {"signature": "s"}}},
            {"type": "text", "text": "I read."},
            {"type": "tool-call", "id": "c1", "name": "read", "input": {"path": "a"},
             "providerExecuted": false, "providerMetadata": {"google": {"thoughtSignature": "t"}}},
        ]})
    );
    assert_eq!(
        written[2],
        json!({"role": "tool", "content": [{"type": "tool-result", "id": "c1", "name": "read",
            "result": {"type": "error", "value": "no"}, "providerExecuted": false}]})
    );
}

#[test]
fn files_are_base64_or_a_note() {
    let file = |media_type: &str, data: &str, filename: Option<&str>| {
        Part::Media(Media {
            media_type: media_type.into(),
            data: data.into(),
            filename: filename.map(str::to_owned),
        })
    };
    let user = Message::user([
        file("image/png", PNG, None),
        file(
            "image/png",
            &format!("data:image/png;base64,{PNG}"),
            Some("a.png"),
        ),
        file("application/zip", PNG, Some("b.zip")),
    ]);
    let pieces = vec![
        ToolContent::Text {
            text: "here".into(),
        },
        ToolContent::File {
            uri: format!("data:image/png;base64,{PNG}"),
            mime: "image/png".into(),
            name: None,
        },
    ];
    let tool = Message::tool([result(ToolResultValue::Content(pieces))]);
    let written = messages(vec![user, tool]);
    let image = json!({"type": "file", "mediaType": "image/png", "data": PNG});
    let mut named = image.clone();
    named["filename"] = "a.png".into();
    let note = "[The attachment \"b.zip\" (application/zip) cannot be read by this model.]";
    assert_eq!(
        written[0]["content"],
        json!([image, named, {"type": "text", "text": note}])
    );
    assert_eq!(
        written[1]["content"][0]["result"],
        json!({"type": "content", "value": [{"type": "text", "text": "here"}, image]})
    );
}

#[test]
fn updates_of_the_system_context_are_wrapped_unless_the_model_accepts_them() {
    let conversation = || vec![hello(), Message::system("new <rule>")];
    assert_eq!(
        messages(conversation())[1],
        json!({"role": "user", "content": [{"type": "text",
            "text": "<system-update>\nnew &lt;rule&gt;\n</system-update>"}]})
    );
    let native = model(|model| model.compatibility.mid_conversation_system = Some(true));
    let written = body(&request_to(native, conversation()));
    assert_eq!(
        written["messages"][1],
        json!({"role": "system", "content": "new <rule>"})
    );
}

#[test]
fn a_request_never_ends_with_a_finished_answer() {
    let user = |text: &str| json!({"role": "user", "content": [{"type": "text", "text": text}]});
    let answer = || Message::assistant([Part::text("Hi.")]);
    let continued = messages(vec![hello(), answer()]);
    assert_eq!(continued[2], user("Continue."));
    assert_eq!(messages(vec![])[0], user("Continue."));
    let paused = messages(vec![hello(), Message::paused([Part::text("Hi.")])]);
    assert_eq!(paused.as_array().unwrap().len(), 2);
    let mut request = request_to(model(|_| {}), vec![hello(), answer()]);
    request.closing = Some(Message::assistant([Part::text("In short:")]));
    let closed = body(&request)["messages"].clone();
    assert_eq!(closed.as_array().unwrap().len(), 3);
    assert_eq!(
        closed[2],
        user("<system-update>\nIn short:\n</system-update>")
    );
}

#[test]
fn answers_have_a_form_that_strict_providers_accept() {
    let answer = |text: &str| Message::assistant([Part::text(text)]);
    let separated = messages(vec![hello(), answer("One."), answer("Two."), hello()]);
    let roles: Vec<_> = separated
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["role"])
        .collect();
    assert_eq!(
        json!(roles),
        json!(["user", "assistant", "user", "assistant", "user"])
    );

    let thought = Message::assistant([reasoning("Hm.", None)]);
    assert_eq!(
        messages(vec![hello(), thought.clone(), hello()])
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let trailing = Message::assistant([Part::text("One."), reasoning("Hm.", None)]);
    assert_eq!(
        messages(vec![hello(), trailing])[1]["content"]
            .as_array()
            .unwrap()
            .len(),
        1
    );

    let call = Part::ToolCall(ToolCallPart {
        id: "c1".into(),
        name: "functions.read".into(),
        input: json!([1]),
        provider_executed: false,
        provider_metadata: None,
    });
    let written = messages(vec![hello(), Message::assistant([call])]);
    let name = written[1]["content"][0]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(name.starts_with("functions_read_"), "{name}");
    assert_eq!(written[1]["content"][0]["input"], json!({"value": [1]}));
}

#[test]
fn an_empty_message_is_omitted() {
    let empty = Message::user([Part::text("")]);
    let written = messages(vec![empty, hello(), Message::assistant([Part::text("")])]);
    assert_eq!(
        written,
        json!([{"role": "user", "content": [{"type": "text", "text": "hi"}]}])
    );
}

#[test]
fn a_growing_conversation_keeps_its_written_prefix() {
    let mut request = request_to(model(|_| {}), vec![hello()]);
    request.system = vec![SystemPart::new("be brief")];
    let adapter = protocol::adapter(request.model.protocol);
    let first = adapter.prefix(&request, None).unwrap();
    let before = bytes(&request);
    let more = [Message::assistant([Part::text("Hi.")]), hello()];
    Arc::make_mut(&mut request.messages).extend(more);
    let second = adapter.prefix(&request, Some(&first.prefix)).unwrap();
    assert!(second.extends(&first.prefix), "{second:?}");
    let again = LlmRequest {
        prefix: PrefixCache::default(),
        ..request.clone()
    };
    assert_eq!(bytes(&request), bytes(&again));
    let shared = usize::try_from(first.prefix.bytes).unwrap();
    assert_eq!(before[..shared], bytes(&request)[..shared]);
}
