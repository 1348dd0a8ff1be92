//! Sessions that a crash interrupted: the list of them, and a host that resumes them at opening.

use opencode_runtime::{Interrupted, InterruptedState, Recovery};
use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, Gate, Reply, compact, output};
use serde_json::json;

/// A session that waits for the first output of the model.
async fn unanswered(f: &Fixture) -> SessionID {
    let session = f.session().await;
    let gate = Gate::new();
    f.model.reply(Reply::nothing().hold(&gate));
    f.prompt(&session, "Unanswered").await;
    f.reached(&gate).await;
    session
}

/// A session whose answer has begun, with a running call.
async fn open_step(f: &Fixture) -> SessionID {
    let session = f.session().await;
    let (stream, tool) = (Gate::new(), Gate::new());
    f.held_tool("slow", &tool);
    let reply = Reply::new().call("c1", "slow", json!({})).hold(&stream);
    f.model.reply(reply);
    f.prompt(&session, "Open").await;
    f.reached(&tool).await;
    f.reached(&stream).await;
    session
}

/// A session whose model is asked to continue with the result of its call.
async fn due(f: &Fixture) -> SessionID {
    let session = f.session().await;
    let gate = Gate::new();
    f.tool("echo", |input, _| async { output(input) });
    f.model
        .reply(Reply::calls("c1", "echo", json!({})))
        .reply(Reply::nothing().hold(&gate));
    f.prompt(&session, "Due").await;
    f.reached(&gate).await;
    session
}

/// A session with a complete answer.
async fn settled(f: &Fixture) -> SessionID {
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    f.ask(&session, "Settled").await;
    session
}

fn resuming(options: &mut opencode_runtime::RuntimeOptions) {
    options.recovery = Recovery::Resume;
}

/// The expected record of an interruption. The `seq`th event made the newest prompt or answer.
async fn cut(f: &Fixture, session: &SessionID, state: InterruptedState, seq: usize) -> Interrupted {
    let stored = &f.stored(session).await[seq - 1];
    let data: serde_json::Value = serde_json::from_str(&stored.data).unwrap();
    let id = data.get("messageID").or(data.get("assistantMessageID"));
    Interrupted {
        session_id: session.clone(),
        state,
        message_id: serde_json::from_value(id.unwrap().clone()).unwrap(),
        seq: (seq as u64).into(),
        time: stored.timestamp,
    }
}

#[tokio::test]
async fn interrupted_sessions_are_listed_and_not_resumed_automatically() {
    let mut f = Fixture::open().await;
    settled(&f).await;
    f.session().await;
    let unanswered = unanswered(&f).await;
    f.clock.advance(10);
    let open = open_step(&f).await;
    f.clock.advance(10);
    let due = due(&f).await;
    // The sessions run, so none of them is interrupted.
    assert_eq!(f.interrupted().await, []);
    f.kill().await;
    let expected = [
        cut(&f, &unanswered, InterruptedState::InputUnanswered, 2).await,
        cut(&f, &open, InterruptedState::StepOpen, 3).await,
        cut(&f, &due, InterruptedState::ContinuationDue, 3).await,
    ];
    assert_eq!(f.interrupted().await, expected);
    assert_eq!(f.runtime().active(), []);
    assert_eq!(f.model.requests().len(), 5);
    // Neither a running session nor an answered one is listed.
    let gate = Gate::new();
    f.model
        .reply(Reply::nothing().hold(&gate).text("Fine.").stop());
    f.resume(&open).await;
    f.reached(&gate).await;
    let others = [&expected[..1], &expected[2..]].concat();
    assert_eq!(f.interrupted().await, others);
    gate.release();
    f.wait(&open).await;
    assert_eq!(f.interrupted().await, others);
}

#[tokio::test]
async fn a_recovering_host_continues_each_interrupted_session() {
    let mut f = Fixture::open().await;
    let settled = settled(&f).await;
    let unanswered = unanswered(&f).await;
    let open = open_step(&f).await;
    let due = due(&f).await;
    f.change(resuming);
    f.model.otherwise(|_| Reply::says("On we go."));
    f.kill().await;
    for session in [&unanswered, &open, &due] {
        f.recorded(session, "step.ended stop").await;
    }
    f.idle().await;
    let goes_on = [
        "retried 1",
        "step.started",
        "text.started",
        "text.ended On we go.",
        "step.ended stop",
    ];
    assert_eq!(f.events_after(&unanswered, 2).await, goes_on);
    assert_eq!(f.events_after(&due, 8).await, goes_on);
    let mut with_failure = goes_on.to_vec();
    with_failure.insert(1, "tool.failed c1 Tool execution interrupted");
    assert_eq!(f.events_after(&open, 6).await, with_failure);
    assert_eq!(f.events(&settled).await.len(), 6);
    let message =
        |text: &str| json!({"attempt": 1, "error": {"message": text, "isRetryable": true}});
    for (session, text) in [
        (&unanswered, "The newest input has no answer"),
        (&open, "The newest answer was cut off"),
        (&due, "The newest answer was not continued"),
    ] {
        assert_eq!(f.payloads(session, "retried").await, [message(text)]);
    }
    assert_eq!(f.interrupted().await, []);
    let mut asked: Vec<_> = f.model.requests()[5..]
        .iter()
        .map(compact::messages)
        .collect();
    asked.sort();
    assert_eq!(
        asked,
        [
            &["user: Due", "assistant: c1 echo{}", "tool: c1 = {}"][..],
            &[
                "user: Open",
                "assistant: c1 slow{}",
                "tool: c1 = failed: Tool execution interrupted",
            ],
            &["user: Unanswered"],
        ]
    );
}

