//! Creating and reading sessions, and operations on one session.

use opencode_testkit::{Gate, Reply};
use serde_json::json;

use crate::api::Api;

#[tokio::test]
async fn a_session_is_returned_as_created() {
    let api = Api::open().await;
    let directory = api.f.project.directory();
    let created = api
        .create(json!({
            "id": "ses_mine",
            "agent": "plan",
            "model": {"id": "m2", "providerID": "mock"},
        }))
        .await;
    assert_eq!(
        created,
        json!({
            "id": "ses_mine",
            "projectID": "global",
            "agent": "plan",
            "model": {"id": "m2", "providerID": "mock", "variant": "default"},
            "cost": 0.0,
            "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}},
            "time": {"created": 1_795_179_302_007_i64, "updated": 1_795_179_302_007_i64},
            "title": "New session - 2026-11-20T12:55:02.007Z",
            "location": {"directory": directory},
            "subpath": directory.trim_start_matches('/'),
        })
    );
    let read = api.get("/api/session/ses_mine").await.ok();
    assert_eq!(read, json!({"data": created}));
    // If the id exists, the other fields are ignored.
    api.f.clock.advance(1000);
    let again =
        api.create(json!({"id": "ses_mine", "agent": "build", "location": {"directory": "x"}}));
    assert_eq!(again.await, created);
}

#[tokio::test]
async fn a_running_session_is_active_until_it_is_interrupted() {
    let (api, session) = Api::with_session().await;
    let gate = Gate::new();
    api.f.model.reply(Reply::new().begin_text().hold(&gate));
    assert_eq!(
        api.get("/api/session/active").await.ok(),
        json!({"data": {}})
    );
    let prompt = format!("/api/session/{session}/prompt");
    let hi = json!({"prompt": {"text": "Hi"}});
    let receipt = api.post_json(&prompt, &hi).await.ok();
    assert_eq!(
        receipt,
        json!({"data": {
            "admittedSeq": 1,
            "id": receipt["data"]["id"],
            "sessionID": session,
            "prompt": {"text": "Hi"},
            "delivery": "steer",
            "timeCreated": 1_795_179_302_007_i64,
        }})
    );
    api.f.reached(&gate).await;
    let running = json!({"data": {session.as_str(): {"type": "running"}}});
    assert_eq!(api.get("/api/session/active").await.ok(), running);
    api.post(&format!("/api/session/{session}/interrupt"))
        .await
        .is_bare(204);
    assert_eq!(
        api.get("/api/session/active").await.ok(),
        json!({"data": {}})
    );
}

#[tokio::test]
async fn waiting_returns_when_the_session_is_idle() {
    let (api, session) = Api::with_session().await;
    let wait = format!("/api/session/{session}/wait");
    api.post(&wait).await.is_bare(204);
    let gate = Gate::new();
    api.f
        .model
        .reply(Reply::new().text("Hello.").hold(&gate).stop());
    api.f.prompt(&session, "Hi").await;
    api.f.reached(&gate).await;
    let release = async { gate.release() };
    let (waited, ()) = tokio::join!(api.post(&wait), release);
    waited.is_bare(204);
    let events = api.f.events(&session).await;
    assert_eq!(events.last().unwrap(), "step.ended stop");
}

#[tokio::test]
async fn switches_are_returned() {
    let (api, session) = Api::with_session().await;
    let at = |rest: &str| format!("/api/session/{session}{rest}");
    api.f.clock.advance(1000);
    let agent = json!({"agent": "plan"});
    api.post_json(&at("/agent"), &agent).await.is_bare(204);
    let model = json!({"model": {"id": "m2", "providerID": "mock"}});
    for _ in 0..2 {
        api.post_json(&at("/model"), &model).await.is_bare(204);
    }
    let info = api.get(&at("")).await.ok()["data"].clone();
    assert_eq!(
        (&info["agent"], &info["model"], &info["time"]["updated"]),
        (
            &json!("plan"),
            &json!({"id": "m2", "providerID": "mock", "variant": "default"}),
            &json!(1_795_179_303_007_i64),
        )
    );
    let messages = api.get(&at("/message?order=asc")).await.ok()["data"].clone();
    let time = json!({"created": 1_795_179_303_007_i64});
    assert_eq!(
        messages,
        json!([
            {
                "type": "agent-switched", "id": messages[0]["id"], "time": time,
                "agent": "plan",
            },
            {
                "type": "model-switched", "id": messages[1]["id"], "time": time,
                "model": {"id": "m2", "providerID": "mock"},
            },
        ])
    );
}
