//! Requests of child sessions to the user.

use opencode_runtime::Unanswered;
use opencode_schema::permission::PermissionReply;
use opencode_testkit::{Fixture, Reply};
use serde_json::json;

use super::{child, equip, failed, task};
use crate::permissions::{answer, heard_asked, reply, settled, uses, waiting};

async fn open(unanswered: Unanswered) -> Fixture {
    let f = Fixture::with(move |options| options.unanswered = unanswered).await;
    equip(&f);
    crate::permissions::equip(&f);
    f
}

#[tokio::test]
async fn a_request_of_a_child_belongs_to_the_child() {
    let f = open(Unanswered::Wait).await;
    let session = f.session().await;
    let mut live = f.live();
    f.model.reply(task("general", "Work")).reply(uses(&["x"]));
    f.prompt(&session, "Go").await;
    heard_asked(&f, &mut live, &["x"]).await;
    let child = child(&f, &session).await;
    assert_eq!(waiting(&f, &session).await, []);
    let requests = waiting(&f, &child).await;
    let asked = live.values().last().unwrap();
    assert_eq!(asked["data"], json!(requests[0]));
    assert_eq!(asked["data"]["sessionID"], json!(child));
    f.model
        .reply(Reply::says("Worked."))
        .reply(Reply::says("Well."));
    reply(&f, &requests[0], PermissionReply::Once).await;
    f.wait(&session).await;
    let succeeded = f.payloads(&session, "tool.success").await;
    assert_eq!(succeeded[0]["structured"]["text"], "Worked.");
}

#[tokio::test]
async fn a_declined_request_ends_the_child_and_not_its_parent() {
    let f = open(Unanswered::Wait).await;
    let session = f.session().await;
    let mut live = f.live();
    f.model
        .reply(task("general", "Work"))
        .reply(uses(&["x"]))
        .reply(Reply::says("Then not."));
    f.prompt(&session, "Go").await;
    heard_asked(&f, &mut live, &["x"]).await;
    let child = child(&f, &session).await;
    let request = waiting(&f, &child).await.remove(0);
    reply(&f, &request, PermissionReply::Reject).await;
    f.wait(&session).await;
    assert_eq!(
        failed(&f, &session).await,
        [format!(
            "tool.failed c0 Unable to run task: general: its session {child} ended before the \
             work did: it was interrupted, or the user declined one of its requests"
        )]
    );
    assert_eq!(
        f.events(&session).await.last().map(String::as_str),
        Some("step.ended stop")
    );
}

#[tokio::test]
async fn a_rejection_with_a_reason_lets_the_child_continue() {
    let f = open(Unanswered::Wait).await;
    let session = f.session().await;
    let mut live = f.live();
    f.model
        .reply(task("general", "Work"))
        .reply(uses(&["x"]))
        .reply(Reply::says("Otherwise."))
        .reply(Reply::says("Well."));
    f.prompt(&session, "Go").await;
    heard_asked(&f, &mut live, &["x"]).await;
    let child = child(&f, &session).await;
    let request = waiting(&f, &child).await.remove(0);
    answer(&f, &request, PermissionReply::Reject, Some("not that")).await;
    f.wait(&session).await;
    assert_eq!(
        settled(&f, &child).await,
        ["tool.failed c0 Unable to use it: not that"]
    );
    let succeeded = f.payloads(&session, "tool.success").await;
    assert_eq!(succeeded[0]["structured"]["text"], "Otherwise.");
}

#[tokio::test]
async fn without_an_answering_client_requests_of_children_are_refused() {
    let f = open(Unanswered::Deny).await;
    let session = f.session().await;
    f.model
        .reply(task("general", "Work"))
        .reply(uses(&["x"]))
        .reply(Reply::says("Otherwise."))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    let child = child(&f, &session).await;
    assert_eq!(
        settled(&f, &child).await,
        [
            "tool.failed c0 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide"
        ]
    );
}

#[tokio::test]
async fn an_interruption_withdraws_the_requests_of_a_child() {
    let f = open(Unanswered::Wait).await;
    let session = f.session().await;
    let mut live = f.live();
    f.model.reply(task("general", "Work")).reply(uses(&["x"]));
    f.prompt(&session, "Go").await;
    heard_asked(&f, &mut live, &["x"]).await;
    let child = child(&f, &session).await;
    f.interrupt(&session).await;
    assert_eq!(waiting(&f, &child).await, []);
    f.read_until(&mut live, "permission.v2.replied reject")
        .await;
    assert_eq!(
        settled(&f, &child).await,
        ["tool.failed c0 Tool execution interrupted"]
    );
}
