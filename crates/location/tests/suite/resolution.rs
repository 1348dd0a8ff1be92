//! Resolves a selection to a model that can be called, or to the reason for a failure.

use opencode_llm::{Auth, Endpoint, GenerationControls, JsonMap, ProtocolId};
use opencode_location::catalogue::{
    CostRow, ModelResolutionError, ResolvedModelOutcome, UnavailableReason, UnsupportedReason,
};
use opencode_secrets::Secret;
use serde_json::{Value, json};

use crate::documents::{catalogue, first_generation, second_generation, select};

fn resolve(document: Value, variant: Option<&str>) -> ResolvedModelOutcome {
    catalogue(document)
        .resolve(Some(&select("mock", "m1", variant)))
        .unwrap()
}

#[test]
fn a_compatible_provider_is_resolved_as_configured() {
    let document = json!({
        "model": "mock/m1",
        "provider": {"mock": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Mock",
            "options": {
                "baseURL": "http://127.0.0.1:1/v1",
                "apiKey": "x",
                "headers": {"X-Team": "a", "X-Both": "provider"},
                "body": {"user": "u", "temperature": 0.1},
            },
            "models": {"m1": {
                "id": "wire-1",
                "name": "M1",
                "limit": {"context": 100_000.7, "input": 90_000, "output": 4000},
                "tool_call": true,
                "reasoning": true,
                "interleaved": {"field": "reasoning_details"},
                "modalities": {"input": ["text", "image"], "output": ["text"]},
                "headers": {"x-both": "model"},
                "options": {"temperature": 0.7, "reasoningEffort": "low", "custom": {"a": 1}},
                "cost": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75},
            }},
        }},
    });
    let catalogue = catalogue(document);
    let outcome = catalogue.resolve(None).unwrap();
    assert_eq!(outcome.selection, select("mock", "m1", None));
    let model = &outcome.model;
    assert_eq!(
        (
            model.id.as_str(),
            model.provider_id.as_str(),
            model.model_id.as_str()
        ),
        ("wire-1", "mock", "m1")
    );
    assert_eq!(model.protocol, ProtocolId::OpenAiChat);
    assert_eq!(
        model.endpoint,
        Endpoint {
            base_url: "http://127.0.0.1:1/v1".into(),
            query: vec![],
        }
    );
    assert_eq!(model.auth, Auth::Bearer(Secret::new("x")));
    assert_eq!(
        model.headers,
        [
            ("X-Team".to_owned(), "a".to_owned()),
            ("X-Both".to_owned(), "model".to_owned()),
        ]
    );
    assert_eq!(
        model.limits,
        opencode_llm::Limits {
            context: 100_000,
            input: Some(90_000),
            output: 4000,
        }
    );
    assert_eq!(
        model.generation,
        GenerationControls {
            temperature: Some(0.7),
            ..GenerationControls::default()
        }
    );
    assert_eq!(
        Value::Object(model.provider_options.clone()),
        json!({"openai": {"reasoningEffort": "low"}})
    );
    assert_eq!(
        Value::Object(model.body.clone()),
        json!({"user": "u", "custom": {"a": 1}})
    );
    assert_eq!(
        model.capabilities,
        opencode_llm::Capabilities {
            structured_output: None,
            tools: true,
            reasoning: true,
            input: vec!["text".into(), "image".into()],
        }
    );
    assert_eq!(
        model.compatibility,
        opencode_llm::Compatibility {
            reasoning_field: Some("reasoning_details".into()),
            ..opencode_llm::Compatibility::default()
        }
    );
    assert_eq!(
        outcome.cost.rows(),
        [CostRow {
            tier: None,
            input: 3.0,
            output: 15.0,
            cache_read: 0.3,
            cache_write: 3.75,
        }]
    );
    assert_eq!(catalogue.providers()[0].name, "Mock");
    assert_eq!(catalogue.models()[0].name, "M1");
}

#[test]
fn variants_change_the_request() {
    let document = second_generation(
        json!({"request": {"headers": {"A": "1"}}}),
        json!({
            "request": {
                "body": {"reasoning": {"effort": "low", "summary": "auto"}, "x": {"a": 1, "b": 2}},
                "variant": "high",
            },
            "variants": [
                {"id": "high", "headers": {"a": "2"}, "body": {"reasoning_effort": "high"}},
                {"id": "plain", "body": {"reasoning": null, "x": {"b": null}, "temperature": 1}},
            ],
        }),
    );
    let options = |outcome: &ResolvedModelOutcome| {
        let model = &outcome.model;
        let options = Value::Object(model.provider_options.clone());
        (options, Value::Object(model.body.clone()))
    };
    for chosen in [None, Some("default"), Some("high")] {
        let outcome = resolve(document.clone(), chosen);
        assert_eq!(outcome.selection, select("mock", "m1", Some("high")));
        assert_eq!(outcome.model.headers, [("A".to_owned(), "2".to_owned())]);
        assert_eq!(
            options(&outcome),
            (
                json!({"openai": {"reasoningEffort": "high", "reasoningSummary": "auto"}}),
                json!({"x": {"a": 1, "b": 2}})
            )
        );
    }
    let plain = resolve(document, Some("plain"));
    assert_eq!(plain.selection, select("mock", "m1", Some("plain")));
    assert_eq!(plain.model.generation.temperature, Some(1.0));
    assert_eq!(options(&plain), (json!({}), json!({"x": {"a": 1}})));
}

