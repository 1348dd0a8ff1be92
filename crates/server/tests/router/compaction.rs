//! Compaction that a client requests.

use opencode_testkit::{Gate, Reply};
use serde_json::json;

use crate::api::Api;

#[tokio::test]
async fn a_short_history_is_not_compacted_and_a_running_drain_is_awaited() {
    let (api, session) = Api::with_session().await;
    let compact = format!("/api/session/{session}/compact");
    api.post(&compact).await.is_bare(204);
    let gate = Gate::new();
    api.f.model.reply(
        Reply::new()
            .begin_text()
            .hold(&gate)
            .delta("a")
            .end_text()
            .stop(),
    );
    api.f.prompt(&session, "Hi").await;
    api.f.reached(&gate).await;
    let mut asked = Box::pin(api.post(&compact));
    assert!(futures::poll!(&mut asked).is_pending());
    gate.release();
    asked.await.is_bare(204);
}

#[tokio::test]
async fn a_history_is_compacted_or_the_reason_is_reported() {
    let (api, session) = Api::with_session().await;
    let kept = json!({"compaction": {"keep": {"tokens": 4}}});
    api.f.project.write("opencode.json", &kept.to_string());
    api.f
        .model
        .reply(Reply::says("A long enough answer"))
        .reply(Reply::says(""))
        .reply(Reply::says("SUMMARY"));
    api.f.ask(&session, "Hi").await;
    let refused = json!({
        "_tag": "ServiceUnavailableError",
        "message": format!("The history of {session} was not compacted: the model answered with nothing"),
        "service": "session.compact",
    });
    let compact = format!("/api/session/{session}/compact");
    assert_eq!(api.post(&compact).await.status_and_json(), (503, refused));
    api.post(&compact).await.is_bare(204);
    let context = api.get(&format!("/api/session/{session}/context")).await;
    let (status, mut told) = context.status_and_json();
    assert_eq!(status, 200);
    let message = told["data"][0].as_object_mut().unwrap();
    message.retain(|key, _| !matches!(&**key, "id" | "time"));
    assert_eq!(
        told,
        json!({"data": [{
            "type": "compaction", "reason": "manual", "summary": "SUMMARY",
            "recent": "ng enough answer",
        }]})
    );
}

#[tokio::test]
async fn a_session_with_a_removed_directory_cannot_be_compacted() {
    let api = Api::open().await;
    let directory = api.f.project.path("gone").display().to_string();
    let body = json!({"id": "ses_gone", "location": {"directory": directory}});
    api.create(body).await;
    let refused = json!({
        "_tag": "ServiceUnavailableError",
        "message": format!("The directory {directory} does not exist; create it first or give another one"),
        "service": "session.compact",
    });
    let compact = "/api/session/ses_gone/compact";
    assert_eq!(api.post(compact).await.status_and_json(), (503, refused));
}
