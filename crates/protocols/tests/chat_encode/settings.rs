//! The parts of a request other than messages, and the needs of single servers.

use super::*;

#[test]
fn tools_and_choices() {
    let tools: Arc<[ToolDefinition]> = Arc::new([ToolDefinition {
        name: "read".into(),
        description: "Reads.".into(),
        input_schema:
            json!({"$schema": "x", "type": "object", "properties": {"path": {"type": "string"}}})
                .into(),
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
        request.provider_options = map(json!({"openai": {"parallelToolCalls": false}}));
        request.tools = Arc::clone(&tools);
        request.tool_choice = choice;
        let body = body(&request);
        assert_eq!(body["parallel_tool_calls"], json!(false));
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
    without.provider_options = map(json!({"openai": {"parallelToolCalls": false}}));
    without.tool_choice = Some(ToolChoice::None);
    assert_eq!(
        body(&without),
        json!({"model": "m1", "messages": [], "stream": true, "stream_options": {"include_usage": true}})
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
        "reasoningEffort": "max", "serviceTier": "flex", "textVerbosity": "low"
    }}));
    request.http.body = map(json!({"extra": {"b": 2}}));
    assert_eq!(
        body(&request),
        json!({"model": "m1", "messages": [], "stream": true, "stream_options": {"include_usage": true},
            "max_tokens": 20, "temperature": 0.5, "frequency_penalty": 0.25, "presence_penalty": 0.75,
            "seed": -1, "stop": ["END"], "store": false, "service_tier": "flex",
            "verbosity": "low", "reasoning_effort": "max",
            "extra": {"a": 1, "b": 2}})
    );
}

#[test]
fn openai_reasoning_models_have_special_rules() {
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
            vec![Message::assistant([reasoning("r", None), Part::text("R.")])],
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
        json!({"role": "assistant", "content": "R.", "reasoning": "r"})
    );
}

#[test]
fn deepseek_always_receives_the_reasoning_member() {
    let deepseek = model(|model| model.id = "deepseek-v4".into());
    let wire = body(&request_to(
        deepseek,
        vec![Message::assistant([Part::text("R.")])],
    ));
    assert_eq!(
        wire["messages"][0],
        json!({"role": "assistant", "content": "R.", "reasoning_content": ""})
    );
}

#[test]
fn mistral_receives_short_identifiers_and_a_bridge() {
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
