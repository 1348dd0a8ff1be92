//! The list of models on the disk, and the effect of an invalid one.

use std::sync::Arc;

use opencode_location::config::{Diagnostic, DiagnosticKind};
use opencode_location::location::{Location, Locations};
use serde_json::{Value, json};

use crate::documents::select;
use crate::machine::Machine;

const LIST: &str = "cache/models.json";

/// Creates a machine with a list, a key for provider `listed`, and this document.
fn machine(list: impl AsRef<[u8]>, document: &Value) -> Machine {
    let mut machine = Machine::new();
    machine.write(LIST, list);
    machine.write("project/opencode.json", document.to_string());
    machine.set("LISTED_KEY", "sk-listed");
    machine
}

async fn open(machine: &Machine, locations: &Locations) -> Arc<Location> {
    locations.get(&machine.text("project")).await.unwrap()
}

async fn location(list: impl AsRef<[u8]>, document: &Value) -> (Machine, Arc<Location>) {
    let machine = machine(list, document);
    let location = open(&machine, &machine.locations(None)).await;
    (machine, location)
}

fn models(location: &Location) -> Vec<String> {
    let models = location.catalogue.models().into_iter();
    models
        .map(|it| format!("{}/{}", it.provider_id, it.id))
        .collect()
}

fn list() -> Value {
    json!({
        "listed": {
            "id": "listed", "name": "Listed", "env": ["LISTED_KEY"], "doc": "https://h/doc",
            "npm": "@ai-sdk/openai-compatible", "api": "http://listed/v1",
            "models": {
                "large": {
                    "id": "large", "name": "Large", "family": "fam", "release_date": "2026-01-01",
                    "attachment": true, "reasoning": true, "temperature": true, "tool_call": true,
                    "open_weights": false, "knowledge": "2025-01", "somethingNew": [1],
                    "reasoning_options": [{"type": "effort", "values": [null, "low", "high"]}],
                    "interleaved": {"field": "reasoning_content"},
                    "cost": {
                        "input": 1, "output": 2, "cache_read": 0.5,
                        "tiers": [{"input": 3, "output": 4, "tier": {"type": "context", "size": 1000}}],
                    },
                    "limit": {"context": 2000, "output": 100},
                    "modalities": {"input": ["text", "image"], "output": ["text"]},
                    "experimental": {"modes": {"fast": {
                        "cost": {"input": 10, "output": 20},
                        "provider": {"body": {"speed": "fast"}, "headers": {"anthropic-beta": "fast"}},
                    }}},
                    "status": "deprecated",
                },
                "undated": {"id": "undated", "name": "Undated", "release_date": "soon"},
            },
        },
        "unused": {
            "id": "unused", "name": "Unused", "env": ["UNUSED_KEY", "OTHER_KEY"],
            "models": {"m": {"id": "m", "name": "M"}},
        },
    })
}

