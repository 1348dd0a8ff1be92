//! Pruning old sessions, and the use of the database.

use opencode_testkit::{Gate, Reply};
use serde_json::{Value, json};

use crate::api::Api;

async fn prune(api: &Api, body: Value) -> Value {
    api.post_json("/api/session/prune", &body).await.ok()["data"].clone()
}

/// Sessions created a second apart from 12:55:02.007 on.
async fn aged(ids: &[&str]) -> Api {
    let api = Api::open().await;
    for id in ids {
        api.create(json!({"id": id})).await;
        api.f.clock.advance(1000);
    }
    api
}

const FIRST: i64 = 1_795_179_302_007;

#[tokio::test]
async fn old_sessions_are_removed_with_their_descendants() {
    let api = aged(&["ses_1", "ses_2", "ses_3", "ses_4"]).await;
    api.create(json!({"id": "ses_5", "parentID": "ses_2"}))
        .await;
    api.f.clock.advance(1000);
    // A child keeps its parent: the tree of ses_2 is as new as ses_5.
    let pruned = prune(&api, json!({"olderThan": FIRST + 2000})).await;
    let expected = json!({"removed": 1, "sessionIDs": ["ses_1"], "hasMore": false});
    assert_eq!(pruned, expected);
    let pruned = prune(&api, json!({"keepLast": 1})).await;
    let expected = json!({"removed": 2, "sessionIDs": ["ses_3", "ses_4"], "hasMore": false});
    assert_eq!(pruned, expected);
    let body = json!({"archived": true});
    api.patch_json("/api/session/ses_2", &body).await.ok();
    let none = json!({"removed": 0, "sessionIDs": [], "hasMore": false});
    assert_eq!(
        prune(&api, json!({"archived": false, "keepLast": 0})).await,
        none
    );
    let pruned = prune(&api, body).await;
    let expected = json!({"removed": 2, "sessionIDs": ["ses_2", "ses_5"], "hasMore": false});
    assert_eq!(pruned, expected);
    assert_eq!(api.get("/api/session").await.ok()["data"], json!([]));
}

#[tokio::test]
async fn sessions_that_work_stay_and_are_not_disturbed() {
    let (api, busy) = Api::with_session().await;
    let idle = api.create(json!({})).await["id"].clone();
    let gate = Gate::new();
    let held = Reply::new().text("Hello.").hold(&gate).stop();
    api.f.model.reply(held);
    api.f.prompt(&busy, "Hi").await;
    api.f.reached(&gate).await;
    let pruned = prune(&api, json!({"keepLast": 0})).await;
    let expected = json!({"removed": 1, "sessionIDs": [idle], "hasMore": false});
    assert_eq!(pruned, expected);
    gate.release();
    api.f.wait(&busy).await;
    let events = api.f.events(&busy).await;
    assert_eq!(events.last().unwrap(), "step.ended stop");
}

#[tokio::test]
async fn a_prune_without_a_condition_removes_nothing() {
    let api = aged(&["ses_1"]).await;
    for body in [json!({}), json!({"archived": false})] {
        let refused = api.post_json("/api/session/prune", &body).await;
        let told = refused.json();
        assert_eq!(
            (refused.status, &told["field"]),
            (400, &json!("olderThan")),
            "{body}"
        );
    }
    for body in [
        json!({"olderThan": null}),
        json!({"olderThan": "yesterday"}),
        json!({"olderThan": 1.5}),
        json!({"keepLast": -1}),
        json!({"keepLast": "all"}),
        json!({"archived": 1}),
    ] {
        let refused = api.post_json("/api/session/prune", &body).await;
        assert_eq!(
            (refused.status, &refused.json()["kind"]),
            (400, &json!("Payload")),
            "{body}"
        );
    }
    let listed = api.get("/api/session").await.ok();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_use_of_the_database_is_told_and_free_parts_are_given_back() {
    let api = aged(&["ses_small", "ses_large"]).await;
    // Hashes, because the store compresses texts.
    let hashes = (0..1_000_000 / 16).map(|number: u64| {
        let hash = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("{:016x}", hash ^ (hash >> 29))
    });
    let text: String = hashes.collect();
    for _ in 0..3 {
        let body = json!({"prompt": {"text": text}, "resume": false});
        let path = "/api/session/ses_large/prompt";
        api.post_json(path, &body).await.ok();
    }
    let full = api.get("/api/storage").await.ok()["data"].clone();
    assert_eq!(full["sessions"], 2);
    let largest = full["largest"].as_array().unwrap();
    assert_eq!(largest.len(), 2);
    assert_eq!(largest[0]["sessionID"], "ses_large");
    assert!(largest[0]["bytes"].as_u64().unwrap() > 3_000_000);
    assert!(largest[1]["bytes"].as_u64().unwrap() < 1000);
    assert!(full["total"].as_u64().unwrap() > 3_000_000);
    let one = api.get("/api/storage?limit=1").await.ok()["data"]["largest"].clone();
    assert_eq!(one, json!([largest[0]]));
    api.delete("/api/session/ses_large").await.is_bare(204);
    api.f.idle().await;
    let freed = api.get("/api/storage").await.ok()["data"].clone();
    assert!(freed["free"].as_u64().unwrap() > 3_000_000);
    let compacted = api.post("/api/storage/compact").await.ok()["data"].clone();
    assert_eq!(
        (&compacted["before"], &compacted["shrinks"]),
        (&freed["total"], &json!(true))
    );
    assert!(compacted["after"].as_u64().unwrap() < 1_000_000);
    let small = api.get("/api/storage").await.ok()["data"].clone();
    assert_eq!(
        (&small["total"], &small["free"]),
        (&compacted["after"], &json!(0))
    );
    // Nothing is left to give back, and the data is unchanged.
    let again = api.post("/api/storage/compact").await.ok()["data"].clone();
    assert_eq!(again["before"], again["after"]);
    assert_eq!(api.get("/api/session/ses_small").await.status, 200);
    for wrong in ["limit=1001", "limit=-1", "limit=x"] {
        let refused = api.get(&format!("/api/storage?{wrong}")).await;
        assert_eq!(
            (refused.status, &refused.json()["kind"]),
            (400, &json!("Query"))
        );
    }
}
