//! What a canonical request becomes on the wire of OpenAI Chat Completions.

use std::sync::Arc;

use opencode_llm::{
    Auth, Capabilities, GenerationControls, JsonMap, LlmError, LlmRequest, Media, Message, Part,
    ProtocolId, ReasoningPart, ResolvedModel, Role, Secret, SystemPart, SystemRole, ToolCallPart,
    ToolChoice, ToolContent, ToolDefinition, ToolResultPart, ToolResultValue, protocol,
};
use serde_json::{Value, json};

const PNG: &str = "iVBORw0KGgo=";

fn model(change: impl FnOnce(&mut ResolvedModel)) -> Arc<ResolvedModel> {
    let mut model = ResolvedModel::new(
        "mock",
        "m1",
        ProtocolId::OpenAiChat,
        "http://localhost:1/v1",
    );
    change(&mut model);
    Arc::new(model)
}

fn request(messages: Vec<Message>) -> LlmRequest {
    request_to(model(|_| {}), messages)
}

fn request_to(model: Arc<ResolvedModel>, messages: Vec<Message>) -> LlmRequest {
    LlmRequest {
        messages,
        ..LlmRequest::new(model)
    }
}

fn bytes(request: &LlmRequest) -> Vec<u8> {
    let wire = protocol::adapter(ProtocolId::OpenAiChat)
        .encode(request)
        .unwrap();
    assert_eq!(wire.path, "/chat/completions");
    assert_eq!(wire.headers, []);
    wire.body
}

fn body(request: &LlmRequest) -> Value {
    serde_json::from_slice(&bytes(request)).unwrap()
}

fn wire_messages(messages: Vec<Message>) -> Value {
    body(&request(messages))["messages"].clone()
}

fn refusal(request: &LlmRequest) -> LlmError {
    protocol::adapter(ProtocolId::OpenAiChat)
        .encode(request)
        .unwrap_err()
}

fn map(value: Value) -> JsonMap {
    value.as_object().unwrap().clone()
}

fn call(id: &str, input: Value) -> Part {
    Part::ToolCall(ToolCallPart {
        id: id.into(),
        name: "read".into(),
        input,
        provider_executed: false,
        provider_metadata: None,
    })
}

