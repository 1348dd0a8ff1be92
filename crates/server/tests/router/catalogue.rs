//! Providers and models of a Location.

use serde_json::{Value, json};

use crate::api::Api;

const CONFIG: &str = r#"{
    "providers": {
        "acme": {
            "name": "Acme",
            "api": {"type": "aisdk", "package": "@ai-sdk/openai-compatible", "url": "http://acme.test/v1",
                    "settings": {"apiKey": "sk-secret"}},
            "request": {"headers": {"authorization": "Bearer sk-secret", "x-team": "t"}, "body": {"user": "u"}},
            "models": {"one": {
                "name": "One",
                "family": "ones",
                "request": {"headers": {"x-api-key": "sk-secret"}, "body": {"user": "u"}},
                "capabilities": {"tools": true, "input": ["text"], "output": ["text"]},
                "cost": [{"input": 1, "output": 2, "cache": {"read": 0.5, "write": 0.25}}],
                "limit": {"context": 1000, "output": 100}
            }}
        }
    }
}"#;

async fn configured() -> (Api, Value) {
    let api = Api::open().await;
    api.f.project.write("opencode.json", CONFIG);
    let location = api.get("/api/location").await.ok();
    (api, location)
}

fn acme() -> Value {
    json!({
        "id": "acme",
        "name": "Acme",
        "api": {
            "type": "aisdk",
            "package": "@ai-sdk/openai-compatible",
            "url": "http://acme.test/v1",
            "settings": {"apiKey": "<redacted>"},
        },
        "request": {
            "headers": {"authorization": "<redacted>", "x-team": "<redacted>"},
            "body": {"user": "u"},
        },
    })
}

#[tokio::test]
async fn a_provider_is_shown_without_its_secrets() {
    let (api, location) = configured().await;
    let answer = api.get("/api/provider/acme").await;
    assert_eq!(answer.ok(), json!({"location": location, "data": acme()}));
    let list = api.get("/api/provider").await.ok();
    let list = list["data"].as_array().unwrap().clone();
    let listed: Vec<_> = list.iter().filter(|it| it["id"] == "acme").collect();
    assert_eq!(listed, [&acme()]);
}

#[tokio::test]
async fn a_model_is_shown_without_its_secrets() {
    let (api, _) = configured().await;
    let list = api.get("/api/model").await;
    assert!(!list.text.contains("sk-secret"), "{}", list.text);
    let list = list.ok()["data"].as_array().unwrap().clone();
    let listed: Vec<_> = list
        .iter()
        .filter(|it| it["providerID"] == "acme")
        .collect();
    let expected = json!({
        "id": "one",
        "providerID": "acme",
        "family": "ones",
        "name": "One",
        "api": {
            "type": "aisdk",
            "id": "one",
            "package": "@ai-sdk/openai-compatible",
            "url": "http://acme.test/v1",
            "settings": {"apiKey": "<redacted>"},
        },
        "capabilities": {"tools": true, "input": ["text"], "output": ["text"]},
        "request": {"headers": {"x-api-key": "<redacted>"}, "body": {"user": "u"}},
        "variants": [],
        "time": {"released": 0},
        "cost": [{"input": 1.0, "output": 2.0, "cache": {"read": 0.5, "write": 0.25}}],
        "status": "active",
        "enabled": true,
        "limit": {"context": 1000, "output": 100},
    });
    assert_eq!(listed, [&expected]);
}

#[tokio::test]
async fn an_unknown_provider_is_reported() {
    let (api, _) = configured().await;
    for (given, id) in [("nope", "nope"), ("a%2Fb", "a/b")] {
        let answer = api.get(&format!("/api/provider/{given}")).await;
        let told = json!({
            "_tag": "ProviderNotFoundError",
            "providerID": id,
            "message": format!("Provider not found: {id}"),
        });
        assert_eq!(answer.status_and_json(), (404, told));
    }
}