#[test]
fn credentials_come_from_one_place_and_are_not_in_the_body() {
    let bearer = |key: &str| Auth::Bearer(Secret::new(key));
    let header = |value: &str| Auth::Header {
        name: "authorization".into(),
        secret: Secret::new(value),
    };
    for (provider, model, auth) in [
        (json!({}), json!({}), Auth::None),
        (json!({"options": {"apiKey": ""}}), json!({}), Auth::None),
        (json!({"options": {"apiKey": "a"}}), json!({}), bearer("a")),
        (
            json!({"options": {"apiKey": "a", "body": {"apiKey": "b"}}}),
            json!({}),
            bearer("b"),
        ),
        (
            json!({"options": {"apiKey": "a"}}),
            json!({"options": {"apiKey": "c"}}),
            bearer("c"),
        ),
        (
            json!({"options": {"apiKey": "a", "headers": {"Authorization": "Basic d"}}}),
            json!({}),
            header("Basic d"),
        ),
        (
            json!({}),
            json!({"headers": {"AUTHORIZATION": "Basic e"}}),
            header("Basic e"),
        ),
    ] {
        let outcome = resolve(first_generation(provider.clone(), model), None);
        assert_eq!(outcome.model.auth, auth, "{provider}");
        assert_eq!(outcome.model.headers, []);
        assert_eq!(Value::Object(outcome.model.body.clone()), json!({}));
    }
}

#[test]
fn addresses() {
    for (url, base_url, query) in [
        ("https://h/v1/", "https://h/v1/", vec![]),
        (" http://h ", "http://h", vec![]),
        (
            "https://h/v1?api-version=a%20b&x#f",
            "https://h/v1",
            vec![("api-version", "a b"), ("x", "")],
        ),
    ] {
        let outcome = resolve(
            first_generation(json!({"options": {"baseURL": url}}), json!({})),
            None,
        );
        let query = query
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        assert_eq!(
            outcome.model.endpoint,
            Endpoint {
                base_url: base_url.into(),
                query
            }
        );
    }
}

#[test]
fn unsupported_protocols() {
    use UnsupportedReason::{InvalidBaseUrl, MissingBaseUrl, Package, Protocol};
    let url = "http://h/v1";
    for (api, name, reason) in [
        (
            json!({"package": "@vendor/foreign", "url": url}),
            "aisdk:@vendor/foreign",
            Package,
        ),
        (
            json!({"package": "@ai-sdk/azure", "settings": {"resourceName": "a/b"}}),
            "aisdk:@ai-sdk/azure",
            MissingBaseUrl,
        ),
        (
            json!({"package": "@ai-sdk/anthropic", "url": "ftp://h"}),
            "aisdk:@ai-sdk/anthropic",
            InvalidBaseUrl,
        ),
        (json!({}), "aisdk:@ai-sdk/openai-compatible", MissingBaseUrl),
        (
            json!({"url": "/v1"}),
            "aisdk:@ai-sdk/openai-compatible",
            InvalidBaseUrl,
        ),
        (
            json!({"url": "ftp://h"}),
            "aisdk:@ai-sdk/openai-compatible",
            InvalidBaseUrl,
        ),
        (
            json!({"url": "h:80/v1"}),
            "aisdk:@ai-sdk/openai-compatible",
            InvalidBaseUrl,
        ),
        (json!({"type": "native", "url": url}), "native", Protocol),
        (
            json!({"type": "native", "url": url, "settings": {"protocol": "smtp"}}),
            "native",
            Protocol,
        ),
    ] {
        let catalogue = catalogue(json!({"providers": {"p": {"api": api, "models": {"m": {}}}}}));
        let error = catalogue
            .resolve(Some(&select("p", "m", None)))
            .unwrap_err();
        assert_eq!(
            error,
            ModelResolutionError::UnsupportedApi {
                provider_id: "p".into(),
                model_id: "m".into(),
                api: name.into(),
                reason,
            }
        );
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("Unsupported API for p/m: {name}: ")),
            "{message}"
        );
        assert_eq!(
            catalogue.resolve(None).unwrap_err(),
            ModelResolutionError::ModelNotSelected { models: 1 }
        );
    }
    let native = json!({"type": "native", "url": url, "settings": {"protocol": "openai-chat"}});
    let native = catalogue(json!({"providers": {"p": {"api": native, "models": {"m": {}}}}}));
    let outcome = native.resolve(None).unwrap();
    assert_eq!(outcome.model.protocol, ProtocolId::OpenAiChat);
}