fn result(id: &str, result: ToolResultValue) -> Part {
    Part::ToolResult(ToolResultPart {
        id: id.into(),
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

fn media(media_type: &str, data: &str, filename: Option<&str>) -> Part {
    Part::Media(Media {
        media_type: media_type.into(),
        data: data.into(),
        filename: filename.map(str::to_owned),
    })
}

fn file(mime: &str) -> ToolContent {
    ToolContent::File {
        uri: format!("data:{mime};base64,{PNG}"),
        mime: mime.into(),
        name: Some("shot".into()),
    }
}

fn image_part() -> Value {
    json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG}")}})
}

fn text(text: &str) -> ToolContent {
    ToolContent::Text { text: text.into() }
}

fn tool_turn() -> Vec<Message> {
    vec![
        Message::user([Part::text("read")]),
        Message::assistant([
            reasoning("Let me.", None),
            Part::text("Reading."),
            call("call_1", json!({"path": "hello.txt"})),
        ]),
        Message::tool([result("call_1", ToolResultValue::Json(json!({"uri": "x"})))]),
    ]
}

#[test]
fn a_tool_turn_is_written_byte_for_byte() {
    let mut request = request_to(
        model(|model| {
            model.body = map(json!({"foo": "bar", "reasoning_effort": "low"}));
        }),
        tool_turn(),
    );
    request.system = vec![
        SystemPart::new("Be brief."),
        SystemPart::new(""),
        SystemPart::new("ü"),
    ];
    let expected = concat!(
        r#"{"model":"m1","messages":[{"role":"system","content":"Be brief.\nü"},"#,
        r#"{"role":"user","content":"read"},"#,
        r#"{"role":"assistant","content":"Reading.","tool_calls":[{"id":"call_1","type":"function","#,
        r#""function":{"name":"read","arguments":"{\"path\":\"hello.txt\"}"}}],"reasoning_content":"Let me."},"#,
        r#"{"role":"tool","tool_call_id":"call_1","content":"{\"uri\":\"x\"}"}],"#,
        r#""stream":true,"stream_options":{"include_usage":true},"foo":"bar","reasoning_effort":"low"}"#,
    );
    assert_eq!(String::from_utf8(bytes(&request)).unwrap(), expected);
}

#[test]
fn tools_and_choices() {
    let tools: Arc<[ToolDefinition]> = Arc::new([ToolDefinition {
        name: "read".into(),
        description: "Reads.".into(),
        input_schema: json!({"$schema": "x", "type": "object", "properties": {"path": {"type": "string"}}}),
    }]);
    let rows = [
        (None, Value::Null),
        (Some(ToolChoice::Auto), json!("auto")),
        (Some(ToolChoice::None), json!("none")),
        (Some(ToolChoice::Required), json!("required")),
        (
            Some(ToolChoice::Tool("read".into())),
            json!({"type": "function", "function": {"name": "read"}}),
        ),
    ];
    for (choice, expected) in rows {
        let mut request = request(vec![]);
        request.tools = Arc::clone(&tools);
        request.tool_choice = choice;
        let body = body(&request);
        assert_eq!(
            body.get("tool_choice").cloned().unwrap_or_default(),
            expected
        );
        assert_eq!(
            body["tools"],
            json!([{"type": "function", "function": {"name": "read", "description": "Reads.",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}}])
        );
    }
    let mut without = request(vec![]);
    without.tool_choice = Some(ToolChoice::None);
    assert_eq!(
        body(&without),
        json!({"model": "m1", "messages": [], "stream": true, "stream_options": {"include_usage": true}})
    );
}

#[test]
fn user_content() {
    let pdf = format!("data:application/pdf;base64,{PNG}");
    let rows = [
        (vec![Part::text("a"), Part::text("b")], json!("ab")),
        (
            vec![Part::text("see"), media("image/png", PNG, None)],
            json!([{"type": "text", "text": "see"}, image_part()]),
        ),
        (
            vec![media(
                "image/png",
                &format!("data:image/png;base64,{PNG}"),
                None,
            )],
            json!([image_part()]),
        ),
        (
            vec![
                Part::text("see"),
                media("application/pdf", &pdf, Some("a.pdf")),
                Part::text("ok"),
            ],
            json!(
                "see\n[The attachment \"a.pdf\" (application/pdf) cannot be read by this model.]\nok"
            ),
        ),
        (
            vec![
                media("image/png", "file:///a.png", None),
                media("image/png", PNG, None),
            ],
            json!([
                {"type": "text", "text": "[An attachment of type image/png cannot be read by this model.]"},
                image_part()
            ]),
        ),
        (
            vec![media("text/plain", "data:text/plain;base64,AAAA", None)],
            json!("[An attachment of type text/plain cannot be read by this model.]"),
        ),
    ];
    for (parts, expected) in rows {
        assert_eq!(
            wire_messages(vec![Message::user(parts)]),
            json!([{"role": "user", "content": expected}])
        );
    }
    assert_eq!(wire_messages(vec![Message::user([])]), json!([]));
}

#[test]
fn files_follow_the_capabilities() {
    let able = |input: &[&str]| {
        let input = input.iter().map(|kind| (*kind).to_owned()).collect();
        model(|model| {
            model.capabilities = Capabilities {
                input,
                ..Capabilities::default()
            };
        })
    };
    let parts = [
        media("application/pdf", PNG, Some("a.pdf")),
        media("image/png", PNG, None),
    ];
    let content = |model| {
        body(&request_to(model, vec![Message::user(parts.clone())]))["messages"][0]["content"]
            .clone()
    };
    assert_eq!(
        content(able(&["text", "image", "pdf"])),
        json!([
            {"type": "file", "file": {"filename": "a.pdf", "file_data": format!("data:application/pdf;base64,{PNG}")}},
            image_part()
        ])
    );
    assert_eq!(
        content(able(&["text"])),
        json!(
            "[The attachment \"a.pdf\" (application/pdf) cannot be read by this model.]\n\
               [An attachment of type image/png cannot be read by this model.]"
        )
    );
}

#[test]
fn assistant_content() {
    let hosted = Part::ToolCall(ToolCallPart {
        id: "ws_1".into(),
        name: "web_search".into(),
        input: json!({}),
        provider_executed: true,
        provider_metadata: None,
    });
    let rows = [
        (
            vec![Part::text("Deep."), Part::text(""), Part::text("R.")],
            json!([{"role": "assistant", "content": "Deep.\nR."}]),
        ),
        (
            vec![reasoning("a", None), reasoning("b", None)],
            json!([{"role": "assistant", "content": null, "reasoning_content": "ab"}]),
        ),
        (
            vec![call("a", json!({})), call("b", json!("raw"))],
            json!([{"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "read", "arguments": "\"raw\""}}
            ]}]),
        ),
        (
            vec![
                reasoning("thought", Some(json!({"anthropic": {"signature": "s"}}))),
                Part::text("R."),
            ],
            json!([{"role": "assistant", "content": "thought\nR."}]),
        ),
        (
            vec![reasoning(
                "thought",
                Some(json!({"openai": {}, "anthropic": {}})),
            )],
            json!([{"role": "assistant", "content": null, "reasoning_content": "thought"}]),
        ),
        (
            vec![reasoning(
                "",
                Some(json!({"anthropic": {"redactedData": "x"}})),
            )],
            json!([]),
        ),
        (
            vec![hosted.clone(), Part::text("R.")],
            json!([{"role": "assistant", "content": "R."}]),
        ),
        (vec![hosted], json!([])),
        (vec![], json!([])),
    ];
    for (parts, expected) in rows {
        assert_eq!(wire_messages(vec![Message::assistant(parts)]), expected);
    }
}

