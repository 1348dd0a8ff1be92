//! Tool calls: they are recorded before they run, run concurrently, and settle once each.

use opencode_testkit::{Fixture, Gate, Reply, built_in_tools, compact, output};
use opencode_tools::ToolFailure;
use serde_json::json;

#[tokio::test]
async fn calls_of_one_turn_run_in_parallel_and_settle_as_they_complete() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let (slow, quick, failing) = (Gate::new(), Gate::new(), Gate::new());
    f.held_tool("slow", &slow).held_tool("quick", &quick);
    let gate = failing.clone();
    f.tool("failing", move |_, _| {
        let gate = gate.clone();
        async move {
            gate.pass().await;
            Err(ToolFailure::new("no such thing"))
        }
    });
    let reply = Reply::new()
        .begin_text()
        .delta("Let me look.")
        .begin_call("a", "slow", r#"{"n":1}"#)
        .begin_call("b", "quick", r#"{"n":2}"#)
        .begin_call("c", "failing", "{}")
        .end_call("a", "slow", json!({"n": 1}))
        .end_call("b", "quick", json!({"n": 2}))
        .end_call("c", "failing", json!({}))
        .end_text()
        .stop();
    f.model.reply(reply).reply(Reply::says("Done."));
    f.prompt(&session, "Go").await;
    f.recorded(&session, "text.ended Let me look.").await;
    for gate in [&slow, &quick, &failing] {
        f.reached(gate).await;
    }
    quick.release();
    f.recorded(&session, r#"tool.success b {"n":2}"#).await;
    failing.release();
    f.recorded(&session, "tool.failed c no such thing").await;
    slow.release();
    f.wait(&session).await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "step.started",
            "text.started",
            "tool.input.started a slow",
            "tool.input.started b quick",
            "tool.input.started c failing",
            r#"tool.input.ended a {"n":1}"#,
            r#"tool.called a slow {"n":1}"#,
            r#"tool.input.ended b {"n":2}"#,
            r#"tool.called b quick {"n":2}"#,
            "tool.input.ended c {}",
            "tool.called c failing {}",
            "text.ended Let me look.",
            r#"tool.success b {"n":2}"#,
            "tool.failed c no such thing",
            r#"tool.success a {"n":1}"#,
            // An answer with calls and the reason `stop` also waits for results.
            "step.ended tool-calls",
            "step.started",
            "text.started",
            "text.ended Done.",
            "step.ended stop",
        ]
    );
    // The model reads the results in the order of its calls.
    assert_eq!(
        compact::messages(&f.model.last_request()),
        [
            "user: Go",
            r#"assistant: Let me look. | a slow{"n":1} | b quick{"n":2} | c failing{}"#,
            r#"tool: a = {"n":1}"#,
            r#"tool: b = {"n":2}"#,
            "tool: c = failed: no such thing",
        ]
    );
}

#[tokio::test]
async fn a_call_is_recorded_before_its_tool_starts() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let (runtime, id) = (f.runtime().clone(), session.clone());
    f.tool("look", move |_, context| {
        let (runtime, id) = (runtime.clone(), id.clone());
        async move {
            let (events, _) = runtime.history(&id, None, 100).await.unwrap();
            let last = events.last().map(compact::stored);
            let source = context.source;
            output(json!({"last": last, "call": source.call_id, "agent": source.agent}))
        }
    });
    f.model
        .reply(Reply::calls("c1", "look", json!({})).in_one_piece())
        .reply(Reply::says("Done."));
    f.ask(&session, "Go").await;
    let request = f.model.last_request();
    assert_eq!(
        compact::messages(&request)[2],
        r#"tool: c1 = {"last":"tool.called c1 look {}","call":"c1","agent":"build"}"#
    );
}

