//! Consecutive requests: known messages are neither read nor converted again.

use opencode_llm::LlmRequest;
use opencode_testkit::{Fixture, Gate, Reply, compact, output};
use serde_json::json;

/// Number of messages at the start of both requests that are the same object, not only equal.
fn shared(one: &LlmRequest, other: &LlmRequest) -> usize {
    let both = one.messages.iter().zip(other.messages.iter());
    both.take_while(|(one, other)| one.is_same(other)).count()
}

#[tokio::test]
async fn a_following_turn_keeps_its_messages_and_adds_new_ones() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    f.ask(&session, "Hi").await;
    let gate = Gate::new();
    f.held_tool("slow", &gate);
    f.model
        .reply(Reply::calls("c1", "slow", json!({"n": 1})))
        .reply(Reply::calls("c2", "slow", json!({"n": 2})))
        .reply(Reply::says("Done."));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    f.prompt(&session, "Faster").await;
    gate.release();
    f.wait(&session).await;
    let requests = f.model.requests();
    let [_, first, second, third] = &requests[..] else {
        panic!("{} requests", requests.len())
    };
    let mut messages = vec!["user: Hi", "assistant: Hello.", "user: Go"];
    assert_eq!(compact::messages(first), messages);
    messages.extend([
        r#"assistant: c1 slow{"n":1}"#,
        r#"tool: c1 = {"n":1}"#,
        "user: Faster",
    ]);
    assert_eq!(compact::messages(second), messages);
    messages.extend([r#"assistant: c2 slow{"n":2}"#, r#"tool: c2 = {"n":2}"#]);
    assert_eq!(compact::messages(third), messages);
    assert_eq!((shared(first, second), shared(second, third)), (3, 6));
}

#[tokio::test]
async fn another_model_reads_the_transcript_again() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.tool("echo", |input, _| async { output(input) });
    let gate = Gate::new();
    let reply = Reply::new()
        .reasoning("Hm.", None)
        .call("c1", "echo", json!({}))
        .hold(&gate)
        .tool_calls();
    f.model.reply(reply).reply(Reply::says("Done."));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    f.switch_model(&session, "m2").await;
    gate.release();
    f.wait(&session).await;
    let requests = f.model.requests();
    assert_eq!(shared(&requests[0], &requests[1]), 0);
    assert_eq!(
        compact::messages(&requests[1]),
        [
            "user: Go",
            "assistant: Hm. | c1 echo{}",
            "tool: c1 = {}",
            "system: You are now the model m2 of the provider mock.",
        ]
    );
}

#[tokio::test]
async fn a_following_drain_continues_from_the_one_before() {
    let mut f = Fixture::open().await;
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Hello."));
    for text in ["One", "Two", "Three"] {
        f.ask(&session, text).await;
    }
    // Another session does not affect it.
    let other = f.session().await;
    f.ask(&other, "Hi").await;
    f.ask(&session, "Four").await;
    // A new process has no known messages.
    f.reopen().await;
    f.ask(&session, "Five").await;
    let requests = f.model.requests();
    let [one, two, three, _, four, five] = &requests[..] else {
        panic!("{} requests", requests.len())
    };
    let said = |count: usize| {
        let texts = ["One", "Two", "Three", "Four", "Five"];
        let mut messages = Vec::new();
        for text in &texts[..count] {
            messages.extend([format!("user: {text}"), "assistant: Hello.".to_owned()]);
        }
        messages.pop();
        messages
    };
    assert_eq!(compact::messages(four), said(4));
    assert_eq!(compact::messages(five), said(5));
    let pairs = [(one, two), (two, three), (three, four), (four, five)];
    assert_eq!(
        pairs.map(|(before, after)| shared(before, after)),
        [1, 3, 5, 0]
    );
}

#[tokio::test]
async fn a_failed_drain_keeps_its_transcript() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    let lost = opencode_llm::LlmError::invalid_output("mock", "lost");
    f.model
        .reply(Reply::new().begin_text().delta("Hel").fail(lost))
        .reply(Reply::nothing().hold(&gate))
        .reply(Reply::says("Hello."));
    f.ask(&session, "One").await;
    f.prompt(&session, "Two").await;
    f.reached(&gate).await;
    f.interrupt(&session).await;
    f.ask(&session, "Three").await;
    let requests = f.model.requests();
    let pairs = [(0, 1), (1, 2)];
    assert_eq!(
        pairs.map(|(before, after)| shared(&requests[before], &requests[after])),
        [1, 3]
    );
    assert_eq!(
        compact::messages(&requests[2]),
        ["user: One", "assistant: Hel", "user: Two", "user: Three"]
    );
}

#[tokio::test]
async fn a_moved_session_is_read_again() {
    let f = Fixture::open().await;
    f.project.write("inner/a.txt", "");
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Hello."));
    f.ask(&session, "One").await;
    let inner = f.project.path("inner");
    f.move_to(&session, inner.to_string_lossy()).await;
    f.ask(&session, "Two").await;
    let requests = f.model.requests();
    assert_eq!(shared(&requests[0], &requests[1]), 0);
    assert_eq!(
        compact::messages(&requests[1]),
        ["user: One", "assistant: Hello.", "user: Two"]
    );
}
