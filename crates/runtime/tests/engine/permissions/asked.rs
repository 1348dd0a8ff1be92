//! Requests from a client: they are decided immediately, or stay pending although no tool waits for them.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use futures::FutureExt;
use opencode_runtime::{AskPermission, CreateSession, RuntimeError};
use opencode_schema::id::{PermissionID, SessionID, WorkspaceID};
use opencode_schema::location::LocationRef;
use opencode_schema::permission::PermissionEffect::{Allow, Ask, Deny};
use opencode_schema::permission::PermissionReply::{Always, Reject};
use opencode_schema::permission::{PermissionEffect, PermissionRequest, PermissionSource};
use opencode_testkit::{Fixture, Reply};
use serde_json::json;

use super::{ask, of_permissions, open, reply, settled, waiting};

/// A request with only an action and resources.
pub(super) fn of(session: &SessionID, action: &str, resources: &[&str]) -> AskPermission {
    AskPermission {
        session_id: session.clone(),
        id: None,
        action: action.to_owned(),
        resources: resources.iter().map(|it| (*it).to_owned()).collect(),
        save: None,
        metadata: None,
        source: None,
        agent: None,
    }
}

async fn effect(f: &Fixture, request: AskPermission) -> PermissionEffect {
    let decided = f.within("ask", f.runtime().ask_permission(request)).await;
    decided.unwrap().effect
}

#[tokio::test]
async fn the_rules_of_the_agent_decide() {
    let f = open().await;
    let session = f.session().await;
    let by = |agent: &str, on: &str| AskPermission {
        agent: Some(agent.to_owned()),
        ..of(&session, "use", &[on])
    };
    for (request, expected) in [
        (of(&session, "use", &["ok"]), Allow),
        (of(&session, "use", &["no"]), Deny),
        (of(&session, "use", &["x"]), Ask),
        (of(&session, "use", &[]), Deny),
        (of(&session, "use", &["ok", ""]), Deny),
        (of(&session, "other", &["x"]), Allow),
        (by("strict", "ok"), Deny),
        (by("free", "x"), Allow),
        (by("nobody", "ok"), Deny),
    ] {
        let asked = format!("{request:?}");
        assert_eq!(effect(&f, request).await, expected, "{asked}");
    }
    f.switch_agent(&session, "free").await;
    assert_eq!(effect(&f, of(&session, "use", &["x"])).await, Allow);
    f.switch_agent(&session, "nobody").await;
    assert_eq!(effect(&f, of(&session, "other", &["x"])).await, Deny);
    assert_eq!(waiting(&f, &session).await.len(), 1);
}

#[tokio::test]
async fn a_request_is_listed_unchanged() {
    let f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    let source = PermissionSource::Tool {
        message_id: "msg_x".to_owned(),
        call_id: "c".to_owned(),
    };
    let id = PermissionID::parse("per_mine").unwrap();
    let asked = AskPermission {
        id: Some(id.clone()),
        save: Some(vec!["x*".to_owned()]),
        metadata: json!({"why": 1}).as_object().cloned(),
        source: Some(source.clone()),
        ..of(&session, "use", &["x"])
    };
    let decided = f.runtime().ask_permission(asked.clone()).await.unwrap();
    assert_eq!((&decided.id, decided.effect), (&id, Ask));
    let expected = PermissionRequest {
        id: id.clone(),
        session_id: session.clone(),
        action: "use".to_owned(),
        resources: vec!["x".to_owned()],
        save: asked.save.clone(),
        metadata: asked.metadata.clone(),
        source: Some(source),
    };
    let alone = std::slice::from_ref(&expected);
    assert_eq!(waiting(&f, &session).await, alone);
    let one = f.runtime().permission(&session, &id).await.unwrap();
    assert_eq!(one, expected);
    let here = f.new_session().location;
    assert_eq!(f.runtime().permission_requests(&here), alone);
    f.read_until(&mut live, &super::asked("x")).await;
    let event = live.values().last().unwrap();
    assert_eq!(event["data"], serde_json::to_value(&expected).unwrap());
    assert_eq!(event["location"]["directory"], f.project.directory());
    // While the request is pending, its id is taken in all sessions.
    let other = f.session().await;
    for session in [&session, &other] {
        let again = AskPermission {
            session_id: session.clone(),
            ..asked.clone()
        };
        let refused = f.runtime().ask_permission(again).await;
        assert!(matches!(refused, Err(RuntimeError::PermissionConflict(taken)) if taken == id));
    }
    assert!(f.runtime().permission(&other, &id).await.is_err());
    reply(&f, &expected, Reject).await;
    assert_eq!(effect(&f, asked).await, Ask);
}