#[tokio::test]
async fn listed_models_are_offered_if_there_is_a_key() {
    let (_machine, location) = location(list().to_string(), &json!({})).await;
    assert_eq!(location.configuration.diagnostics, []);
    assert_eq!(
        models(&location),
        ["listed/large", "listed/large-fast", "listed/undated"]
    );
    let shown = serde_json::to_value(location.catalogue.models()).unwrap();
    let mut expected = json!({
        "id": "large", "providerID": "listed", "family": "fam", "name": "Large",
        "api": {
            "type": "aisdk", "id": "large", "package": "@ai-sdk/openai-compatible",
            "url": "http://listed/v1",
        },
        "capabilities": {"tools": true, "input": ["text", "image"], "output": ["text"]},
        "request": {"headers": {}, "body": {}},
        "variants": [
            {"id": "none", "headers": {}, "body": {"reasoning_effort": "none"}},
            {"id": "low", "headers": {}, "body": {"reasoning_effort": "low"}},
            {"id": "high", "headers": {}, "body": {"reasoning_effort": "high"}},
        ],
        "time": {"released": 1_767_225_600_000_i64},
        "cost": [
            {"input": 1.0, "output": 2.0, "cache": {"read": 0.5, "write": 0.0}},
            {
                "tier": {"type": "context", "size": 1000},
                "input": 3.0, "output": 4.0, "cache": {"read": 0.0, "write": 0.0},
            },
        ],
        "status": "deprecated", "enabled": true, "limit": {"context": 2000, "output": 100},
    });
    assert_eq!(shown[0], expected);
    expected["id"] = json!("large-fast");
    expected["name"] = json!("Large Fast");
    expected["cost"] = json!([
        {"input": 10.0, "output": 20.0, "cache": {"read": 0.0, "write": 0.0}},
    ]);
    expected["request"] = json!({"headers": {"anthropic-beta": "fast"}, "body": {"speed": "fast"}});
    assert_eq!(shown[1], expected);
    assert_eq!(
        serde_json::to_value(location.catalogue.providers()).unwrap(),
        json!([{
            "id": "listed", "integrationID": "listed", "name": "Listed",
            "api": {
                "type": "aisdk", "package": "@ai-sdk/openai-compatible", "url": "http://listed/v1",
            },
            "request": {"headers": {}, "body": {}},
        }])
    );
}

#[tokio::test]
async fn a_listed_provider_without_a_key_is_not_offered() {
    let (_machine, location) = location(list().to_string(), &json!({})).await;
    let catalogue = &location.catalogue;
    assert_eq!(catalogue.provider("unused").unwrap().name, "Unused");
    let error = catalogue
        .resolve(Some(&select("unused", "m", None)))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "No API key for provider unused: set UNUSED_KEY or OTHER_KEY or pass apiKey to OpenCode.create"
    );
}

#[tokio::test]
async fn documents_override_the_list() {
    let document = json!({"provider": {
        "unused": {
            "name": "Mine", "options": {"apiKey": "k"},
            "models": {"m": {"limit": {"context": 5, "output": 1}}, "own": {}},
        },
        "listed": {"models": {"undated": {"disabled": true}}},
    }});
    let (_machine, location) = location(list().to_string(), &document).await;
    assert_eq!(
        models(&location),
        [
            "listed/large",
            "listed/large-fast",
            "unused/m",
            "unused/own"
        ]
    );
    let model = location.catalogue.described_model("unused", "m").unwrap();
    assert_eq!((model.name.as_str(), model.limits.context), ("M", 5));
    assert_eq!(location.catalogue.provider("unused").unwrap().name, "Mine");
}

#[tokio::test]
async fn a_denied_provider_of_the_list_is_gone() {
    let document = json!({"disabled_providers": ["listed", "unused"]});
    let (_machine, location) = location(list().to_string(), &document).await;
    assert_eq!(models(&location), [""; 0]);
    assert_eq!(location.catalogue.provider("unused"), None);
}

#[tokio::test]
async fn only_invalid_parts_are_omitted() {
    let mut list = list();
    list["listed"]["models"]["undated"]["limit"] = json!("large");
    list["listed"]["models"]["worse"] = json!(5);
    list["broken"] = json!({"env": "KEY"});
    let (machine, location) = location(list.to_string(), &json!({})).await;
    assert_eq!(models(&location), ["listed/large", "listed/large-fast"]);
    assert_eq!(
        location.configuration.diagnostics,
        [Diagnostic {
            path: machine.text(LIST),
            kind: DiagnosticKind::Ignored,
            message: "3 of the list of models are left out, the first because listed.models.undated.limit must be an object, found a string".to_owned(),
            line: None,
            column: None,
        }]
    );
}

