//! Requests.

use super::*;

const UNSIGNED: &str = "skip_thought_signature_validator";

#[test]
fn a_request_has_its_system_text_tools_and_settings() {
    let mut request = request(vec![Message::user([Part::text("hi")])]);
    request.system = vec![
        SystemPart::new("one"),
        SystemPart::new(""),
        SystemPart::new("two"),
    ];
    request.tools = Arc::new([
        tool(json!({"type": "object", "properties": {"path": {"type": "string"}}})),
        tool(json!({"type": "object"})),
    ]);
    request.tool_choice = Some(ToolChoice::Tool("read".into()));
    request.generation.max_tokens = Some(9);
    request.generation.temperature = Some(0.5);
    request.generation.stop = Some(vec!["END".into()]);
    request.provider_options = map(json!({
        "gemini": {"thinkingConfig": {"thinkingBudget": 1, "includeThoughts": true}, "cachedContent": "c/1"},
        "google": {"thinkingConfig": {"thinkingBudget": 2}, "generationConfig": {"candidateCount": 1}},
    }));
    request.http.body = map(json!({"labels": {"a": "b"}}));
    let wire = wire(&request);
    assert_eq!(
        wire.path,
        "/models/gemini-3-pro-preview:streamGenerateContent?alt=sse"
    );
    assert_eq!(
        serde_json::from_slice::<Value>(&wire.body).unwrap(),
        json!({
            "systemInstruction": {"parts": [{"text": "one"}, {"text": "two"}]},
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "tools": [{"functionDeclarations": [
                {"name": "read", "description": "d", "parameters":
                    {"type": "object", "properties": {"path": {"type": "string"}}}},
                {"name": "read", "description": "d"},
            ]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["read"]}},
            "generationConfig": {
                "candidateCount": 1, "maxOutputTokens": 9, "temperature": 0.5, "stopSequences": ["END"],
                "thinkingConfig": {"thinkingBudget": 2, "includeThoughts": true},
            },
            "cachedContent": "c/1",
            "labels": {"a": "b"},
        })
    );
}

#[test]
fn a_tuned_model_has_its_own_path_and_no_tools_are_sent_without_a_choice() {
    let mut request = request_to(
        "tunedModels/mine-1",
        vec![Message::user([Part::text("hi")])],
    );
    request.tools = Arc::new([tool(json!({"type": "object"}))]);
    request.tool_choice = Some(ToolChoice::None);
    let wire = wire(&request);
    assert_eq!(
        wire.path,
        "/tunedModels/mine-1:streamGenerateContent?alt=sse"
    );
    assert_eq!(
        body(&request),
        json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]})
    );
}

#[test]
fn a_structured_output_has_a_native_format() {
    let mut request = request(vec![Message::user([Part::text("hi")])]);
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    request.output = Some(OutputFormat {
        name: "out".into(),
        schema: schema.clone(),
    });
    assert_eq!(
        body(&request)["generationConfig"],
        json!({"responseMimeType": "application/json", "responseJsonSchema": schema})
    );
}

#[test]
fn signatures_and_given_ids_go_back_on_their_parts() {
    let thought = Part::Reasoning(ReasoningPart {
        text: "Hm.".into(),
        provider_metadata: google(json!({"thoughtSignature": "T"})),
    });
    let messages = vec![
        Message::user([Part::text("read")]),
        Message::assistant([
            thought,
            text("Reading.", Some("X")),
            call(
                "fc_1",
                Some(json!({"thoughtSignature": "S", "callId": "fc_1"})),
            ),
            call("call_2", None),
            text("", Some("LAST")),
        ]),
        result("fc_1", ToolResultValue::Text("one".into())),
        result("call_2", ToolResultValue::Error(json!({"error": "no"}))),
        Message::system("a < b"),
    ];
    assert_eq!(
        contents(&request(messages)),
        json!([
            {"role": "user", "parts": [{"text": "read"}]},
            {"role": "model", "parts": [
                {"text": "Hm.", "thought": true, "thoughtSignature": "T"},
                {"text": "Reading.", "thoughtSignature": "X"},
                {"functionCall": {"name": "read", "args": {"path": "a"}, "id": "fc_1"}, "thoughtSignature": "S"},
                {"functionCall": {"name": "read", "args": {"path": "a"}}},
                {"text": "", "thoughtSignature": "LAST"},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "read", "response": {"name": "read", "content": "one"}, "id": "fc_1"}},
                {"functionResponse": {"name": "read", "response": {"name": "read", "content": "{\"error\":\"no\"}"}}},
                {"text": "<system-update>\na &lt; b\n</system-update>"},
            ]},
        ])
    );
}

