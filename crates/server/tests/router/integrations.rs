//! Services that need credentials.

use serde_json::{Value, json};

use crate::api::{Api, request};

#[tokio::test]
async fn the_providers_of_the_list_are_integrations() {
    let api = Api::open().await;
    let location = api.get("/api/location").await.ok();
    let listed = api.get("/api/integration").await.ok();
    let ids = listed["data"].as_array().unwrap().iter();
    let ids: Vec<_> = ids
        .map(|it| it["id"].as_str().unwrap().to_owned())
        .collect();
    assert!(ids.contains(&"openai".to_owned()), "{ids:?}");
    let anthropic = json!({
        "id": "anthropic", "name": "Anthropic", "connections": [],
        "methods": [{"type": "key"}, {"type": "env", "names": ["ANTHROPIC_API_KEY"]}],
    });
    for (path, data) in [
        ("/api/integration/anthropic", anthropic),
        ("/api/integration/nope", Value::Null),
    ] {
        let expected = json!({"location": location, "data": data});
        assert_eq!(api.get(path).await.ok(), expected, "{path}");
    }
}

#[tokio::test]
async fn using_an_unknown_integration_is_refused() {
    let api = Api::open().await;
    for (method, path, body, field, message) in [
        (
            "POST",
            "/api/integration/nope/connect/key",
            r#"{"key":"secret","label":null}"#,
            "integrationID",
            "Unknown integration: nope",
        ),
        (
            "POST",
            "/api/integration/nope/connect/oauth",
            r#"{"methodID":"m","inputs":{"a":"b"}}"#,
            "integrationID",
            "Unknown integration: nope",
        ),
        (
            "GET",
            "/api/integration/attempt/con_x",
            "",
            "attemptID",
            "Unknown attempt: con_x",
        ),
        (
            "POST",
            "/api/integration/attempt/con_x/complete",
            r#"{"code":null}"#,
            "attemptID",
            "Unknown attempt: con_x",
        ),
    ] {
        let answer = api.send(request(method, path, body.into())).await;
        let told = json!({"_tag": "InvalidRequestError", "message": message, "field": field});
        assert_eq!(answer.status_and_json(), (400, told), "{method} {path}");
    }
}

#[tokio::test]
async fn changing_or_removing_an_unknown_integration_has_no_effect() {
    let api = Api::open().await;
    for (method, path, body) in [
        ("PATCH", "/api/credential/cred_x", r#"{"label":"mine"}"#),
        ("DELETE", "/api/credential/cred_x", ""),
        ("DELETE", "/api/integration/attempt/con_x", ""),
    ] {
        let answer = api.send(request(method, path, body.into())).await;
        answer.is_bare(204);
    }
}

#[tokio::test]
async fn invalid_input_is_reported_first() {
    let api = Api::open().await;
    for (method, path, body, message) in [
        (
            "POST",
            "/api/integration/nope/connect/key",
            "{}",
            "Missing key\n  at [\"key\"]",
        ),
        (
            "POST",
            "/api/integration/nope/connect/oauth",
            r#"{"methodID":"m","inputs":{"a":1}}"#,
            "Expected string, got 1\n  at [\"inputs\"][\"a\"]",
        ),
        (
            "PATCH",
            "/api/credential/cred_x",
            r#"{"label":5}"#,
            "Expected string, got 5\n  at [\"label\"]",
        ),
    ] {
        let answer = api.send(request(method, path, body.into())).await;
        let told = json!({"_tag": "InvalidRequestError", "message": message, "kind": "Payload"});
        assert_eq!(answer.status_and_json(), (400, told), "{method} {path}");
    }
}
