//! The list of things to do, over the wire.

use opencode_testkit::{Reply, built_in_tools};
use serde_json::json;

use crate::api::Api;

#[tokio::test]
async fn the_list_of_a_session_can_be_read() {
    let (api, session) = Api::with_session().await;
    let path = format!("/api/session/{session}/todo");
    assert_eq!(api.get(&path).await.ok(), json!({"data": []}));
    api.f.register(built_in_tools());
    let todos = json!([
        {"content": "Look", "status": "completed", "priority": "high"},
        {"content": "Change", "status": "in_progress", "priority": "any"},
    ]);
    let input = json!({"todos": todos});
    api.f.model.reply(Reply::calls("c0", "todowrite", input));
    api.f.model.reply(Reply::says("Noted."));
    api.f.ask(&session, "Go").await;
    assert_eq!(api.get(&path).await.ok(), json!({"data": todos}));
}

#[tokio::test]
async fn an_unknown_session_has_none() {
    let api = Api::open().await;
    let told = json!({
        "_tag": "SessionNotFoundError",
        "sessionID": "ses_unknown",
        "message": "Session not found: ses_unknown",
    });
    assert_eq!(
        api.get("/api/session/ses_unknown/todo")
            .await
            .status_and_json(),
        (404, told)
    );
}
