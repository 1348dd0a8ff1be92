//! Builds catalogues from configuration: the meaning of each key, the precedence of documents, the default.

use opencode_llm::Auth;
use opencode_location::catalogue::{Capabilities, Catalogue, Limits, Model, ModelResolutionError};
use opencode_location::config::{Configuration, Diagnostic, DiagnosticKind};
use opencode_location::environment::Environment;
use opencode_location::project::Project;
use opencode_secrets::Secret;
use serde_json::{Value, json};

use crate::documents::{
    build, catalogue, first_generation, model, provider, second_generation, select,
};

#[test]
fn both_generations_produce_the_same_catalogue() {
    let older = first_generation(
        json!({
            "name": "Mock",
            "options": {
                "apiKey": "k", "timeout": 5, "headers": {"A": "1"}, "body": {"b": 1},
            },
        }),
        json!({
            "id": "wire", "name": "M", "family": "f", "tool_call": true,
            "modalities": {"input": ["text"], "output": ["text"]},
            "limit": {"context": 10, "input": 8, "output": 2},
            "headers": {"B": "2"}, "options": {"reasoningEffort": "low", "x": 1},
            "variants": {"high": {"reasoningEffort": "high"}},
            "cost": {
                "input": 1, "output": 2, "cache_read": 3, "cache_write": 4,
                "context_over_200k": {"input": 5, "output": 6},
            },
            "disabled": true,
        }),
    );
    let newer = second_generation(
        json!({
            "name": "Mock",
            "api": {"settings": {"apiKey": "k", "timeout": 5}},
            "request": {"headers": {"A": "1"}, "body": {"b": 1}},
        }),
        json!({
            "api": {"id": "wire"}, "name": "M", "family": "f",
            "capabilities": {"tools": true, "input": ["text"], "output": ["text"]},
            "limit": {"context": 10, "input": 8, "output": 2},
            "request": {"headers": {"B": "2"}, "body": {"reasoning_effort": "low", "x": 1}},
            "variants": [{"id": "high", "body": {"reasoning_effort": "high"}}],
            "cost": [
                {"input": 1, "output": 2, "cache": {"read": 3, "write": 4}},
                {"tier": {"type": "context", "size": 200_000}, "input": 5, "output": 6},
            ],
            "disabled": true,
        }),
    );
    let (older, newer) = (catalogue(older), catalogue(newer));
    assert_eq!(provider(&older), provider(&newer));
    assert_eq!(model(&older), model(&newer));
}

/// The only model of a first-generation document.
fn migrated(described: Value) -> Model {
    model(&catalogue(first_generation(json!({}), described))).clone()
}

#[test]
fn first_generation_models_row_by_row() {
    let plain = migrated(json!({}));
    assert_eq!(plain.capabilities, Capabilities::default());
    assert_eq!(plain.limits, Limits::default());
    assert_eq!(plain.cost.rows(), []);
    assert!(plain.enabled && !plain.reasoning);
    assert_eq!(
        (plain.name.as_str(), plain.wire_id.as_str(), plain.released),
        ("m1", "m1", 0)
    );

    for (model, tools, input) in [
        (json!({"tool_call": true}), true, vec![]),
        (json!({"tool_call": false}), false, vec![]),
        (
            json!({"modalities": {"input": ["text"]}}),
            false,
            vec!["text".to_owned()],
        ),
    ] {
        let expected = Capabilities {
            tools,
            input,
            output: vec![],
        };
        assert_eq!(migrated(model).capabilities, expected);
    }
    for (model, enabled) in [
        (json!({"status": "deprecated"}), false),
        (json!({"status": "beta"}), true),
        (json!({"disabled": true}), false),
        (json!({"disabled": false, "status": "deprecated"}), true),
    ] {
        assert_eq!(migrated(model.clone()).enabled, enabled, "{model}");
    }
    for (limit, context, output) in [
        (json!({"context": 10.7, "output": 3.2}), 10, 3),
        (json!({"context": -1, "output": 1e30}), 0, u64::MAX),
        (json!({"output": 5}), 0, 5),
    ] {
        let expected = Limits {
            context,
            input: None,
            output,
        };
        assert_eq!(migrated(json!({"limit": limit})).limits, expected);
    }
    for (date, released) in [("1970-01-02", 86_400_000), ("soon", 0)] {
        assert_eq!(migrated(json!({"release_date": date})).released, released);
    }
    let own = migrated(json!({"provider": {"npm": "other", "api": "http://own/v2"}}));
    assert_eq!(own.api.kind.to_string(), "aisdk:other");
    assert_eq!(own.api.url.as_ref().unwrap().0, "http://own/v2");
    for interleaved in [json!("rc"), json!({"field": "rc"})] {
        let model = migrated(json!({"interleaved": interleaved}));
        assert_eq!(model.reasoning_field.as_deref(), Some("rc"));
    }
    assert_eq!(migrated(json!({"interleaved": true})).reasoning_field, None);
}