#[test]
fn calls_of_other_providers_get_the_documented_signature_where_one_is_required() {
    let history = || {
        vec![
            Message::user([Part::text("read")]),
            Message::assistant([call("toolu_1", None), call("toolu_2", None)]),
            result("toolu_1", ToolResultValue::Text("one".into())),
        ]
    };
    let signatures = |id: &str| {
        let sent = contents(&request_to(id, history()));
        let parts = sent[1]["parts"].as_array().unwrap().clone();
        parts
            .into_iter()
            .map(|part| part["thoughtSignature"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(signatures("gemini-3-flash"), [json!(UNSIGNED), Value::Null]);
    assert_eq!(signatures("gemini-2.5-flash"), [Value::Null, Value::Null]);
}

#[test]
fn files_of_results_are_inside_or_beside_the_result() {
    let history = || {
        vec![
            Message::user([
                Part::text("look"),
                Part::Media(Media {
                    media_type: "application/pdf".into(),
                    data: PDF.into(),
                    filename: None,
                }),
            ]),
            Message::assistant([call("c", None)]),
            result(
                "c",
                ToolResultValue::Content(vec![
                    ToolContent::Text { text: "a".into() },
                    image(),
                    ToolContent::File {
                        uri: "data:text/csv;base64,AAAA".into(),
                        mime: "text/csv".into(),
                        name: None,
                    },
                ]),
            ),
        ]
    };
    let note = "a\n[An attachment of type text/csv cannot be read by this model.]";
    let inline = json!({"inlineData": {"mimeType": "image/png", "data": PNG}});
    let response = json!({"name": "read", "content": note});
    let sent = contents(&request_to("gemini-3-pro", history()));
    assert_eq!(
        sent[0]["parts"][1],
        json!({"inlineData": {"mimeType": "application/pdf", "data": PDF}})
    );
    assert_eq!(
        sent[2]["parts"],
        json!([{"functionResponse": {"name": "read", "response": response, "parts": [inline]}}])
    );
    let sent = contents(&request_to("gemini-2.5-pro", history()));
    assert_eq!(
        sent[2]["parts"],
        json!([{"functionResponse": {"name": "read", "response": response}}, inline])
    );
}

#[test]
fn code_of_the_provider_goes_back_with_its_result() {
    let code = json!({"language": "PYTHON", "code": "1+1"});
    let ran = json!({"outcome": "OUTCOME_OK", "output": "2"});
    let hosted = |input: &Value, result: ToolResultValue| {
        let answer = Message::assistant([
            Part::ToolCall(ToolCallPart {
                id: "x".into(),
                name: "code_execution".into(),
                input: input.clone(),
                provider_executed: true,
                provider_metadata: google(json!({"thoughtSignature": "C"})),
            }),
            Part::ToolResult(ToolResultPart {
                id: "x".into(),
                name: "code_execution".into(),
                result,
                provider_executed: true,
                provider_metadata: None,
            }),
            Part::text("2"),
        ]);
        let ask = Message::user([Part::text("1+1?")]);
        contents(&request(vec![ask, answer]))
    };
    for (outcome, is_error) in [
        ("OUTCOME_OK", false),
        ("OUTCOME_FAILED", true),
        ("OUTCOME_DEADLINE_EXCEEDED", true),
    ] {
        let ran = json!({"id": "i", "outcome": outcome, "output": "2"});
        let mut given = ran.clone();
        given["other"] = json!(1);
        let result = match is_error {
            true => ToolResultValue::Error(given),
            false => ToolResultValue::Json(given),
        };
        let sent = hosted(
            &json!({"language": "PYTHON", "code": "1+1", "other": 1}),
            result,
        );
        assert_eq!(
            sent[1]["parts"],
            json!([
                {"executableCode": code, "thoughtSignature": "C"},
                {"codeExecutionResult": ran},
                {"text": "2"},
            ])
        );
        assert_eq!(
            sent[2],
            json!({"role": "user", "parts": [{"text": "Continue."}]})
        );
    }
    let interrupted = json!({"error": {"message": "interrupted"}, "content": [], "structured": {}});
    for (input, result) in [
        (&code, ToolResultValue::Text("odd".into())),
        (&code, ToolResultValue::Error(interrupted)),
        (
            &code,
            ToolResultValue::Json(json!({"outcome": "OUTCOME_UNSPECIFIED"})),
        ),
        (
            &code,
            ToolResultValue::Json(json!({"outcome": "OUTCOME_OK", "output": 2})),
        ),
        (&json!({"code": "1+1"}), ToolResultValue::Json(ran.clone())),
        (&json!("1+1"), ToolResultValue::Json(ran)),
    ] {
        assert_eq!(
            hosted(input, result)[1]["parts"],
            json!([{"text": "2"}]),
            "{input}"
        );
    }
}

#[test]
fn a_conversation_begins_and_ends_with_the_user() {
    let sent = contents(&request(vec![Message::assistant([Part::text("Hello.")])]));
    let said = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
    assert_eq!(
        sent,
        json!([
            said("user", "Continue."),
            said("model", "Hello."),
            said("user", "Continue.")
        ])
    );
    let mut closing = request(vec![Message::user([Part::text("hi")])]);
    closing.closing = Some(Message::assistant([Part::text("In short:")]));
    assert_eq!(
        contents(&closing)[0]["parts"][1]["text"],
        "<system-update>\nIn short:\n</system-update>"
    );
}