#[tokio::test]
async fn a_tool_may_settle_before_the_answer_continues() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.tool("echo", |input, _| async { output(input) });
    let reply = Reply::new()
        .call("c1", "echo", json!({}))
        .hold(&gate)
        .text("Meanwhile.")
        .tool_calls();
    f.model.reply(reply).reply(Reply::says("Done."));
    f.prompt(&session, "Go").await;
    f.recorded(&session, "tool.success c1 {}").await;
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        f.events(&session).await[3..9],
        [
            "tool.input.started c1 echo",
            "tool.input.ended c1 {}",
            "tool.called c1 echo {}",
            "tool.success c1 {}",
            "text.started",
            "text.ended Meanwhile.",
        ]
    );
}

#[tokio::test]
async fn invalid_calls_fail_and_the_turn_continues() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.register(built_in_tools());
    let (first, second) = (Gate::new(), Gate::new());
    let reply = Reply::new()
        .call("a", "nothing", json!({}))
        .hold(&first)
        .call("b", "read", json!({}))
        .hold(&second)
        .tool_calls();
    f.model.reply(reply).reply(Reply::says("I see."));
    f.prompt(&session, "Go").await;
    let message = "Unknown tool: nothing";
    let unknown = &*format!("tool.failed a {message}");
    let invalid = "tool.failed b Invalid tool input: Missing key\n  at [\"path\"]";
    f.recorded(&session, unknown).await;
    first.release();
    f.recorded(&session, invalid).await;
    second.release();
    f.wait(&session).await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "step.started",
            "tool.input.started a nothing",
            "tool.input.ended a {}",
            "tool.called a nothing {}",
            unknown,
            "tool.input.started b read",
            "tool.input.ended b {}",
            "tool.called b read {}",
            invalid,
            "step.ended tool-calls",
            "step.started",
            "text.started",
            "text.ended I see.",
            "step.ended stop",
        ]
    );
    let failed = f.payloads(&session, "tool.failed").await;
    let data = failed.iter().find(|it| it["callID"] == "a").unwrap();
    assert_eq!(
        *data,
        json!({
            "assistantMessageID": data["assistantMessageID"],
            "callID": "a",
            "error": {
                "type": "unknown",
                "message": message,
                "cause": {"kind": "tool", "retryable": false},
            },
            "result": {"type": "error", "value": message},
            "provider": {"executed": false},
        })
    );
}

#[tokio::test]
async fn a_tool_that_panics_fails_only_its_call() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.held_tool("echo", &gate);
    f.tool("broken", |_, _| async { panic!("out of cheese") });
    let reply = Reply::new()
        .call("a", "echo", json!({"n": 1}))
        .call("b", "broken", json!({}))
        .tool_calls();
    f.model.reply(reply).reply(Reply::says("Done."));
    f.prompt(&session, "Go").await;
    f.recorded(
        &session,
        "tool.failed b Tool execution failed: out of cheese",
    )
    .await;
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        compact::messages(&f.model.last_request())[2..],
        [
            r#"tool: a = {"n":1}"#,
            "tool: b = failed: Tool execution failed: out of cheese",
        ]
    );
    assert_eq!(f.events(&session).await.last().unwrap(), "step.ended stop");
}

#[tokio::test]
async fn a_call_without_streamed_input_is_recorded_like_any_other() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.tool("echo", |input, _| async { output(input) });
    // Some protocols send no argument text, and some arguments are not objects.
    let call = |id: &str, input| opencode_llm::LlmEvent::ToolCall {
        id: id.into(),
        name: "echo".into(),
        input,
        provider_executed: false,
        provider_metadata: None,
    };
    let reply = Reply::new()
        .events([call("a", json!({"n": 1}))])
        .events([call("b", json!([1, 2]))])
        .tool_calls();
    f.model.reply(reply).reply(Reply::says("Done."));
    f.ask(&session, "Go").await;
    let mut events = f.events_after(&session, 3).await;
    events.truncate(8);
    events.sort_by_key(|event| event.split(' ').nth(1).map(str::to_owned));
    assert_eq!(
        events,
        [
            "tool.input.started a echo",
            "tool.input.ended a",
            r#"tool.called a echo {"n":1}"#,
            r#"tool.success a {"n":1}"#,
            "tool.input.started b echo",
            "tool.input.ended b",
            r#"tool.called b echo {"value":[1,2]}"#,
            r#"tool.success b {"value":[1,2]}"#,
        ]
    );
}
