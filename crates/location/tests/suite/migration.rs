//! The result of each key of the older form of `provider`.

use opencode_location::catalogue::Catalogue;
use serde_json::{Value, json};

use crate::documents::{build, catalogue};

/// The public description of provider `p` from a document in the older form.
fn provider(described: Value) -> Value {
    let catalogue = catalogue(json!({"provider": {"p": described}}));
    serde_json::to_value(catalogue.provider("p").unwrap()).unwrap()
}

/// The public description of model `m` of provider `p`.
fn model_of(catalogue: &Catalogue) -> Value {
    let mut models = catalogue.models().into_iter();
    serde_json::to_value(models.find(|model| model.id == "m").unwrap()).unwrap()
}

fn model(package: &str, described: Value) -> Value {
    model_of(&catalogue(json!({"provider": {"p": {
        "npm": package, "options": {"apiKey": "k"}, "models": {"m": described},
    }}})))
}

#[test]
fn the_package_and_its_settings() {
    assert_eq!(
        provider(json!({
            "name": "P", "npm": "@ai-sdk/groq", "api": "http://api/v1",
            "options": {"baseURL": "http://options/v1", "timeout": 5},
        })),
        json!({
            "id": "p", "name": "P",
            "api": {
                "type": "aisdk", "package": "@ai-sdk/groq", "url": "http://api/v1",
                "settings": {"timeout": 5},
            },
            "request": {"headers": {}, "body": {}},
        })
    );
    let by_options = provider(json!({"options": {"baseURL": "http://options/v1"}}));
    assert_eq!(
        by_options["api"],
        json!({
            "type": "aisdk", "package": "@ai-sdk/openai-compatible", "url": "http://options/v1",
        })
    );
}

#[test]
fn keys_are_placed_as_their_package_requires() {
    const HIDDEN: &str = "<redacted>";
    for (package, headers, settings) in [
        (
            "@ai-sdk/openai",
            json!({"Authorization": HIDDEN, "OpenAI-Organization": HIDDEN, "OpenAI-Project": HIDDEN}),
            Value::Null,
        ),
        (
            "@ai-sdk/anthropic",
            json!({"x-api-key": HIDDEN}),
            json!({"organization": "o", "project": "p"}),
        ),
        (
            "@ai-sdk/google",
            json!({"x-goog-api-key": HIDDEN}),
            json!({"organization": "o", "project": "p"}),
        ),
        (
            "@ai-sdk/azure",
            json!({"api-key": HIDDEN}),
            json!({"organization": "o", "project": "p"}),
        ),
        (
            "@ai-sdk/openai-compatible",
            json!({}),
            json!({"apiKey": HIDDEN, "organization": "o", "project": "p"}),
        ),
    ] {
        let options = json!({"apiKey": "sk-1", "organization": "o", "project": "p"});
        let shown = provider(json!({"npm": package, "options": options}));
        assert_eq!(shown["request"]["headers"], headers, "{package}");
        assert_eq!(shown["api"]["settings"], settings, "{package}");
    }
    let token = provider(json!({"npm": "@ai-sdk/anthropic", "options": {"authToken": "t"}}));
    assert_eq!(
        token["request"]["headers"],
        json!({"Authorization": HIDDEN})
    );
}

#[test]
fn headers_and_body_are_sent_with_every_request() {
    let options = json!({"headers": {"User-Agent": "1"}, "body": {"b": {"c": 1}}});
    assert_eq!(
        provider(json!({"options": options}))["request"],
        json!({"headers": {"User-Agent": "1"}, "body": {"b": {"c": 1}}})
    );
}

#[test]
fn options_of_an_unknown_package_are_sent_in_the_body() {
    let shown = provider(json!({"npm": "mine", "options": {"apiKey": "k", "a": {"b": 1}}}));
    assert_eq!(
        shown["request"]["body"],
        json!({"apiKey": "<redacted>", "a": {"b": 1}})
    );
    assert_eq!(shown["api"], json!({"type": "aisdk", "package": "mine"}));
}

#[test]
fn the_package_may_be_named_in_a_weaker_document() {
    let weaker = json!({"provider": {"p": {"npm": "@ai-sdk/anthropic", "models": {"m": {}}}}});
    let stronger = json!({"provider": {"p": {
        "options": {"apiKey": "k"}, "models": {"m": {"options": {"effort": "low"}}},
    }}});
    let (catalogue, _) = build(&[weaker, stronger]);
    let shown = serde_json::to_value(catalogue.provider("p").unwrap()).unwrap();
    assert_eq!(
        shown["request"]["headers"],
        json!({"x-api-key": "<redacted>"})
    );
    assert_eq!(
        model_of(&catalogue)["request"]["body"],
        json!({"output_config": {"effort": "low"}})
    );
}

