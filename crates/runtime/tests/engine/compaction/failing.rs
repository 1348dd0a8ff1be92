//! Summaries that fail: the turn continues without one, and nothing is lost.

use opencode_llm::{ErrorKind, FinishReason, LlmError};
use opencode_testkit::{Gate, Reply, output};
use serde_json::json;

use super::*;

/// The message and the kind of the live error after a summary with this reply.
async fn failed(f: &Fixture, session: &SessionID, reply: Reply) -> (String, String) {
    grown(f, session).await;
    let mut live = f.live();
    f.model.reply(reply).reply(Reply::says("Yes."));
    f.ask(session, "Next").await;
    // The turn contains the whole history.
    let whole = [ALPHA, BETA, "user: Next"];
    assert_eq!(asked_for(&f.model.last_request()), whole);
    let events = f.events_after(session, GROWN).await;
    assert_eq!(
        events,
        [
            "prompt.admitted Next",
            "prompted Next",
            "compaction.started auto",
            "step.started",
            "text.started",
            "text.ended Yes.",
            "step.ended stop",
        ]
    );
    f.read_until(&mut live, "step.ended stop").await;
    let errors = live.values().iter();
    let mut errors = errors.filter(|event| event["type"] == "session.error");
    let error = &errors.next().expect("it is told").clone()["data"]["error"];
    assert!(errors.next().is_none());
    let message = error["data"]["message"].as_str().unwrap();
    let begins = format!("The history of {session} was not compacted: ");
    let message = message.strip_prefix(&begins);
    let message = message.expect("it says what of");
    (message.to_owned(), error["cause"]["kind"].to_string())
}

#[tokio::test]
async fn a_failed_summary_changes_nothing() {
    let lost = || LlmError::invalid_output("mock", "lost");
    for (reply, message, kind) in [
        (
            Reply::says(""),
            "the model answered with nothing",
            "invalid-output",
        ),
        (
            Reply::says(" \n"),
            "the model answered with nothing",
            "invalid-output",
        ),
        (
            Reply::calls("c", "echo", json!({})),
            "the model answered with nothing",
            "invalid-output",
        ),
        (Reply::fails(lost()), "lost", "invalid-output"),
        (
            Reply::new().begin_text().delta("Half").fail(lost()),
            "lost",
            "invalid-output",
        ),
        (
            Reply::new()
                .text("Half")
                .provider_error("busy", ErrorKind::Overloaded),
            "busy",
            "overloaded",
        ),
        (
            Reply::new().text("Half"),
            "the answer ended without saying that it was done",
            "invalid-output",
        ),
        (
            Reply::new()
                .text("Half")
                .finish(FinishReason::ContentFilter),
            "the provider withheld a part of the summary",
            "content-policy",
        ),
        (
            Reply::new().text("Half").finish(FinishReason::Length),
            "the model reached its limit of output tokens before it finished the summary; a larger limit.output or a model that thinks less may help",
            "output-length",
        ),
    ] {
        let (f, session) = open().await;
        let told = failed(&f, &session, reply).await;
        assert_eq!(told, (message.to_owned(), format!("\"{kind}\"")));
    }
}

#[tokio::test]
async fn a_summary_that_takes_too_long_is_cancelled() {
    let (f, session) = open().await;
    grown(&f, &session).await;
    let gate = Gate::new();
    f.model
        .reply(Reply::new().begin_text().delta("Half").hold(&gate))
        .reply(Reply::says("Yes."));
    let mut live = f.live();
    f.prompt(&session, "Next").await;
    f.reached(&gate).await;
    f.clock.advance(10 * 60 * 1000);
    f.wait(&session).await;
    f.dropped(&gate).await;
    assert_eq!(
        asked_for(&f.model.last_request()),
        [ALPHA, BETA, "user: Next"]
    );
    f.read_until(
        &mut live,
        &format!("session.error The history of {session} was not compacted: the model did not finish its summary within 600 seconds"),
    )
    .await;
}

#[tokio::test]
async fn the_length_of_a_summary_is_limited() {
    let (f, session) = open().await;
    let [_, beta] = grown(&f, &session).await;
    let gate = Gate::new();
    let mut reply = Reply::new().begin_text();
    for _ in 0..100 {
        reply = reply.delta(&"ä".repeat(512));
    }
    // The gate stays closed, because the rest of an oversized summary is not read.
    f.model
        .reply(reply.hold(&gate).end_text().stop())
        .reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    let ended = f.payloads(&session, "compaction.ended").await.remove(0);
    let expected = format!("{}\n[truncated]", "ä".repeat(4 * OUTPUT as usize));
    assert_eq!(ended["text"], json!(expected));
    assert_eq!(ended["recent"], json!(kept(&beta, "Next")));
}

#[tokio::test]
async fn a_window_that_is_too_small_for_a_summary_request_gets_none() {
    let limit = json!({"context": 1_200, "output": OUTPUT});
    let (f, session) = with(json!({"limit": limit})).await;
    let mut live = f.live();
    f.model
        .reply(Reply::says(&filler("beta", 1_000)))
        .reply(Reply::says("Yes."));
    f.ask(&session, &filler("alpha", 1_000)).await;
    f.ask(&session, "Next").await;
    assert_eq!(asked(&f), [vec![ALPHA], vec![ALPHA, BETA, "user: Next"]]);
    let none: [serde_json::Value; 0] = [];
    assert_eq!(f.payloads(&session, "compaction.started").await, none);
    f.read_until(&mut live, "text.delta Yes.").await;
    let told = live.events();
    let errors: Vec<_> = told
        .iter()
        .filter(|it| it.starts_with("session.error"))
        .collect();
    let expected = format!(
        "session.error The history of {session} was not compacted: the model's window of 1200 tokens has no room for a request for a summary. A model with a larger one can be asked"
    );
    assert_eq!(errors, [&expected]);
}

#[tokio::test]
async fn an_activity_does_not_retry_at_each_turn() {
    let (f, session) = open().await;
    f.tool("echo", |input, _| async { output(input) });
    grown(&f, &session).await;
    f.model
        .reply(Reply::says(""))
        .reply(Reply::calls("c1", "echo", json!({})))
        .reply(Reply::calls("c2", "echo", json!({})))
        .reply(Reply::says("Done."))
        // The next input allows another attempt.
        .reply(Reply::says("SUMMARY"))
        .reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    f.ask(&session, "Then").await;
    let summaries = asked(&f)
        .iter()
        .map(|it| it == &["summary"])
        .collect::<Vec<_>>();
    assert_eq!(summaries, [false, true, false, false, false, true, false]);
    assert_eq!(asked_for(&f.model.last_request()), [CHECKPOINT]);
}