#[tokio::test]
async fn answers_also_reach_the_tools_of_the_session() {
    let f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    ask(&f, &mut live, &session, &["x 1"]).await;
    let left = AskPermission {
        save: Some(vec!["x*".to_owned()]),
        ..of(&session, "use", &["x 2"])
    };
    f.runtime().ask_permission(left).await.unwrap();
    let left = waiting(&f, &session).await.remove(1);
    f.model.reply(Reply::says("Well."));
    reply(&f, &left, Always).await;
    f.wait(&session).await;
    assert_eq!(settled(&f, &session).await, ["tool.success c0 {}"]);
    f.close().await;
    f.read_to_end(&mut live).await;
    assert_eq!(
        of_permissions(&live)[2..],
        ["permission.v2.replied always"; 2]
    );
}

#[tokio::test]
async fn requests_are_bounded() {
    let f = open().await;
    let session = f.session().await;
    let huge = AskPermission {
        metadata: json!({"text": "x".repeat(1 << 20)}).as_object().cloned(),
        ..of(&session, "use", &["x"])
    };
    let refused = f.runtime().ask_permission(huge).await;
    assert!(
        matches!(refused, Err(RuntimeError::RequestTooLarge { limit, .. }) if limit == 1 << 20)
    );
    for _ in 0..1000 {
        let decided = f.runtime().ask_permission(of(&session, "use", &["x"]));
        assert_eq!(decided.await.unwrap().effect, Ask);
    }
    let refused = f
        .runtime()
        .ask_permission(of(&session, "use", &["x"]))
        .await;
    assert!(matches!(refused, Err(RuntimeError::Unavailable { .. })));
    // At the limit a tool call is refused. Other sessions have their own limit.
    f.model
        .reply(super::uses(&["a"]))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    assert_eq!(
        settled(&f, &session).await,
        [
            "tool.failed c0 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide"
        ]
    );
    let other = f.session().await;
    assert_eq!(effect(&f, of(&other, "use", &["x"])).await, Ask);
    let slash = AskPermission {
        id: Some(PermissionID::parse("per_a/b").unwrap()),
        ..of(&other, "use", &["x"])
    };
    let refused = f.runtime().ask_permission(slash).await;
    assert!(matches!(refused, Err(RuntimeError::UnfitId(id)) if id == "per_a/b"));
}

#[tokio::test]
async fn a_workspace_is_a_separate_location() {
    let f = open().await;
    let here = f.new_session().location;
    let there = LocationRef {
        workspace_id: Some(WorkspaceID::parse("wrk_other").unwrap()),
        ..here.clone()
    };
    let mut asked = Vec::new();
    for location in [&here, &there] {
        let request = CreateSession {
            location: location.clone(),
            ..f.new_session()
        };
        let session = f.create(request).await.id;
        let request = AskPermission {
            save: Some(vec!["x".to_owned()]),
            ..of(&session, "use", &["x"])
        };
        assert_eq!(effect(&f, request).await, Ask);
        asked.push(waiting(&f, &session).await.remove(0));
    }
    let listed = [&here, &there].map(|location| f.runtime().permission_requests(location));
    assert_eq!(
        listed,
        [0, 1].map(|place| std::slice::from_ref(&asked[place]))
    );
    // An answer settles only requests in its Location. The permission that it saves applies to the project.
    reply(&f, &asked[0], Always).await;
    assert_eq!(f.runtime().permission_requests(&here), []);
    assert_eq!(f.runtime().permission_requests(&there), asked[1..]);
    let again = of(&asked[1].session_id, "use", &["x"]);
    assert_eq!(effect(&f, again).await, Allow);
}

/// Polls a future at most this number of times. Returns its output if it completes.
async fn go_on<F: Future + Unpin>(work: &mut F, times: usize) -> Option<F::Output> {
    let mut waits = 0;
    poll_fn(|context| {
        if waits > times {
            return Poll::Ready(None);
        }
        waits += 1;
        work.poll_unpin(context).map(Some)
    })
    .await
}

#[tokio::test]
async fn a_permission_saved_during_a_request_applies_to_it() {
    for times in 0..6 {
        let f = open().await;
        let session = f.session().await;
        let saving = AskPermission {
            save: Some(vec!["x".to_owned()]),
            ..of(&session, "use", &["x"])
        };
        assert_eq!(effect(&f, saving).await, Ask);
        let request = waiting(&f, &session).await.remove(0);
        let mut asking = pin!(f.runtime().ask_permission(of(&session, "use", &["x"])));
        let early = f.within("asking", go_on(&mut asking, times)).await;
        reply(&f, &request, Always).await;
        if early.is_none() {
            f.within("asking", asking).await.unwrap();
        }
        assert_eq!(waiting(&f, &session).await, [], "{times}");
    }
}
