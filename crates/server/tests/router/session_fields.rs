//! Titles, parents, permission rules and the archive of sessions.

use opencode_schema::id::SessionID;
use opencode_testkit::Reply;
use serde_json::{Value, json};

use crate::api::Api;

async fn patch(api: &Api, session: &str, body: &Value) -> Value {
    let path = format!("/api/session/{session}");
    api.patch_json(&path, body).await.ok()["data"].clone()
}

fn records(api: &[Value]) -> Vec<Value> {
    let updated = api.iter().filter(|it| it["type"] == "session.updated");
    updated.map(|it| it["data"]["info"].clone()).collect()
}

#[tokio::test]
async fn a_session_is_created_with_title_parent_and_rules() {
    let api = Api::open().await;
    let rules = json!([{"action": "bash", "resource": "*", "effect": "deny"}]);
    let parent = api
        .create(json!({"id": "ses_parent", "title": "Fix the parser", "permission": rules}))
        .await;
    assert_eq!(
        (&parent["title"], parent.get("parentID")),
        (&json!("Fix the parser"), None)
    );
    let child = api.create(json!({"parentID": "ses_parent"})).await;
    assert_eq!(
        (&child["title"], &child["parentID"]),
        (
            &json!("Child session - 2026-11-20T12:55:02.007Z"),
            &json!("ses_parent")
        )
    );
    let children = api.get("/api/session/ses_parent/children").await.ok();
    assert_eq!(children, json!({"data": [child]}));
    let created = api.f.export(&SessionID::parse("ses_parent").unwrap()).await[1].clone();
    let created: Value = serde_json::from_str(&created).unwrap();
    assert_eq!(
        created["data"]["info"]["permission"],
        json!([{"permission": "bash", "pattern": "*", "action": "deny"}])
    );
}

#[tokio::test]
async fn hostile_fields_are_refused_by_name_and_nothing_is_stored() {
    let api = Api::open().await;
    let session = api.create(json!({})).await;
    let path = format!("/api/session/{}", session["id"].as_str().unwrap());
    let many = vec![json!({"action": "a", "resource": "*", "effect": "ask"}); 257];
    let long = "x".repeat(1025);
    let rule = |action: &str, resource: &str| json!({"permission": [{"action": action, "resource": resource, "effect": "allow"}]});
    for (body, field, says) in [
        (json!({"title": ""}), "title", "is empty"),
        (json!({"title": " \u{2003} "}), "title", "is empty"),
        (json!({"title": "a\u{0}b"}), "title", "control character"),
        (json!({"title": "a\nb"}), "title", "control character"),
        (json!({"title": long}), "title", "1025 bytes"),
        (
            json!({"permission": many}),
            "permission",
            "257 permission rules",
        ),
        // A rule without an action and a resource begins a limit, which only the host writes.
        (rule("", ""), "permission", "permission[0].action is empty"),
        (
            rule("a", ""),
            "permission",
            "permission[0].resource is empty",
        ),
        (rule("a\u{0}", "*"), "permission", "NUL"),
        (rule("a", &"y".repeat(4097)), "permission", "4097 bytes"),
    ] {
        for refused in [
            api.post_json("/api/session", &body).await,
            api.patch_json(&path, &body).await,
        ] {
            let told = refused.json();
            assert_eq!(
                (refused.status, &told["field"]),
                (400, &json!(field)),
                "{told}"
            );
            assert!(told["message"].as_str().unwrap().contains(says), "{told}");
        }
    }
    for body in [
        json!({"title": 5}),
        json!({"permission": {}}),
        json!({"permission": [{"action": "a", "resource": "b", "effect": "maybe"}]}),
        json!({"permission": ["allow"]}),
    ] {
        let refused = api.patch_json(&path, &body).await;
        assert_eq!(
            (refused.status, &refused.json()["kind"]),
            (400, &json!("Payload"))
        );
        assert_eq!(api.post_json("/api/session", &body).await.status, 400);
    }
    let wrong = api.patch_json(&path, &json!({"archived": "yes"})).await;
    assert_eq!(
        (wrong.status, &wrong.json()["kind"]),
        (400, &json!("Payload"))
    );
    let orphan = json!({"parentID": "ses_none"});
    let orphan = api.post_json("/api/session", &orphan).await;
    let told = json!({
        "_tag": "SessionNotFoundError",
        "sessionID": "ses_none",
        "message": "Session not found: ses_none",
    });
    assert_eq!(orphan.status_and_json(), (404, told.clone()));
    let titled = json!({"title": "T"});
    let unknown = api.patch_json("/api/session/ses_none", &titled).await;
    assert_eq!(unknown.status_and_json(), (404, told));
    let listed = api.get("/api/session").await.ok();
    assert_eq!(listed["data"], json!([session]));
}