#[tokio::test]
async fn an_invalid_list_is_reported_and_that_of_the_addon_is_used() {
    for (content, kind, message, place) in [
        (
            &b"{\n  \"a\": }"[..],
            DiagnosticKind::Syntax,
            "The list of models is not JSON; it is not used",
            Some((2, 8)),
        ),
        (
            b"[]",
            DiagnosticKind::Invalid,
            "The document must be an object, found an array; the list of models is not used",
            None,
        ),
        (
            b"\xff",
            DiagnosticKind::Syntax,
            "The list of models is not JSON; it is not used",
            Some((1, 1)),
        ),
    ] {
        let document = json!({"provider": {"mine": {"models": {"m": {}}}}});
        let (machine, location) = location(content, &document).await;
        assert_eq!(models(&location), ["mine/m"]);
        let known = location.catalogue.known_providers();
        assert!(known.iter().any(|provider| provider.id == "anthropic"));
        assert_eq!(
            location.configuration.diagnostics,
            [Diagnostic {
                path: machine.text(LIST),
                kind,
                message: message.to_owned(),
                line: place.map(|(line, _)| line),
                column: place.map(|(_, column)| column),
            }]
        );
    }
}

#[tokio::test]
async fn another_file_may_be_named() {
    let mut machine = machine("?", &json!({}));
    machine.write("elsewhere/list.json", list().to_string());
    machine.set("OPENCODE_MODELS_PATH", &machine.text("elsewhere/list.json"));
    let location = open(&machine, &machine.locations(None)).await;
    assert_eq!(location.configuration.diagnostics, []);
    assert_eq!(location.catalogue.models().len(), 3);

    machine.set("OPENCODE_MODELS_PATH", "list.json");
    let location = open(&machine, &machine.locations(None)).await;
    assert_eq!(
        location.configuration.diagnostics,
        [Diagnostic {
            path: "list.json".to_owned(),
            kind: DiagnosticKind::Io,
            message: "The list of models must be named by an absolute path; it is named by OPENCODE_MODELS_PATH".to_owned(),
            line: None,
            column: None,
        }]
    );
}

#[tokio::test]
async fn a_new_list_is_used_by_the_next_snapshot() {
    let machine = machine(list().to_string(), &json!({}));
    let locations = machine.locations(None);
    let before = open(&machine, &locations).await;
    let project = machine.text("project");
    let unchanged = locations.reload(&project).await.unwrap();
    assert!(!unchanged.catalogue_changed);

    let mut shorter = list();
    shorter["listed"]["models"] = json!({"undated": {"name": "Undated"}});
    machine.write(LIST, shorter.to_string());
    let changed = locations.reload(&project).await.unwrap();
    assert!(changed.catalogue_changed);
    assert_eq!(models(&changed.location), ["listed/undated"]);
    assert_eq!(models(&before).len(), 3, "a snapshot never changes");

    // After an invalid list, the previous one stays in effect.
    machine.write(LIST, "{\"listed\":");
    let broken = locations.reload(&project).await.unwrap();
    assert!(!broken.catalogue_changed);
    assert_eq!(models(&broken.location), ["listed/undated"]);
    assert_eq!(broken.location.configuration.diagnostics.len(), 1);
}

#[tokio::test]
async fn only_providers_with_a_key_are_kept_from_a_large_list() {
    let model = |number: usize| {
        let described = json!({
            "id": format!("m{number}"), "name": "M", "release_date": "2026-01-01", "reasoning": true,
            "tool_call": true, "cost": {"input": 1, "output": 2, "cache_read": 0.5},
            "limit": {"context": 200_000, "output": 64_000},
            "modalities": {"input": ["text", "image"], "output": ["text"]},
        });
        (format!("m{number}"), described)
    };
    let provider = |number: usize| {
        let described = json!({
            "id": format!("p{number}"), "name": "P", "env": [format!("P{number}_API_KEY")],
            "npm": "@ai-sdk/openai-compatible", "api": "http://h/v1",
            "models": Value::Object((0..50).map(model).collect()),
        });
        (format!("p{number}"), described)
    };
    let list = Value::Object((0..100).map(provider).collect());
    let mut machine = machine(list.to_string(), &json!({}));
    machine.set("P7_API_KEY", "k");
    let location = open(&machine, &machine.locations(None)).await;
    assert_eq!(location.configuration.diagnostics, []);
    assert_eq!(location.catalogue.providers().len(), 1);
    assert_eq!(location.catalogue.models().len(), 50);
    assert!(location.catalogue.described_provider("p8").is_none());
    assert_eq!(
        location.catalogue.provider("p8").unwrap().integration_id,
        Some("p8".to_owned())
    );
}

