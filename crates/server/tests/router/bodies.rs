//! Decoding of bodies: the JSON that is accepted, and the members that count.

use serde_json::{Value, json};

use crate::api::Api;

/// A refused body.
fn invalid(message: &str) -> (u16, Value) {
    let body = json!({"_tag": "InvalidRequestError", "message": message, "kind": "Payload"});
    (400, body)
}

#[tokio::test]
async fn json_has_its_content_type_or_none() {
    let api = Api::open().await;
    for content_type in [
        None,
        Some("application/json"),
        Some("Application/JSON"),
        Some("application/json; charset=utf-8"),
        Some(" application/json ;x=y"),
    ] {
        let answer = api.post_text("/api/session", content_type, "{}").await;
        assert_eq!(answer.status, 200, "{content_type:?}");
    }
    for content_type in [
        "text/plain",
        "application/vnd.x+json",
        "application/jsonx",
        "multipart/form-data; boundary=x",
        "text/html; charset=utf-8",
    ] {
        let answer = api
            .post_text("/api/session", Some(content_type), "{}")
            .await;
        assert_eq!(
            (answer.status, answer.text.clone()),
            (415, format!("Unsupported content-type: {content_type}"))
        );
        let told = answer.header("content-type").unwrap();
        assert!(told.starts_with("text/plain"), "{told}");
    }
}

#[tokio::test]
async fn a_body_must_be_an_object() {
    let api = Api::open().await;
    for (body, message) in [
        ("", "Expected object, got undefined"),
        ("null", "Expected object, got null"),
        ("[]", "Expected object, got []"),
        ("\"x\"", "Expected object, got \"x\""),
        ("5", "Expected object, got 5"),
        ("true", "Expected object, got true"),
    ] {
        let answer = api.post_text("/api/session", None, body).await;
        assert_eq!(answer.status_and_json(), invalid(message), "{body}");
    }
}

#[tokio::test]
async fn invalid_json_is_refused() {
    let api = Api::open().await;
    for body in [
        "{",
        "{}x",
        "{'a':1}",
        "{a:1}",
        "\u{feff}{}",
        "NaN",
        "{\"a\":01}",
        "{\"a\":\"\\ud800\"}x",
    ] {
        let answer = api.post_text("/api/session", None, body).await;
        let (status, told) = answer.status_and_json();
        assert_eq!(
            (status, &told["_tag"], &told["kind"]),
            (400, &json!("InvalidRequestError"), &json!("Payload"))
        );
        let message = told["message"].as_str().unwrap();
        assert!(message.starts_with("Malformed JSON: "), "{body}: {message}");
    }
}

#[tokio::test]
async fn endless_nesting_is_refused_and_does_no_harm() {
    let (api, session) = Api::with_session().await;
    let path = format!("/api/session/{session}/prompt");
    let (open, close) = ("[".repeat(10_000), "]".repeat(10_000));
    let (dive, rise) = (r#"{"a":"#.repeat(10_000), "}".repeat(10_000));
    for body in [
        open.clone(),
        format!("{open}{close}"),
        format!(r#"{{"prompt":{open}{close}}}"#),
        format!(r#"{{"prompt":{{"text":"Hi"}},"unknown":{open}{close}}}"#),
        format!(r#"{{"prompt":{{"text":"Hi"}},"unknown":{dive}1{rise}}}"#),
    ] {
        let answer = api.post_text(&path, None, body).await;
        let (status, told) = answer.status_and_json();
        assert_eq!((status, &told["kind"]), (400, &json!("Payload")));
    }
    assert_eq!(api.f.events(&session).await, [""; 0]);
}

#[tokio::test]
async fn unambiguous_variants_are_accepted() {
    let (api, session) = Api::with_session().await;
    let path = format!("/api/session/{session}/prompt");
    let rows: [(&[u8], &str); 5] = [
        // Unknown members have no effect, at any depth.
        (
            br#"{"prompt":{"text":"a","more":{"x":1}},"resume":false,"more":[]}"#,
            "a",
        ),
        // If a member occurs twice, the last one counts.
        (
            br#"{"prompt":5,"prompt":{"text":"no","text":"b"},"resume":false}"#,
            "b",
        ),
        // Null is the same as absent.
        (
            br#"{"id":null,"prompt":{"text":"c"},"delivery":null,"resume":false}"#,
            "c",
        ),
        // Invalid text is replaced.
        (
            b"{\"prompt\":{\"text\":\"d\xff\"},\"resume\":false}",
            "d\u{fffd}",
        ),
        (br#"{"prompt":{"text":""},"resume":false}"#, ""),
    ];
    for (body, text) in rows {
        let answer = api.post_text(&path, None, body.to_vec()).await;
        let receipt = &answer.ok()["data"];
        assert_eq!(receipt["prompt"], json!({"text": text}));
        assert_eq!(receipt["delivery"], "steer");
    }
}

#[tokio::test]
async fn a_prompt_may_be_large() {
    const SIZE: usize = 7 * 1024 * 1024;
    let (api, session) = Api::with_session().await;
    let path = format!("/api/session/{session}/prompt");
    let text = "x".repeat(SIZE);
    let body = json!({"id": "msg_large", "prompt": {"text": text}, "resume": false});
    let receipt = api.post_json(&path, &body).await.ok();
    assert_eq!(
        receipt["data"]["prompt"]["text"].as_str().unwrap().len(),
        SIZE
    );
    let retried = api.post_json(&path, &body).await.ok();
    assert_eq!(retried, receipt);
    let history = api.get(&format!("/api/session/{session}/history")).await;
    assert!(history.text.len() > SIZE);
}

#[tokio::test]
async fn an_unexpected_body_is_ignored() {
    let (api, session) = Api::with_session().await;
    for operation in ["interrupt", "wait"] {
        let path = format!("/api/session/{session}/{operation}");
        for content_type in [None, Some("text/plain"), Some("application/json")] {
            let answer = api.post_text(&path, content_type, "{not json").await;
            answer.is_bare(204);
        }
    }
    let mut request = crate::api::request("GET", "/api/health", "{not json".into());
    let value = "text/plain".parse().unwrap();
    request.headers_mut().insert("content-type", value);
    assert_eq!(api.send(request).await.status, 200);
}
