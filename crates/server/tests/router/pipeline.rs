//! A request with several problems gets the first one, in this order: session, path, query, content type, body.

use axum::body::Body;
use opencode_protocol::operation::Middleware;
use opencode_protocol::operations::OPERATIONS;
use serde_json::json;

use crate::api::{Api, request};
use crate::concrete::concrete;

/// The operations of one session, as method and path.
fn of_sessions() -> impl Iterator<Item = (&'static str, &'static str)> {
    let specs = OPERATIONS.iter();
    let specs = specs.filter(|spec| spec.middleware.contains(&Middleware::Session));
    specs.map(|spec| (spec.method.as_str(), spec.path))
}

/// A request in which every part after the session or the Location is invalid, except parts for which any value is
/// valid.
fn all_wrong(method: &str, path: &str, session: &str, query: &str) -> axum::http::Request<Body> {
    let path = concrete(path, session)
        .replace("msg_x", "foo")
        .replace("per_x", "foo")
        .replace("que_x", "foo")
        .replace("pty_x", "foo");
    let path = format!("{path}?limit=x&after=y&order=z&cursor=%21&type=x{query}");
    let mut request = request(method, &path, Body::from("{"));
    let value = "text/plain".parse().unwrap();
    request.headers_mut().insert("content-type", value);
    request
}

#[tokio::test]
async fn an_unknown_session_is_reported_before_anything_else() {
    let api = Api::open().await;
    for (method, path) in of_sessions() {
        let answer = api.send(all_wrong(method, path, "ses_nope", "")).await;
        let expected = json!({
            "_tag": "SessionNotFoundError",
            "sessionID": "ses_nope",
            "message": "Session not found: ses_nope",
        });
        assert_eq!(answer.status_and_json(), (404, expected), "{method} {path}");
    }
    assert_ne!(of_sessions().count(), 0);
}

#[tokio::test]
async fn a_malformed_session_id_is_reported_before_anything_else() {
    let api = Api::open().await;
    let long = format!("ses_{}", "x".repeat(300));
    for id in ["foo", "SES_a", "%20ses_a", &long] {
        for (method, path) in of_sessions() {
            let answer = api.send(all_wrong(method, path, id, "")).await;
            let expected = json!({
                "_tag": "InvalidRequestError",
                "message": "Invalid session ID",
                "field": "sessionID",
            });
            assert_eq!(answer.status_and_json(), (400, expected), "{method} {path}");
        }
    }
}

/// Operations with and without this middleware, as method and path.
fn placed(middleware: Middleware, here: bool) -> Vec<(&'static str, &'static str)> {
    let specs = OPERATIONS.iter();
    let specs = specs.filter(|spec| spec.middleware.contains(&middleware) == here);
    specs
        .map(|spec| (spec.method.as_str(), spec.path))
        .collect()
}

#[tokio::test]
async fn a_location_that_cannot_be_opened_is_reported_before_anything_else() {
    let api = Api::open().await;
    api.f.project.write("file", "");
    let directory = api.f.project.directory();
    for (selected, message) in [
        (
            "a/b".to_owned(),
            "The directory \"a/b\" is not an absolute path; give the full path, from the root on"
                .to_owned(),
        ),
        (
            format!("{directory}/missing"),
            format!(
                "The directory {directory}/missing does not exist; create it first or give another one"
            ),
        ),
        (
            format!("{directory}/file"),
            format!("{directory}/file is not a directory; give the directory that holds it"),
        ),
    ] {
        let told = json!({
            "_tag": "InvalidRequestError",
            "message": message,
            "field": "location.directory",
        });
        let query = format!("&location[directory]={selected}");
        for (method, path) in placed(Middleware::Location, true) {
            if path.ends_with("/connect") {
                // The operation opens a connection, so it has no body.
                continue;
            }
            let answer = api.send(all_wrong(method, path, "", &query)).await;
            assert_eq!(
                answer.status_and_json(),
                (400, told.clone()),
                "{method} {path}"
            );
            let path = format!("{}?query=x{query}", concrete(path, ""));
            let answer = api.send(request(method, &path, VALID.into())).await;
            assert_eq!(
                answer.status_and_json(),
                (400, told.clone()),
                "{method} {path}"
            );
        }
    }
    assert_eq!(placed(Middleware::Location, true).len(), 37);
}

