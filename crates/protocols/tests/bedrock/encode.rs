//! Requests.

use super::*;

#[test]
fn a_request_has_its_system_text_tools_marks_and_settings() {
    let mut request = request(vec![Message::user([Part::text("hi")])]);
    request.system = vec![SystemPart::new("one"), SystemPart::new("two")];
    request.tools = Arc::new([tool()]);
    request.tool_choice = Some(ToolChoice::Auto);
    request.generation.temperature = Some(0.5);
    request.generation.stop = Some(vec!["END".into()]);
    request.generation.top_k = Some(7);
    let mark = json!({"cachePoint": {"type": "default"}});
    let wire = wire(&request);
    assert_eq!(
        wire.path,
        "/model/us.anthropic.claude-sonnet-4-5-v1%3A0/converse-stream"
    );
    assert_eq!(
        serde_json::from_slice::<Value>(&wire.body).unwrap(),
        json!({
            "system": [{"text": "one"}, {"text": "two"}, mark],
            "messages": [{"role": "user", "content": [{"text": "hi"}, mark]}],
            "toolConfig": {
                "tools": [
                    {"toolSpec": {"name": "read", "description": "d", "inputSchema": {"json": {"type": "object"}}}},
                    mark,
                ],
                "toolChoice": {"auto": {}},
            },
            "inferenceConfig": {"maxTokens": 8000, "temperature": 0.5, "stopSequences": ["END"]},
            "additionalModelRequestFields": {"top_k": 7},
        })
    );
}

#[test]
fn marks_stand_only_where_the_model_accepts_them() {
    for (id, in_texts, in_tools) in [
        (CLAUDE, true, true),
        ("anthropic.claude-3-5-haiku-20241022-v1:0", true, true),
        ("anthropic.claude-3-5-sonnet-20240620-v1:0", false, false),
        ("us.amazon.nova-pro-v1:0", true, false),
        ("meta.llama3-70b-v1:0", false, false),
    ] {
        let mut request = request_to(id, vec![Message::user([Part::text("hi")])]);
        request.tools = Arc::new([tool()]);
        let body = body(&request);
        let has = |member: &str| body[member].to_string().contains("cachePoint");
        let found = (has("messages"), has("toolConfig"));
        assert_eq!(found, (in_texts, in_tools), "{id}");
    }
}

#[test]
fn calls_in_the_history_need_a_tool() {
    let history = vec![
        Message::user([Part::text("read")]),
        Message::assistant([call("c")]),
        result("c", ToolResultValue::Text("one".into())),
    ];
    let sent = body(&request_to("amazon.titan-x", history));
    let tools = &sent["toolConfig"]["tools"];
    assert_eq!(tools[0]["toolSpec"]["name"], "unavailable");
    assert_eq!(tools.as_array().map(Vec::len), Some(1));
    let block = &sent["messages"][2]["content"][0]["toolResult"];
    assert!(block["status"].is_null(), "{block}");
    let without = body(&request(vec![Message::user([Part::text("hi")])]));
    assert!(without["toolConfig"].is_null(), "{without}");
}

#[test]
fn long_ids_and_absent_descriptions_are_replaced() {
    let id = "x".repeat(100);
    let history = vec![
        Message::user([Part::text("read")]),
        Message::assistant([call(&id)]),
        result(&id, ToolResultValue::Text("one".into())),
    ];
    let mut request = request(history);
    let mut tool = tool();
    tool.description = String::new();
    request.tools = Arc::new([tool]);
    let sent = body(&request);
    let called = &sent["messages"][1]["content"][0]["toolUse"]["toolUseId"];
    assert_eq!(called.as_str().map(str::len), Some(64));
    let answered = &sent["messages"][2]["content"][0]["toolResult"]["toolUseId"];
    assert_eq!(answered, called);
    let spec = &sent["toolConfig"]["tools"][0]["toolSpec"];
    assert_eq!(spec["description"], "read");
}

