//! Inspection of requests.

use opencode_testkit::Reply;
use serde_json::{Value, json};

use crate::api::Api;

fn keys(value: &Value) -> Vec<&str> {
    let members = value.as_object().unwrap();
    members.keys().map(String::as_str).collect()
}

#[tokio::test]
async fn the_next_request_is_shown_completely() {
    let (api, session) = Api::with_session().await;
    api.f.model.reply(Reply::says("Hello."));
    api.f.ask(&session, "Hi").await;
    let path = format!("/api/session/{session}/request");
    let shown = api.get(&path).await.ok();
    let view = &shown["data"];
    assert_eq!(
        keys(view),
        [
            "agent", "model", "epoch", "history", "tools", "estimate", "prefix", "request"
        ]
    );
    assert_eq!(view["agent"], "build");
    assert_eq!(view["model"], json!({"id": "m1", "providerID": "mock"}));
    assert_eq!(
        view["history"],
        json!({"fromSeq": 2, "toSeq": 3, "messages": 2})
    );
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    assert_eq!(
        view["request"]["messages"],
        json!([
            {"role": "user", "content": text("Hi")},
            {"role": "assistant", "content": text("Hello.")},
        ])
    );
    assert_eq!(view["request"]["system"][1], view["epoch"]["baseline"]);
    let sources = view["epoch"]["sources"].as_array().unwrap().iter();
    let sources = sources.map(|it| (it["key"].as_str().unwrap(), it["state"].as_str().unwrap()));
    assert_eq!(
        sources.collect::<Vec<_>>(),
        [
            ("core/environment", "current"),
            ("core/date", "current"),
            ("core/instructions", "absent"),
            ("core/instructions-configured", "absent"),
            ("core/instructions-nested", "absent"),
            ("core/skill-guidance", "current"),
            ("core/reference-guidance", "absent"),
            ("mcp/instructions", "absent"),
            ("core/model", "current"),
        ]
    );
    assert_eq!(view["prefix"]["sha256"].as_str().map(str::len), Some(64));
}

#[tokio::test]
async fn a_request_that_cannot_be_shown_has_a_reason() {
    let api = Api::open().await;
    let missing = api.get("/api/session/ses_missing/request").await;
    assert_eq!(missing.status, 404);
    assert_eq!(missing.json()["_tag"], "SessionNotFoundError");
    let session = api.f.session_on("none").await;
    let unavailable = api.get(&format!("/api/session/{session}/request")).await;
    let told = unavailable.json();
    assert_eq!(unavailable.status, 503);
    assert_eq!(
        (&told["_tag"], &told["service"]),
        (&json!("ServiceUnavailableError"), &json!("session.request"))
    );
}

#[tokio::test]
async fn the_observations_of_a_location_are_counted() {
    let (api, session) = Api::with_session().await;
    let none = json!({"count": 0, "lastBytes": 0, "totalBytes": 0});
    let before = api.get("/api/debug/context").await.ok();
    assert_eq!(before["location"]["directory"], api.f.project.directory());
    assert_eq!(
        before["data"],
        json!({
            "observations": {"count": 0, "lastMicros": 0, "maxMicros": 0, "totalMicros": 0},
            "unavailable": [],
            "contention": 0,
            "baselines": none,
            "updates": none,
        })
    );
    api.f.model.reply(Reply::says("Hello."));
    api.f.ask(&session, "Hi").await;
    let after = api.get("/api/debug/context").await.ok();
    let bytes = api.f.model.last_request().system[1].text.len();
    assert_eq!(after["data"]["observations"]["count"], 1);
    assert_eq!(
        after["data"]["baselines"],
        json!({"count": 1, "lastBytes": bytes, "totalBytes": bytes})
    );
}
