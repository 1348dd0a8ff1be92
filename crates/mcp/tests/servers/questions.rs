//! Requests of a server to the host: roots, questions to users, and requests that are refused.

use std::sync::Arc;
use std::time::Duration;

use opencode_mcp::{AskRefused, CallContext, CallError, ServerTool};
use opencode_schema::message::ToolContent;
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::task::JoinHandle;

use crate::bench::{Bench, Question, User, call, context, local, within};
use crate::script::tool;

fn question(method: &str, params: Value) -> Value {
    json!({"request": {"method": method, "params": params}})
}

fn form(properties: Value) -> Value {
    question(
        "elicitation/create",
        json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": properties,
            "required": ["name"]}}),
    )
}

/// Returns the answer of the host that the server saw.
async fn answer(tool: &ServerTool, input: Value, context: CallContext) -> Value {
    let output = within(tool.call(input, context)).await.unwrap();
    let [ToolContent::Text { text }] = &output.content[..] else {
        panic!("{output:?}");
    };
    let mut answer: Value = serde_json::from_str(text).unwrap();
    match answer.get_mut("result") {
        Some(result) => result.take(),
        None => answer["error"]["code"].take(),
    }
}

fn with_user(session: &str) -> (CallContext, UnboundedReceiver<Question>) {
    let mut context = context(session);
    let (user, questions) = mpsc::unbounded_channel();
    context.ask = Arc::new(User(user));
    (context, questions)
}

#[tokio::test]
async fn the_location_is_the_only_root() {
    let bench = Bench::local(json!({ "tools": [tool("ask")] })).await;
    let tool = bench.tool("s_ask");
    let roots = answer(&tool, question("roots/list", json!({})), context("ses_1")).await;
    let folder = url::Url::from_file_path(bench.folder.path()).unwrap();
    assert_eq!(roots, json!({"roots": [{"uri": folder.as_str()}]}));
    bench.servers.close().await;
}

#[tokio::test]
async fn other_requests_are_refused() {
    let bench = Bench::local(json!({ "tools": [tool("ask")] })).await;
    let tool = bench.tool("s_ask");
    let sampling = json!({"messages": [], "maxTokens": 10});
    for (method, params, code) in [
        ("sampling/createMessage", sampling, -32601),
        ("tools/list", json!({}), -32601),
        ("elicitation/create", json!({"message": 5}), -32602),
    ] {
        let refused = answer(&tool, question(method, params), context("ses_1")).await;
        assert_eq!(refused, json!(code), "{method}");
    }
    let ping = answer(&tool, question("ping", json!({})), context("ses_1")).await;
    assert_eq!(ping, json!({}));
    let page =
        json!({"mode": "url", "message": "m", "url": "https://a.example", "elicitationId": "1"});
    let declined = answer(
        &tool,
        question("elicitation/create", page),
        context("ses_1"),
    )
    .await;
    assert_eq!(declined, json!({"action": "decline"}));
    bench.servers.close().await;
}

#[tokio::test]
async fn the_user_of_the_call_answers_a_form() {
    let bench = Bench::local(json!({ "tools": [tool("ask")] })).await;
    let tool = bench.tool("s_ask");
    let (context, mut questions) = with_user("ses_1");
    let user = async {
        let (asked, reply) = questions.recv().await.unwrap();
        assert_eq!(asked[0].question, "The MCP server s asks: Who?\n\nname");
        assert_eq!(
            asked[1].question,
            "The MCP server s asks: age (a whole number, optional)"
        );
        reply
            .send(Ok(vec![vec!["Ada".into()], vec!["many".into()]]))
            .unwrap();
        // The second answer is not valid, so the form is shown again.
        let (asked, reply) = questions.recv().await.unwrap();
        assert!(
            asked[0]
                .question
                .starts_with("The MCP server s asks: The answer to age is not valid.")
        );
        reply
            .send(Ok(vec![vec!["Ada".into()], vec!["36".into()]]))
            .unwrap();
    };
    let input = form(json!({"name": {"type": "string"}, "age": {"type": "integer"}}));
    let (result, ()) = within(futures::future::join(answer(&tool, input, context), user)).await;
    assert_eq!(
        result,
        json!({"action": "accept", "content": {"name": "Ada", "age": 36}})
    );
    bench.servers.close().await;
}