#[test]
fn reasoning_has_the_form_of_the_model_and_excludes_sampling() {
    let config = json!({"type": "enabled", "budgetTokens": 2000});
    let with = |id: &str, config: &Value| {
        let mut request = request_to(id, vec![Message::user([Part::text("hi")])]);
        request.generation.max_tokens = Some(1000);
        request.generation.temperature = Some(1.0);
        request.provider_options = map(json!({"bedrock": {
            "reasoningConfig": config, "additionalModelRequestFields": {"own": 1},
        }}));
        let mut body = body(&request);
        (
            body["inferenceConfig"].take(),
            body["additionalModelRequestFields"].take(),
        )
    };
    assert_eq!(
        with(CLAUDE, &config),
        (
            json!({"maxTokens": 3000}),
            json!({"thinking": {"type": "enabled", "budget_tokens": 2000}, "own": 1}),
        )
    );
    let effort = json!({"type": "enabled", "maxReasoningEffort": "low"});
    let limit = json!({"maxTokens": 1000});
    assert_eq!(
        with(CLAUDE, &effort),
        (
            limit.clone(),
            json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}, "own": 1}),
        )
    );
    assert_eq!(
        with("amazon.nova-2-lite-v1:0", &effort),
        (limit.clone(), json!({"reasoningConfig": effort, "own": 1}))
    );
    assert_eq!(
        with("openai.gpt-oss-120b-1:0", &effort),
        (limit, json!({"reasoning_effort": "low", "own": 1}))
    );
}

#[test]
fn a_turn_with_a_call_goes_back_in_the_order_of_the_server() {
    let history = vec![
        Message::user([Part::text("read")]),
        Message::assistant([
            reasoning("Hm.", json!({"signature": "S"})),
            call("a.b"),
            Part::text("Reading."),
            reasoning("", json!({"redactedData": "R"})),
        ]),
        result("a.b", ToolResultValue::Text("one".into())),
        result("c", ToolResultValue::Error(json!("no"))),
        Message::system("a < b"),
    ];
    let sent = messages(&request(history));
    assert_eq!(
        sent,
        json!([
            {"role": "user", "content": [{"text": "read"}]},
            {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "S"}}},
                {"text": "Reading."},
                {"reasoningContent": {"redactedContent": "R"}},
                {"toolUse": {"toolUseId": "a_b", "name": "read", "input": {"path": "a"}}},
            ]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "a_b", "content": [{"text": "one"}], "status": "success"}},
                {"toolResult": {"toolUseId": "c", "content": [{"text": "no"}], "status": "error"}},
                {"text": "<system-update>\na &lt; b\n</system-update>"},
            ]},
        ])
    );
}

const JPEG: &str = "/9j/4AAQ";

#[test]
fn files_have_formats_and_names_that_the_server_accepts() {
    let media = |media_type: &str, filename: Option<&str>| {
        let data = match media_type {
            "application/pdf" => PDF,
            "image/jpg" => JPEG,
            _ => PNG,
        };
        Part::Media(Media {
            media_type: media_type.into(),
            data: data.into(),
            filename: filename.map(str::to_owned),
        })
    };
    let history = vec![
        Message::user([
            media("image/jpg", None),
            media("application/pdf", Some("my report_v2.pdf")),
            media("application/pdf", Some("my report_v2.pdf")),
            media("text/csv", Some("a.csv")),
            Part::text("  "),
        ]),
        Message::assistant([call("c")]),
        result(
            "c",
            ToolResultValue::Content(vec![ToolContent::File {
                uri: format!("data:image/png;base64,{PNG}"),
                mime: "image/png".into(),
                name: None,
            }]),
        ),
    ];
    let sent = messages(&request(history));
    assert_eq!(
        sent[0]["content"],
        json!([
            {"image": {"format": "jpeg", "source": {"bytes": JPEG}}},
            {"document": {"format": "pdf", "name": "my-report-v2", "source": {"bytes": PDF}}},
            {"document": {"format": "pdf", "name": "my-report-v2-2", "source": {"bytes": PDF}}},
            {"text": "[The attachment \"a.csv\" (text/csv) cannot be read by this model.]"},
        ])
    );
    let alike = vec![Message::user([
        media("application/pdf", Some("a-2.pdf")),
        media("application/pdf", Some("a.pdf")),
    ])];
    let alike = &messages(&request(alike))[0]["content"];
    let names = [0, 1].map(|at| alike[at]["document"]["name"].clone());
    assert_eq!(names, ["a-2-1", "a-2"]);
    let alone = vec![Message::user([media("application/pdf", None)])];
    let alone = &messages(&request(alone))[0]["content"];
    assert_eq!(alone[1]["text"], "The user attached a document.");
    assert_eq!(
        sent[2]["content"][0]["toolResult"]["content"],
        json!([{"image": {"format": "png", "source": {"bytes": PNG}}}])
    );
}

#[test]
fn a_conversation_begins_and_ends_with_the_user() {
    let sent = messages(&request(vec![Message::assistant([Part::text("Hello.")])]));
    let said = |role: &str, text: &str| json!({"role": role, "content": [{"text": text}]});
    let expected = [
        said("user", "Continue."),
        said("assistant", "Hello."),
        said("user", "Continue."),
    ];
    assert_eq!(sent, json!(expected));
}
