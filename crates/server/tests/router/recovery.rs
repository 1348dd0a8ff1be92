//! Sessions whose activity was interrupted by a crash, and their continuation.

use opencode_testkit::{Gate, Reply};
use serde_json::{Value, json};

use crate::api::Api;

const INTERRUPTED: &str = "/api/session/interrupted";

async fn interrupted(api: &Api) -> Value {
    api.get(INTERRUPTED).await.ok()["data"].clone()
}

#[tokio::test]
async fn a_session_continues_without_a_prompt() {
    let (api, session) = Api::with_session().await;
    api.f
        .model
        .reply(Reply::says("Hello."))
        .reply(Reply::says("And more."));
    api.f.ask(&session, "Hi").await;
    let before = api.f.events(&session).await.len();
    api.post(&format!("/api/session/{session}/resume"))
        .await
        .is_bare(204);
    // The drain runs already, so `wait` waits for it.
    api.post(&format!("/api/session/{session}/wait"))
        .await
        .is_bare(204);
    let events = api.f.events_after(&session, before).await;
    assert_eq!(
        (events.first().unwrap().as_str(), events.last().unwrap()),
        ("step.started", &"step.ended stop".to_owned())
    );
}

#[tokio::test]
async fn interrupted_sessions_are_listed_until_they_are_resumed() {
    let (api, session) = Api::with_session().await;
    assert_eq!(interrupted(&api).await, json!([]));
    let gate = Gate::new();
    api.f.model.reply(Reply::new().begin_text().hold(&gate));
    let receipt = api.f.prompt(&session, "Hi").await;
    api.f.reached(&gate).await;
    // The session runs here, so it needs no recovery.
    assert_eq!(interrupted(&api).await, json!([]));

    let api = api.kill().await;
    let cut = interrupted(&api).await;
    let messages = api.f.messages(&session).await;
    assert_eq!(messages.len(), 2);
    let answer = serde_json::to_value(&messages[1]).unwrap();
    assert_ne!(answer["id"], json!(receipt.id));
    assert_eq!(
        cut,
        json!([{
            "sessionID": session,
            "state": "step-open",
            "messageID": answer["id"],
            "seq": 3,
            "time": answer["time"]["created"],
        }])
    );

    api.f.model.reply(Reply::says("Hello."));
    api.post(&format!("/api/session/{session}/resume"))
        .await
        .is_bare(204);
    api.f.wait(&session).await;
    assert_eq!(interrupted(&api).await, json!([]));
}
