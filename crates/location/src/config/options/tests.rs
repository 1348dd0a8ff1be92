use super::*;
use serde_json::json;

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is no object"),
    }
}

/// The domains of the options after `over` was merged into `base`.
fn sorted(base: Value, over: Value) -> (Value, Value, Value) {
    sorted_for(ProtocolId::OpenAiChat, base, over)
}

fn sorted_for(protocol: ProtocolId, base: Value, over: Value) -> (Value, Value, Value) {
    let mut options = Options::of(protocol, &members(base));
    options.overlay(&Options::of(protocol, &members(over)));
    (
        Value::Object(options.generation),
        Value::Object(options.provider),
        Value::Object(options.body),
    )
}

#[test]
fn both_spellings_produce_the_same_domain() {
    let camel = json!({
        "temperature": 0.5, "topP": 0.9, "topK": 40, "maxTokens": 100, "frequencyPenalty": 0.1,
        "presencePenalty": 0.2, "seed": 7, "stopSequences": ["a"],
        "reasoningEffort": "high", "reasoningSummary": "auto", "textVerbosity": "low",
        "store": false, "include": ["x"], "promptCacheKey": "k", "serviceTier": "flex",
        "instructions": "i", "parallelToolCalls": false, "other_field": {"a": 1},
    });
    let snake = json!({
        "temperature": 0.5, "top_p": 0.9, "top_k": 40, "max_output_tokens": 100,
        "frequency_penalty": 0.1, "presence_penalty": 0.2, "seed": 7, "stop": ["a"],
        "reasoning_effort": "high", "reasoning_summary": "auto", "text": {"verbosity": "low"},
        "store": false, "include": ["x"], "prompt_cache_key": "k", "service_tier": "flex",
        "instructions": "i", "parallel_tool_calls": false, "other_field": {"a": 1},
    });
    let expected = (
        json!({
            "temperature": 0.5, "topP": 0.9, "topK": 40, "maxTokens": 100,
            "frequencyPenalty": 0.1, "presencePenalty": 0.2, "seed": 7, "stop": ["a"],
        }),
        json!({
            "reasoningEffort": "high", "reasoningSummary": "auto", "textVerbosity": "low",
            "store": false, "include": ["x"], "promptCacheKey": "k", "serviceTier": "flex",
            "instructions": "i", "parallelToolCalls": false,
        }),
        json!({"other_field": {"a": 1}}),
    );
    assert_eq!(sorted(camel, json!({})), expected);
    assert_eq!(sorted(snake, json!({})), expected);
}

#[test]
fn each_protocol_has_its_own_options() {
    let camel = json!({
        "thinking": {"type": "enabled", "budgetTokens": 5}, "effort": "low", "taskBudget": 9,
        "metadata": {"userId": "u"}, "disableParallelToolUse": true, "toolStreaming": false,
        "cache": {"tools": true, "ttlSeconds": 3600}, "reasoningEffort": "high",
    });
    let snake = json!({
        "thinking": {"type": "enabled", "budget_tokens": 5},
        "output_config": {"effort": "low", "task_budget": 9},
        "metadata": {"user_id": "u"}, "disable_parallel_tool_use": true,
        "tool_streaming": false, "cache": {"tools": true, "ttl_seconds": 3600},
        "reasoningEffort": "high",
    });
    let mut options = camel.clone();
    let other = json!({"reasoningEffort": options["reasoningEffort"].take()});
    options
        .as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
    let expected = (json!({}), options, other);
    for given in [camel, snake] {
        let found = sorted_for(ProtocolId::AnthropicMessages, given, json!({}));
        assert_eq!(found, expected);
    }
    let over =
        json!({"thinking": {"type": "adaptive", "budget_tokens": null}, "output_config": null});
    let base = json!({"thinking": {"type": "enabled", "budgetTokens": 5}, "effort": "low"});
    assert_eq!(
        sorted_for(ProtocolId::AnthropicMessages, base, over),
        (
            json!({}),
            json!({"thinking": {"type": "adaptive"}}),
            json!({})
        )
    );
}