#[test]
fn first_generation_prices_have_tiers() {
    let rows = |cost: Value| {
        let model = migrated(json!({ "cost": cost }));
        let rows = model.cost.rows().iter();
        rows.map(|row| (row.tier, row.input)).collect::<Vec<_>>()
    };
    assert_eq!(
        rows(json!({
            "input": 1, "output": 1,
            "tiers": [{"input": 2, "output": 2, "tier": {"type": "context", "size": 32_000}}],
            "context_over_200k": {"input": 3, "output": 3},
        })),
        [(None, 1.0), (Some(32_000), 2.0), (Some(200_000), 3.0)]
    );
}

#[test]
fn first_generation_options_are_split() {
    let catalogue = catalogue(first_generation(
        json!({
            "api": "http://stronger/v1",
            "options": {
                "apiKey": "k", "includeUsage": false, "headers": {"A": "1"}, "body": {"b": 1},
            },
        }),
        json!({"options": {"reasoningEffort": "low"}}),
    ));
    let provider = provider(&catalogue);
    assert_eq!(provider.api.url.as_ref().unwrap().0, "http://stronger/v1");
    assert_eq!(
        Value::Object(provider.api.settings.0.clone()),
        json!({"apiKey": "k", "includeUsage": false})
    );
    assert_eq!(provider.headers.iter().collect::<Vec<_>>(), [("A", "1")]);
    assert_eq!(Value::Object(provider.body.0.clone()), json!({"b": 1}));
    assert_eq!(
        Value::Object(model(&catalogue).body.0.clone()),
        json!({"reasoning_effort": "low"})
    );
    let other = migrated(json!({
        "provider": {"npm": "@ai-sdk/openai"}, "options": {"reasoningEffort": "low"},
    }));
    assert_eq!(
        Value::Object(other.body.0.clone()),
        json!({"reasoning": {"effort": "low"}}),
        "how an option is spelt on the wire depends on the package"
    );
    let outcome = catalogue.resolve(None).unwrap();
    assert!(!outcome.model.compatibility.usage_chunk);
}

#[test]
fn documents_override_field_by_field() {
    let weaker = first_generation(
        json!({"name": "Weak", "options": {"apiKey": "weak", "headers": {"A": "1", "B": "2"}}}),
        json!({
            "name": "Weak", "limit": {"context": 10, "output": 2}, "tool_call": true,
            "options": {"a": 1, "b": {"x": 1}},
            "variants": {"low": {"v": 1}, "high": {"v": 2, "w": 3}},
        }),
    );
    let stronger = json!({"provider": {"mock": {
        "options": {"apiKey": "strong", "headers": {"b": "3"}},
        "models": {
            "m1": {
                "limit": {"output": 4}, "options": {"b": {"y": 2}},
                "variants": {"low": {"disabled": true}, "high": {"v": 4}},
            },
            "m2": {},
        },
    }}});
    let (catalogue, diagnostic) = build(&[weaker, stronger]);
    assert_eq!(diagnostic, None);
    let provider = provider(&catalogue);
    assert_eq!(provider.name, "Weak");
    assert_eq!(
        provider.headers.iter().collect::<Vec<_>>(),
        [("A", "1"), ("B", "3")]
    );
    let model = model(&catalogue);
    assert_eq!(model.name, "Weak");
    assert!(model.capabilities.tools);
    assert_eq!(
        model.limits,
        Limits {
            context: 10,
            input: None,
            output: 4
        }
    );
    assert_eq!(
        Value::Object(model.body.0.clone()),
        json!({"a": 1, "b": {"y": 2}})
    );
    let [variant] = &model.variants[..] else {
        panic!("{:?}", model.variants);
    };
    assert_eq!(variant.id, "high");
    assert_eq!(
        Value::Object(variant.body.0.clone()),
        json!({"v": 4, "w": 3})
    );
    let outcome = catalogue
        .resolve(Some(&select("mock", "m2", None)))
        .unwrap();
    assert_eq!(outcome.model.auth, Auth::Bearer(Secret::new("strong")));
}

