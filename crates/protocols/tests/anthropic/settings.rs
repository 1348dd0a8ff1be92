//! The parts of a request other than the conversation: sampling, thinking, tools, cache marks, headers.

use opencode_llm::{GenerationControls, HttpOverlay};

use super::*;

/// Returns the members after the messages and the tools.
fn members(request: &LlmRequest) -> Value {
    let mut body = body(request);
    let members = body.as_object_mut().unwrap();
    for known in ["model", "messages", "tools", "stream", "system"] {
        members.remove(known);
    }
    body
}

fn hello() -> Vec<Message> {
    vec![Message::user([Part::text("hi")])]
}

#[test]
fn limits_and_sampling() {
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
        json!({"max_tokens": 7, "temperature": 0.5, "top_p": 0.9, "top_k": 40, "stop_sequences": ["x"]})
    );
    let unknown = request_to(model(|model| model.limits.output = 0), hello());
    assert_eq!(members(&unknown), json!({"max_tokens": 4096}));
    for (usual, expected) in [(5_000, 5_000), (32_000, 8_000)] {
        let mut usually = request(hello());
        usually.usual_output = Some(usual);
        assert_eq!(members(&usually), json!({ "max_tokens": expected }));
        usually.generation.max_tokens = Some(9_000);
        assert_eq!(members(&usually), json!({"max_tokens": 9_000}));
    }

    let mut thinking = request_with(
        json!({"thinking": {"type": "enabled", "budgetTokens": 100}}),
        hello(),
    );
    thinking.generation = all;
    assert_eq!(
        members(&thinking),
        json!({"max_tokens": 107, "thinking": {"type": "enabled", "budget_tokens": 100}, "stop_sequences": ["x"]})
    );
}

#[test]
fn options() {
    let thinking = |setting: Value| json!({"thinking": setting});
    let rows = [
        (
            thinking(json!({"type": "enabled", "budgetTokens": 9000})),
            json!({"max_tokens": 8000, "thinking": {"type": "enabled", "budget_tokens": 9000}}),
        ),
        (
            thinking(json!({"type": "adaptive", "budgetTokens": 5})),
            json!({"max_tokens": 8000, "thinking": {"type": "adaptive"}}),
        ),
        (
            thinking(json!({"type": "adaptive", "display": "summarized"})),
            json!({"max_tokens": 8000, "thinking": {"type": "adaptive", "display": "summarized"}}),
        ),
        (
            thinking(json!({"type": "disabled"})),
            json!({"max_tokens": 8000, "thinking": {"type": "disabled"}}),
        ),
        (
            json!({"effort": "low", "taskBudget": {"type": "tokens", "total": 9}}),
            json!({"max_tokens": 8000, "output_config": {"effort": "low", "task_budget": {"type": "tokens", "total": 9}}}),
        ),
        (
            json!({"metadata": {"userId": "u"}}),
            json!({"max_tokens": 8000, "metadata": {"user_id": "u"}}),
        ),
        (
            json!({"metadata": null, "effort": null, "thinking": null, "cache": null}),
            json!({"max_tokens": 8000}),
        ),
    ];
    for (options, expected) in rows {
        assert_eq!(members(&request_with(options, hello())), expected);
    }
    let refused = [
        (
            thinking(json!({"type": "enabled"})),
            "the option thinking.budgetTokens must say how much the model may think",
        ),
        (
            thinking(json!({"type": "hard"})),
            "the option thinking.type must be \"enabled\", \"adaptive\" or \"disabled\"",
        ),
        (
            json!({"cache": "always"}),
            "the option cache must be \"auto\", \"none\" or an object",
        ),
        (
            json!({"cache": {"messages": "all"}}),
            "the option cache.messages must be \"latest-user-message\", \"latest-assistant\" or {\"tail\": number}",
        ),
    ];
    for (options, complaint) in refused {
        assert_eq!(refusal(&request_with(options, hello())), complaint);
    }
    let mut overlaid = request(hello());
    overlaid.http = HttpOverlay {
        body: map(json!({"service_tier": "auto", "container": "c"})),
        ..HttpOverlay::default()
    };
    assert_eq!(
        members(&overlaid),
        json!({"max_tokens": 8000, "service_tier": "auto", "container": "c"})
    );
}

