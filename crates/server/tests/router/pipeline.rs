//! Of several problems of a request the first is told: session, path, query, content type, body.

use axum::body::Body;
use opencode_protocol::operation::Middleware;
use opencode_protocol::operations::OPERATIONS;
use serde_json::json;

use crate::api::{Api, request};

/// The operations of one session, as method and path.
fn of_sessions() -> impl Iterator<Item = (&'static str, &'static str)> {
    let specs = OPERATIONS.iter();
    let specs = specs.filter(|spec| spec.middleware.contains(&Middleware::Session));
    specs.map(|spec| (spec.method.as_str(), spec.path))
}

/// A request in which everything behind the session is wrong.
fn all_wrong(method: &str, path: &str, session: &str) -> axum::http::Request<Body> {
    let path = path
        .replace("{sessionID}", session)
        .replace("{messageID}", "foo");
    let path = format!("{path}?limit=x&after=y&order=z&cursor=%21");
    let mut request = request(method, &path, Body::from("{"));
    let value = "text/plain".parse().unwrap();
    request.headers_mut().insert("content-type", value);
    request
}

#[tokio::test]
async fn an_unknown_session_is_told_before_anything_else() {
    let api = Api::open().await;
    for (method, path) in of_sessions() {
        let answer = api.send(all_wrong(method, path, "ses_nope")).await;
        let expected = json!({
            "_tag": "SessionNotFoundError",
            "sessionID": "ses_nope",
            "message": "Session not found: ses_nope",
        });
        assert_eq!(answer.told(), (404, expected), "{method} {path}");
    }
    assert_ne!(of_sessions().count(), 0);
}

#[tokio::test]
async fn a_malformed_session_id_is_told_before_anything_else() {
    let api = Api::open().await;
    let long = format!("ses_{}", "x".repeat(300));
    for id in ["foo", "SES_a", "%20ses_a", &long] {
        for (method, path) in of_sessions() {
            let answer = api.send(all_wrong(method, path, id)).await;
            let expected = json!({
                "_tag": "InvalidRequestError",
                "message": "Invalid session ID",
                "field": "sessionID",
            });
            assert_eq!(answer.told(), (400, expected), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn then_path_query_content_type_text_and_schema_in_this_order() {
    let (api, session) = Api::with_session().await;
    let invalid = |kind: &str, message: &str| {
        let body = json!({"_tag": "InvalidRequestError", "message": message, "kind": kind});
        (400, body)
    };
    let answer = api
        .get(&format!("/api/session/{session}/message/foo?limit=x"))
        .await;
    assert_eq!(
        answer.told(),
        invalid(
            "Params",
            "Expected a string starting with \"msg_\", got \"foo\"\n  at [\"messageID\"]"
        )
    );
    let answer = api
        .get(&format!("/api/session/{session}/message?limit=x&order=up"))
        .await;
    assert_eq!(
        answer.told(),
        invalid("Query", "Expected an integer, got NaN\n  at [\"limit\"]")
    );
    let prompt = format!("/api/session/{session}/prompt");
    let answer = api.post_text(&prompt, Some("text/plain"), "{").await;
    assert_eq!(
        (answer.status, &*answer.text),
        (415, "Unsupported content-type: text/plain")
    );
    let answer = api.post_text(&prompt, None, "{").await;
    let message = answer.json()["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("Malformed JSON: "), "{message}");
    let answer = api
        .post_text(&prompt, None, r#"{"delivery":"later"}"#)
        .await;
    assert_eq!(
        answer.told(),
        invalid("Payload", "Missing key\n  at [\"prompt\"]")
    );
    // None of these did anything.
    assert_eq!(api.f.events(&session).await, [""; 0]);
}

#[tokio::test]
async fn a_session_whose_place_is_gone_can_still_be_read_and_prompted() {
    let api = Api::open().await;
    let gone = api.f.project.path("gone");
    let body = json!({"location": {"directory": gone}});
    let created = api.post_json("/api/session", &body).await.ok();
    let session = created["data"]["id"].as_str().unwrap();
    let prompt = json!({"prompt": {"text": "Hi"}, "resume": false});
    let at = |rest: &str| format!("/api/session/{session}{rest}");
    api.post_json(&at("/prompt"), &prompt).await.ok();
    for rest in ["", "/message", "/context", "/history"] {
        api.get(&at(rest)).await.ok();
    }
    api.post(&at("/interrupt")).await.is_bare(204);
    let model = json!({"model": {"id": "m2", "providerID": "mock"}});
    api.post_json(&at("/model"), &model).await.is_bare(204);
    let agent = json!({"agent": "plan"});
    api.post_json(&at("/agent"), &agent).await.is_bare(204);
}