#[test]
fn the_default_model_is_the_configured_one_or_else_the_newest() {
    let models = json!({
        "old": {"release_date": "2024-01-01"},
        "new": {"release_date": "2025-06-01"},
        "undated": {},
        "gone": {"release_date": "2026-01-01", "disabled": true},
        "foreign": {"release_date": "2026-02-01", "provider": {"npm": "@vendor/foreign"}},
    });
    let with = |model: Option<&str>| {
        let options = json!({"baseURL": "http://h/v1"});
        let mut document = json!({"provider": {"p": {"options": options, "models": models}}});
        if let Some(model) = model {
            document["model"] = json!(model);
        }
        build(&[document])
    };
    for (configured, chosen) in [
        (None, "new"),
        (Some("p/old"), "old"),
        (Some("p/undated"), "undated"),
    ] {
        let (catalogue, diagnostic) = with(configured);
        assert_eq!(catalogue.default_model(), Some(select("p", chosen, None)));
        assert_eq!(catalogue.resolve(None).unwrap().model.model_id, chosen);
        assert_eq!(diagnostic, None, "{configured:?}");
    }
    for configured in ["p/nope", "q/old", "p/gone", "p/foreign", "p/old#high"] {
        let (catalogue, diagnostic) = with(Some(configured));
        assert_eq!(catalogue.default_model(), None, "{configured}");
        let error = catalogue.resolve(None).unwrap_err();
        let said = diagnostic.unwrap().message;
        assert_eq!(
            said,
            format!("The default model cannot be used and no other one is used instead. {error}")
        );
    }
    let newest_first: Vec<_> = with(None).0.models().iter().map(|m| m.id.clone()).collect();
    assert_eq!(newest_first, ["foreign", "new", "old", "undated"]);

    let empty = catalogue(json!({}));
    assert_eq!(empty.default_model(), None);
    let error = empty.resolve(None).unwrap_err();
    assert_eq!(error, ModelResolutionError::ModelNotSelected { models: 0 });
    assert_eq!(
        error.to_string(),
        "No model is selected and no model is configured. Pass model to OpenCode.create, for example \"openai/gpt-4.1-mini\", or configure a provider with a model"
    );
}

#[test]
fn an_unusable_default_is_reported_with_its_position() {
    let text = "{\n \"provider\": {\"p\": {\"api\": \"http://h\", \"models\": {\"m\": {}}}},\n \"model\": \"p/nope\"\n}";
    let environment = Environment {
        home: "/nowhere".into(),
        config: "/nowhere".into(),
        variables: [("OPENCODE_CONFIG_CONTENT".to_owned(), text.to_owned())].into(),
        ..Environment::default()
    };
    let configuration = Configuration::load(
        &environment,
        &Project::global(),
        "/nowhere",
        &None.into(),
        true,
    );
    let (_, diagnostic) = Catalogue::build(&configuration, &environment);
    assert_eq!(
        diagnostic,
        Some(Diagnostic {
            path: "OPENCODE_CONFIG_CONTENT".into(),
            kind: DiagnosticKind::Ignored,
            message: "The default model cannot be used and no other one is used instead. The model p/nope is not available: the provider has no model of this id. It has m. Add it under the provider's `models` or select another one".into(),
            line: Some(3),
            column: Some(11),
        })
    );
}

#[test]
fn a_default_may_name_a_variant() {
    let mut document = first_generation(json!({}), json!({"variants": {"high": {}}}));
    document["model"] = json!("mock/m1#high");
    let outcome = catalogue(document).resolve(None).unwrap();
    assert_eq!(outcome.selection, select("mock", "m1", Some("high")));
}
