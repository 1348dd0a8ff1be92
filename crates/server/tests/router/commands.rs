//! Commands over the wire.

use opencode_testkit::Reply;
use serde_json::json;

use crate::api::Api;

#[tokio::test]
async fn a_command_is_admitted_as_a_prompt() {
    let (api, session) = Api::with_session().await;
    api.f.model.otherwise(|_| Reply::says("Done."));
    let path = format!("/api/session/{session}/command");
    let body = json!({"command": "init", "arguments": "Mention the tests.", "resume": false});
    let admitted = api.post_json(&path, &body).await.ok();
    let prompt = &admitted["data"]["prompt"];
    assert_eq!(
        prompt["command"],
        json!({"name": "init", "arguments": "Mention the tests."})
    );
    let text = prompt["text"].as_str().unwrap();
    assert!(
        text.ends_with("The user adds: Mention the tests."),
        "{text}"
    );
}

#[tokio::test]
async fn unknown_commands_and_sessions_have_typed_failures() {
    let (api, session) = Api::with_session().await;
    let body = json!({"command": "inti"});
    let path = format!("/api/session/{session}/command");
    let told = json!({
        "_tag": "CommandNotFoundError",
        "command": "inti",
        "suggestion": "init",
        "message": "Command not found: inti. Did you mean init?",
    });
    assert_eq!(
        api.post_json(&path, &body).await.status_and_json(),
        (404, told)
    );
    let unknown = api
        .post_json("/api/session/ses_unknown/command", &body)
        .await;
    assert_eq!(unknown.status_and_json().1["_tag"], "SessionNotFoundError");
    let without = api.post_json(&path, &json!({"arguments": "x"})).await;
    let (status, told) = without.status_and_json();
    assert_eq!(
        (status, &told["_tag"]),
        (400, &json!("InvalidRequestError"))
    );
}