#[test]
fn tools_and_tool_choice() {
    let thinking = json!({"thinking": {"type": "adaptive"}});
    let one = json!({"disableParallelToolUse": true});
    let rows = [
        (None, json!({}), true, json!(null), json!(null)),
        (
            Some(ToolChoice::Auto),
            thinking.clone(),
            true,
            json!({"type": "auto"}),
            json!({"type": "adaptive"}),
        ),
        (
            Some(ToolChoice::Required),
            thinking.clone(),
            true,
            json!({"type": "any"}),
            json!(null),
        ),
        (
            Some(ToolChoice::Tool("read".into())),
            json!({}),
            true,
            json!({"type": "tool", "name": "read"}),
            json!(null),
        ),
        (
            Some(ToolChoice::None),
            thinking,
            false,
            json!(null),
            json!({"type": "adaptive"}),
        ),
        (
            None,
            one.clone(),
            true,
            json!({"type": "auto", "disable_parallel_tool_use": true}),
            json!(null),
        ),
        (
            Some(ToolChoice::Required),
            one,
            true,
            json!({"type": "any", "disable_parallel_tool_use": true}),
            json!(null),
        ),
    ];
    for (choice, options, has_tools, expected, thinks) in rows {
        let mut request = request_with(options, hello());
        request.tools = Arc::new([tool("read")]);
        request.tool_choice = choice.clone();
        let body = body(&request);
        assert_eq!(body.get("tools").is_some(), has_tools, "{choice:?}");
        assert_eq!(
            (&body["tool_choice"], &body["thinking"]),
            (&expected, &thinks),
            "{choice:?}"
        );
    }
}

#[test]
fn the_option_sets_the_positions_of_cache_marks() {
    let mark = json!({"type": "ephemeral"});
    let long = json!({"type": "ephemeral", "ttl": "1h"});
    // The system text, the tool, and each block of the conversation.
    let none = || {
        [
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
        ]
    };
    let marked = |at: &[usize], mark: &Value| {
        let mut marks = none();
        at.iter().for_each(|at| marks[*at] = mark.clone());
        marks
    };
    let rows = [
        (json!("auto"), marked(&[0, 1, 2], &mark)),
        (json!("none"), none()),
        (json!({"tools": true}), marked(&[1], &mark)),
        (
            json!({"system": true, "messages": "latest-user-message", "ttlSeconds": 3600}),
            marked(&[0, 2], &long),
        ),
        (
            json!({"messages": "latest-assistant", "ttlSeconds": 300}),
            marked(&[4], &mark),
        ),
        (json!({"messages": {"tail": 2}}), marked(&[4, 5], &mark)),
        (
            json!({"tools": true, "system": true, "messages": {"tail": 9}}),
            marked(&[0, 1, 4, 5], &mark),
        ),
    ];
    for (cache, expected) in rows {
        let mut request = request_with(json!({"cache": cache}), tool_turn());
        request.system = vec![SystemPart::new("s")];
        request.tools = Arc::new([tool("read")]);
        let body = body(&request);
        let (first, second, third) = (
            &body["messages"][0],
            &body["messages"][1],
            &body["messages"][2],
        );
        let blocks = [
            &body["system"][0],
            &body["tools"][0],
            &first["content"][0],
            &second["content"][0],
            &second["content"][1],
            &third["content"][0],
        ];
        assert_eq!(
            blocks.map(|block| block["cache_control"].clone()),
            expected,
            "{cache}"
        );
        assert_eq!(second["content"][2].get("cache_control"), None);
    }
}

#[test]
fn headers() {
    let beta = "interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14";
    let plain = wire(&request(hello()));
    assert_eq!(plain.path, "/messages");
    assert_eq!(
        plain.headers,
        [("anthropic-version".to_owned(), "2023-06-01".to_owned())]
    );
    assert_eq!(
        plain.lists,
        [("anthropic-beta".to_owned(), beta.to_owned())]
    );
    let whole = wire(&request_with(json!({"toolStreaming": false}), hello()));
    assert_eq!(
        whole.lists,
        [(
            "anthropic-beta".to_owned(),
            "interleaved-thinking-2025-05-14".to_owned()
        )]
    );
}
