//! Permissions of a child session: those of its agent, without those that are denied to its parent.

use opencode_runtime::AskPermission;
use opencode_schema::id::SessionID;
use opencode_schema::permission::{PermissionEffect, PermissionReply};
use opencode_testkit::{Fixture, Reply};
use serde_json::json;

use super::{child, input, open, task};
use crate::permissions::{heard_asked, reply, settled, uses, waiting};

/// A runtime with the tools `task`, `use` and `other`. Agent `worker` may use everything, but `x*`
/// needs a request. `strict` may not call `use`. `careful` may not use `no*` and does not see
/// `other`. `narrow` may only give tasks and use resources with an `a`. `narrower` may only give
/// tasks and request resources with a `b`.
async fn equipped() -> Fixture {
    let f = open().await;
    crate::permissions::equip(&f);
    f.tool("other", |input, _| async {
        opencode_testkit::output(input)
    });
    let careful = json!({
        "*": "allow", "use": {"*": "allow", "no*": "deny"}, "other": "deny",
    });
    let config = json!({"agent": {
        "worker": {
            "mode": "subagent",
            "permission": {"*": "allow", "use": {"*": "allow", "x*": "ask"}},
        },
        "strict": {"permission": {"*": "allow", "use": "deny"}},
        "careful": {"permission": careful},
        "narrow": {"permission": {"*": "deny", "task": "allow", "use": {"*a*": "allow"}}},
        "narrower": {"permission": {"*": "deny", "task": "allow", "use": {"*b*": "ask"}}},
    }});
    f.project.write("opencode.json", &config.to_string());
    f
}

/// A session whose agent has given a task to `worker`, which has used these resources.
async fn worked(f: &Fixture, agent: &str, resources: &[&str]) -> (SessionID, SessionID) {
    let session = f.session().await;
    f.switch_agent(&session, agent).await;
    f.model
        .reply(task("worker", "Work"))
        .reply(uses(resources))
        .reply(Reply::says("Worked."))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    let child = child(f, &session).await;
    (session, child)
}

/// The decision that a client receives about a use in a session.
async fn decided(f: &Fixture, session: &SessionID, on: &str) -> PermissionEffect {
    let ask = AskPermission {
        session_id: session.clone(),
        id: None,
        action: "use".into(),
        resources: vec![on.into()],
        save: None,
        metadata: None,
        source: None,
        agent: None,
    };
    f.runtime().ask_permission(ask).await.unwrap().effect
}

/// The tools of a request.
fn tools(f: &Fixture, request: usize) -> Vec<String> {
    let request = &f.model.requests()[request];
    request.tools.iter().map(|tool| tool.name.clone()).collect()
}

#[tokio::test]
async fn actions_that_are_denied_to_the_parent_are_denied_to_the_child() {
    let f = equipped().await;
    let (_, child) = worked(&f, "careful", &["a", "no 1"]).await;
    assert_eq!(
        settled(&f, &child).await,
        [
            "tool.failed c1 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide",
            "tool.success c0 {}"
        ]
    );
    assert_eq!(tools(&f, 0), ["task", "use"]);
    assert_eq!(tools(&f, 1), ["task", "use"]);
}

#[tokio::test]
async fn a_tool_that_is_hidden_from_the_parent_is_not_offered_to_the_child() {
    let f = equipped().await;
    let (_, child) = worked(&f, "strict", &["a"]).await;
    assert_eq!(
        settled(&f, &child).await,
        ["tool.failed c0 Unknown tool: use"]
    );
    assert_eq!(tools(&f, 1), ["task", "other"]);
}

/// The rules of a subagent apply, except to actions that are denied to its parent.
#[tokio::test]
async fn exceptions_to_denials_of_the_parent_apply_to_the_child() {
    let f = equipped().await;
    let (_, child) = worked(&f, "narrow", &["a", "b"]).await;
    assert_eq!(
        settled(&f, &child).await,
        [
            "tool.failed c1 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide",
            "tool.success c0 {}"
        ]
    );
    assert_eq!(tools(&f, 1), ["task", "use"]);
    // The parent may do this, but the rules of the child require a request.
    assert_eq!(decided(&f, &child, "xa").await, PermissionEffect::Ask);
}