#[tokio::test]
async fn a_session_is_skipped_after_three_failed_attempts() {
    let mut f = Fixture::open().await;
    let session = unanswered(&f).await;
    f.change(resuming);
    for attempt in 1..=3 {
        let gate = Gate::new();
        f.model.reply(Reply::nothing().hold(&gate));
        f.kill().await;
        f.reached(&gate).await;
        let attempts = f.payloads(&session, "retried").await;
        let attempts: Vec<_> = attempts.iter().map(|it| it["attempt"].clone()).collect();
        assert_eq!(
            attempts,
            (1..=attempt).map(|it| json!(it)).collect::<Vec<_>>()
        );
    }
    // The end of another session shows that the host has checked all sessions.
    let later = unanswered(&f).await;
    f.model.reply(Reply::says("On we go."));
    f.kill().await;
    f.recorded(&later, "step.ended stop").await;
    assert_eq!(
        f.events_after(&session, 2).await,
        ["retried 1", "retried 2", "retried 3"]
    );
    let left = cut(&f, &session, InterruptedState::InputUnanswered, 2).await;
    assert_eq!(f.interrupted().await, [left]);
    // A caller may still resume it, and a finished step resets the attempts.
    let gate = Gate::new();
    f.tool("echo", |input, _| async { output(input) });
    f.model
        .reply(Reply::calls("c1", "echo", json!({})))
        .reply(Reply::nothing().hold(&gate))
        .reply(Reply::says("Done."));
    f.resume(&session).await;
    f.reached(&gate).await;
    f.kill().await;
    f.recorded(&session, "step.ended stop").await;
    let attempts = f.payloads(&session, "retried").await;
    assert_eq!(attempts.len(), 4);
    assert_eq!(attempts[3]["attempt"], 1);
}

#[tokio::test]
async fn recovery_continues_a_few_sessions_at_a_time_and_ends_with_the_host() {
    const AT_ONCE: usize = 16;
    let mut f = Fixture::open().await;
    let mut sessions = Vec::new();
    for _ in 0..AT_ONCE + 3 {
        sessions.push(unanswered(&f).await);
    }
    f.change(resuming);
    let gate = Gate::new();
    let held = gate.clone();
    f.model
        .otherwise(move |_| Reply::nothing().hold(&held).text("Done.").stop());
    f.kill().await;
    let before = sessions.len();
    f.asked(before + AT_ONCE).await;
    // A caller that is faster than the host gets the session, and the host does not resume it.
    let quicker = &sessions[AT_ONCE + 1];
    f.prompt(quicker, "Now").await;
    f.asked(before + AT_ONCE + 1).await;
    f.close().await;
    f.change(|_| {});
    f.reopen().await;
    let mut tried = Vec::new();
    for session in &sessions {
        tried.push(f.payloads(session, "retried").await.len());
    }
    let expected = [[1; AT_ONCE].as_slice(), &[0; 3]].concat();
    assert_eq!(tried, expected);
    assert_eq!(f.model.requests().len(), before + AT_ONCE + 1);
}

#[tokio::test]
async fn a_session_that_a_caller_has_continued_is_not_recovered_again() {
    const AT_ONCE: usize = 16;
    let mut f = Fixture::open().await;
    let mut sessions = Vec::new();
    for _ in 0..AT_ONCE + 1 {
        sessions.push(unanswered(&f).await);
    }
    f.change(resuming);
    let gate = Gate::new();
    let held = gate.clone();
    let before = sessions.len();
    f.model.otherwise(move |request| {
        let is_asked_again = request.messages.len() > 1;
        if is_asked_again {
            return Reply::says("Quick.");
        }
        Reply::nothing().hold(&held).text("Done.").stop()
    });
    f.kill().await;
    f.asked(before + AT_ONCE).await;
    let quicker = &sessions[AT_ONCE];
    f.ask(quicker, "Now").await;
    gate.release();
    f.idle().await;
    for session in &sessions[..AT_ONCE] {
        f.recorded(session, "step.ended stop").await;
    }
    assert_eq!(
        f.events_after(quicker, 2).await,
        [
            "prompt.admitted Now",
            "prompted Now",
            "step.started",
            "text.started",
            "text.ended Quick.",
            "step.ended stop",
        ]
    );
    assert_eq!(f.model.requests().len(), before + AT_ONCE + 1);
}

#[tokio::test]
async fn a_host_is_idle_when_no_session_runs() {
    let f = Fixture::open().await;
    f.idle().await;
    let (one, other) = (f.session().await, f.session().await);
    let gates = [Gate::new(), Gate::new()];
    for (session, gate) in [&one, &other].into_iter().zip(&gates) {
        f.model.reply(Reply::new().text("Wait.").hold(gate).stop());
        f.prompt(session, "Hi").await;
        f.reached(gate).await;
    }
    let runtime = f.runtime().clone();
    let idle = tokio::spawn(async move { runtime.until_idle().await });
    f.interrupt(&one).await;
    assert!(!idle.is_finished());
    gates[1].release();
    f.within("idle", idle).await.unwrap();
    assert_eq!(f.runtime().active(), []);
    f.close().await;
    f.idle().await;
}
