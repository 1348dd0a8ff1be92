//! Reminders: Mid-Conversation System Messages about the agent `plan` and about prompts that arrive during work.

use opencode_testkit::{Fixture, Gate, Reply, compact};
use serde_json::json;

/// The texts of the Mid-Conversation System Messages of a session.
async fn reminders(f: &Fixture, session: &opencode_schema::id::SessionID) -> Vec<String> {
    let updates = f.payloads(session, "context.updated").await;
    let texts = updates.iter().map(|it| it["text"].as_str().unwrap());
    texts.map(str::to_owned).collect()
}

async fn reminding() -> Fixture {
    Fixture::with(|options| options.reminders = true).await
}

#[tokio::test]
async fn the_agent_plan_is_told_the_state_and_its_end() {
    let f = reminding().await;
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Done."));
    f.ask(&session, "Build").await;
    f.switch_agent(&session, "plan").await;
    f.ask(&session, "Plan").await;
    let planning = f.model.last_request();
    f.ask(&session, "Plan more").await;
    let more = f.model.last_request();
    assert_eq!(
        more.messages[..planning.messages.len()],
        planning.messages[..]
    );
    f.switch_agent(&session, "build").await;
    f.ask(&session, "Build").await;
    let told = reminders(&f, &session).await;
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("You are planning.") && told[0].contains("Do not change files"));
    assert!(told[1].contains("You are not planning any more. You may change files"));
}

#[tokio::test]
async fn a_session_that_begins_with_the_agent_plan_has_the_reminder_in_its_baseline() {
    let f = reminding().await;
    let session = f.session().await;
    f.switch_agent(&session, "plan").await;
    f.model.otherwise(|_| Reply::says("Done."));
    f.ask(&session, "Plan").await;
    let system = format!("{:?}", f.model.last_request().system);
    assert!(system.contains("You are planning."), "{system}");
    assert!(reminders(&f, &session).await.is_empty());
}

/// Sends two steers while a tool runs, and returns the events after the call.
async fn steered(f: &Fixture) -> Vec<String> {
    let session = f.session().await;
    let gate = Gate::new();
    f.held_tool("slow", &gate);
    f.model
        .reply(Reply::calls("a", "slow", json!({})))
        .reply(Reply::says("Steered."));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    f.prompt(&session, "Be brief").await;
    f.prompt(&session, "Be kind").await;
    gate.release();
    f.wait(&session).await;
    let events = f.events(&session).await;
    let ended = events.iter().position(|it| it.starts_with("step.ended"));
    events[ended.unwrap() + 1..].to_vec()
}

#[tokio::test]
async fn prompts_that_arrive_during_work_are_followed_by_one_reminder() {
    let f = reminding().await;
    let events = steered(&f).await;
    assert_eq!(events[..2], ["prompted Be brief", "prompted Be kind"]);
    assert!(events[2].starts_with("context.updated The user sent the messages directly before"));
    assert_eq!(events[3], "step.started");
    let messages = compact::messages(&f.model.last_request());
    assert!(
        messages.last().unwrap().contains("during your work"),
        "{messages:?}"
    );
}

#[tokio::test]
async fn without_the_option_there_is_no_reminder() {
    let f = Fixture::open().await;
    let events = steered(&f).await;
    assert_eq!(
        events[..3],
        ["prompted Be brief", "prompted Be kind", "step.started"]
    );
}

#[tokio::test]
async fn prompts_of_an_idle_session_are_no_interruption() {
    let f = reminding().await;
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Done."));
    for text in ["One", "Two"] {
        f.ask(&session, text).await;
    }
    assert!(reminders(&f, &session).await.is_empty());
}
