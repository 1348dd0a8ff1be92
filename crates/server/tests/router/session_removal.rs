//! Removing and forking sessions over the wire.

use opencode_testkit::{Gate, Reply};
use serde_json::{Value, json};

use crate::api::Api;
use crate::sse::Next;

fn not_found(id: &str) -> (u16, Value) {
    let message = format!("Session not found: {id}");
    let told = json!({"_tag": "SessionNotFoundError", "sessionID": id, "message": message});
    (404, told)
}

#[tokio::test]
async fn a_session_is_removed_once() {
    let (api, session) = Api::with_session().await;
    let path = format!("/api/session/{session}");
    api.delete(&path).await.is_bare(204);
    for answer in [api.delete(&path).await, api.get(&path).await] {
        assert_eq!(answer.status_and_json(), not_found(session.as_str()));
    }
    let wrong = api.delete(&format!("{path}?interrupt=now")).await;
    assert_eq!(wrong.status_and_json(), not_found(session.as_str()));
}

#[tokio::test]
async fn a_session_that_works_is_removed_with_interrupt_and_its_stream_ends() {
    let (api, session) = Api::with_session().await;
    let path = format!("/api/session/{session}");
    let gate = Gate::new();
    api.f.model.reply(Reply::new().begin_text().hold(&gate));
    api.f.prompt(&session, "Hi").await;
    api.f.reached(&gate).await;
    let told = json!({
        "_tag": "SessionBusyError",
        "sessionID": session,
        "message": format!("The session {session} is running; wait for it, or interrupt it, and try again"),
    });
    for refused in [
        api.delete(&path).await,
        api.delete(&format!("{path}?interrupt=false")).await,
        api.post_json(&format!("{path}/fork"), &json!({})).await,
    ] {
        assert_eq!(refused.status_and_json(), (409, told.clone()));
    }
    let wrong = api.delete(&format!("{path}?interrupt=now")).await;
    assert_eq!(
        (wrong.status, &wrong.json()["kind"]),
        (400, &json!("Query"))
    );
    let mut stream = api.stream(&format!("{path}/event")).await;
    api.delete(&format!("{path}?interrupt=true"))
        .await
        .is_bare(204);
    // The body ends and does not break.
    assert!(matches!(stream.rest(&api.f).await.1, Next::End));
    assert_eq!(api.get(&path).await.status, 404);
}

#[tokio::test]
async fn a_fork_is_a_session_with_a_parent() {
    let (api, session) = Api::with_session().await;
    api.f.model.reply(Reply::says("Hello."));
    let prompt = api.f.ask(&session, "Hi").await;
    let path = format!("/api/session/{session}/fork");
    let fork = api.post_json(&path, &json!({})).await.ok()["data"].clone();
    assert_eq!(
        (&fork["parentID"], &fork["title"]),
        (
            &json!(session),
            &json!("New session - 2026-11-20T12:55:02.007Z (fork #1)")
        )
    );
    let path_of_fork = format!("/api/session/{}", fork["id"].as_str().unwrap());
    assert_eq!(api.get(&path_of_fork).await.ok()["data"], fork);
    let body = json!({"messageID": prompt.id});
    let empty = api.post_json(&path, &body).await.ok()["data"]["id"].clone();
    let messages = format!("/api/session/{}/message", empty.as_str().unwrap());
    assert_eq!(api.get(&messages).await.ok()["data"], json!([]));
    for (body, status, tag) in [
        (
            json!({"messageID": "msg_none"}),
            404,
            "MessageNotFoundError",
        ),
        (json!({"messageID": "x"}), 400, "InvalidRequestError"),
        (json!({"partID": "t"}), 400, "InvalidRequestError"),
        (
            json!({"messageID": prompt.id, "partID": "t"}),
            400,
            "InvalidRequestError",
        ),
    ] {
        let refused = api.post_json(&path, &body).await;
        assert_eq!(
            (refused.status, &refused.json()["_tag"]),
            (status, &json!(tag)),
            "{body}"
        );
    }
    let unknown = api
        .post_json("/api/session/ses_none/fork", &json!({}))
        .await;
    assert_eq!(unknown.status_and_json(), not_found("ses_none"));
}
