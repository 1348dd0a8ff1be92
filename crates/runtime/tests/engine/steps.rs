//! Agents with a limit of steps: in the last step the model has no tools and writes a summary.

use opencode_llm::{LlmRequest, ToolChoice};
use opencode_runtime::DrainOutcome;
use opencode_schema::id::SessionID;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, compact, output};
use serde_json::{Value, json};

/// The last message of the request for the last step.
const LAST_TURN: &str = "assistant: The limit of steps for this request is reached. Tools are switched off until the user writes again, so I answer in text alone and call none. I sum up what is done so far, what is still to be done, and what I recommend to do next.";

/// A session in a project with these agents, and a tool that returns immediately.
async fn with(agents: Value) -> (Fixture, SessionID) {
    let f = Fixture::open().await;
    let config = json!({ "agents": agents });
    f.project.write("opencode.json", &config.to_string());
    f.tool("echo", |input, _| async { output(input) });
    let session = f.session().await;
    (f, session)
}

/// The number of tools, the tool choice, and the number of messages.
fn offered(request: &LlmRequest) -> (usize, Option<ToolChoice>, usize) {
    let choice = request.tool_choice.clone();
    (
        request.tools.len(),
        choice,
        compact::messages(request).len(),
    )
}

fn calls() -> Reply {
    Reply::calls("c1", "echo", json!({})).in_one_piece()
}

const TOOL_TURN: [&str; 6] = [
    "step.started",
    "tool.input.started c1 echo",
    "tool.input.ended c1 {}",
    "tool.called c1 echo {}",
    "tool.success c1 {}",
    "step.ended tool-calls",
];

#[tokio::test]
async fn the_last_step_has_no_tools_and_the_next_input_has_them_again() {
    let (f, session) = with(json!({"build": {"steps": 2}})).await;
    let answer = |text| [calls(), Reply::says(text)];
    for reply in [answer("One."), answer("Two.")].concat() {
        f.model.reply(reply);
    }
    f.ask(&session, "Go").await;
    f.ask(&session, "Go on").await;
    let turn = |text: &str| {
        let said = format!("text.ended {text}");
        let text = ["step.started", "text.started", &said, "step.ended stop"];
        [&TOOL_TURN[..], &text].concat().join("\n")
    };
    assert_eq!(
        f.events(&session).await.join("\n"),
        [
            "prompt.admitted Go\nprompted Go",
            &turn("One."),
            "prompt.admitted Go on\nprompted Go on",
            &turn("Two."),
        ]
        .join("\n")
    );
    let requests = f.model.requests();
    let none = Some(ToolChoice::None);
    assert_eq!(
        requests.iter().map(offered).collect::<Vec<_>>(),
        [
            (1, None, 1),
            (0, none.clone(), 4),
            // The instruction is not part of the history.
            (1, None, 5),
            (0, none, 8),
        ]
    );
    let history = ["user: Go", "assistant: c1 echo{}", "tool: c1 = {}"];
    let last = [&history[..], &[LAST_TURN]].concat();
    assert_eq!(compact::messages(&requests[1]), last);
    let next = [&history[..], &["assistant: One.", "user: Go on"]].concat();
    assert_eq!(compact::messages(&requests[2]), next);
}

