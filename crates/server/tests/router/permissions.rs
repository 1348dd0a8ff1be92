//! Permissions over the wire: requesting, listing, answering, saving and removing them.

use axum::body::Body;
use axum::http::HeaderValue;
use opencode_schema::id::SessionID;
use serde_json::{Value, json};

use crate::api::Api;

/// A host that asks the user about `bash`, with a session.
async fn asking() -> (Api, SessionID) {
    let api = Api::open().await;
    let rules = json!({"permission": {"bash": {"*": "ask", "ls": "allow", "rm *": "deny"}}});
    api.f.project.write("opencode.json", &rules.to_string());
    let session = api.f.session().await;
    (api, session)
}

impl Api {
    /// Requests the permission for a command.
    async fn ask(&self, session: &SessionID, body: Value) -> Value {
        let path = format!("/api/session/{session}/permission");
        self.post_json(&path, &body).await.ok()["data"].clone()
    }

    async fn reply(&self, session: &SessionID, id: &str, body: Value) -> crate::api::Answer {
        let path = format!("/api/session/{session}/permission/{id}/reply");
        self.post_json(&path, &body).await
    }

    async fn waiting(&self, session: &SessionID) -> Value {
        let path = format!("/api/session/{session}/permission");
        self.get(&path).await.ok()
    }
}

fn bash(command: &str) -> Value {
    json!({"action": "bash", "resources": [command]})
}

fn not_found(id: &str) -> (u16, Value) {
    let told = json!({
        "_tag": "PermissionNotFoundError",
        "requestID": id,
        "message": format!("Permission request not found: {id}"),
    });
    (404, told)
}

#[tokio::test]
async fn decisions_of_rules_create_no_request() {
    let (api, session) = asking().await;
    for (command, effect) in [("ls", "allow"), ("rm -rf", "deny")] {
        let decided = api.ask(&session, bash(command)).await;
        assert_eq!(decided["effect"], effect);
        assert!(decided["id"].as_str().unwrap().starts_with("per_"));
    }
    assert_eq!(api.waiting(&session).await, json!({"data": []}));
}

#[tokio::test]
async fn a_request_waits_until_it_is_answered() {
    let (api, session) = asking().await;
    let other = api.f.session().await;
    let mut request = bash("make");
    request["id"] = json!("per_mine");
    request["metadata"] = json!({"why": "to build"});
    let decided = api.ask(&session, request.clone()).await;
    assert_eq!(decided, json!({"id": "per_mine", "effect": "ask"}));
    let mut shown = request.clone();
    shown["sessionID"] = json!(session);
    assert_eq!(api.waiting(&session).await, json!({"data": [shown]}));
    assert_eq!(api.waiting(&other).await, json!({"data": []}));
    let one = format!("/api/session/{session}/permission/per_mine");
    assert_eq!(api.get(&one).await.ok(), json!({"data": shown}));
    let here = api.get("/api/location").await.ok();
    assert_eq!(
        api.get("/api/permission/request").await.ok(),
        json!({"location": here, "data": [shown]})
    );
    let again = format!("/api/session/{session}/permission");
    let again = api.post_json(&again, &request).await;
    assert_eq!(
        again.status_and_json(),
        (
            409,
            json!({
                "_tag": "ConflictError",
                "message": "A permission request with the ID per_mine is waiting already; give another ID, or none",
                "resource": "per_mine",
            })
        )
    );
    // The request belongs to its session.
    let once = json!({"reply": "once"});
    let foreign = api.reply(&other, "per_mine", once.clone()).await;
    assert_eq!(foreign.status_and_json(), not_found("per_mine"));
    api.reply(&session, "per_mine", once.clone())
        .await
        .is_bare(204);
    let late = api.reply(&session, "per_mine", once).await;
    assert_eq!(late.status_and_json(), not_found("per_mine"));
    assert_eq!(api.get(&one).await.status_and_json(), not_found("per_mine"));
}

#[tokio::test]
async fn another_location_has_no_pending_requests() {
    let (api, session) = asking().await;
    api.f.project.write("below/a.txt", "a");
    api.ask(&session, bash("make")).await;
    let below = api.f.project.path("below");
    let below = format!("?location[directory]={}", below.display());
    for list in ["permission", "question"] {
        let path = format!("/api/{list}/request{below}");
        assert_eq!(api.get(&path).await.ok()["data"], json!([]), "{path}");
    }
}