#[tokio::test]
async fn a_grandchild_may_do_what_neither_ancestor_is_denied() {
    let f = equipped().await;
    let session = f.session().await;
    f.switch_agent(&session, "narrow").await;
    f.model
        .reply(task("narrower", "Deeper"))
        .reply(task("worker", "Deepest"))
        .reply(uses(&["a", "b", "ab"]))
        .reply(Reply::says("Worked."))
        .reply(Reply::says("Worked."))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    let one = child(&f, &session).await;
    let two = child(&f, &one).await;
    assert_eq!(
        settled(&f, &two).await,
        [
            "tool.failed c0 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide",
            "tool.failed c1 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide",
            "tool.success c2 {}",
        ]
    );
}

#[tokio::test]
async fn denials_apply_to_the_children_of_the_children() {
    let f = equipped().await;
    let session = f.session().await;
    f.switch_agent(&session, "careful").await;
    f.model
        .reply(task("worker", "Deeper"))
        .reply(task("worker", "Deepest"))
        .reply(uses(&["no 1"]))
        .reply(Reply::says("Worked."))
        .reply(Reply::says("Worked."))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    let one = child(&f, &session).await;
    let two = child(&f, &one).await;
    assert_eq!(
        settled(&f, &two).await,
        [
            "tool.failed c0 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide"
        ]
    );
}

#[tokio::test]
async fn an_answer_of_always_does_not_allow_what_the_session_denies() {
    let f = equipped().await;
    // A saved permission of the project allows everything.
    let free = f.session().await;
    f.switch_agent(&free, "worker").await;
    let mut live = f.live();
    f.model
        .reply(crate::permissions::saves("x 1", &["*"]))
        .reply(Reply::says("Well."));
    f.prompt(&free, "Go").await;
    heard_asked(&f, &mut live, &["x 1"]).await;
    let request = waiting(&f, &free).await.remove(0);
    reply(&f, &request, PermissionReply::Always).await;
    f.wait(&free).await;
    let (_, child) = worked(&f, "careful", &["x 2", "no 1"]).await;
    assert_eq!(
        settled(&f, &child).await,
        [
            "tool.failed c1 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide",
            "tool.success c0 {}"
        ]
    );
}

#[tokio::test]
async fn denials_of_a_child_outlive_the_host_and_are_exported() {
    let mut f = equipped().await;
    let (_, child) = worked(&f, "careful", &["a"]).await;
    let exported = f.export(&child).await;
    f.reopen().await;
    let again = async |f: &Fixture| {
        let before = f.events(&child).await.len();
        f.model.reply(uses(&["no 1"])).reply(Reply::says("Well."));
        f.ask(&child, "Again").await;
        let events = f.events_after(&child, before).await;
        let failed = "tool.failed c0 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide".to_owned();
        assert!(events.contains(&failed), "{events:#?}");
    };
    again(&f).await;
    let other = equipped().await;
    other.import(&exported).await.unwrap();
    again(&other).await;
}

#[tokio::test]
async fn an_earlier_task_gets_the_current_denials_of_its_parent() {
    let f = equipped().await;
    let (session, child) = worked(&f, "build", &["no 1"]).await;
    assert_eq!(settled(&f, &child).await, ["tool.success c0 {}"]);
    for agent in ["careful", "careful", "build"] {
        f.switch_agent(&session, agent).await;
        let mut again = input("worker", "Again");
        again["sessionID"] = json!(child);
        f.model
            .reply(Reply::calls("c1", "task", again))
            .reply(uses(&["no 2"]))
            .reply(Reply::says("Worked."))
            .reply(Reply::says("Well."));
        f.ask(&session, "Go on").await;
    }
    let events = f.events(&child).await.into_iter();
    let settled: Vec<_> = events
        .filter(|it| it.starts_with("tool.failed") || it.starts_with("tool.success"))
        .collect();
    assert_eq!(
        settled,
        [
            "tool.success c0 {}",
            "tool.failed c0 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide",
            "tool.failed c0 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide",
            "tool.success c0 {}",
        ]
    );
    // Each change is recorded once.
    let exported = f.export(&child).await;
    let updated = exported.iter().filter(|it| it.contains("session.updated"));
    assert_eq!(updated.count(), 2);
}

#[tokio::test]
async fn a_client_request_for_a_child_uses_the_rules_of_the_child() {
    let f = equipped().await;
    let (_, child) = worked(&f, "careful", &["a"]).await;
    for (on, expected) in [
        ("no 1", PermissionEffect::Deny),
        ("a", PermissionEffect::Allow),
    ] {
        assert_eq!(decided(&f, &child, on).await, expected);
    }
}
