//! Rules that change while a request waits: those of now decide.

use opencode_runtime::{CreateSession, UpdateSession};
use opencode_schema::id::SessionID;
use opencode_schema::permission::PermissionReply::{self, Always, Once};
use opencode_schema::permission::{PermissionEffect, PermissionRule};
use opencode_testkit::{Fixture, Reply, output};
use serde_json::{Value, json};

use super::{ask, asked, equip, heard_asked, of_permissions, open, reply, saves, settled, waiting};

/// A change of the rules of a session.
#[derive(Debug, Clone, Copy)]
enum Change {
    Session,
    Configuration,
    /// The description of its agent.
    Agent,
}

/// Sets a rule about the tool `use`.
async fn set(f: &Fixture, session: &SessionID, change: Change, resource: &str, effect: &str) {
    let rules = json!({"*": "ask", resource: effect});
    let config = match change {
        Change::Session => {
            let effect = serde_json::from_value::<PermissionEffect>(effect.into()).unwrap();
            return update(f, session, resource, effect).await;
        }
        Change::Configuration => json!({"permission": {"use": rules}}),
        Change::Agent => json!({"permission": {"use": "ask"}, "agent": {
            "build": {"permission": {"use": rules}},
        }}),
    };
    f.project.write("opencode.json", &config.to_string());
    let location = f.new_session().location;
    f.runtime().reload_location(&location).await.unwrap();
}

async fn update(f: &Fixture, session: &SessionID, resource: &str, effect: PermissionEffect) {
    let rule = PermissionRule {
        action: "use".to_owned(),
        resource: resource.to_owned(),
        effect,
    };
    let request = UpdateSession {
        permission: Some(vec![rule]),
        ..UpdateSession::default()
    };
    f.runtime().update_session(session, request).await.unwrap();
}

fn refused(rule: &str) -> String {
    format!(
        "tool.failed c0 Unable to use it: it is not allowed. The permission rule {rule}, which was set while the request waited, denies it"
    )
}

#[tokio::test]
async fn a_rule_that_is_set_while_a_request_waits_overrules_the_reply() {
    for change in [Change::Session, Change::Configuration, Change::Agent] {
        for answer in [Once, Always] {
            let f = open().await;
            let session = f.session().await;
            let mut live = f.live();
            f.model
                .reply(saves("x 1", &["x*"]))
                .reply(Reply::says("Well."));
            f.prompt(&session, "Go").await;
            heard_asked(&f, &mut live, &["x 1"]).await;
            let request = waiting(&f, &session).await.remove(0);
            set(&f, &session, change, "x*", "deny").await;
            reply(&f, &request, answer).await;
            f.wait(&session).await;
            let settled = settled(&f, &session).await;
            assert_eq!(settled, [refused("use x*")], "{change:?} {answer:?}");
            let failed = f.payloads(&session, "tool.failed").await;
            assert_eq!(failed[0]["error"]["cause"]["kind"], "permission");
        }
    }
}

#[tokio::test]
async fn a_rule_of_the_giver_that_is_set_while_a_task_waits_denies_it() {
    let succeeded = "tool.success c0 {}".to_owned();
    for (change, resource, effect, expected) in [
        (Change::Session, "x*", "deny", refused("use x*")),
        (Change::Agent, "x*", "deny", refused("use x*")),
        (Change::Session, "y*", "deny", succeeded.clone()),
        // A giver loosens nothing, and does not ask again.
        (Change::Session, "x*", "ask", succeeded),
    ] {
        let f = open().await;
        crate::tasks::equip(&f);
        let root = f.session().await;
        let mut live = f.live();
        let task = json!({"description": "d", "prompt": "p", "agent": "general"});
        f.model
            .reply(Reply::calls("task", "task", task))
            .reply(saves("x 1", &["x*"]))
            .reply(Reply::says("Well."))
            .reply(Reply::says("Done."));
        f.prompt(&root, "Go").await;
        heard_asked(&f, &mut live, &["x 1"]).await;
        let task = f.runtime().children(&root).await.unwrap().remove(0).id;
        let request = waiting(&f, &task).await.remove(0);
        set(&f, &root, change, resource, effect).await;
        reply(&f, &request, Once).await;
        f.wait(&root).await;
        let settled = settled(&f, &task).await;
        assert_eq!(settled, [expected], "{change:?} {resource} {effect}");
    }
}

#[tokio::test]
async fn a_session_that_is_no_task_has_its_own_rules() {
    let f = open().await;
    let parent = f.session().await;
    update(&f, &parent, "*", PermissionEffect::Deny).await;
    let child = CreateSession {
        parent_id: Some(parent),
        ..f.new_session()
    };
    let child = f.create(child).await.id;
    let mut live = f.live();
    f.model
        .reply(saves("x 1", &["x*"]))
        .reply(Reply::says("Well."));
    f.prompt(&child, "Go").await;
    heard_asked(&f, &mut live, &["x 1"]).await;
    reply(&f, &waiting(&f, &child).await.remove(0), Once).await;
    f.wait(&child).await;
    assert_eq!(settled(&f, &child).await, ["tool.success c0 {}"]);
}

