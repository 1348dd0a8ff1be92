//! Structured outputs: the attempts of a model, and the events that record them.

use opencode_llm::ToolChoice;
use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, Gate, Reply, compact, output, prompt_request, with_settings};
use serde_json::{Value, json};

fn settings(more: Value) -> Value {
    let schema = json!({
        "type": "object",
        "properties": {"count": {"type": "integer", "minimum": 1}},
        "required": ["count"],
        "additionalProperties": false,
    });
    let mut wanted = json!({"schema": schema, "name": "answer"});
    wanted
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    json!({"output": wanted})
}

/// A session with the tool `read`. Its model takes the output by a tool, and `m3` by the format of the answer.
async fn opened() -> (Fixture, SessionID) {
    let f = Fixture::open().await;
    let config = json!({"provider": {"mock": {"models": {"m3": {"structured_output": true}}}}});
    f.project.write("opencode.json", &config.to_string());
    f.tool("read", |_, _| async { output(json!({})) });
    let session = f.session().await;
    (f, session)
}

fn answers(id: &str, count: i64) -> Reply {
    Reply::calls(id, "answer", json!({"count": count}))
}

/// The events about outputs and steps.
async fn story(f: &Fixture, session: &SessionID) -> Vec<String> {
    let events = f.events(session).await.into_iter();
    let kept = [
        "step.ended",
        "step.failed",
        "output.",
        "tool.success",
        "tool.failed",
    ];
    let of_output = events.filter(|it| kept.iter().any(|name| it.starts_with(name)));
    of_output
        .map(|it| it.lines().next().unwrap_or_default().to_owned())
        .collect()
}

/// The outputs of the messages.
async fn outputs(f: &Fixture, session: &SessionID) -> Vec<Value> {
    let messages = serde_json::to_value(f.messages(session).await).unwrap();
    let outputs = messages.as_array().unwrap().iter().map(|it| &it["output"]);
    outputs.filter(|it| !it.is_null()).cloned().collect()
}

#[tokio::test]
async fn the_model_calls_other_tools_before_it_gives_the_output() {
    let (f, session) = opened().await;
    f.model
        .reply(Reply::calls("c1", "read", json!({})))
        .reply(answers("c2", 3))
        .reply(Reply::says("Next."));
    f.ask_with(&session, "a", settings(json!({}))).await;
    assert_eq!(outputs(&f, &session).await, [json!({"count": 3})]);
    assert_eq!(
        story(&f, &session).await,
        [
            "tool.success c1 {}",
            "step.ended tool-calls",
            "tool.success c2 {}",
            "output.produced answer {\"count\":3}",
            "step.ended tool-calls",
        ]
    );
    let request = f.model.last_request();
    assert_eq!(request.tool_choice, None);
    let tools: Vec<_> = request.tools.iter().map(|it| &*it.name).collect();
    assert_eq!(tools, ["read", "answer"]);
    assert!(f.interrupted().await.is_empty());
    f.ask(&session, "b").await;
    assert_eq!(f.model.last_request().tools.len(), 1);
}

#[tokio::test]
async fn an_invalid_output_is_told_and_another_attempt_follows() {
    let (f, session) = opened().await;
    f.model
        .reply(answers("c1", 0))
        .reply(Reply::says("Three."))
        .reply(answers("c2", 3));
    f.ask_with(&session, "a", settings(json!({}))).await;
    assert_eq!(outputs(&f, &session).await, [json!({"count": 3})]);
    assert_eq!(
        story(&f, &session).await,
        [
            "tool.failed c1 The output does not conform to the schema:",
            "output.rejected The output does not conform to the schema:",
            "step.ended tool-calls",
            "output.rejected The output is missing. Call the tool answer with the whole output.",
            "step.ended stop",
            "tool.success c2 {}",
            "output.produced answer {\"count\":3}",
            "step.ended tool-calls",
        ]
    );
    let request = f.model.last_request();
    assert_eq!(
        request.tool_choice,
        Some(ToolChoice::Tool("answer".to_owned()))
    );
    let messages = compact::messages(&request);
    assert_eq!(
        messages.last().unwrap(),
        "user: The output is missing. Call the tool answer with the whole output."
    );
}