#[test]
fn unusable_selections() {
    let catalogue = catalogue(first_generation(
        json!({}),
        json!({"variants": {"low": {}, "high": {}}}),
    ));
    let unavailable = |provider: &str, model: &str, reason| {
        Err(ModelResolutionError::ModelUnavailable {
            provider_id: provider.to_owned(),
            model_id: model.to_owned(),
            reason,
        })
    };
    let resolve = |provider: &str, model: &str, variant: Option<&str>| {
        catalogue
            .resolve(Some(&select(provider, model, variant)))
            .map(|outcome| outcome.selection)
    };
    let unknown = |meant: Option<&str>| UnavailableReason::UnknownModel {
        meant: meant.map(str::to_owned),
        known: vec!["m1".to_owned()],
    };
    assert_eq!(
        resolve("mock", "nope", None),
        unavailable("mock", "nope", unknown(None))
    );
    let slip = resolve("mock", "m1-2026", None).unwrap_err();
    assert!(slip.to_string().contains("It has m1. Add it"), "{slip}");
    let unknown = |meant: Option<&str>| UnavailableReason::UnknownProvider {
        meant: meant.map(str::to_owned),
    };
    assert_eq!(
        resolve("nope", "m1", None),
        unavailable("nope", "m1", unknown(None))
    );
    for (slip, meant) in [("mokc", "mock"), ("opnai", "openai")] {
        let error = resolve(slip, "m1", None).unwrap_err();
        let hint = format!("is configured. Did you mean {meant}?");
        assert!(error.to_string().contains(&hint), "{error}");
    }
    let error = resolve("mock", "m1", Some("max")).unwrap_err();
    assert_eq!(
        error,
        ModelResolutionError::VariantUnavailable {
            provider_id: "mock".into(),
            model_id: "m1".into(),
            variant: "max".into(),
            available: vec!["low".into(), "high".into()],
        }
    );
    assert_eq!(
        error.to_string(),
        "The model mock/m1 has no variant \"max\"; select one of low, high"
    );
    let disabled =
        crate::documents::catalogue(first_generation(json!({}), json!({"disabled": true})));
    assert_eq!(
        disabled
            .resolve(Some(&select("mock", "m1", None)))
            .map(|outcome| outcome.selection),
        unavailable("mock", "m1", UnavailableReason::Disabled)
    );
}

#[test]
fn a_resolved_model_is_shared() {
    let catalogue = catalogue(first_generation(json!({}), json!({"variants": {"v": {}}})));
    let model = |variant| {
        let selection = select("mock", "m1", variant);
        catalogue.resolve(Some(&selection)).unwrap().model
    };
    assert!(std::sync::Arc::ptr_eq(
        &model(None),
        &model(Some("default"))
    ));
    assert!(std::sync::Arc::ptr_eq(&model(Some("v")), &model(Some("v"))));
    assert!(!std::sync::Arc::ptr_eq(&model(None), &model(Some("v"))));
}

#[test]
fn debug_shows_no_secret() {
    let document = first_generation(
        json!({"options": {
            "apiKey": "sk-1",
            "baseURL": "http://u:sk-2@h/v1?key=sk-3",
            "headers": {"X-Anything": "sk-4"},
            "body": {"anything": "sk-5"},
        }}),
        json!({"options": {"token": "sk-6"}, "variants": {"v": {"apiKey": "sk-7"}}}),
    );
    let catalogue = catalogue(document);
    let outcome = catalogue
        .resolve(Some(&select("mock", "m1", Some("v"))))
        .unwrap();
    let shown = format!("{catalogue:?} {outcome:?}");
    assert!(!shown.contains("sk-"), "{shown}");
    assert_eq!(outcome.model.auth, Auth::Bearer(Secret::new("sk-7")));
}

#[test]
fn a_model_may_support_system_messages() {
    for (setting, expected) in [
        (json!({"midConversationSystem": "native"}), Some(true)),
        (json!({"midConversationSystem": "wrapped"}), Some(false)),
        (json!({}), None),
    ] {
        let providers = json!({"p": {"npm": "@ai-sdk/anthropic", "options": {"apiKey": "k"},
            "models": {"m": {"options": setting}}}});
        let model = catalogue(json!({"provider": providers}))
            .resolve(None)
            .unwrap()
            .model;
        assert_eq!(model.compatibility.mid_conversation_system, expected);
        assert_eq!(model.body, JsonMap::new());
    }
}
