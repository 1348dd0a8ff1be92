//! Closing, dropping, dying and opening again: acknowledged data is stored, interrupted work is
//! recorded as such, and no session runs until a caller asks for it.

use opencode_llm::SystemPart;
use opencode_runtime::RuntimeError;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, compact, output, prompt_request};
use serde_json::json;

#[tokio::test]
async fn closing_settles_a_running_turn_before_the_file_closes() {
    let mut f = Fixture::open().await;
    let session = f.session().await;
    let (stream, tool) = (Gate::new(), Gate::new());
    f.held_tool("slow", &tool);
    let reply = Reply::new()
        .call("c1", "slow", json!({}))
        .begin_text()
        .delta("Half a sen")
        .hold(&stream);
    f.model.reply(reply);
    let mut live = f.live();
    f.prompt(&session, "Go").await;
    f.reached(&stream).await;
    f.reached(&tool).await;
    f.queue(&session, "Later").await;
    f.close().await;
    let settlement = [
        "text.ended Half a sen",
        "tool.failed c1 Tool execution interrupted",
        "step.failed Provider turn interrupted",
    ];
    // Subscribers receive these events before their streams end.
    f.read_to_end(&mut live).await;
    let heard = live.events();
    assert_eq!(heard[heard.len() - 4..heard.len() - 1], settlement);
    assert_eq!(heard.last().unwrap(), "global.disposed");
    f.reopen().await;
    let events = f.events(&session).await;
    assert_eq!(events[events.len() - 3..], settlement);
    assert_eq!(f.model.requests().len(), 1);
}

#[tokio::test]
async fn a_closed_runtime_refuses_everything_and_may_be_closed_again() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.close().await;
    f.close().await;
    let refused = f.try_admit(prompt_request(&session, "Hi")).await;
    let closed = |error: &RuntimeError| {
        matches!(
            error,
            RuntimeError::Closed | RuntimeError::Store(opencode_runtime::StoreError::Closed)
        )
    };
    for refused in [
        refused.err(),
        f.runtime().session(&session).await.err(),
        f.runtime().run(&session).await.err(),
        f.runtime().events(&session, None).await.err(),
    ] {
        assert!(refused.as_ref().is_some_and(closed), "{refused:?}");
    }
    // The stream of a late subscriber ends immediately.
    let mut live = f.live();
    f.read_to_end(&mut live).await;
    assert_eq!(live.events(), [""; 0]);
}

#[tokio::test]
async fn closing_breaks_the_streams_of_sessions() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.leave(&session, "Hi", Delivery::Steer).await;
    let mut events = f.runtime().events(&session, None).await.unwrap();
    assert_eq!(f.within("events", events.next()).await.unwrap().len(), 1);
    let (broken, ()) = tokio::join!(f.within("the end", events.next()), f.close());
    assert!(
        matches!(
            broken,
            Err(RuntimeError::Closed | RuntimeError::Store(opencode_runtime::StoreError::Closed))
        ),
        "{broken:?}"
    );
}

#[tokio::test]
async fn a_runtime_dropped_without_closing_keeps_all_acknowledged_data() {
    let mut f = Fixture::open().await;
    let session = f.session().await;
    let mut expected = Vec::new();
    for n in 0..20 {
        let text = format!("Prompt {n}");
        f.leave(&session, &text, Delivery::Steer).await;
        expected.push(format!("prompt.admitted {text}"));
    }
    f.drop_and_reopen().await;
    assert_eq!(f.events(&session).await, expected);
    f.model.reply(Reply::says("All twenty."));
    f.run(&session).await;
    assert_eq!(f.model.last_request().messages.len(), 20);
}

#[tokio::test]
async fn a_dropped_owner_leaves_running_work_as_a_crash_does() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let (stream, tool) = (Gate::new(), Gate::new());
    f.held_tool("slow", &tool);
    let reply = Reply::new().call("c1", "slow", json!({})).hold(&stream);
    f.model.reply(reply);
    f.prompt(&session, "Go").await;
    f.reached(&stream).await;
    f.reached(&tool).await;
    let before = f.events(&session).await;
    f.runtime().abandon();
    f.dropped(&stream).await;
    f.dropped(&tool).await;
    f.wait(&session).await;
    assert_eq!(f.events(&session).await, before);
    assert_eq!(before.last().unwrap(), "tool.called c1 slow {}");
}

#[tokio::test]
async fn a_panic_in_a_drain_ends_only_that_drain_and_its_tools() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let (stream, tool) = (Gate::new(), Gate::new());
    f.held_tool("slow", &tool);
    let reply = Reply::new()
        .call("c1", "slow", json!({}))
        .hold(&stream)
        .text("Never.");
    f.model.reply(reply);
    let mut live = f.live();
    f.prompt(&session, "Go").await;
    f.reached(&tool).await;
    f.reached(&stream).await;
    f.clock.panic_once();
    stream.release();
    f.dropped(&tool).await;
    f.wait(&session).await;
    let failure =
        "session.error internal failure: the Session Drain panicked: the clock was told to panic";
    f.read_until(&mut live, failure).await;
    assert_eq!(
        live.values().last().unwrap()["data"]["error"]["cause"],
        json!({"kind": "unknown", "retryable": false})
    );
    f.model.reply(Reply::says("I see."));
    f.ask(&session, "What happened?").await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "step.started",
            "tool.input.started c1 slow",
            "tool.input.ended c1 {}",
            "tool.called c1 slow {}",
            "prompt.admitted What happened?",
            "tool.failed c1 Tool execution interrupted",
            "prompted What happened?",
            "step.started",
            "text.started",
            "text.ended I see.",
            "step.ended stop",
        ]
    );
    // The answer after the bug has closed the interrupted answer.
    let messages = serde_json::to_value(f.messages(&session).await).unwrap();
    let time = &messages[1]["time"];
    assert!(time["completed"].is_i64(), "{time}");
}