#[test]
fn unknown_options_stay_in_the_body() {
    let odd = json!({
        "_temperature": 1, "temperature_": 1, "top__p": 1, "Temperature": 1, "": 1,
        "reasoning": "on", "text": [1], "thinking": {"type": "enabled"},
    });
    assert_eq!(sorted(odd.clone(), json!({})), (json!({}), json!({}), odd));
    assert_eq!(
        sorted(
            json!({"reasoning": {"effort": "low", "max_tokens": 5}}),
            json!({})
        ),
        (
            json!({}),
            json!({"reasoningEffort": "low"}),
            json!({"reasoning": {"max_tokens": 5}})
        )
    );
}

#[test]
fn an_overlay_merges_deeply_and_null_removes() {
    for (base, over, expected) in [
        (
            json!({"reasoning": {"effort": "low", "summary": "auto"}}),
            json!({"reasoningEffort": "high"}),
            (
                json!({}),
                json!({"reasoningEffort": "high", "reasoningSummary": "auto"}),
                json!({}),
            ),
        ),
        (
            json!({"reasoning_effort": "low", "reasoning": {"enabled": true}}),
            json!({"reasoning": null}),
            (json!({}), json!({}), json!({})),
        ),
        (
            json!({"temperature": 1, "top_p": 0.5, "x": {"a": 1, "b": 2}, "y": 1}),
            json!({"temperature": null, "x": {"a": null, "c": {"d": null}}, "y": {"z": 1}}),
            (
                json!({"topP": 0.5}),
                json!({}),
                json!({"x": {"b": 2, "c": {}}, "y": {"z": 1}}),
            ),
        ),
    ] {
        assert_eq!(sorted(base, over), expected);
    }
}

#[test]
fn options_are_split_into_the_domains_of_a_request() {
    let given = members(json!({
        "maxTokens": 10.9, "temperature": 1, "top_k": 5, "seed": 3.0, "stop": "end",
        "store": null, "serviceTier": "flex", "field": null,
    }));
    let options = Options::of(ProtocolId::OpenAiChat, &given);
    let (generation, provider_options, body) = options.into_parts();
    assert_eq!(
        generation,
        GenerationControls {
            max_tokens: Some(10),
            temperature: Some(1.0),
            top_k: Some(5),
            seed: Some(3),
            stop: Some(vec!["end".into()]),
            ..GenerationControls::default()
        }
    );
    assert_eq!(
        Value::Object(provider_options),
        json!({"openai": {"serviceTier": "flex"}})
    );
    assert_eq!(Value::Object(body), json!({"field": null}));
}

#[test]
fn controls_of_the_wrong_type_are_refused() {
    for (options, complaint) in [
        (
            json!({"temperature": "hot"}),
            "temperature must be a number, found a string",
        ),
        (
            json!({"max_tokens": []}),
            "max_tokens must be a number, found an array",
        ),
        (
            json!({"stop": [1]}),
            "stop[0] must be a string, found a number",
        ),
        (
            json!({"stopSequences": true}),
            "stopSequences must be a string or an array of strings, found a boolean",
        ),
    ] {
        assert_eq!(check(&members(options)).unwrap_err().to_string(), complaint);
    }
    let fine = json!({"temperature": null, "seed": 1.5, "reasoningEffort": 5, "stop": "x"});
    assert_eq!(check(&members(fine)), Ok(()));
}

#[test]
fn wrong_time_limits_are_refused() {
    for name in LIMITS {
        for wrong in [json!("5"), json!(true), json!(0), json!(-1), json!(1.5)] {
            let complaint = check(&members(json!({ name: wrong }))).unwrap_err();
            let message = "must be false or a whole number of milliseconds above 0";
            assert_eq!(complaint.to_string(), format!("{name} {message}"));
        }
        for fine in [json!(null), json!(false), json!(1)] {
            assert_eq!(check(&members(json!({ name: fine }))), Ok(()));
        }
    }
}
