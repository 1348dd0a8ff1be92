//! Tests what each package stands for: protocol, address, place of the key, and spelling of its options.

use std::collections::HashSet;

use serde_json::json;

use super::*;

fn members(value: Value) -> Members {
    let Value::Object(members) = value else {
        panic!("{value} is no object");
    };
    Members(members)
}

fn platform(package: &str) -> &'static dyn Platform {
    of(Some(&ApiKind::Package(package.to_owned())))
}

fn api(package: &str, settings: Value) -> Api {
    Api {
        kind: ApiKind::Package(package.to_owned()),
        url: None,
        settings: members(settings),
    }
}

#[test]
fn every_package_has_a_protocol_an_address_and_a_place_of_the_key() {
    let rows = [
        (
            "@ai-sdk/openai",
            ProtocolId::OpenAiResponses,
            None,
            AUTHORIZATION,
        ),
        (
            "@ai-sdk/xai",
            ProtocolId::OpenAiResponses,
            Some("https://api.x.ai/v1"),
            AUTHORIZATION,
        ),
        (
            "@ai-sdk/anthropic",
            ProtocolId::AnthropicMessages,
            None,
            "x-api-key",
        ),
        ("@ai-sdk/google", ProtocolId::Gemini, None, "x-goog-api-key"),
        (
            "@ai-sdk/azure",
            ProtocolId::OpenAiResponses,
            None,
            "api-key",
        ),
        (
            "@ai-sdk/openai-compatible",
            ProtocolId::OpenAiChat,
            None,
            AUTHORIZATION,
        ),
        (
            "@ai-sdk/groq",
            ProtocolId::OpenAiChat,
            Some("https://api.groq.com/openai/v1"),
            AUTHORIZATION,
        ),
    ];
    for (package, protocol, url, key) in rows {
        let platform = platform(package);
        let none = Members::default();
        assert_eq!(
            (
                platform.protocol(&api(package, json!({})), "m"),
                platform.url(),
                platform.key_header(&none)
            ),
            (Ok(protocol), url, key),
            "{package}"
        );
    }
    let without = ["unknown-package", "ai-gateway-provider"];
    for package in without {
        let protocol = platform(package).protocol(&api(package, json!({})), "m");
        assert_eq!(protocol, Err(UnsupportedReason::Package), "{package}");
    }
    for url in all().filter_map(Platform::url) {
        assert!(
            Url::parse(url).is_ok_and(|url| url.scheme() == "https"),
            "{url}"
        );
    }
}

#[test]
fn a_built_in_provider_belongs_to_its_package() {
    let built_in = || all().filter_map(|platform| platform.built_in());
    let ids: HashSet<_> = built_in().map(|it| it.id).collect();
    assert_eq!(ids.len(), built_in().count());
    for (id, package) in built_in().filter_map(|it| Some((it.id, it.package?))) {
        let own = platform(package).built_in();
        assert_eq!(own.map(|it| it.id), Some(id), "{package}");
    }
}

#[test]
fn azure_has_two_protocols() {
    let package = "@ai-sdk/azure";
    let chat = api(package, json!({"useCompletionUrls": true}));
    let protocol = platform(package).protocol(&chat, "m");
    assert_eq!(protocol, Ok(ProtocolId::OpenAiChat));
}

#[test]
fn only_the_server_of_copilot_gets_its_package() {
    const COPILOT: &str = "@ai-sdk/github-copilot";
    let kind = |package: &str, address| match listed_kind(Some(package.to_owned()), address) {
        Some(ApiKind::Package(package)) => Some(package),
        _ => None,
    };
    let own = Some("https://api.githubcopilot.com");
    assert_eq!(kind(COMPATIBLE_PACKAGE, own).as_deref(), Some(COPILOT));
    for (package, address) in [
        (
            COMPATIBLE_PACKAGE,
            Some("https://api.githubcopilot.com.evil.test"),
        ),
        (COMPATIBLE_PACKAGE, Some("no address")),
        (COMPATIBLE_PACKAGE, None),
        ("@ai-sdk/openai", own),
    ] {
        assert_eq!(
            kind(package, address).as_deref(),
            Some(package),
            "{address:?}"
        );
    }
    assert_eq!(listed_kind(None, own), None);
}