/// A body that every operation of a Location accepts.
const VALID: &str = r#"{"key":"k","label":"l","methodID":"m","inputs":{}}"#;

#[tokio::test]
async fn an_operation_without_location_ignores_it() {
    let (api, session) = Api::with_session().await;
    // A network client lists and removes the saved permissions of its Location.
    let saved = "/api/permission/saved";
    let none = placed(Middleware::Location, false);
    for (method, path) in none
        .into_iter()
        .filter(|(_, path)| !path.starts_with(saved))
    {
        let path = concrete(path, session.as_str());
        let path = format!("{path}?location[directory]=a/b");
        let response = api.response(request(method, &path, Body::empty())).await;
        let told = response.headers().get("content-type");
        let (status, told) = (response.status(), told.cloned());
        if status == 400 && told.is_some_and(|it| it == "application/json") {
            let answer = api.send(request(method, &path, Body::empty())).await;
            assert_ne!(
                answer.json()["field"],
                "location.directory",
                "{method} {path}"
            );
        }
    }
}

#[tokio::test]
async fn with_a_location_path_query_content_type_text_and_schema_are_checked_in_this_order() {
    let api = Api::open().await;
    let invalid = |kind: &str, message: &str| {
        let body = json!({"_tag": "InvalidRequestError", "message": message, "kind": kind});
        (400, body)
    };
    let answer = api.put_json("/api/pty/foo?location=x", &json!(5)).await;
    let params = "Expected a string starting with \"pty\", got \"foo\"\n  at [\"ptyID\"]";
    assert_eq!(answer.status_and_json(), invalid("Params", params));
    let answer = api.put_json("/api/pty/pty_x?location={}", &json!(5)).await;
    let query = "Expected LocationQuery | null, got \"{}\"\n  at [\"location\"]";
    assert_eq!(answer.status_and_json(), invalid("Query", query));
    let answer = api.post_text("/api/pty", Some("text/plain"), "{").await;
    assert_eq!(
        (answer.status, &*answer.text),
        (415, "Unsupported content-type: text/plain")
    );
    let answer = api.post_text("/api/pty", None, "{").await;
    let message = answer.json()["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("Malformed JSON: "), "{message}");
    let answer = api.post_text("/api/pty", None, r#"{"args":[1]}"#).await;
    let payload = "Expected string, got 1\n  at [\"args\"][0]";
    assert_eq!(answer.status_and_json(), invalid("Payload", payload));
}

#[tokio::test]
async fn path_query_content_type_text_and_schema_are_checked_in_this_order() {
    let (api, session) = Api::with_session().await;
    let invalid = |kind: &str, message: &str| {
        let body = json!({"_tag": "InvalidRequestError", "message": message, "kind": kind});
        (400, body)
    };
    let answer = api
        .get(&format!("/api/session/{session}/message/foo?limit=x"))
        .await;
    assert_eq!(
        answer.status_and_json(),
        invalid(
            "Params",
            "Expected a string starting with \"msg_\", got \"foo\"\n  at [\"messageID\"]"
        )
    );
    let answer = api
        .get(&format!("/api/session/{session}/message?limit=x&order=up"))
        .await;
    assert_eq!(
        answer.status_and_json(),
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
        answer.status_and_json(),
        invalid("Payload", "Missing key\n  at [\"prompt\"]")
    );
    // None of these requests had an effect.
    assert_eq!(api.f.events(&session).await, [""; 0]);
}

#[tokio::test]
async fn a_session_at_a_removed_location_can_be_read_and_prompted() {
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