#[tokio::test]
async fn a_refusal_reaches_the_server() {
    let bench = Bench::local(json!({ "tools": [tool("ask")] })).await;
    let tool = bench.tool("s_ask");
    for (refused, action) in [
        (AskRefused::Declined, "decline"),
        (AskRefused::Unavailable, "cancel"),
    ] {
        let (context, mut questions) = with_user("ses_1");
        let user = async {
            let (_, reply) = questions.recv().await.unwrap();
            reply.send(Err(refused)).unwrap();
        };
        let input = form(json!({"name": {"type": "string"}}));
        let (result, ()) = within(futures::future::join(answer(&tool, input, context), user)).await;
        assert_eq!(result, json!({ "action": action }));
    }
    // A form that cannot be shown.
    let input = form(json!({"name": {"type": "array", "items": {"type": "string"}}}));
    let (context, _questions) = with_user("ses_1");
    let result = within(tool.call(input, context)).await.unwrap();
    assert!(format!("{result:?}").contains("-32602") || format!("{result:?}").contains("decline"));
    bench.servers.close().await;
}

/// Starts a call that waits for an answer of the server.
fn hang(bench: &Bench, context: CallContext) -> JoinHandle<Result<(), CallError>> {
    let tool = bench.tool("s_hang");
    tokio::spawn(async move { tool.call(json!({}), context).await.map(drop) })
}

#[tokio::test]
async fn a_question_belongs_to_the_only_session() {
    let bench = Bench::new(Arc::new(opencode_mcp::NoTokens));
    let log = bench.path("log");
    bench.configure([(
        "s",
        local(&json!({ "tools": [tool("ask"), tool("hang")], "log": log })),
    )]);
    bench.start().await;
    let tool = bench.tool("s_ask");
    let input = || form(json!({"name": {"type": "string"}}));
    // Another call of the same session: the newest call asks.
    let (other, _none) = with_user("ses_1");
    let cancel = other.cancel.clone();
    let hanging = hang(&bench, other);
    crate::bench::logged(&log, |line| line["params"]["name"] == "hang").await;
    let (context_now, mut questions) = with_user("ses_1");
    let user = async {
        let (_, reply) = questions.recv().await.unwrap();
        reply.send(Ok(vec![vec!["Ada".into()]])).unwrap();
    };
    let asked = answer(&tool, input(), context_now);
    let (result, ()) = within(futures::future::join(asked, user)).await;
    assert_eq!(result["action"], "accept");
    // A call of another session: the host cannot know whose question it is.
    let (context_now, _none) = with_user("ses_2");
    assert_eq!(
        answer(&tool, input(), context_now).await,
        json!({"action": "cancel"})
    );
    cancel.cancel();
    assert_eq!(within(hanging).await.unwrap(), Err(CallError::Interrupted));
    // After the end of that call, the question is clear again.
    let (context_now, mut questions) = with_user("ses_2");
    let user = async {
        let (_, reply) = questions.recv().await.unwrap();
        reply.send(Ok(vec![vec!["Ada".into()]])).unwrap();
    };
    let asked = answer(&tool, input(), context_now);
    let (result, ()) = within(futures::future::join(asked, user)).await;
    assert_eq!(result["action"], "accept");
    bench.servers.close().await;
}

#[tokio::test]
async fn the_limit_of_a_call_does_not_run_while_a_user_is_asked() {
    let bench = Bench::new(Arc::new(opencode_mcp::NoTokens));
    let mut config = local(&json!({ "tools": [tool("ask"), tool("hang")] }));
    config.timeouts.request = Duration::from_millis(400);
    bench.configure([("s", config)]);
    bench.start().await;
    let (context_now, mut questions) = with_user("ses_1");
    let asking = bench.tool("s_ask");
    let input = form(json!({"name": {"type": "string"}}));
    let running = tokio::spawn(async move { answer(&asking, input, context_now).await });
    let (_, reply) = within(questions.recv()).await.unwrap();
    // A call of the same time fails at the limit. Then the limit of the first one would be over, too.
    let late = call(&bench.tool("s_hang"), json!({})).await.unwrap_err();
    assert_eq!(
        late,
        CallError::Failed("The server did not answer within 0.4 seconds.".to_owned())
    );
    reply.send(Ok(vec![vec!["Ada".into()]])).unwrap();
    assert_eq!(within(running).await.unwrap()["action"], "accept");
    bench.servers.close().await;
}

#[tokio::test]
async fn an_interrupted_call_withdraws_its_question() {
    let bench = Bench::local(json!({ "tools": [tool("ask")] })).await;
    let (context_now, mut questions) = with_user("ses_1");
    let cancel = context_now.cancel.clone();
    let asking = bench.tool("s_ask");
    let input = form(json!({"name": {"type": "string"}}));
    let running = tokio::spawn(async move { asking.call(input, context_now).await });
    let (_, mut reply) = within(questions.recv()).await.unwrap();
    cancel.cancel();
    assert_eq!(within(running).await.unwrap(), Err(CallError::Interrupted));
    within(reply.closed()).await;
    bench.servers.close().await;
}