#[tokio::test]
async fn a_call_in_the_last_step_fails_and_no_turn_follows() {
    let (f, session) = with(json!({"build": {"steps": 1}})).await;
    let reply = Reply::new()
        .call("c1", "echo", json!({}))
        .hosted_call("h1", "web_search", json!({}))
        .tool_calls();
    f.model.reply(reply);
    let mut live = f.live();
    f.leave(&session, "Go", Delivery::Steer).await;
    let outcome = f.run(&session).await;
    assert!(matches!(outcome, DrainOutcome::Done), "{outcome:?}");
    let reported = format!(
        "session.error the session {session} made 1 Provider Turns since its last input; prompt it again to go on"
    );
    f.read_until(&mut live, &reported).await;
    assert_eq!(f.interrupted().await, []);
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "step.started",
            "tool.input.started c1 echo",
            "tool.input.ended c1 {}",
            "tool.called c1 echo {}",
            "tool.failed c1 Tools are disabled after the maximum agent steps",
            // The limit does not apply to calls that the provider executes.
            "tool.input.started h1 web_search",
            "tool.input.ended h1",
            "tool.called h1 web_search {}",
            "step.ended tool-calls",
            "tool.failed h1 Provider did not return a tool result",
        ]
    );
    let failed = &f.payloads(&session, "tool.failed").await[0];
    let message = "Tools are disabled after the maximum agent steps";
    assert_eq!(
        (&failed["error"], &failed["result"]),
        (
            &json!({
                "type": "unknown",
                "message": message,
                "cause": {"kind": "step-limit", "retryable": false},
            }),
            &json!({"type": "error", "value": message}),
        )
    );
}

#[tokio::test]
async fn a_queued_prompt_follows_a_used_up_limit() {
    let (f, session) = with(json!({"build": {"steps": 1}})).await;
    f.model.reply(calls()).reply(Reply::says("Two."));
    f.leave(&session, "One", Delivery::Queue).await;
    f.leave(&session, "Two", Delivery::Queue).await;
    let outcome = f.run(&session).await;
    assert!(matches!(outcome, DrainOutcome::Done), "{outcome:?}");
    assert_eq!(f.model.requests().len(), 2);
    assert_eq!(f.payloads(&session, "prompted").await.len(), 2);
}

#[tokio::test]
async fn a_steer_renews_the_steps() {
    let (f, session) = with(json!({"build": {"steps": 2}})).await;
    let gate = Gate::new();
    let last = Reply::new().text("One.").hold(&gate).stop();
    f.model.reply(calls()).reply(last);
    f.model.reply(calls()).reply(Reply::says("Two."));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    f.prompt(&session, "Go on").await;
    gate.release();
    f.wait(&session).await;
    let requests = f.model.requests();
    let tools: Vec<_> = requests.iter().map(|it| it.tools.len()).collect();
    assert_eq!(tools, [1, 0, 1, 0]);
}

#[tokio::test]
async fn the_steps_of_an_agent_replace_the_allowance() {
    let (f, session) = with(json!({"build": {"steps": 31}})).await;
    f.allow_repetition();
    f.model.otherwise(|request| match request.tools.len() {
        0 => Reply::says("Done."),
        _ => calls(),
    });
    f.leave(&session, "Go", Delivery::Steer).await;
    let outcome = f.run(&session).await;
    assert!(matches!(outcome, DrainOutcome::Done), "{outcome:?}");
    assert_eq!(f.model.requests().len(), 31);
}

#[tokio::test]
async fn the_number_of_steps_is_that_of_the_agent_of_each_turn() {
    let (f, session) = with(json!({"plan": {"steps": 2}, "build": {"steps": 9}})).await;
    let gate = Gate::new();
    let first = Reply::new()
        .hold(&gate)
        .call("c1", "echo", json!({}))
        .tool_calls();
    f.model.reply(first).reply(Reply::says("Planned."));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    let switched = f.runtime().switch_agent(&session, "plan".to_owned());
    f.within("switch agent", switched).await.unwrap();
    gate.release();
    f.wait(&session).await;
    let started = f.payloads(&session, "step.started").await;
    let agents: Vec<_> = started.iter().map(|step| &step["agent"]).collect();
    assert_eq!(agents, ["build", "plan"]);
    assert_eq!(f.model.last_request().tools.len(), 0);
}

#[tokio::test]
async fn a_run_has_as_many_steps_as_an_input() {
    let (f, session) = with(json!({"build": {"steps": 2}})).await;
    f.model.otherwise(|request| match request.tools.len() {
        0 => Reply::says("Done."),
        _ => calls(),
    });
    f.ask(&session, "Go").await;
    f.run(&session).await;
    let requests = f.model.requests();
    let tools: Vec<_> = requests.iter().map(|it| it.tools.len()).collect();
    assert_eq!(tools, [1, 0, 1, 0]);
}