#[tokio::test]
async fn a_prompt_is_admitted_and_answered_after_its_caller_is_dropped() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    let hold = f.clock.hold_writer(0);
    let mut prompt = Box::pin(f.prompt(&session, "Hi"));
    tokio::select! {
        _ = &mut prompt => panic!("the writer is held"),
        () = f.writer_held(&hold) => {}
    }
    drop(prompt);
    drop(hold);
    f.recorded(&session, "step.ended stop").await;
}

#[tokio::test]
async fn a_tool_that_a_crash_interrupted_fails_before_the_next_request() {
    let mut f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.held_tool("slow", &gate);
    f.model.reply(Reply::calls("c1", "slow", json!({})));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    f.queue(&session, "Later").await;
    f.kill().await;
    let before = f.events(&session).await;
    assert_eq!(
        before[before.len() - 2..],
        ["tool.called c1 slow {}", "prompt.admitted Later (queue)"]
    );
    // No session runs until a caller asks for it.
    assert_eq!(f.runtime().active(), []);
    f.model
        .reply(Reply::says("I see."))
        .reply(Reply::says("Later."));
    f.ask(&session, "What happened?").await;
    assert_eq!(
        f.events_after(&session, before.len()).await,
        [
            "prompt.admitted What happened?",
            "tool.failed c1 Tool execution interrupted",
            "prompted What happened?",
            "step.started",
            "text.started",
            "text.ended I see.",
            "step.ended stop",
            "prompted Later (queue)",
            "step.started",
            "text.started",
            "text.ended Later.",
            "step.ended stop",
        ]
    );
    assert_eq!(
        compact::messages(&f.model.requests()[1]),
        [
            "user: Go",
            "assistant: c1 slow{}",
            "tool: c1 = failed: Tool execution interrupted",
            "user: What happened?",
        ]
    );
    // The answer after the crash has closed the interrupted answer.
    let messages = serde_json::to_value(f.messages(&session).await).unwrap();
    let time = &messages[1]["time"];
    assert!(time["completed"].is_i64(), "{time}");
    assert_eq!(messages[1].get("finish"), None);
}

#[tokio::test]
async fn a_run_continues_after_a_crash() {
    let mut f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.held_tool("slow", &gate);
    let calls = Reply::new()
        .call("c1", "slow", json!({}))
        .call("c2", "echo", json!({}))
        .begin_call("c3", "slow", "{");
    f.tool("echo", |input, _| async { output(input) });
    f.model.reply(calls.hold(&Gate::new()));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    f.recorded(&session, "tool.success c2 {}").await;
    f.recorded(&session, "tool.input.started c3 slow").await;
    f.kill().await;
    let before = f.events(&session).await.len();
    f.model.reply(Reply::says("I see."));
    f.run(&session).await;
    assert_eq!(
        f.events_after(&session, before).await,
        [
            "tool.failed c1 Tool execution interrupted",
            "tool.failed c3 Tool execution interrupted",
            "step.started",
            "text.started",
            "text.ended I see.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn the_baseline_is_the_same_after_a_restart() {
    let mut f = Fixture::open().await;
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Hello."));
    f.ask(&session, "Hi").await;
    // Another session in this directory now gets another baseline, and this session gets an update.
    f.project.write(".git/HEAD", "ref: refs/heads/main\n");
    f.project.write(".git/opencode", "a-project");
    f.reopen().await;
    f.ask(&session, "Again").await;
    let other = f.session().await;
    f.ask(&other, "Hi").await;
    let requests = f.model.requests();
    let system: Vec<&[SystemPart]> = requests.iter().map(|it| &*it.system).collect();
    assert_eq!(system[0], system[1]);
    assert_ne!(system[0], system[2]);
    let answered = [
        "step.started",
        "text.started",
        "text.ended Hello.",
        "step.ended stop",
    ];
    let block = system[2][1].text.split("\n\n").find_map(|piece| {
        let (_, block) = piece.split_once(":\n")?;
        block.starts_with("<env>").then_some(block)
    });
    let change = format!(
        "context.updated The environment you work in is now:\n{}",
        block.unwrap()
    );
    let expected = [
        &["prompt.admitted Hi", "prompted Hi"],
        &answered[..],
        &["prompt.admitted Again", "prompted Again", &change],
        &answered,
    ];
    assert_eq!(f.events(&session).await, expected.concat());
}