#[tokio::test]
async fn always_in_another_session_decides_by_the_rules_of_now() {
    for (effect, expected) in [
        ("deny", Some(PermissionReply::Reject)),
        ("allow", Some(Always)),
    ] {
        let f = open().await;
        let (session, other) = (f.session().await, f.session().await);
        let mut live = f.live();
        ask(&f, &mut live, &other, &["x 2"]).await;
        f.model.reply(saves("x 1", &["x*"]));
        f.prompt(&session, "Go").await;
        heard_asked(&f, &mut live, &["x 1"]).await;
        set(&f, &other, Change::Session, "x 2", effect).await;
        f.model
            .reply(Reply::says("Well."))
            .reply(Reply::says("Well."));
        let request = waiting(&f, &session).await.remove(0);
        reply(&f, &request, Always).await;
        assert_eq!(waiting(&f, &other).await, [], "{effect}");
        f.wait(&session).await;
        f.wait(&other).await;
        assert_eq!(settled(&f, &session).await, ["tool.success c0 {}"]);
        let result = match effect {
            "deny" => refused("use x 2"),
            _ => "tool.success c0 {}".to_owned(),
        };
        assert_eq!(settled(&f, &other).await, [result]);
        f.close().await;
        f.read_to_end(&mut live).await;
        let replied = |reply: &PermissionReply| {
            let reply = serde_json::to_value(reply).unwrap();
            format!("permission.v2.replied {}", reply.as_str().unwrap())
        };
        let told = of_permissions(&live).pop();
        assert_eq!(told, expected.as_ref().map(replied), "{effect}");
    }
}

#[tokio::test]
async fn a_looser_rule_answers_no_waiting_request() {
    for change in [Change::Session, Change::Configuration, Change::Agent] {
        let f = open().await;
        let (session, other) = (f.session().await, f.session().await);
        let mut live = f.live();
        ask(&f, &mut live, &other, &["y"]).await;
        set(&f, &other, change, "y", "allow").await;
        f.model
            .reply(saves("x", &["x"]))
            .reply(Reply::says("Well."));
        f.prompt(&session, "Go").await;
        heard_asked(&f, &mut live, &["x"]).await;
        let request = waiting(&f, &session).await.remove(0);
        reply(&f, &request, Always).await;
        f.wait(&session).await;
        assert_eq!(waiting(&f, &other).await.len(), 1, "{change:?}");
        f.interrupt(&other).await;
    }
}

/// A tool that asks for `a`, then for `b`.
#[tokio::test]
async fn what_a_call_was_allowed_before_is_decided_again_after_it_waited() {
    for (denied, expected) in [
        ("a", refused("use a")),
        ("b", refused("use b")),
        ("c", "tool.success c0 {}".to_owned()),
    ] {
        let f = Fixture::open().await;
        equip(&f);
        f.tool("both", |_: Value, context| async move {
            for resource in ["a", "b"] {
                let request = context.permission_request("use", vec![resource.to_owned()]);
                context.assert(request, "Unable to use it").await?;
            }
            output(json!({}))
        });
        let session = f.session().await;
        let mut live = f.live();
        f.model
            .reply(Reply::calls("c0", "both", json!({})))
            .reply(Reply::says("Well."));
        f.prompt(&session, "Go").await;
        for resource in ["a", "b"] {
            f.read_until(&mut live, &asked(resource)).await;
            if resource == "b" {
                set(&f, &session, Change::Session, denied, "deny").await;
            }
            let request = waiting(&f, &session).await.remove(0);
            reply(&f, &request, Once).await;
        }
        f.wait(&session).await;
        assert_eq!(settled(&f, &session).await, [expected], "{denied}");
    }
}

/// A client asks on behalf of the session, so that the agent of the session decides, whichever it is.
#[tokio::test]
async fn a_request_of_a_client_follows_the_agent_of_the_session() {
    for (agent, is_named, waits) in [
        ("strict", false, false),
        ("strict", true, true),
        ("free", false, true),
    ] {
        let f = open().await;
        let (session, other) = (f.session().await, f.session().await);
        let request = opencode_runtime::AskPermission {
            agent: is_named.then(|| "build".to_owned()),
            ..super::asked::of(&session, "use", &["y"])
        };
        f.runtime().ask_permission(request).await.unwrap();
        f.switch_agent(&session, agent).await;
        let saving = opencode_runtime::AskPermission {
            save: Some(vec!["x".to_owned()]),
            ..super::asked::of(&other, "use", &["x"])
        };
        f.runtime().ask_permission(saving).await.unwrap();
        let request = waiting(&f, &other).await.remove(0);
        reply(&f, &request, Always).await;
        let left = waiting(&f, &session).await.len();
        assert_eq!(left, usize::from(waits), "{agent} {is_named}");
    }
}
