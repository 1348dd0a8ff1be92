//! Tasks that are interrupted: by users, by the end of the host, by a crash.

use opencode_runtime::Recovery;
use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, Gate, Reply, compact};

use super::{child, failed, open, task};

const CUT: &str = "tool.failed c0 Tool execution interrupted";

/// A session whose task has given another task, whose model has begun to answer. Returns the three
/// sessions and the gate that holds the answer.
async fn nested(f: &Fixture) -> ([SessionID; 3], Gate) {
    let session = f.session().await;
    let gate = Gate::new();
    f.model
        .reply(task("general", "Deeper"))
        .reply(task("general", "Deepest"))
        .reply(Reply::new().begin_text().delta("Well").hold(&gate));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    let one = child(f, &session).await;
    let two = child(f, &one).await;
    ([session, one, two], gate)
}

/// The events of a session that was interrupted while its task ran.
fn cut(prompt: &str, next: &str) -> Vec<String> {
    let input = super::input("general", next);
    vec![
        format!("prompt.admitted {prompt}"),
        format!("prompted {prompt}"),
        "step.started".to_owned(),
        "tool.input.started c0 task".to_owned(),
        format!("tool.input.ended c0 {input}"),
        format!("tool.called c0 task {input}"),
        CUT.to_owned(),
        "step.ended tool-calls".to_owned(),
    ]
}

const CUT_ANSWER: [&str; 6] = [
    "prompt.admitted Deepest",
    "prompted Deepest",
    "step.started",
    "text.started",
    "text.ended Well",
    "step.failed Provider turn interrupted",
];

#[tokio::test]
async fn an_interruption_interrupts_the_children_and_waits_for_them() {
    let f = open().await;
    let ([session, one, two], gate) = nested(&f).await;
    f.interrupt(&session).await;
    // All sessions are settled when the interruption returns.
    assert_eq!(f.runtime().active(), []);
    assert_eq!(f.events(&session).await, cut("Go", "Deeper"));
    assert_eq!(f.events(&one).await, cut("Deeper", "Deepest"));
    assert_eq!(f.events(&two).await, CUT_ANSWER);
    f.dropped(&gate).await;
    // The task can be continued.
    let mut again = super::input("general", "Again");
    again["sessionID"] = serde_json::json!(one);
    f.model
        .reply(Reply::calls("c1", "task", again))
        .reply(Reply::says("Here."))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go on").await;
    let succeeded = f.payloads(&session, "tool.success").await;
    assert_eq!(succeeded[0]["structured"]["text"], "Here.");
}

#[tokio::test]
async fn an_interrupted_child_fails_only_the_call() {
    let f = open().await;
    let ([session, one, two], _) = nested(&f).await;
    f.model.reply(Reply::says("Then not."));
    f.interrupt(&one).await;
    f.wait(&session).await;
    assert_eq!(f.events(&two).await, CUT_ANSWER);
    assert_eq!(
        failed(&f, &session).await,
        [format!(
            "tool.failed c0 Unable to run task: general: its session {one} ended before the work \
             did: it was interrupted, or the user declined one of its requests"
        )]
    );
    assert_eq!(
        f.events(&session).await.last().map(String::as_str),
        Some("step.ended stop")
    );
}

#[tokio::test]
async fn closing_the_host_settles_the_children() {
    let mut f = open().await;
    let ([session, one, two], _) = nested(&f).await;
    f.reopen().await;
    assert_eq!(f.events(&session).await, cut("Go", "Deeper"));
    assert_eq!(f.events(&one).await, cut("Deeper", "Deepest"));
    assert_eq!(f.events(&two).await, CUT_ANSWER);
    assert_eq!(f.interrupted().await, []);
}

#[tokio::test]
async fn a_dropped_host_leaves_the_same_state_as_a_crash() {
    let mut f = open().await;
    let (sessions, gate) = nested(&f).await;
    let mut left = Vec::new();
    for session in &sessions {
        left.push(f.events(session).await);
    }
    f.runtime().abandon();
    f.drop_and_reopen().await;
    f.dropped(&gate).await;
    for (session, left) in sessions.iter().zip(left) {
        assert_eq!(f.events(session).await, left);
    }
    let cut = f.interrupted().await.into_iter();
    let cut: Vec<_> = cut.map(|it| it.session_id).collect();
    assert_eq!(cut, sessions);
}

#[tokio::test]
async fn after_a_crash_the_call_fails_and_the_child_is_unchanged() {
    let mut f = open().await;
    let ([session, one, two], _) = nested(&f).await;
    f.kill().await;
    let left = [f.events(&one).await, f.events(&two).await];
    f.model.reply(Reply::says("Then not."));
    f.run(&session).await;
    assert_eq!(failed(&f, &session).await, [CUT]);
    assert_eq!(
        compact::messages(&f.model.last_request())[2],
        "tool: c0 = failed: Tool execution interrupted"
    );
    assert_eq!([f.events(&one).await, f.events(&two).await], left);
    let cut = f.interrupted().await.into_iter();
    let cut: Vec<_> = cut.map(|it| it.session_id).collect();
    assert_eq!(cut, [one, two]);
}

#[tokio::test]
async fn a_recovering_host_does_not_resume_children() {
    let mut f = open().await;
    let ([session, one, two], _) = nested(&f).await;
    let left = [f.events(&one).await, f.events(&two).await];
    f.model.reply(Reply::says("Then not."));
    f.change(|options| options.recovery = Recovery::Resume);
    f.kill().await;
    f.idle().await;
    assert_eq!(failed(&f, &session).await, [CUT]);
    assert_eq!([f.events(&one).await, f.events(&two).await], left);
}
