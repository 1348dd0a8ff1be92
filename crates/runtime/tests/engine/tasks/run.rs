//! The execution of a task and its result.

use opencode_llm::{ErrorKind, FinishReason, LlmError};
use opencode_runtime::CreateSession;
use opencode_schema::id::SessionID;
use opencode_schema::model::ModelRef;
use opencode_testkit::{Fixture, Reply, compact};
use serde_json::json;

use super::{child, children, failed, input, open, task};

#[tokio::test]
async fn a_task_runs_in_a_new_session() {
    let f = open().await;
    let session = f.session().await;
    f.model
        .reply(task("general", "Where is it?"))
        .reply(Reply::new().text("Looking.").text("In the attic.").stop())
        .reply(Reply::says("Found."));
    f.ask(&session, "Find it").await;
    let parent = f.info(&session).await;
    let children = children(&f, &session).await;
    let [child] = &children[..] else {
        panic!("{children:?}");
    };
    assert_eq!(
        (
            &child.parent_id,
            &child.title,
            &child.agent,
            &child.location
        ),
        (
            &Some(session.clone()),
            &"A look around".to_owned(),
            &Some("general".to_owned()),
            &parent.location,
        )
    );
    assert_eq!(child.model, Some(mock("m1")));
    let id = &child.id;
    let structured = json!({"sessionID": id, "text": "In the attic."});
    let input = input("general", "Where is it?");
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Find it".to_owned(),
            "prompted Find it".to_owned(),
            "step.started".to_owned(),
            "tool.input.started c0 task".to_owned(),
            format!("tool.input.ended c0 {input}"),
            format!("tool.called c0 task {input}"),
            format!("tool.success c0 {structured}"),
            "step.ended tool-calls".to_owned(),
            "step.started".to_owned(),
            "text.started".to_owned(),
            "text.ended Found.".to_owned(),
            "step.ended stop".to_owned(),
        ]
    );
    assert_eq!(
        f.events(id).await,
        [
            "prompt.admitted Where is it?",
            "prompted Where is it?",
            "step.started",
            "text.started",
            "text.ended Looking.",
            "text.started",
            "text.ended In the attic.",
            "step.ended stop",
        ]
    );
    let requests = f.model.requests();
    assert_eq!(compact::messages(&requests[1]), ["user: Where is it?"]);
    let parent = ("x-parent-session-id".to_owned(), session.to_string());
    assert!(requests[1].http.headers.contains(&parent));
    assert_eq!(compact::messages(&requests[2])[2], "tool: c0 = 2 parts");
    assert_eq!(f.runtime().active(), []);
}

fn mock(model: &str) -> ModelRef {
    ModelRef {
        id: model.to_owned(),
        provider_id: "mock".to_owned(),
        variant: Some("default".to_owned()),
    }
}

/// A session whose agent has given one task, which is complete.
async fn done(f: &Fixture) -> (SessionID, SessionID) {
    let session = f.session().await;
    f.model
        .reply(task("general", "First"))
        .reply(Reply::says("One."))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    let child = child(f, &session).await;
    (session, child)
}

#[tokio::test]
async fn an_earlier_task_can_be_continued() {
    let f = open().await;
    let (session, child) = done(&f).await;
    let mut again = input("general", "Second");
    again["sessionID"] = json!(child);
    f.model
        .reply(Reply::calls("c1", "task", again))
        .reply(Reply::says("Two."))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go on").await;
    assert_eq!(super::child(&f, &session).await, child);
    assert_eq!(
        compact::messages(&f.model.requests()[4]),
        ["user: First", "assistant: One.", "user: Second"]
    );
    let succeeded = f.payloads(&session, "tool.success").await;
    assert_eq!(
        succeeded[1]["structured"],
        json!({"sessionID": child, "text": "Two."})
    );
}