#[tokio::test]
async fn an_update_is_one_event_and_nothing_if_nothing_changes() {
    let (api, session) = Api::with_session().await;
    api.f.model.reply(Reply::says("Yes."));
    api.f.ask(&session, "Hi").await;
    let id = session.as_str();
    let mut live = api.f.live();
    api.f.clock.advance(1000);
    let titled = patch(&api, id, &json!({"title": "Parsers"})).await;
    assert_eq!(
        (&titled["title"], &titled["time"]["updated"]),
        (&json!("Parsers"), &json!(1_795_179_303_007_i64))
    );
    let archived = patch(&api, id, &json!({"archived": true})).await;
    assert_eq!(archived["time"]["archived"], json!(1_795_179_303_007_i64));
    api.f.clock.advance(1000);
    for same in [
        json!({}),
        json!({"archived": true}),
        json!({"title": "Parsers"}),
        json!({"title": null, "permission": []}),
    ] {
        assert_eq!(patch(&api, id, &same).await, archived, "{same}");
    }
    let rules = json!([{"action": "edit", "resource": "*", "effect": "ask"}]);
    patch(&api, id, &json!({"permission": rules})).await;
    patch(&api, id, &json!({"permission": rules})).await;
    let last = patch(&api, id, &json!({"archived": false, "permission": []})).await;
    assert_eq!(last["time"].get("archived"), None);
    let info = api.get(&format!("/api/session/{id}")).await.ok();
    assert_eq!(info["data"], last);
    api.f.close().await;
    api.f.read_to_end(&mut live).await;

    let records = records(live.values());
    let summary = records.iter().map(|it| {
        let archived = it["time"].get("archived").is_some();
        (it["title"].clone(), archived, it["permission"].clone())
    });
    let title = json!("Parsers");
    let recorded = json!([{"permission": "edit", "pattern": "*", "action": "ask"}]);
    assert_eq!(
        summary.collect::<Vec<_>>(),
        [
            (title.clone(), false, Value::Null),
            (title.clone(), true, Value::Null),
            (title.clone(), true, recorded),
            (title, false, json!([])),
        ]
    );
    // The whole record, with the sums.
    assert_eq!(records[0]["tokens"], last["tokens"]);
    let mut updates = live
        .values()
        .iter()
        .filter(|it| it["type"] == "session.updated");
    assert!(updates.all(|it| it["durable"]["aggregateID"] == json!(session)));
}

#[tokio::test]
async fn the_rules_of_a_session_survive_a_restart_and_its_clients_cannot_remove_limits() {
    let mut api = Api::open().await;
    let rules = json!([{"action": "edit", "resource": "*", "effect": "deny"}]);
    let parent = api.create(json!({"permission": rules})).await;
    let id = parent["id"].as_str().unwrap().to_owned();
    api = api.kill().await;
    let decide = async |session: &str| {
        let path = format!("/api/session/{session}/permission");
        let ask = json!({"action": "edit", "resources": ["a"]});
        api.post_json(&path, &ask).await.ok()["data"]["effect"].clone()
    };
    assert_eq!(decide(&id).await, "deny");
    patch(&api, &id, &json!({"permission": []})).await;
    assert_eq!(decide(&id).await, "allow");
}

#[tokio::test]
async fn lists_select_archived_sessions_roots_and_children() {
    let api = Api::open().await;
    for body in [
        json!({"id": "ses_1", "title": "One"}),
        json!({"id": "ses_2", "title": "Two"}),
        json!({"id": "ses_3", "title": "Three", "parentID": "ses_1"}),
        json!({"id": "ses_4", "title": "Four", "parentID": "ses_1"}),
    ] {
        api.create(body).await;
        api.f.clock.advance(1000);
    }
    for id in ["ses_2", "ses_4"] {
        patch(&api, id, &json!({"archived": true})).await;
    }
    for (query, expected) in [
        ("", "ses_4 ses_3 ses_2 ses_1"),
        ("archived=true", "ses_4 ses_2"),
        ("archived=false", "ses_3 ses_1"),
        ("roots=true", "ses_2 ses_1"),
        ("roots=false", "ses_4 ses_3 ses_2 ses_1"),
        ("roots=true&archived=false", "ses_1"),
        ("parentID=ses_1", "ses_4 ses_3"),
        ("parentID=ses_1&archived=true", "ses_4"),
        ("parentID=ses_1&roots=true", ""),
        ("parentID=ses_9", ""),
        ("search=t&archived=false", "ses_3"),
    ] {
        let page = api.get(&format!("/api/session?{query}")).await.ok();
        let sessions = page["data"].as_array().unwrap().iter();
        let ids: Vec<_> = sessions.map(|it| it["id"].as_str().unwrap()).collect();
        assert_eq!(ids.join(" "), expected, "{query}");
    }
    // A cursor continues the same selection.
    let page = api.get("/api/session?roots=true&archived=true&limit=1");
    let next = page.await.ok()["cursor"]["next"].clone();
    let next = format!("/api/session?cursor={}", next.as_str().unwrap());
    assert_eq!(api.get(&next).await.ok()["data"], json!([]));
    for wrong in ["archived=1", "roots=", "archived=TRUE", "parentID=abc"] {
        let refused = api.get(&format!("/api/session?{wrong}")).await;
        assert_eq!(
            (refused.status, &refused.json()["kind"]),
            (400, &json!("Query")),
            "{wrong}"
        );
    }
}