#[tokio::test]
async fn the_output_fails_after_all_attempts() {
    for (retries, attempts) in [(0, 1), (1, 2)] {
        let (f, session) = opened().await;
        f.model.otherwise(|_| Reply::says("Three."));
        f.ask_with(&session, "a", settings(json!({"retries": retries})))
            .await;
        assert_eq!(f.model.requests().len(), attempts);
        let failed = f.payloads(&session, "output.failed").await;
        assert_eq!(failed[0]["error"]["cause"]["kind"], "invalid-output");
        assert!(f.interrupted().await.is_empty());
    }
}

#[tokio::test]
async fn a_server_with_formats_gets_the_format_of_the_answer() {
    let (f, session) = opened().await;
    f.model
        .reply(Reply::calls("c1", "read", json!({})))
        .reply(Reply::says("Three."))
        .reply(Reply::says("{\"count\": 3}"));
    let mut wanted = settings(json!({}));
    wanted["model"] = json!({"providerID": "mock", "id": "m3"});
    f.ask_with(&session, "a", wanted).await;
    assert_eq!(outputs(&f, &session).await, [json!({"count": 3})]);
    let request = f.model.last_request();
    let format = request.output.clone().unwrap();
    assert_eq!((format.is_strict(), &*format.name), (true, "answer"));
    assert_eq!(request.tools.len(), 1);
    let messages = compact::messages(&request);
    assert!(messages.last().unwrap().contains("the answer is not JSON"));
}

#[tokio::test]
async fn what_surrounds_the_only_valid_document_is_ignored() {
    for text in [
        "{\"count\":3}",
        "```json\n{\"count\":3}\n```",
        "\u{feff}{\"count\":3}",
        "Here it is: {\"count\":3}. Is {\"count\":0} better?",
    ] {
        // In the format of the answer, and in place of a call of the tool.
        for model in ["m3", "m1"] {
            let (f, session) = opened().await;
            f.model.reply(Reply::says(text));
            let mut wanted = settings(json!({}));
            wanted["model"] = json!({"providerID": "mock", "id": model});
            f.ask_with(&session, "a", wanted).await;
            assert_eq!(outputs(&f, &session).await, [json!({"count": 3})], "{text}");
            assert_eq!(f.model.requests().len(), 1, "{model} {text}");
        }
    }
    for text in ["{\"count\":3} or {\"count\":4}", "```\n{\"count\":0}\n```"] {
        let (f, session) = opened().await;
        f.model
            .reply(Reply::says(text))
            .reply(Reply::says("{\"count\":3}"));
        let mut wanted = settings(json!({}));
        wanted["model"] = json!({"providerID": "mock", "id": "m3"});
        f.ask_with(&session, "a", wanted).await;
        assert_eq!(
            f.payloads(&session, "output.rejected").await.len(),
            1,
            "{text}"
        );
        assert_eq!(outputs(&f, &session).await, [json!({"count": 3})], "{text}");
    }
}

#[tokio::test]
async fn the_attempts_continue_after_a_crash() {
    let (mut f, session) = opened().await;
    let gate = Gate::new();
    f.model
        .reply(Reply::says("Three."))
        .reply(Reply::new().text("Still three.").hold(&gate).stop());
    let request = with_settings(
        prompt_request(&session, "a"),
        settings(json!({"retries": 1})),
    );
    f.admit(request).await;
    f.reached(&gate).await;
    f.kill().await;
    f.model.reply(Reply::says("Three again."));
    f.resume(&session).await;
    f.wait(&session).await;
    assert_eq!(f.payloads(&session, "output.rejected").await.len(), 1);
    assert_eq!(f.payloads(&session, "output.failed").await.len(), 1);
    let lines = f.export(&session).await;
    let other = Fixture::open().await;
    other.import(&lines).await.unwrap();
    assert_eq!(other.export(&session).await, lines);
}

#[tokio::test]
async fn the_last_turn_of_an_agent_asks_for_the_output() {
    let (f, session) = opened().await;
    let config = json!({"agent": {"build": {"steps": 1}}});
    f.project.write("opencode.json", &config.to_string());
    f.model.reply(answers("c1", 3));
    f.ask_with(&session, "a", settings(json!({}))).await;
    assert_eq!(outputs(&f, &session).await, [json!({"count": 3})]);
    let request = f.model.last_request();
    assert_eq!(request.tools.len(), 1);
    assert!(request.closing.is_none());
}
