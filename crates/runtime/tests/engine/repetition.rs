//! A model that repeats the same call: from the third call on a user must allow it, unless the
//! configuration decides.

use opencode_llm::CallProblem;
use opencode_schema::id::SessionID;
use opencode_schema::permission::PermissionReply::{self, Always, Once, Reject};
use opencode_testkit::{Fixture, LiveLog, Reply, output};
use serde_json::json;

use crate::permissions::{answer, of_permissions, reply, settled, waiting};

/// A session and a tool `echo`.
async fn open() -> (Fixture, SessionID, LiveLog) {
    let f = Fixture::open().await;
    f.tool("echo", |input, _| async { output(input) });
    let session = f.session().await;
    let live = f.live();
    (f, session, live)
}

const ASKED: &str = r#"permission.v2.asked doom_loop ["echo"]"#;

fn call(id: &str, n: u32) -> Reply {
    Reply::calls(id, "echo", json!({"n": n}))
}

async fn next(f: &Fixture, live: &mut LiveLog, session: &SessionID, with: PermissionReply) {
    f.read_until(live, ASKED).await;
    let request = waiting(f, session).await.remove(0);
    reply(f, &request, with).await;
}

#[tokio::test]
async fn the_third_and_every_later_equal_call_of_an_activity_requires_a_permission() {
    let (f, session, mut live) = open().await;
    f.model
        .reply(call("c0", 1))
        .reply(call("c1", 1))
        .reply(call("c2", 1))
        .reply(call("c3", 1))
        .reply(call("c4", 2))
        .reply(call("c5", 1))
        .reply(Reply::says("Done."));
    f.prompt(&session, "Go").await;
    f.read_until(&mut live, ASKED).await;
    let request = waiting(&f, &session).await.remove(0);
    let started = f.payloads(&session, "step.started").await;
    assert_eq!(
        serde_json::to_value(&request).unwrap(),
        json!({
            "id": request.id,
            "sessionID": session,
            "action": "doom_loop",
            "resources": ["echo"],
            "save": ["echo"],
            "metadata": {"tool": "echo", "input": {"n": 1}},
            "source": {"type": "tool", "messageID": started[2]["assistantMessageID"], "callID": "c2"},
        })
    );
    reply(&f, &request, Once).await;
    next(&f, &mut live, &session, Once).await;
    f.wait(&session).await;
    assert_eq!(f.payloads(&session, "tool.success").await.len(), 6);
    // Another prompt begins another activity.
    f.model
        .reply(call("c6", 1))
        .reply(call("c7", 1))
        .reply(Reply::says("Done."));
    f.ask(&session, "Again").await;
    assert_eq!(of_permissions(&live).len(), 3);
}

#[tokio::test]
async fn equal_calls_of_one_answer_count_too() {
    let (f, session, mut live) = open().await;
    let three = ["c0", "c1", "c2"]
        .iter()
        .fold(Reply::new(), |reply, id| reply.call(id, "echo", json!({})));
    f.model
        .reply(three.tool_calls())
        .reply(Reply::says("Done."));
    f.prompt(&session, "Go").await;
    f.read_until(&mut live, ASKED).await;
    let request = waiting(&f, &session).await.remove(0);
    answer(&f, &request, Reject, Some("stop it")).await;
    f.wait(&session).await;
    assert_eq!(
        settled(&f, &session).await,
        [
            "tool.failed c2 Unable to call echo again with the same input: stop it",
            "tool.success c0 {}",
            "tool.success c1 {}",
        ]
    );
}

#[tokio::test]
async fn declining_a_repetition_ends_the_drain() {
    let (f, session, mut live) = open().await;
    f.model
        .reply(call("c0", 1))
        .reply(call("c1", 1))
        .reply(call("c2", 1));
    f.prompt(&session, "Go").await;
    next(&f, &mut live, &session, Reject).await;
    f.wait(&session).await;
    let events = f.events(&session).await;
    assert_eq!(
        events[events.len() - 2..],
        [
            "tool.failed c2 Tool execution interrupted",
            "step.ended tool-calls"
        ]
    );
}

#[tokio::test]
async fn always_allows_the_tool_to_be_repeated_in_the_project() {
    let (f, session, mut live) = open().await;
    for id in ["c0", "c1", "c2", "c3"] {
        f.model.reply(call(id, 1));
    }
    f.model.reply(Reply::says("Done."));
    f.prompt(&session, "Go").await;
    next(&f, &mut live, &session, Always).await;
    f.wait(&session).await;
    assert_eq!(f.payloads(&session, "tool.success").await.len(), 4);
    f.close().await;
    f.read_to_end(&mut live).await;
    assert_eq!(
        of_permissions(&live),
        [ASKED, "permission.v2.replied always"]
    );
}

#[tokio::test]
async fn configuration_allows_or_denies_repetitions() {
    for (rule, expected) in [
        ("allow", "tool.success c2 {\"n\":1}"),
        (
            "deny",
            "tool.failed c2 Unable to call echo again with the same input: it is not allowed. A permission rule denies it, or no user is there to decide",
        ),
    ] {
        let (f, session, _) = open().await;
        let config = json!({"permission": {"doom_loop": rule}});
        f.project.write("opencode.json", &config.to_string());
        for id in ["c0", "c1", "c2"] {
            f.model.reply(call(id, 1));
        }
        f.model.reply(Reply::says("Done."));
        f.ask(&session, "Go").await;
        let settled = settled(&f, &session).await;
        assert!(settled.contains(&expected.to_owned()), "{settled:?}");
    }
}

/// A model cannot repeat a call for ever that always fails.
#[tokio::test]
async fn calls_that_cannot_run_are_repetitions_too() {
    let problem = || CallProblem::Input {
        reason: "no JSON".to_owned(),
        written: "{".to_owned(),
    };
    let unknown = |id: &str| Reply::calls(id, "none", json!({"n": 1}));
    let broken = |id: &str| {
        Reply::new()
            .invalid_call(id, "echo", "{", problem())
            .tool_calls()
    };
    type MakesReply<'a> = &'a dyn Fn(&str) -> Reply;
    let all: [(&str, MakesReply<'_>); 2] = [("none", &unknown), ("echo", &broken)];
    for (name, reply_with) in all {
        let (f, session, mut live) = open().await;
        for id in ["c0", "c1", "c2", "c3"] {
            f.model.reply(reply_with(id));
        }
        f.prompt(&session, "Go").await;
        let asked = format!("permission.v2.asked doom_loop [\"{name}\"]");
        f.read_until(&mut live, &asked).await;
        reply(&f, &waiting(&f, &session).await.remove(0), Once).await;
        f.read_until(&mut live, &asked).await;
        reply(&f, &waiting(&f, &session).await.remove(0), Reject).await;
        f.wait(&session).await;
        assert_eq!(f.model.requests().len(), 4);
        let failed = f.payloads(&session, "tool.failed").await;
        assert_eq!(failed.len(), 4, "{name}");
        let messages: Vec<_> = failed.iter().map(|it| &it["error"]["message"]).collect();
        assert!(
            messages[..3].windows(2).all(|it| it[0] == it[1]),
            "{messages:?}"
        );
    }
}