#[tokio::test]
async fn an_earlier_task_can_be_continued_by_another_agent_with_its_model() {
    let f = open().await;
    f.project.write(
        "opencode.json",
        &json!({"agent": {"other": {"mode": "subagent", "model": "mock/m2"}}}).to_string(),
    );
    let (session, child) = done(&f).await;
    let mut again = input("other", "Second");
    again["sessionID"] = json!(child);
    f.model
        .reply(Reply::calls("c1", "task", again))
        .reply(Reply::says("Two."))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go on").await;
    assert_eq!(
        f.events_after(&child, 6).await,
        [
            "agent.switched other",
            "model.switched mock m2",
            "prompt.admitted Second",
            "prompted Second",
            "context.updated You are now the model m2 of the provider mock.",
            "step.started",
            "text.started",
            "text.ended Two.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn only_a_child_of_the_session_can_be_continued() {
    let f = open().await;
    let (_, foreign) = done(&f).await;
    let session = f.session().await;
    for id in [
        foreign,
        session.clone(),
        SessionID::parse("ses_none").unwrap(),
    ] {
        let mut again = input("general", "Second");
        again["sessionID"] = json!(id);
        f.model
            .reply(Reply::calls("c0", "task", again))
            .reply(Reply::says("Well."));
        let before = f.events(&session).await.len();
        f.ask(&session, "Go").await;
        let expected = format!(
            "tool.failed c0 Unable to run task: general: {id} is no session of a task that this \
             session gave"
        );
        let events = f.events_after(&session, before).await;
        assert!(events.contains(&expected), "{events:#?}");
    }
    assert_eq!(children(&f, &session).await, []);
}

#[tokio::test]
async fn the_model_is_that_of_the_agent_or_else_that_of_the_turn() {
    let f = open().await;
    f.project.write(
        "opencode.json",
        &json!({"agent": {"own": {"mode": "subagent", "model": "mock/m1"}}}).to_string(),
    );
    for (agent, expected) in [("general", "m2"), ("own", "m1")] {
        let session = f.session_on("m2").await;
        f.model
            .reply(task(agent, "Go"))
            .reply(Reply::says("Well."))
            .reply(Reply::says("Well."));
        f.ask(&session, "Go").await;
        let child = child(&f, &session).await;
        assert_eq!(f.info(&child).await.model, Some(mock(expected)), "{agent}");
    }
}

#[tokio::test]
async fn primary_hidden_and_unknown_agents_take_no_tasks() {
    let f = open().await;
    let hidden = json!({"agent": {"secret": {"mode": "subagent", "hidden": true}}});
    f.project.write("opencode.json", &hidden.to_string());
    let session = f.session().await;
    for agent in ["build", "compaction", "secret", "nobody"] {
        f.model.reply(task(agent, "Go")).reply(Reply::says("Well."));
        let before = f.events(&session).await.len();
        f.ask(&session, "Go").await;
        let events = f.events_after(&session, before).await;
        let expected = format!(
            "tool.failed c0 Unable to run task: {agent}: no agent of this name takes tasks. The \
             agents are: explore, general"
        );
        assert!(events.contains(&expected), "{events:#?}");
    }
    assert_eq!(children(&f, &session).await, []);
}

#[tokio::test]
async fn a_failed_child_fails_the_call_with_the_reason() {
    let f = open().await;
    let config = json!({"agent": {"lost": {"mode": "subagent", "model": "mock/none"}}});
    f.project.write("opencode.json", &config.to_string());
    let fails = |reply: Reply| Some(reply);
    for (agent, reply, reason) in [
        (
            "general",
            fails(Reply::fails(LlmError::invalid_request("no such model"))),
            "no such model",
        ),
        (
            "general",
            fails(Reply::new().provider_error("too busy", ErrorKind::Overloaded)),
            "too busy",
        ),
        (
            "lost",
            None,
            "The model mock/none is not available: the provider has no model of this id. It has m1, m2. Add it \
             under the provider's `models` or select another one",
        ),
    ] {
        let session = f.session().await;
        f.model.reply(task(agent, "Go"));
        if let Some(reply) = reply {
            f.model.reply(reply);
        }
        f.model.reply(Reply::says("Well."));
        f.ask(&session, "Go").await;
        let child = child(&f, &session).await;
        let failed = failed(&f, &session).await;
        let expected = format!(
            "tool.failed c0 Unable to run task: {agent}: its session {child} ended before the \
             work did: {reason}"
        );
        assert_eq!(failed, [expected]);
        let last = f.events(&session).await.pop();
        assert_eq!(last.as_deref(), Some("step.ended stop"));
    }
}

#[tokio::test]
async fn a_child_without_a_text_succeeds_without_one() {
    let f = open().await;
    let session = f.session().await;
    f.model
        .reply(task("general", "Go"))
        .reply(Reply::new().stop())
        .reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    let child = child(&f, &session).await;
    let succeeded = f.payloads(&session, "tool.success").await;
    assert_eq!(
        (&succeeded[0]["structured"], &succeeded[0]["content"]),
        (
            &json!({"sessionID": child, "text": ""}),
            &json!([{"type": "text", "text": format!("(session {child})")}]),
        )
    );
}

#[tokio::test]
async fn the_last_text_may_precede_the_last_calls() {
    let f = open().await;
    f.tool("echo", |input, _| async { opencode_testkit::output(input) });
    let session = f.session().await;
    f.model
        .reply(task("general", "Go"))
        .reply(
            Reply::new()
                .text("Done so far.")
                .call("c1", "echo", json!({}))
                .tool_calls(),
        )
        .reply(Reply::new().stop())
        .reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    let succeeded = f.payloads(&session, "tool.success").await;
    assert_eq!(succeeded[0]["structured"]["text"], "Done so far.");
}

#[tokio::test]
async fn a_child_at_a_removed_location_fails_the_call() {
    let f = open().await;
    let (session, child) = done(&f).await;
    // The child moves, and its new directory is removed.
    let elsewhere = f.project.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    f.move_to(&child, elsewhere.to_string_lossy()).await;
    std::fs::remove_dir(&elsewhere).unwrap();
    let mut again = input("general", "Second");
    again["sessionID"] = json!(child);
    f.model
        .reply(Reply::calls("c1", "task", again))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go on").await;
    assert_eq!(
        failed(&f, &session).await,
        [format!(
            "tool.failed c1 Unable to run task: general: its session {child} ended before the work \
             did: the Location of the session cannot be opened: The directory {} does not exist; \
             create it first or give another one",
            elsewhere.display()
        )]
    );
}

#[tokio::test]
async fn a_task_without_a_description_has_the_title_of_a_child() {
    let f = open().await;
    let session = f
        .create(CreateSession {
            agent: Some("build".into()),
            ..f.new_session()
        })
        .await
        .id;
    let long = format!("\n  {}\nmore", "ä".repeat(200));
    let mut titles = Vec::new();
    for description in ["  ", &long] {
        let mut given = input("general", "Go");
        given["description"] = json!(description);
        f.model
            .reply(Reply::calls("c0", "task", given))
            .reply(Reply::says("Well."))
            .reply(Reply::says("Well."));
        f.ask(&session, "Go").await;
        f.clock.advance(1000);
    }
    for child in children(&f, &session).await {
        titles.push(child.title);
    }
    assert_eq!(
        titles,
        [
            "Child session - 2026-11-20T12:55:02.007Z".to_owned(),
            "ä".repeat(100)
        ]
    );
}

#[tokio::test]
async fn the_model_reads_that_the_answer_of_a_task_failed_or_is_incomplete() {
    let half = || Reply::new().text("In the");
    let cut = "(the answer is incomplete: it reached the limit of its length";
    let withheld = "(the answer is incomplete: the provider withheld the rest)";
    for (reply, is_failure, told) in [
        (half().finish(FinishReason::Length), false, cut),
        (half().finish(FinishReason::ContentFilter), false, withheld),
        (
            half().provider_error("cut", ErrorKind::Overloaded),
            true,
            "cut",
        ),
    ] {
        let f = open().await;
        let session = f.session().await;
        f.model
            .reply(task("general", "Where is it?"))
            .reply(reply)
            .reply(Reply::says("Found."));
        f.ask(&session, "Find it").await;
        let failures = f.payloads(&session, "tool.failed").await;
        assert_eq!(!failures.is_empty(), is_failure);
        let request = format!("{:?}", f.model.last_request().messages);
        assert!(request.contains(told), "{request}");
    }
}