#[test]
fn a_providers_options_are_headers_settings_or_body() {
    let options = || {
        members(json!({
            "apiKey": "k", "authToken": "t", "organization": "o", "project": "p", "timeout": 5,
        }))
    };
    let parts = |package: &str| {
        let split = split(platform(package), &options());
        let headers = split.headers.iter();
        let headers = headers.map(|(name, value)| format!("{name}: {value}"));
        (
            headers.collect::<Vec<_>>(),
            Value::Object(split.settings.0),
            split.body.0.len(),
        )
    };
    let rest = json!({"authToken": "t", "organization": "o", "project": "p", "timeout": 5});
    for (package, headers, settings) in [
        (
            "@ai-sdk/openai",
            vec![
                "Authorization: Bearer k",
                "OpenAI-Organization: o",
                "OpenAI-Project: p",
            ],
            json!({"authToken": "t", "timeout": 5}),
        ),
        (
            "@ai-sdk/anthropic",
            vec!["x-api-key: k", "Authorization: Bearer t"],
            json!({"organization": "o", "project": "p", "timeout": 5}),
        ),
        ("@ai-sdk/google", vec!["x-goog-api-key: k"], rest.clone()),
        (
            "@ai-sdk/google-vertex",
            vec!["x-goog-api-key: k"],
            rest.clone(),
        ),
        ("@ai-sdk/azure", vec!["api-key: k"], rest),
        (COMPATIBLE_PACKAGE, vec![], Value::Object(options().0)),
        ("@ai-sdk/groq", vec![], Value::Object(options().0)),
        (
            "@openrouter/ai-sdk-provider",
            vec![],
            Value::Object(options().0),
        ),
    ] {
        let headers = headers.into_iter().map(str::to_owned).collect();
        assert_eq!(parts(package), (headers, settings, 0), "{package}");
    }
    assert_eq!(parts("somebodys-package"), (vec![], json!({}), 5));
}

#[test]
fn an_empty_api_key_sends_no_header() {
    let split = split(
        platform("@ai-sdk/openai"),
        &members(json!({"apiKey": "", "project": 1})),
    );
    assert_eq!(split.headers.iter().count(), 0);
    assert_eq!(Value::Object(split.settings.0), json!({"project": 1}));
}

#[test]
fn options_of_a_model_are_written_in_the_spelling_of_the_protocol() {
    for (package, options, expected) in [
        (
            "@ai-sdk/openai",
            json!({
                "reasoningEffort": "low", "reasoningSummary": "auto", "textVerbosity": "high",
                "serviceTier": "flex", "store": false, "max_output_tokens": 5,
            }),
            json!({
                "reasoning": {"effort": "low", "summary": "auto"}, "text": {"verbosity": "high"},
                "service_tier": "flex", "store": false, "max_output_tokens": 5,
            }),
        ),
        (
            "@ai-sdk/anthropic",
            json!({
                "effort": "low", "taskBudget": 5, "metadata": {"userId": "u"},
                "thinking": {"type": "enabled", "budgetTokens": 7}, "disableParallelToolUse": true,
            }),
            json!({
                "output_config": {"effort": "low", "task_budget": 5},
                "metadata": {"user_id": "u"},
                "thinking": {"type": "enabled", "budget_tokens": 7},
                "disable_parallel_tool_use": true,
            }),
        ),
        (
            "@ai-sdk/google",
            json!({
                "thinkingConfig": {"thinkingBudget": 5}, "responseModalities": ["TEXT"],
                "mediaResolution": "LOW", "imageConfig": {"a": 1}, "safetySettings": [],
            }),
            json!({
                "generationConfig": {
                    "thinkingConfig": {"thinkingBudget": 5}, "responseModalities": ["TEXT"],
                    "mediaResolution": "LOW", "imageConfig": {"a": 1},
                },
                "safetySettings": [],
            }),
        ),
        (
            "@ai-sdk/amazon-bedrock",
            json!({"reasoningConfig": {"type": "enabled"}, "temperature": 1}),
            json!({
                "additionalModelRequestFields": {"reasoningConfig": {"type": "enabled"}},
                "temperature": 1,
            }),
        ),
        (
            COMPATIBLE_PACKAGE,
            json!({"reasoningEffort": "low", "someField": 1}),
            json!({"reasoning_effort": "low", "someField": 1}),
        ),
        (
            "somebodys-package",
            json!({"reasoningEffort": "low"}),
            json!({"reasoningEffort": "low"}),
        ),
    ] {
        let body = respell(platform(package), &members(options));
        assert_eq!(Value::Object(body.0), expected, "{package}");
    }
}

#[test]
fn a_name_that_conflicts_with_a_group_is_replaced() {
    let options = members(json!({"reasoning": 5, "reasoningEffort": "low"}));
    let body = respell(platform("@ai-sdk/openai"), &options);
    assert_eq!(
        Value::Object(body.0),
        json!({"reasoning": {"effort": "low"}})
    );
}