#[test]
fn tool_results() {
    let rows = [
        (ToolResultValue::Text("plain".into()), "plain"),
        (
            ToolResultValue::Json(json!({"b": 1, "a": [true]})),
            r#"{"b":1,"a":[true]}"#,
        ),
        (ToolResultValue::Json(json!("text")), r#""text""#),
        (ToolResultValue::Error(json!("no")), "no"),
        (
            ToolResultValue::Error(
                json!({"error": {"type": "unknown", "message": "no"}, "content": [], "structured": {}}),
            ),
            r#"{"error":{"type":"unknown","message":"no"},"content":[],"structured":{}}"#,
        ),
        (ToolResultValue::Content(vec![text("a"), text("b")]), "a\nb"),
        (ToolResultValue::Content(vec![]), ""),
        (
            ToolResultValue::Content(vec![text("a"), file("video/mp4")]),
            "a\n[The attachment \"shot\" (video/mp4) cannot be read by this model.]",
        ),
    ];
    for (value, expected) in rows {
        assert_eq!(
            wire_messages(vec![Message::tool([result("c", value)])]),
            json!([{"role": "tool", "tool_call_id": "c", "content": expected}])
        );
    }
}

#[test]
fn images_of_results_follow_the_whole_run() {
    let run = || {
        vec![
            Message::assistant([call("a", json!({})), call("b", json!({}))]),
            Message::tool([result(
                "a",
                ToolResultValue::Content(vec![text("one"), file("image/png")]),
            )]),
            Message::tool([result(
                "b",
                ToolResultValue::Content(vec![file("image/png")]),
            )]),
        ]
    };
    let tools = [
        json!({"role": "tool", "tool_call_id": "a", "content": "one"}),
        json!({"role": "tool", "tool_call_id": "b", "content": ""}),
    ];
    let images = json!({"role": "user", "content": [image_part(), image_part()]});
    let rows = [
        (vec![], vec![images.clone()]),
        (
            vec![Message::user([Part::text("next")])],
            vec![images.clone(), json!({"role": "user", "content": "next"})],
        ),
        (
            vec![Message::assistant([Part::text("seen")])],
            vec![
                images.clone(),
                json!({"role": "assistant", "content": "seen"}),
            ],
        ),
        (
            vec![Message::system("now")],
            vec![
                json!({"role": "user", "content": [image_part(), image_part(),
                {"type": "text", "text": "<system-update>\nnow\n</system-update>"}]}),
            ],
        ),
    ];
    for (more, expected) in rows {
        let wire = wire_messages([run(), more].concat());
        assert_eq!(wire.as_array().unwrap()[1..3], tools);
        assert_eq!(wire.as_array().unwrap()[3..], expected);
    }
}

#[test]
fn system_updates_join_the_user_message_before_them() {
    let update = "<system-update>\na &lt;b&gt;\n</system-update>";
    let user = |content: Value| json!({"role": "user", "content": content});
    let rows = [
        (
            vec![
                Message::user([Part::text("hi")]),
                Message::system("a <b>"),
                Message::system("a <b>"),
            ],
            json!([user(json!(format!("hi\n{update}\n{update}")))]),
        ),
        (
            vec![
                Message::user([media("image/png", PNG, None)]),
                Message::system("a <b>"),
            ],
            json!([user(
                json!([image_part(), {"type": "text", "text": update}])
            )]),
        ),
        (
            vec![Message::system("a <b>"), Message::user([Part::text("hi")])],
            json!([user(json!(update)), user(json!("hi"))]),
        ),
        (
            vec![
                Message::user([Part::text("hi")]),
                Message::assistant([]),
                Message::system("a <b>"),
            ],
            json!([user(json!("hi")), user(json!(update))]),
        ),
        (
            vec![
                Message::tool([result("c", ToolResultValue::Text("r".into()))]),
                Message::system("a <b>"),
            ],
            json!([{"role": "tool", "tool_call_id": "c", "content": "r"}, user(json!(update))]),
        ),
        (
            vec![Message::new(
                Role::System,
                [Part::text("a"), Part::text("b")],
            )],
            json!([user(json!("<system-update>\na\nb\n</system-update>"))]),
        ),
    ];
    for (messages, expected) in rows {
        assert_eq!(wire_messages(messages), expected);
    }
}

#[test]
fn the_last_instruction_of_a_toolless_step_stays_with_the_assistant() {
    let messages = vec![
        Message::user([Part::text("hi")]),
        Message::assistant([Part::text("Sum up.")]),
    ];
    assert_eq!(
        wire_messages(messages),
        json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Sum up."}])
    );
}

#[test]
fn impossible_requests_are_refused() {
    let rows = [
        (
            vec![Message::user([call("c", json!({}))])],
            "user messages cannot contain tool-call parts",
        ),
        (
            vec![
                Message::assistant([call("c", json!({}))]),
                Message::system("now"),
                Message::tool([result("c", ToolResultValue::Text("r".into()))]),
            ],
            "a system message cannot stand between a tool call and its result",
        ),
    ];
    for (messages, expected) in rows {
        let error = refusal(&request(messages));
        assert_eq!(
            (error.to_string().as_str(), error.status()),
            (expected, None)
        );
    }
    let overlaid = request_to(
        model(|model| model.body = map(json!({"messages": [], "x": 1}))),
        vec![],
    );
    assert_eq!(
        refusal(&overlaid).to_string(),
        "http.body cannot overlay protocol-owned field(s): messages"
    );
}

#[test]
fn generation_controls_and_options_merge_in_order() {
    let mut request = request_to(
        model(|model| {
            model.generation = GenerationControls {
                max_tokens: Some(10),
                temperature: Some(0.5),
                seed: Some(-1),
                top_k: Some(5),
                ..GenerationControls::default()
            };
            model.provider_options = map(json!({
                "openai": {"store": false, "reasoningEffort": "low", "promptCacheKey": "ses_1"},
                "google": {"store": true}
            }));
            model.body = map(json!({"extra": {"a": 1, "b": 1}}));
        }),
        vec![],
    );
    request.generation = GenerationControls {
        max_tokens: Some(20),
        top_p: Some(f64::NAN),
        frequency_penalty: Some(0.25),
        presence_penalty: Some(0.75),
        stop: Some(vec!["END".into()]),
        ..GenerationControls::default()
    };
    request.provider_options = map(json!({"openai": {
        "reasoningEffort": "max", "serviceTier": "flex", "parallelToolCalls": false, "textVerbosity": "low"
    }}));
    request.http.body = map(json!({"extra": {"b": 2}}));
    assert_eq!(
        body(&request),
        json!({"model": "m1", "messages": [], "stream": true, "stream_options": {"include_usage": true},
            "max_tokens": 20, "temperature": 0.5, "frequency_penalty": 0.25, "presence_penalty": 0.75,
            "seed": -1, "stop": ["END"], "store": false, "service_tier": "flex",
            "parallel_tool_calls": false, "verbosity": "low", "reasoning_effort": "max",
            "extra": {"a": 1, "b": 2}})
    );
}

#[test]
fn openai_reasoning_models_have_rules_of_their_own() {
    let openai = |effort: &str| {
        let mut request = request_to(
            model(|model| {
                model.id = "gpt-5.2".into();
                model.endpoint.base_url = "https://api.openai.com/v1".into();
                model.auth = Auth::Bearer(Secret::new("sk-test"));
            }),
            vec![],
        );
        request.system = vec![SystemPart::new("Be brief.")];
        request.generation = GenerationControls {
            max_tokens: Some(20),
            temperature: Some(0.5),
            top_p: Some(0.5),
            frequency_penalty: Some(0.5),
            presence_penalty: Some(0.5),
            ..GenerationControls::default()
        };
        request.provider_options = map(json!({"openai": {"reasoningEffort": effort}}));
        request
    };
    assert_eq!(
        body(&openai("xhigh")),
        json!({"model": "gpt-5.2", "messages": [{"role": "developer", "content": "Be brief."}],
            "stream": true, "stream_options": {"include_usage": true},
            "max_completion_tokens": 20, "reasoning_effort": "xhigh"})
    );
    assert_eq!(
        refusal(&openai("max")).to_string(),
        "openai-chat does not support reasoning effort max"
    );
}

#[test]
fn compatibility_switches() {
    let with = |change: fn(&mut ResolvedModel)| {
        let mut request = request_to(
            model(change),
            vec![Message::assistant([reasoning("r", None)])],
        );
        request.system = vec![SystemPart::new("s")];
        body(&request)
    };
    let quiet = with(|model| model.compatibility.usage_chunk = false);
    assert_eq!(quiet.get("stream_options"), None);
    let user = with(|model| model.compatibility.system_role = Some(SystemRole::User));
    assert_eq!(user["messages"][0], json!({"role": "user", "content": "s"}));
    let field = with(|model| model.compatibility.reasoning_field = Some("reasoning".into()));
    assert_eq!(
        field["messages"][1],
        json!({"role": "assistant", "content": null, "reasoning": "r"})
    );
}

#[test]
fn deepseek_gets_the_reasoning_member_always() {
    let deepseek = model(|model| model.id = "deepseek-v4".into());
    let wire = body(&request_to(
        deepseek,
        vec![Message::assistant([Part::text("R.")])],
    ));
    assert_eq!(
        wire["messages"],
        json!([{"role": "assistant", "content": "R.", "reasoning_content": ""}])
    );
}

#[test]
fn mistral_gets_short_identifiers_and_a_bridge() {
    let mistral = || model(|model| model.provider_id = "mistral".into());
    let history = || {
        vec![
            Message::assistant([
                call("call_1", json!({})),
                call("toolu_01AbCdEfGh", json!({})),
            ]),
            Message::tool([
                result("call_1", ToolResultValue::Text("r".into())),
                result(
                    "toolu_01AbCdEfGh",
                    ToolResultValue::Content(vec![file("image/png")]),
                ),
            ]),
        ]
    };
    let calls = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "call10000", "type": "function", "function": {"name": "read", "arguments": "{}"}},
        {"id": "1AbCdEfGh", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    ]});
    let results = [
        json!({"role": "tool", "tool_call_id": "call10000", "content": "r"}),
        json!({"role": "tool", "tool_call_id": "1AbCdEfGh", "content": ""}),
    ];
    let bridge = json!({"role": "assistant", "content": "Done."});
    let images = json!({"role": "user", "content": [image_part()]});
    let expected = json!([calls, results[0], results[1], bridge, images]);
    assert_eq!(
        body(&request_to(mistral(), history()))["messages"],
        expected
    );

    let plain = vec![
        Message::tool([result("call_1", ToolResultValue::Text("r".into()))]),
        Message::user([Part::text("next")]),
    ];
    assert_eq!(
        body(&request_to(mistral(), plain))["messages"],
        json!([results[0], bridge, {"role": "user", "content": "next"}])
    );
}

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
            growing.messages = messages[..end].to_vec();
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
        request.messages = messages[..end].to_vec();
        let written = prefix(&bytes(&request));
        assert!(written.starts_with(&before), "{end}: {written}");
        before = written;
    }
}

#[test]
fn a_different_conversation_is_not_continued() {
    let messages = tool_turn();
    let base = request(messages.clone());
    bytes(&base);
    let fresh = |change: &dyn Fn(&mut LlmRequest)| {
        let mut reused = base.clone();
        change(&mut reused);
        let mut anew = request(messages.clone());
        change(&mut anew);
        assert_eq!(bytes(&reused), bytes(&anew));
    };
    fresh(&|request| request.messages[0] = Message::user([Part::text("other")]));
    fresh(&|request| request.messages.truncate(1));
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
        request.messages.push(Message::tool([Part::text("no")]));
        assert!(
            protocol::adapter(ProtocolId::OpenAiChat)
                .encode(request)
                .is_err()
        );
        request.messages.pop();
    });
}
