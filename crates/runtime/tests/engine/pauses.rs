//! Answers that a provider pauses: the Session Drain continues them without input.

use opencode_llm::ToolResultValue;
use opencode_runtime::{InterruptedState, Recovery};
use opencode_testkit::{Fixture, Gate, Reply, compact};
use serde_json::json;

/// An answer that is paused after a search by the provider.
fn paused(id: &str) -> Reply {
    let found = ToolResultValue::Json(json!(["found"]));
    Reply::new()
        .hosted_call(id, "web_search", json!({"query": "x"}))
        .hosted_result(id, "web_search", found, None)
        .pause()
}

#[tokio::test]
async fn a_paused_answer_is_sent_back_and_continues() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model
        .reply(paused("h1"))
        .reply(paused("h2"))
        .reply(Reply::says("Found it."))
        .reply(Reply::says("Again."));
    f.ask(&session, "Search").await;
    let requests = f.model.requests();
    assert_eq!(requests.len(), 3);
    let search =
        |id: &str| format!(r#"assistant: {id} web_search{{"query":"x"}} | {id} = ["found"]"#);
    assert_eq!(
        compact::messages(&requests[2]),
        ["user: Search".to_owned(), search("h1"), search("h2")]
    );
    let is_paused = |at: usize| requests[at].messages.last().map(|it| it.is_paused);
    assert_eq!((is_paused(1), is_paused(2)), (Some(true), Some(true)));
    let messages = serde_json::to_value(f.messages(&session).await).unwrap();
    let marks: Vec<_> = (1..4)
        .map(|at| &messages[at]["metadata"]["pauseTurn"])
        .collect();
    assert_eq!(marks, [&json!(true), &json!(true), &json!(null)]);
    // The messages that were sent stay the same.
    f.ask(&session, "Again").await;
    let last = f.model.last_request();
    assert_eq!(
        compact::messages(&last)[..3],
        compact::messages(&requests[2])
    );
}

#[tokio::test]
async fn the_last_turn_that_an_agent_allows_is_not_continued() {
    let f = Fixture::open().await;
    f.project.write(
        "opencode.json",
        &json!({"agent": {"build": {"steps": 2}}}).to_string(),
    );
    let session = f.session().await;
    f.model.otherwise(|_| paused("h"));
    f.ask(&session, "Search").await;
    assert_eq!(f.model.requests().len(), 2);
    assert_eq!(f.interrupted().await, []);
}

#[tokio::test]
async fn a_provider_that_always_pauses_reaches_the_allowance() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.otherwise(|_| paused("h"));
    f.ask(&session, "Search").await;
    assert_eq!(f.model.requests().len(), 25);
    assert_eq!(f.interrupted().await, []);
}

#[tokio::test]
async fn a_crash_after_a_paused_answer_is_recovered() {
    let mut f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.model
        .reply(paused("h1"))
        .reply(Reply::nothing().hold(&gate));
    f.prompt(&session, "Search").await;
    f.reached(&gate).await;
    f.kill().await;
    let interrupted = f.interrupted().await;
    let states: Vec<_> = interrupted.iter().map(|it| it.state).collect();
    assert_eq!(states, [InterruptedState::ContinuationDue]);
    f.model.reply(Reply::says("Found it."));
    f.change(|options| options.recovery = Recovery::Resume);
    f.kill().await;
    f.recorded(&session, "text.ended Found it.").await;
    f.idle().await;
    let last = f.model.last_request();
    assert_eq!(last.messages.last().map(|it| it.is_paused), Some(true));
    assert_eq!(f.interrupted().await, []);
}

#[tokio::test]
async fn an_interrupt_ends_a_paused_answer_permanently() {
    let mut f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.model
        .reply(paused("h1"))
        .reply(Reply::nothing().hold(&gate));
    f.prompt(&session, "Search").await;
    f.reached(&gate).await;
    f.interrupt(&session).await;
    f.idle().await;
    f.kill().await;
    assert_eq!(f.interrupted().await, []);
}
