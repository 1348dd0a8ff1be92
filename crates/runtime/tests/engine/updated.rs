//! `session.updated`: the live stream sends the whole record of a session after each event that
//! changes the record.

use opencode_runtime::StageRevert;
use opencode_testkit::{Fixture, Reply};
use serde_json::{Value, json};

/// The announced records, in order.
fn records(events: &[Value]) -> Vec<Value> {
    let updated = events.iter().filter(|it| it["type"] == "session.updated");
    updated.map(|it| it["data"]["info"].clone()).collect()
}

#[tokio::test]
async fn a_change_of_a_session_is_followed_by_its_complete_record() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::says("Yes."));
    let prompt = f.prompt(&session, "Hi").await;
    f.wait(&session).await;
    let mut live = f.live();
    f.switch_agent(&session, "plan").await;
    f.switch_model(&session, "m2").await;
    let staged = StageRevert {
        session_id: session.clone(),
        message_id: prompt.id.clone(),
        part_id: None,
        exact: true,
        files: false,
    };
    let staged = f.runtime().stage_revert(staged).await.unwrap();
    f.runtime().clear_revert(&session).await.unwrap();
    f.project.write("elsewhere/file", "");
    let moved = f
        .move_to(&session, f.project.path("elsewhere").display().to_string())
        .await;
    f.close().await;
    f.read_to_end(&mut live).await;

    let kinds: Vec<&str> = live
        .values()
        .iter()
        .filter_map(|it| it["type"].as_str())
        .collect();
    let after_each = |kind: &'static str| [kind, "session.updated"];
    let expected = [
        after_each("session.next.agent.switched"),
        after_each("session.next.model.switched"),
        after_each("session.next.revert.staged"),
        after_each("session.next.revert.cleared"),
        after_each("session.next.moved"),
    ]
    .concat();
    assert_eq!(kinds[..expected.len()], expected);
    let records = records(live.values());
    assert_eq!(records[0]["agent"], "plan");
    assert_eq!(
        records[1]["model"],
        json!({"providerID": "mock", "id": "m2", "variant": "default"})
    );
    assert_eq!(
        records[2]["revert"],
        json!({"messageID": staged.message_id})
    );
    assert_eq!(records[3].get("revert"), None);
    assert_eq!(records[4]["directory"], json!(moved.location.directory));
    for record in &records {
        assert_eq!(record["id"], json!(session));
        assert_eq!(record["tokens"]["input"], json!(moved.tokens.input));
    }
    let entries = live
        .values()
        .iter()
        .filter(|it| it["type"] == "session.updated");
    for entry in entries {
        assert_eq!(entry.get("durable"), None);
    }
}
