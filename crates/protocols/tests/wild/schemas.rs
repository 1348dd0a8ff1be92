//! The input schemas of tools, as each group of providers gets them.

use std::collections::BTreeMap;
use std::sync::Arc;

use opencode_llm::{
    LlmEvent, LlmRequest, Message, NormalSchema, Part, ProtocolId, ResolvedModel, Sources,
    ToolDefinition,
};
use opencode_protocols::adapter;
use serde_json::{Value, json};

use super::corpus::check_each;

/// A file: a schema, what is sent, and what answers mean.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Schema {
    #[expect(dead_code, reason = "checked for every kind of file")]
    about: Value,
    #[expect(dead_code, reason = "checked for every kind of file")]
    reported: Value,
    schema: Value,
    /// Arguments that the tool accepts. Each form must admit them.
    #[serde(default)]
    admits: Vec<Value>,
    /// The forms, by the names of providers. Others are not compared.
    #[serde(default)]
    sent: BTreeMap<String, Value>,
    /// Arguments of a call as a model gives them, by the names of providers, and what the tool gets.
    #[serde(default)]
    answers: BTreeMap<String, Vec<(Value, Value)>>,
    /// The sentences about the schema.
    #[serde(default)]
    simplified: Vec<String>,
}

/// The providers by their names in the files.
fn models() -> [(&'static str, ResolvedModel); 6] {
    let model =
        |provider, id, protocol| ResolvedModel::new(provider, id, protocol, "http://localhost:1");
    [
        ("openai", model("openai", "gpt-5", ProtocolId::OpenAiChat)),
        (
            "responses",
            model("openai", "gpt-5", ProtocolId::OpenAiResponses),
        ),
        (
            "anthropic",
            model("anthropic", "claude", ProtocolId::AnthropicMessages),
        ),
        (
            "bedrock",
            model(
                "amazon-bedrock",
                "anthropic.claude",
                ProtocolId::BedrockConverse,
            ),
        ),
        (
            "gemini",
            model("google", "gemini-3-pro", ProtocolId::Gemini),
        ),
        (
            "moonshot",
            model("moonshotai", "kimi-k2", ProtocolId::OpenAiChat),
        ),
    ]
}

fn request(model: ResolvedModel, schema: &Value) -> LlmRequest {
    let mut request = LlmRequest::new(Arc::new(model));
    request.messages = Arc::new(vec![Message::user([Part::text("Go.")])]);
    request.tools = Arc::from([ToolDefinition {
        name: "tool".to_owned(),
        description: "d".to_owned(),
        input_schema: NormalSchema::of(schema).schema.into(),
    }]);
    request
}

/// Returns the form in the body of a request.
fn sent(request: &LlmRequest) -> Value {
    let wire = adapter(request.model.protocol).encode(request).unwrap();
    let body: Value = serde_json::from_slice(&wire.body).unwrap();
    let places = [
        "/tools/0/function/parameters",
        "/tools/0/parameters",
        "/tools/0/input_schema",
        "/toolConfig/tools/0/toolSpec/inputSchema/json",
        "/tools/0/functionDeclarations/0/parameters",
    ];
    let found = places.iter().find_map(|place| body.pointer(place));
    found.cloned().unwrap_or_default()
}

/// Returns the arguments that the tool gets if the model answers with a call.
fn received(request: &LlmRequest, arguments: &Value) -> Value {
    let text = arguments.to_string();
    let frames = match request.model.protocol {
        ProtocolId::Gemini => vec![json!({"candidates": [{"content": {"parts": [
            {"functionCall": {"name": "tool", "args": arguments}}]}, "finishReason": "STOP"}]})],
        ProtocolId::AnthropicMessages => vec![
            json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}),
            json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "tool_use", "id": "c", "name": "tool", "input": {}}}),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": text}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}}),
            json!({"type": "message_stop"}),
        ],
        _ => vec![json!({"choices": [{"index": 0, "delta": {"tool_calls": [
            {"index": 0, "id": "c", "function": {"name": "tool", "arguments": text}}]},
            "finish_reason": "tool_calls"}]})],
    };
    let stream: String = frames
        .iter()
        .map(|frame| format!("data: {frame}\n\n"))
        .collect();
    let mut decoder = adapter(request.model.protocol).decoder(request, &Sources::default());
    let mut events = Vec::new();
    decoder.push(stream.as_bytes(), &mut events).unwrap();
    decoder.end(&mut events).unwrap();
    let call = events.into_iter().find_map(|event| match event {
        LlmEvent::ToolCall { input, .. } => Some(input),
        _ => None,
    });
    call.unwrap_or_default()
}

/// Reads the form of Google as JSON Schema, in which `nullable` has no meaning.
fn as_json_schema(form: &Value) -> Value {
    match form {
        Value::Array(items) => items.iter().map(as_json_schema).collect(),
        Value::Object(members) => {
            let members = members.iter().filter(|(name, _)| *name != "nullable");
            let members = members.map(|(name, value)| (name.clone(), as_json_schema(value)));
            let schema = Value::Object(members.collect());
            match form.get("nullable") {
                Some(Value::Bool(true)) => json!({"anyOf": [schema, {"type": "null"}]}),
                _ => schema,
            }
        }
        scalar => scalar.clone(),
    }
}

#[test]
fn schemas() {
    check_each("schemas", |it: Schema| {
        let normal = NormalSchema::of(&it.schema);
        if normal.simplified != it.simplified {
            return Err(format!("`simplified` is {:#?}", normal.simplified));
        }
        for (name, model) in models() {
            let request = request(model, &it.schema);
            let form = sent(&request);
            if let Some(expected) = it.sent.get(name).filter(|expected| **expected != form) {
                return Err(format!("{name} gets {form}, and not {expected}"));
            }
            let form = as_json_schema(&form);
            let admitting = jsonschema::draft202012::new(&form);
            let admitting = admitting.map_err(|error| format!("{name} gets no schema: {error}"))?;
            // Arguments that a form writes in another way are in `answers`.
            let written = it.answers.get(name);
            let answers = written.map(Vec::as_slice).unwrap_or_default();
            let as_is = it.admits.iter().filter(|_| written.is_none());
            let given = answers.iter().map(|(given, _)| given);
            if let Some(refused) = as_is.chain(given).find(|given| !admitting.is_valid(given)) {
                return Err(format!("{name} gets {form}, which refuses {refused}"));
            }
            for (given, expected) in answers {
                let got = received(&request, given);
                if got != *expected {
                    return Err(format!("{name}: {given} becomes {got}, and not {expected}"));
                }
            }
        }
        Ok(())
    });
}