#[tokio::test]
async fn saved_permissions_are_listed_and_removed() {
    let (api, session) = asking().await;
    let mut request = bash("make all");
    request["save"] = json!(["make *"]);
    let asked = api.ask(&session, request).await;
    let id = asked["id"].as_str().unwrap();
    api.reply(&session, id, json!({"reply": "always"}))
        .await
        .is_bare(204);
    assert_eq!(
        api.ask(&session, bash("make this")).await["effect"],
        "allow"
    );
    let saved = api.get("/api/permission/saved").await.ok();
    let id = saved["data"][0]["id"].as_str().unwrap().to_owned();
    let expected = json!({"data": [
        {"id": id, "projectID": "global", "action": "bash", "resource": "make *"},
    ]});
    assert_eq!(saved, expected);
    let named = api.get("/api/permission/saved?projectID=global").await;
    assert_eq!(named.ok(), expected);
    let other = api.get("/api/permission/saved?projectID=other").await;
    assert_eq!(other.ok(), json!({"data": []}));
    // A client in another Location neither sees nor removes it.
    api.f.project.write("below/a.txt", "a");
    let below = api.f.project.path("below");
    let below = format!("location[directory]={}", below.display());
    let saved = format!("/api/permission/saved/{id}?{below}");
    api.delete(&saved).await.is_bare(204);
    for query in [below.clone(), format!("projectID=global&{below}")] {
        let elsewhere = api.get(&format!("/api/permission/saved?{query}")).await;
        assert_eq!(elsewhere.ok(), json!({"data": []}), "{query}");
    }
    assert_eq!(api.get("/api/permission/saved").await.ok(), expected);
    for _ in 0..2 {
        let removed = api.delete(&format!("/api/permission/saved/{id}")).await;
        removed.is_bare(204);
    }
    assert_eq!(api.ask(&session, bash("make this")).await["effect"], "ask");
}

/// The program itself sees all, and where each counts.
#[tokio::test]
async fn the_embedding_program_lists_and_removes_all_saved_permissions() {
    let (api, session) = asking().await;
    let mut request = bash("make all");
    request["save"] = json!(["make *"]);
    let asked = api.ask(&session, request).await;
    let id = asked["id"].as_str().unwrap();
    api.reply(&session, id, json!({"reply": "always"}))
        .await
        .is_bare(204);
    api.f.project.write("below/a.txt", "a");
    let below = api.f.project.path("below");
    let below = format!("location[directory]={}", below.display());
    let of_program = |method: &str, path: &str| {
        let mut sent = crate::api::request(method, path, Body::empty());
        let value = HeaderValue::from_static("1");
        sent.headers_mut().insert("x-opencode-embedded", value);
        api.send(sent)
    };
    let list = of_program("GET", &format!("/api/permission/saved?{below}"));
    let all = list.await.ok();
    let id = all["data"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        all,
        json!({"data": [{
            "id": id, "projectID": "global", "action": "bash", "resource": "make *",
            "directory": api.f.project.directory(), "trusted": true,
        }]})
    );
    let removed = of_program("DELETE", &format!("/api/permission/saved/{id}?{below}"));
    removed.await.is_bare(204);
    assert_eq!(api.ask(&session, bash("make this")).await["effect"], "ask");
}

#[tokio::test]
async fn requests_that_are_too_large_are_refused() {
    let (api, session) = asking().await;
    let path = format!("/api/session/{session}/permission");
    let refused = api.post_json(&path, &bash(&"x".repeat(1 << 20))).await;
    let told = refused.json();
    assert_eq!(
        (refused.status, &told["_tag"], &told["kind"]),
        (400, &json!("InvalidRequestError"), &json!("Payload"))
    );
    assert_eq!(api.waiting(&session).await, json!({"data": []}));
}

#[tokio::test]
async fn an_unknown_session_has_no_permissions() {
    let api = Api::open().await;
    let told = json!({
        "_tag": "SessionNotFoundError",
        "sessionID": "ses_nope",
        "message": "Session not found: ses_nope",
    });
    for path in [
        "/api/session/ses_nope/permission",
        "/api/session/ses_nope/permission/per_x",
        "/api/session/ses_nope/question",
    ] {
        assert_eq!(
            api.get(path).await.status_and_json(),
            (404, told.clone()),
            "{path}"
        );
    }
    for (path, body) in [
        ("/api/session/ses_nope/permission", bash("ls")),
        (
            "/api/session/ses_nope/permission/per_x/reply",
            json!({"reply": "once"}),
        ),
        (
            "/api/session/ses_nope/question/que_x/reply",
            json!({"answers": []}),
        ),
        ("/api/session/ses_nope/question/que_x/reject", json!({})),
    ] {
        let answer = api.post_json(path, &body).await;
        assert_eq!(answer.status_and_json(), (404, told.clone()), "{path}");
    }
}

#[tokio::test]
async fn callers_choose_the_ids_of_a_request() {
    let (api, session) = asking().await;
    let mut request = bash("make");
    request["id"] = json!("per_mine");
    request["source"] = json!({"type": "tool", "messageID": "m-1", "callID": "c"});
    let decided = api.ask(&session, request.clone()).await;
    assert_eq!(decided, json!({"id": "per_mine", "effect": "ask"}));
    request["sessionID"] = json!(session);
    assert_eq!(api.waiting(&session).await, json!({"data": [request]}));
}