/// Opens a Location without any configuration and without a list on the disk, with this variable.
async fn bare(variable: &str) -> Arc<Location> {
    let mut machine = Machine::new();
    machine.set(variable, "sk-present");
    machine.write("project/notes.txt", "");
    open(&machine, &machine.locations(None)).await
}

#[tokio::test]
async fn a_key_in_the_environment_offers_the_models_that_the_addon_knows() {
    let location = bare("ANTHROPIC_API_KEY").await;
    let models = models(&location);
    assert!(
        models.contains(&"anthropic/claude-sonnet-4-5".to_owned()),
        "{models:?}"
    );
    assert!(
        models.iter().all(|id| id.starts_with("anthropic/")),
        "{models:?}"
    );
    let catalogue = &location.catalogue;
    let resolved = catalogue.resolve(Some(&select("anthropic", "claude-sonnet-4-5", None)));
    let resolved = resolved.unwrap();
    assert!(resolved.model.limits.context >= 200_000);
    assert!(!resolved.cost.rows().is_empty());
    // No document names this provider: the key may belong to another program.
    assert_eq!(catalogue.default_model(), None);
    let message = catalogue.resolve(None).unwrap_err().to_string();
    assert!(
        message.contains("Pass model to OpenCode.create"),
        "{message}"
    );
}

#[tokio::test]
async fn short_names_select_the_newest_model_of_the_list() {
    let location = bare("ANTHROPIC_API_KEY").await;
    let resolve = |id: &str| {
        location
            .catalogue
            .resolve(Some(&select("anthropic", id, None)))
    };
    let family = resolve("claude-sonnet").unwrap().selection.id;
    assert!(family.starts_with("claude-sonnet-"), "{family}");
    let dated = resolve("claude-haiku-4-5").unwrap().selection.id;
    assert!(dated.starts_with("claude-haiku-4-5"), "{dated}");
    let missed = resolve("claude-sonet").unwrap_err().to_string();
    assert!(missed.contains("Did you mean"), "{missed}");
}

#[tokio::test]
async fn a_model_of_the_users_own_provider_has_no_short_name() {
    let document = json!({"provider": {"mine": {
        "options": {"baseURL": "http://h/v1"}, "models": {"large-20260101": {"family": "large"}},
    }}});
    let (_machine, location) = location("{}", &document).await;
    let resolved = location
        .catalogue
        .resolve(Some(&select("mine", "large", None)));
    assert!(resolved.unwrap_err().to_string().contains("large-20260101"));
}

#[tokio::test]
async fn variables_fill_the_addresses_of_the_list() {
    let mut machine = Machine::new();
    machine.set("DATABRICKS_HOST", "mine.example");
    machine.set("DATABRICKS_TOKEN", "secret-token");
    machine.write("project/notes.txt", "");
    let location = open(&machine, &machine.locations(None)).await;
    let models = location.catalogue.models();
    let of_provider = models.iter().find(|it| it.provider_id == "databricks");
    let model = of_provider.expect("the provider has models");
    let resolved = location
        .catalogue
        .resolve(Some(&select("databricks", &model.id, None)));
    let url = resolved.unwrap().model.endpoint.base_url.clone();
    assert!(url.starts_with("https://mine.example/"), "{url}");
}
