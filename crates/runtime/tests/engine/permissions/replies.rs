//! The effect of each reply on its request and on the other pending requests.

use opencode_runtime::{RuntimeError, SavedScope};
use opencode_schema::permission::PermissionReply::{Always, Once, Reject};
use opencode_testkit::{Reply, compact};

use super::{
    answer, ask, asked, heard_asked, of_permissions, open, reply, saves, settled, waiting,
};

/// The events of `count` rejections.
fn declined(count: usize) -> Vec<&'static str> {
    vec!["permission.v2.replied reject"; count]
}

#[tokio::test]
async fn once_allows_one_call() {
    let f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    let requests = ask(&f, &mut live, &session, &["a", "b"]).await;
    f.model.reply(Reply::says("Well."));
    reply(&f, &requests[0], Once).await;
    f.recorded(&session, "tool.success c0 {}").await;
    assert_eq!(waiting(&f, &session).await, [requests[1].clone()]);
    reply(&f, &requests[1], Once).await;
    f.wait(&session).await;
    let twice = f
        .runtime()
        .reply_permission(&session, &requests[0].id, Once, None);
    assert!(
        matches!(twice.await, Err(RuntimeError::PermissionNotFound(id)) if id == requests[0].id)
    );
    f.read_until(&mut live, "step.ended stop").await;
    assert_eq!(
        of_permissions(&live)[2..],
        ["permission.v2.replied once", "permission.v2.replied once"]
    );
    assert!(
        f.runtime()
            .saved_permissions(SavedScope::Host(None))
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn the_event_of_an_answer_precedes_its_effect() {
    let f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    let requests = ask(&f, &mut live, &session, &["a"]).await;
    f.model.reply(Reply::says("Well."));
    reply(&f, &requests[0], Once).await;
    f.read_until(&mut live, "tool.success c0 {}").await;
    let events = live.events();
    let place = |wanted: &str| events.iter().position(|event| event == wanted);
    assert!(place("permission.v2.replied once") < place("tool.success c0 {}"));
    let replied = live
        .values()
        .iter()
        .find(|it| it["type"] == "permission.v2.replied");
    assert_eq!(
        replied.unwrap()["data"],
        serde_json::json!({"sessionID": session, "requestID": requests[0].id, "reply": "once"})
    );
    f.wait(&session).await;
}

#[tokio::test]
async fn declining_one_request_declines_all_of_its_session_and_ends_the_drain() {
    let f = open().await;
    let (session, other) = (f.session().await, f.session().await);
    let mut live = f.live();
    let theirs = ask(&f, &mut live, &other, &["z"]).await;
    let requests = ask(&f, &mut live, &session, &["a", "b", "c"]).await;
    reply(&f, &requests[1], Reject).await;
    f.wait(&session).await;
    assert_eq!(
        settled(&f, &session).await,
        [
            "tool.failed c0 Tool execution interrupted",
            "tool.failed c1 Tool execution interrupted",
            "tool.failed c2 Tool execution interrupted",
        ]
    );
    assert_eq!(
        f.events(&session).await.last().unwrap(),
        "step.ended tool-calls"
    );
    assert_eq!(waiting(&f, &other).await, theirs);
    f.model.reply(Reply::says("Well."));
    reply(&f, &theirs[0], Once).await;
    f.wait(&other).await;
    f.read_until(&mut live, "step.ended stop").await;
    let told = of_permissions(&live).split_off(4);
    assert_eq!(
        told,
        [declined(3), vec!["permission.v2.replied once"]].concat()
    );
}

#[tokio::test]
async fn a_rejection_with_a_reason_fails_the_call_and_the_model_reads_the_reason() {
    let f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    let requests = ask(&f, &mut live, &session, &["a"]).await;
    f.model.reply(Reply::says("I see."));
    answer(&f, &requests[0], Reject, Some("take b")).await;
    f.wait(&session).await;
    assert_eq!(
        compact::messages(&f.model.last_request())[2],
        "tool: c0 = failed: Unable to use it: take b"
    );
    let failed = f.payloads(&session, "tool.failed").await;
    assert_eq!(failed[0]["error"]["cause"]["kind"], "permission");
}

#[tokio::test]
async fn a_rejection_with_a_reason_declines_the_others_of_its_session() {
    let f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    let requests = ask(&f, &mut live, &session, &["a", "b"]).await;
    answer(&f, &requests[0], Reject, Some("no")).await;
    f.wait(&session).await;
    let settled = settled(&f, &session).await;
    assert_eq!(settled[1], "tool.failed c1 Tool execution interrupted");
    assert_eq!(f.model.requests().len(), 1);
    f.close().await;
    f.read_to_end(&mut live).await;
    assert_eq!(of_permissions(&live)[2..], declined(2));
}

#[tokio::test]
async fn an_empty_reason_counts_as_absent() {
    let f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    let requests = ask(&f, &mut live, &session, &["a"]).await;
    answer(&f, &requests[0], Reject, Some("")).await;
    f.wait(&session).await;
    assert_eq!(f.model.requests().len(), 1);
    assert_eq!(
        settled(&f, &session).await,
        ["tool.failed c0 Tool execution interrupted"]
    );
}

#[tokio::test]
async fn always_answers_all_matching_requests_in_every_session() {
    let f = open().await;
    let (session, other) = (f.session().await, f.session().await);
    let mut live = f.live();
    let theirs = ask(&f, &mut live, &other, &["x 2", "y"]).await;
    f.model.reply(saves("x 1", &["x*"]));
    f.prompt(&session, "Go").await;
    heard_asked(&f, &mut live, &["x 1"]).await;
    let request = waiting(&f, &session).await.remove(0);
    f.model.reply(Reply::says("Well."));
    reply(&f, &request, Always).await;
    // All effects are complete when the reply returns.
    assert_eq!(waiting(&f, &other).await, [theirs[1].clone()]);
    f.wait(&session).await;
    f.recorded(&other, "tool.success c0 {}").await;
    f.model.reply(Reply::says("Well."));
    reply(&f, &theirs[1], Once).await;
    f.wait(&other).await;
    f.close().await;
    f.read_to_end(&mut live).await;
    assert_eq!(
        of_permissions(&live)[3..],
        [
            "permission.v2.replied always",
            "permission.v2.replied always",
            "permission.v2.replied once",
        ]
    );
}

#[tokio::test]
async fn always_without_a_pattern_allows_once() {
    let f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    let requests = ask(&f, &mut live, &session, &["a"]).await;
    f.model.reply(super::uses(&["a"]));
    reply(&f, &requests[0], Always).await;
    f.asked(2).await;
    f.read_until(&mut live, &asked("a")).await;
    f.interrupt(&session).await;
}
