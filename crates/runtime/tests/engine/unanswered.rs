//! Hosts without a user: requests are refused, and the turn continues.

use std::time::Duration;

use futures::{FutureExt, StreamExt};
use opencode_runtime::Unanswered;
use opencode_schema::permission::PermissionEffect;
use opencode_testkit::{Fixture, Reply, compact};
use serde_json::json;

use crate::permissions::{asked, equip, of_permissions, settled, uses, waiting};
use crate::questions::question_tool;

async fn open(unanswered: Unanswered) -> Fixture {
    let f = Fixture::with(move |options| options.unanswered = unanswered).await;
    equip(&f);
    question_tool(&f);
    f
}

#[tokio::test]
async fn requests_are_refused_at_once_without_an_answering_client() {
    let f = open(Unanswered::Deny).await;
    let session = f.session().await;
    let mut live = f.live();
    let (mut permissions, mut questions) = (
        Box::pin(f.runtime().asked_permissions()),
        Box::pin(f.runtime().asked_questions()),
    );
    assert!(permissions.next().now_or_never().is_none());
    assert!(questions.next().now_or_never().is_none());
    f.model
        .reply(uses(&["x"]))
        .reply(Reply::calls("c1", "question", json!({"questions": []})))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    assert_eq!(
        settled(&f, &session).await,
        [
            "tool.failed c0 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide",
            "tool.failed c1 Permission denied: question: no user is there to answer",
        ]
    );
    let client = opencode_runtime::AskPermission {
        session_id: session.clone(),
        id: None,
        action: "use".into(),
        resources: vec!["x".into()],
        save: None,
        metadata: None,
        source: None,
        agent: None,
    };
    let decided = f.runtime().ask_permission(client.clone()).await.unwrap();
    assert_eq!(decided.effect, PermissionEffect::Deny);
    f.close().await;
    f.read_to_end(&mut live).await;
    // No function of the program is asked. Clients are told what was refused.
    assert!(permissions.next().await.is_none() && questions.next().await.is_none());
    let told: Vec<_> = live.events();
    let told: Vec<_> = told.iter().filter(|it| it.contains(".v2.")).collect();
    assert_eq!(
        told,
        [
            r#"permission.v2.asked use ["x"]"#,
            "permission.v2.replied reject",
            "question.v2.asked",
            "question.v2.rejected",
        ]
    );
}

#[tokio::test]
async fn requests_are_refused_after_their_time_limit() {
    let f = open(Unanswered::DenyAfter(Duration::from_secs(60))).await;
    let session = f.session().await;
    let mut live = f.live();
    f.model.reply(uses(&["x"])).reply(Reply::says("Well."));
    f.prompt(&session, "Go").await;
    f.read_until(&mut live, &asked("x")).await;
    f.clock.advance(59_999);
    let client = opencode_runtime::AskPermission {
        session_id: session.clone(),
        id: None,
        action: "use".into(),
        resources: vec!["y".into()],
        save: None,
        metadata: None,
        source: None,
        agent: None,
    };
    let decided = f.runtime().ask_permission(client).await.unwrap();
    assert_eq!(decided.effect, PermissionEffect::Ask);
    assert_eq!(waiting(&f, &session).await.len(), 2);
    f.clock.advance(1);
    f.wait(&session).await;
    assert_eq!(
        compact::messages(&f.model.last_request())[2],
        "tool: c0 = failed: Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide"
    );
    assert_eq!(waiting(&f, &session).await.len(), 1);
    f.clock.advance(59_999);
    f.read_until(&mut live, "permission.v2.replied reject")
        .await;
    f.read_until(&mut live, "permission.v2.replied reject")
        .await;
    assert_eq!(waiting(&f, &session).await, []);
    assert_eq!(of_permissions(&live).len(), 4);
}
