//! Compaction that somebody asks for.

use opencode_testkit::{Gate, Reply};
use serde_json::json;

use crate::api::Api;

#[tokio::test]
async fn a_short_history_needs_none_and_a_running_drain_is_waited_for() {
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
async fn a_history_that_needs_it_is_refused_by_the_name_of_the_operation() {
    let (api, session) = Api::with_session().await;
    let kept = json!({"compaction": {"keep": {"tokens": 4}}});
    api.f.project.write("opencode.json", &kept.to_string());
    api.f.model.reply(Reply::says("A long enough answer"));
    api.f.ask(&session, "Hi").await;
    let refused = json!({
        "_tag": "ServiceUnavailableError",
        "message": format!("The history of {session} is long enough to be compacted, and this version cannot compact yet"),
        "service": "session.compact",
    });
    let compact = format!("/api/session/{session}/compact");
    assert_eq!(api.post(&compact).await.told(), (503, refused));
}

#[tokio::test]
async fn a_session_whose_directory_is_gone_cannot_be_compacted() {
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
    assert_eq!(api.post(compact).await.told(), (503, refused));
}
