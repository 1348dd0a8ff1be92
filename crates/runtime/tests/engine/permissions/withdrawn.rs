//! Requests that end without an answer: subscribers receive an event for each of them.

use opencode_schema::permission::PermissionReply::Once;
use opencode_testkit::Gate;
use opencode_testkit::Reply;
use serde_json::json;

use super::{ask, of_permissions, open, reply, settled, waiting};

#[tokio::test]
async fn an_interruption_withdraws_pending_requests() {
    let f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    ask(&f, &mut live, &session, &["a", "b"]).await;
    f.interrupt(&session).await;
    assert_eq!(waiting(&f, &session).await, []);
    assert_eq!(
        settled(&f, &session).await,
        [
            "tool.failed c0 Tool execution interrupted",
            "tool.failed c1 Tool execution interrupted",
        ]
    );
    f.close().await;
    f.read_to_end(&mut live).await;
    assert_eq!(
        of_permissions(&live)[2..],
        ["permission.v2.replied reject"; 2]
    );
}

#[tokio::test]
async fn closing_the_host_withdraws_pending_requests_before_global_disposed() {
    let f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    ask(&f, &mut live, &session, &["a"]).await;
    let left = super::asked::of(&session, "use", &["b"]);
    f.runtime().ask_permission(left).await.unwrap();
    f.close().await;
    f.read_to_end(&mut live).await;
    assert_eq!(
        of_permissions(&live)[2..],
        ["permission.v2.replied reject"; 2]
    );
    assert_eq!(live.events().last().unwrap(), "global.disposed");
}

#[tokio::test]
async fn after_a_crash_no_request_is_pending_and_the_call_is_not_repeated() {
    let mut f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    ask(&f, &mut live, &session, &["a"]).await;
    f.recorded(&session, r#"tool.called c0 use {"on":["a"]}"#)
        .await;
    f.kill().await;
    assert_eq!(waiting(&f, &session).await, []);
    f.model.reply(Reply::says("Well."));
    f.run(&session).await;
    assert_eq!(
        settled(&f, &session).await,
        ["tool.failed c0 Tool execution interrupted"]
    );
}

#[tokio::test]
async fn a_tool_that_stops_waiting_withdraws_its_request() {
    let f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    let gate = Gate::new();
    let given_up = gate.clone();
    f.tool("hasty", move |_, context| {
        let gate = given_up.clone();
        async move {
            let request = context.permission_request("use", vec!["a".to_owned()]);
            tokio::select! {
                refused = context.assert(request, "Unable") => refused?,
                () = gate.pass() => {}
            }
            opencode_testkit::output(json!({}))
        }
    });
    f.model
        .reply(Reply::calls("c0", "hasty", json!({})))
        .reply(Reply::says("Well."));
    f.prompt(&session, "Go").await;
    f.read_until(&mut live, &super::asked("a")).await;
    let request = waiting(&f, &session).await.remove(0);
    gate.release();
    f.wait(&session).await;
    assert_eq!(settled(&f, &session).await, ["tool.success c0 {}"]);
    assert_eq!(waiting(&f, &session).await, []);
    let late = f
        .runtime()
        .reply_permission(&session, &request.id, Once, None);
    assert!(late.await.is_err());
    f.close().await;
    f.read_to_end(&mut live).await;
    assert_eq!(of_permissions(&live)[1..], ["permission.v2.replied reject"]);
}

#[tokio::test]
async fn an_answer_for_another_session_is_refused() {
    let f = open().await;
    let (session, other) = (f.session().await, f.session().await);
    let mut live = f.live();
    let requests = ask(&f, &mut live, &session, &["a"]).await;
    let foreign = f
        .runtime()
        .reply_permission(&other, &requests[0].id, Once, None);
    assert!(foreign.await.is_err());
    assert_eq!(waiting(&f, &session).await, requests);
    f.model.reply(Reply::says("Well."));
    reply(&f, &requests[0], Once).await;
    f.wait(&session).await;
}
