//! Calls with a mistake of the model: they fail with the reason, and nothing else of the answer changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use opencode_llm::{CallProblem, FinishReason, Part};
use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, Reply, compact, output};
use serde_json::{Value, json};

const WRITTEN: &str = "{\"path\": \"a.txt\"";
const REASON: &str = "EOF while parsing an object at line 1 column 16";
const MESSAGE: &str = "Invalid tool input: the arguments are not one JSON object: EOF while parsing an object at line 1 column 16. The tool did not run. Call it again with the whole corrected arguments.\nThe arguments were:\n{\"path\": \"a.txt\"";

fn unreadable(written: &str) -> CallProblem {
    CallProblem::Input {
        reason: REASON.to_owned(),
        written: written.to_owned(),
    }
}

fn nameless() -> CallProblem {
    CallProblem::Name("The call names no tool".to_owned())
}

/// A session with the tool `echo`, and the number of its runs.
async fn opened() -> (Fixture, SessionID, Arc<AtomicUsize>) {
    let f = Fixture::open().await;
    let session = f.session().await;
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    f.tool("echo", move |input, _| {
        count.fetch_add(1, Ordering::Relaxed);
        async { output(input) }
    });
    (f, session, runs)
}

#[tokio::test]
async fn an_invalid_call_fails_and_everything_else_of_the_answer_stays() {
    let (f, session, runs) = opened().await;
    let reply = Reply::new()
        .reasoning("Hm.", None)
        .text("Reading.")
        .invalid_call("c1", "echo", WRITTEN, unreadable(WRITTEN))
        .call("c2", "echo", json!({"n": 1}))
        .tool_calls();
    f.model
        .reply(reply.in_one_piece())
        .reply(Reply::says("Again."));
    f.ask(&session, "Go").await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "step.started",
            "reasoning.started",
            "reasoning.ended Hm.",
            "text.started",
            "text.ended Reading.",
            "tool.input.started c1 echo",
            &format!("tool.input.ended c1 {WRITTEN}"),
            "tool.called c1 echo {}",
            &format!("tool.failed c1 {MESSAGE}"),
            "tool.input.started c2 echo",
            "tool.input.ended c2 {\"n\":1}",
            "tool.called c2 echo {\"n\":1}",
            "tool.success c2 {\"n\":1}",
            "step.ended tool-calls",
            "step.started",
            "text.started",
            "text.ended Again.",
            "step.ended stop",
        ]
    );
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    let data = &f.payloads(&session, "tool.failed").await[0];
    assert_eq!(
        *data,
        json!({
            "assistantMessageID": data["assistantMessageID"],
            "callID": "c1",
            "error": {
                "type": "unknown",
                "message": MESSAGE,
                "cause": {"kind": "tool", "retryable": false},
            },
            "result": {"type": "error", "value": MESSAGE},
            "provider": {"executed": false},
        })
    );
    // The next request repeats an object as the input, and tells the reason in the result.
    let request = f.model.last_request();
    let inputs = request.messages.iter().flat_map(|it| it.content.iter());
    let inputs = inputs.filter_map(|part| match part {
        Part::ToolCall(call) => Some((call.id.as_str(), call.input.clone())),
        _ => None,
    });
    let expected = [("c1", json!({})), ("c2", json!({"n": 1}))];
    assert_eq!(inputs.collect::<Vec<_>>(), expected);
    let told = compact::messages(&request).join("\n");
    assert!(told.contains(REASON), "{told}");
}

#[tokio::test]
async fn a_call_without_a_name_reads_which_tools_there_are() {
    let (f, session, _) = opened().await;
    let reply = Reply::new().invalid_call("c1", "unnamed_tool", "{}", nameless());
    f.model
        .reply(reply.tool_calls())
        .reply(Reply::says("I see."));
    f.ask(&session, "Go").await;
    let failed = f.payloads(&session, "tool.failed").await;
    let message = "The call names no tool. Available tools: echo";
    assert_eq!(failed[0]["error"]["message"], message);
    assert_eq!(f.model.requests().len(), 2);
}

#[tokio::test]
async fn an_answer_that_the_output_limit_cut_goes_on() {
    let (f, session, _) = opened().await;
    let reply = Reply::new().invalid_call("c1", "echo", WRITTEN, unreadable(WRITTEN));
    f.model
        .reply(reply.finish(FinishReason::Length))
        .reply(Reply::says("Shorter."));
    f.ask(&session, "Go").await;
    let events = f.events(&session).await;
    assert_eq!(events.last().map(String::as_str), Some("step.ended stop"));
    assert_eq!(f.model.requests().len(), 2);
}

#[tokio::test]
async fn no_call_stays_open_if_the_stream_breaks_off_afterwards() {
    let (f, session, _) = opened().await;
    let reply = Reply::new().invalid_call("c1", "echo", WRITTEN, unreadable(WRITTEN));
    f.model.reply(reply).reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    f.ask(&session, "Again").await;
    let failed = f.payloads(&session, "tool.failed").await;
    let messages: Vec<_> = failed
        .iter()
        .map(|it| it["error"]["message"].clone())
        .collect();
    assert_eq!(messages, [MESSAGE]);
}

#[tokio::test]
async fn long_arguments_are_shortened_in_the_reason() {
    let (f, session, _) = opened().await;
    let long = format!("{{\"text\": \"{}", "x".repeat(100_000));
    let reply = Reply::new().invalid_call("c1", "echo", &long, unreadable(&long));
    f.model
        .reply(reply.tool_calls())
        .reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    let failed = f.payloads(&session, "tool.failed").await;
    let message = failed[0]["error"]["message"].as_str().unwrap();
    assert!(
        message.len() < 2_000 && message.contains("99010 characters left out"),
        "{message}"
    );
}

#[tokio::test]
async fn an_invalid_call_that_should_give_the_output_is_an_attempt() {
    let (f, session, _) = opened().await;
    let broken = || Reply::new().invalid_call("c1", "answer", WRITTEN, unreadable(WRITTEN));
    f.model
        .reply(broken().tool_calls())
        .reply(broken().tool_calls())
        .reply(Reply::calls("c2", "answer", json!({"count": 1})));
    let output = |retries: u64| json!({"output": {"schema": {"type": "object"}, "name": "answer", "retries": retries}});
    f.ask_with(&session, "a", output(1)).await;
    let told = |events: Vec<String>| {
        let told = events.into_iter().filter(|it| it.starts_with("output."));
        told.map(|it| it.split(':').next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let expected = [
        "output.rejected Invalid tool input",
        "output.failed Invalid tool input",
    ];
    assert_eq!(told(f.events(&session).await), expected);
    f.ask_with(&session, "b", output(1)).await;
    let produced: Vec<Value> = f.payloads(&session, "output.produced").await;
    assert_eq!(produced[0]["output"], json!({"count": 1}));
}