#[test]
fn grouped_options_are_overridden_individually() {
    let document = |options: Value| {
        json!({"provider": {"p": {
            "npm": "@ai-sdk/openai", "options": {"apiKey": "k"},
            "models": {"m": {"options": options}},
        }}})
    };
    let weaker = document(json!({"reasoningEffort": "low", "other": {"a": 1}}));
    let stronger = document(json!({"reasoningSummary": "auto", "other": {"b": 2}}));
    assert_eq!(
        model_of(&build(&[weaker, stronger]).0)["request"]["body"],
        json!({"reasoning": {"effort": "low", "summary": "auto"}, "other": {"b": 2}})
    );
}

#[test]
fn a_model_row_by_row() {
    let package = "@ai-sdk/openai-compatible";
    let plain = json!({
        "id": "m", "providerID": "p", "name": "m",
        "api": {"type": "aisdk", "id": "m", "package": package, "settings": {"apiKey": "<redacted>"}},
        "capabilities": {"tools": true, "input": [], "output": []},
        "request": {"headers": {}, "body": {}}, "variants": [], "time": {"released": 0},
        "cost": [], "status": "active", "enabled": true, "limit": {"context": 0, "output": 0},
    });
    assert_eq!(model(package, json!({})), plain);
    for (described, pointer, expected) in [
        (json!({"id": "wire"}), "/api/id", json!("wire")),
        (
            json!({"provider": {"npm": "@ai-sdk/groq", "api": "http://own/v1"}}),
            "/api",
            json!({
                "type": "aisdk", "id": "m", "package": "@ai-sdk/groq", "url": "http://own/v1",
                "settings": {"apiKey": "<redacted>"},
            }),
        ),
        (
            json!({"options": {"reasoningEffort": "low", "x": 1}}),
            "/request/body",
            json!({"reasoning_effort": "low", "x": 1}),
        ),
        (
            json!({"variants": {"high": {"reasoningEffort": "high"}}}),
            "/variants",
            json!([{"id": "high", "headers": {}, "body": {"reasoning_effort": "high"}}]),
        ),
        (
            json!({"cost": {
                "input": 1, "output": 2, "cache_read": 3, "context_over_200k": {"input": 4, "output": 5},
            }}),
            "/cost",
            json!([
                {"input": 1.0, "output": 2.0, "cache": {"read": 3.0, "write": 0.0}},
                {
                    "tier": {"type": "context", "size": 200_000},
                    "input": 4.0, "output": 5.0, "cache": {"read": 0.0, "write": 0.0},
                },
            ]),
        ),
        (
            json!({"tool_call": true}),
            "/capabilities",
            json!({"tools": true, "input": [], "output": []}),
        ),
        (
            json!({"modalities": {"input": ["text", "pdf"]}}),
            "/capabilities",
            json!({"tools": false, "input": ["text", "pdf"], "output": []}),
        ),
        (
            json!({"limit": {"context": 10.7, "input": 3.2, "output": 2.9}}),
            "/limit",
            json!({"context": 10, "input": 3, "output": 2}),
        ),
        (json!({"status": "beta"}), "/status", json!("beta")),
        (json!({"status": "retired"}), "/status", json!("active")),
        (
            json!({"release_date": "1970-01-02"}),
            "/time/released",
            json!(86_400_000),
        ),
        (json!({"family": "f"}), "/family", json!("f")),
        (
            json!({"headers": {"User-Agent": "b"}}),
            "/request/headers",
            json!({"User-Agent": "b"}),
        ),
    ] {
        let shown = model(package, described.clone());
        assert_eq!(shown.pointer(pointer), Some(&expected), "{described}");
    }
}

#[test]
fn a_deprecated_model_is_not_offered() {
    let document = json!({"provider": {"p": {"models": {"m": {"status": "deprecated"}}}}});
    let catalogue = catalogue(document);
    assert_eq!(catalogue.models(), []);
    assert!(!catalogue.described_model("p", "m").unwrap().enabled);
}

#[test]
fn a_model_that_reasons_has_the_variants_of_its_package() {
    let ids = |described: Value| {
        let shown = model("@ai-sdk/openai-compatible", described);
        let variants = shown["variants"].as_array().unwrap().iter();
        variants
            .map(|it| it["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(json!({"reasoning": true})), ["low", "medium", "high"]);
    assert_eq!(ids(json!({"reasoning": false})), [""; 0]);
    assert_eq!(
        ids(json!({"reasoning": true, "variants": {"mine": {}}})),
        ["mine"]
    );
    assert_eq!(
        ids(json!({"reasoning": true, "variants": {"low": {"disabled": true}}})),
        ["medium", "high"]
    );
    assert_eq!(
        ids(json!({"reasoning": true, "reasoning_options": [{"type": "toggle"}]})),
        [""; 0]
    );
    let generated = model(
        "@ai-sdk/openai",
        json!({"id": "gpt-5-pro", "reasoning": true}),
    );
    assert_eq!(
        generated["variants"],
        json!([{"id": "high", "headers": {}, "body": {
            "reasoning": {"effort": "high", "summary": "auto"},
            "include": ["reasoning.encrypted_content"],
        }}])
    );
}
