//! The parts of a request other than the conversation: sampling, reasoning, tools, contents of the answer.

use opencode_llm::{GenerationControls, HttpOverlay};

use super::*;

const OWN: &str = "https://api.openai.com/v1";

/// Returns the members after the input and the tools.
fn members(request: &LlmRequest) -> Value {
    let mut body = body(request);
    let members = body.as_object_mut().unwrap();
    for known in ["model", "input", "tools", "stream"] {
        members.remove(known);
    }
    body
}

fn hello() -> Vec<Message> {
    vec![Message::user([Part::text("hi")])]
}

#[test]
fn sampling() {
    let all = GenerationControls {
        max_tokens: Some(7),
        temperature: Some(0.5),
        top_p: Some(0.9),
        top_k: Some(40),
        frequency_penalty: Some(1.0),
        presence_penalty: Some(1.0),
        seed: Some(1),
        stop: Some(vec!["x".into()]),
    };
    let mut sampled = request(hello());
    sampled.generation = all.clone();
    assert_eq!(
        members(&sampled),
        json!({"store": false, "max_output_tokens": 7, "temperature": 0.5, "top_p": 0.9})
    );
    let reasoner = model(|model| {
        model.endpoint.base_url = OWN.into();
        model.capabilities.reasoning = true;
    });
    let mut thinking = request_to(reasoner, hello());
    thinking.generation = all;
    assert_eq!(
        members(&thinking),
        json!({"store": false, "include": ["reasoning.encrypted_content"], "max_output_tokens": 7})
    );
}

#[test]
fn options() {
    let rows = [
        (json!({}), json!({"store": false})),
        (
            json!({"store": true, "include": null}),
            json!({"store": true}),
        ),
        (
            json!({"reasoningEffort": "low", "reasoningSummary": "auto", "textVerbosity": "low"}),
            json!({"store": false, "reasoning": {"effort": "low", "summary": "auto"}, "text": {"verbosity": "low"}}),
        ),
        (
            json!({"serviceTier": "flex", "instructions": "i", "promptCacheKey": "k"}),
            json!({"store": false, "prompt_cache_key": "k", "service_tier": "flex", "instructions": "i"}),
        ),
        // The option concerns tools, and this request has none.
        (json!({"parallelToolCalls": false}), json!({"store": false})),
        (
            json!({"include": ["x"]}),
            json!({"store": false, "include": ["x"]}),
        ),
        (
            json!({"reasoningEffort": "max"}),
            json!({"store": false, "reasoning": {"effort": "max"}}),
        ),
    ];
    for (options, expected) in rows {
        assert_eq!(members(&request_with(options, hello())), expected);
    }
    let mut kept = request(hello());
    kept.cache_key = Some("ses_1".into());
    kept.http = HttpOverlay {
        body: map(json!({"truncation": "auto"})),
        ..HttpOverlay::default()
    };
    assert_eq!(
        members(&kept),
        json!({"store": false, "prompt_cache_key": "ses_1", "truncation": "auto"})
    );
    let refused = [
        (json!({"include": "x"}), "include must be an array"),
        (
            json!({"reasoningEffort": 5}),
            "reasoningEffort must be a string",
        ),
    ];
    for (options, complaint) in refused {
        assert_eq!(refusal(&request_with(options, hello())), complaint);
    }
    let mut most = request_with(json!({"reasoningEffort": "max"}), hello());
    most.model = model(|model| model.endpoint.base_url = OWN.into());
    assert_eq!(
        refusal(&most),
        "openai-responses does not support reasoning effort max"
    );
}

#[test]
fn reasoning_is_requested_if_the_model_supports_it() {
    let rows = [
        ("gpt", "http://h/v1", true, json!({}), false),
        ("gpt-5.2", "http://h/v1", false, json!({}), true),
        ("gpt-4.1", OWN, false, json!({}), false),
        ("o9", OWN, true, json!({}), true),
        ("gpt-5.2", OWN, true, json!({"store": true}), false),
        (
            "gpt-5.2",
            OWN,
            true,
            json!({"include": ["reasoning.encrypted_content"]}),
            true,
        ),
    ];
    for (id, base, reasons, options, expected) in rows {
        let mut request = request_with(options, hello());
        request.model = model(|model| {
            model.id = id.into();
            model.endpoint.base_url = base.into();
            model.capabilities.reasoning = reasons;
        });
        let include = expected.then(|| json!(["reasoning.encrypted_content"]));
        assert_eq!(
            body(&request).get("include"),
            include.as_ref(),
            "{id} {base}"
        );
    }
}

#[test]
fn tools_and_tool_choice() {
    let hosted = json!({"hostedTools": [{"type": "web_search"}]});
    let rows = [
        (None, json!({}), json!(null), 1),
        (Some(ToolChoice::Auto), json!({}), json!("auto"), 1),
        (
            Some(ToolChoice::Required),
            hosted.clone(),
            json!("required"),
            2,
        ),
        (
            Some(ToolChoice::Tool("read".into())),
            json!({}),
            json!({"type": "function", "name": "read"}),
            1,
        ),
        (Some(ToolChoice::None), hosted, json!("none"), 1),
    ];
    for (choice, mut options, expected, count) in rows {
        options["parallelToolCalls"] = json!(false);
        let mut request = request_with(options, hello());
        request.tools = Arc::new([tool("read")]);
        request.tool_choice = choice;
        let body = body(&request);
        assert_eq!(body["parallel_tool_calls"], json!(false));
        assert_eq!(
            (
                &body["tool_choice"],
                body["tools"].as_array().unwrap().len()
            ),
            (&expected, count)
        );
        assert_eq!(
            body["tools"][0],
            json!({"type": "function", "name": "read", "description": "d", "strict": false,
                "parameters": {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}})
        );
    }
    let alone = request_with(json!({"hostedTools": [{"type": "web_search"}]}), hello());
    assert_eq!(body(&alone).get("tools"), None);
}

#[test]
fn the_address_and_headers() {
    let wire = wire(&request(hello()));
    assert_eq!(wire.path, "/responses");
    assert_eq!((wire.headers, wire.lists), (vec![], vec![]));
}
