//! Settings of prompts: the activity that they apply to, and their effect on its requests.

use opencode_llm::LlmRequest;
use opencode_runtime::{PromptRequest, RuntimeError};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, compact, output, prompt_request, with_settings};
use serde_json::{Value, json};

/// A project with two agents, three tools, and a session. The model answers `Yes.`.
async fn opened() -> (Fixture, SessionID) {
    let f = Fixture::open().await;
    let config = json!({"agent": {
        "reviewer": {"prompt": "You review.", "mode": "primary"},
        "reader": {"prompt": "You read.", "mode": "primary", "permission": {"edit": "deny"}},
    }});
    f.project.write("opencode.json", &config.to_string());
    for tool in ["read", "edit", "bash"] {
        f.tool(tool, |_, _| async { output(json!({})) });
    }
    let session = f.session().await;
    (f, session)
}

/// Agent text, model and tools of a request.
fn of(request: &LlmRequest) -> (String, String, Vec<String>) {
    let own = request.system[0].text.lines().next().unwrap_or_default();
    let own = own.split_inclusive('.').next().unwrap_or_default();
    let tools = request.tools.iter().map(|tool| tool.name.clone());
    (own.to_owned(), request.model.id.clone(), tools.collect())
}

fn all() -> Vec<String> {
    ["read", "edit", "bash"].map(str::to_owned).to_vec()
}

fn usual() -> (String, String, Vec<String>) {
    ("You are a coding agent.".to_owned(), "m1".to_owned(), all())
}

fn model(id: &str) -> Value {
    json!({"providerID": "mock", "id": id})
}

/// The requests so far, as agent text, model and tools.
fn requests(f: &Fixture) -> Vec<(String, String, Vec<String>)> {
    f.model.requests().iter().map(of).collect()
}

fn reviewing() -> (String, String, Vec<String>) {
    (
        "You review.".to_owned(),
        "m2".to_owned(),
        vec!["read".to_owned()],
    )
}

fn review() -> Value {
    json!({"agent": "reviewer", "model": model("m2"), "tools": {"*": false, "read": true}})
}

#[tokio::test]
async fn settings_apply_to_the_activity_of_their_prompt_and_to_no_other() {
    let (f, session) = opened().await;
    f.model
        .reply(Reply::says("One."))
        .reply(Reply::calls("c1", "read", json!({})))
        .reply(Reply::says("Two."))
        .reply(Reply::says("Three."));
    f.ask(&session, "a").await;
    f.ask_with(&session, "b", review()).await;
    f.ask(&session, "c").await;
    assert_eq!(requests(&f), [usual(), reviewing(), reviewing(), usual()]);
    let info = f.info(&session).await;
    assert_eq!((info.agent, info.model), (None, None));
    let steps = f.payloads(&session, "step.started").await;
    let agents: Vec<_> = steps.iter().map(|step| &step["agent"]).collect();
    assert_eq!(agents, ["build", "reviewer", "reviewer", "build"]);
}

#[tokio::test]
async fn a_steer_without_settings_inherits_and_one_with_settings_replaces_them() {
    let (f, session) = opened().await;
    let (first, second) = (Gate::new(), Gate::new());
    f.model
        .reply(Reply::new().text("One.").hold(&first).stop())
        .reply(Reply::new().text("Two.").hold(&second).stop())
        .reply(Reply::says("Three."));
    f.admit(with_settings(prompt_request(&session, "a"), review()))
        .await;
    f.reached(&first).await;
    f.prompt(&session, "b").await;
    first.release();
    f.reached(&second).await;
    let replacement = json!({"tools": {"edit": false}});
    f.admit(with_settings(prompt_request(&session, "c"), replacement))
        .await;
    second.release();
    f.wait(&session).await;
    let mut replaced = usual();
    replaced.2.retain(|tool| tool != "edit");
    assert_eq!(requests(&f), [reviewing(), reviewing(), replaced]);
}

#[tokio::test]
async fn a_queued_prompt_opens_an_activity_without_the_former_settings() {
    let (f, session) = opened().await;
    let gate = Gate::new();
    f.model
        .reply(Reply::new().text("One.").hold(&gate).stop())
        .reply(Reply::says("Two."));
    f.admit(with_settings(prompt_request(&session, "a"), review()))
        .await;
    f.reached(&gate).await;
    f.queue(&session, "b").await;
    gate.release();
    f.wait(&session).await;
    assert_eq!(requests(&f), [reviewing(), usual()]);
}

#[tokio::test]
async fn settings_apply_again_after_a_crash_and_an_import() {
    let (mut f, session) = opened().await;
    let gate = Gate::new();
    f.model
        .reply(Reply::calls("c1", "read", json!({})))
        .reply(Reply::new().text("One.").hold(&gate).stop());
    f.admit(with_settings(prompt_request(&session, "a"), review()))
        .await;
    f.reached(&gate).await;
    f.kill().await;
    f.model
        .reply(Reply::says("Two."))
        .reply(Reply::says("Three."));
    f.resume(&session).await;
    f.wait(&session).await;
    let lines = f.export(&session).await;
    f.ask(&session, "b").await;
    let requests = requests(&f);
    assert_eq!(requests[2..], [reviewing(), usual()]);

    let other = Fixture::open().await;
    let imported = other.import(&lines).await;
    imported.unwrap();
    assert_eq!(other.export(&session).await, lines);
}

#[tokio::test]
async fn a_prompt_after_an_interruption_opens_a_new_activity() {
    let (f, session) = opened().await;
    let gate = Gate::new();
    f.model
        .reply(Reply::new().hold(&gate).text("One.").stop())
        .reply(Reply::says("Two."));
    f.admit(with_settings(prompt_request(&session, "a"), review()))
        .await;
    f.reached(&gate).await;
    f.interrupt(&session).await;
    f.ask(&session, "b").await;
    assert_eq!(requests(&f), [reviewing(), usual()]);
}

#[tokio::test]
async fn settings_of_a_reverted_prompt_are_forgotten() {
    let (f, session) = opened().await;
    f.model.otherwise(|_| Reply::says("Yes."));
    let first = f.ask(&session, "a").await;
    f.ask_with(&session, "b", review()).await;
    let revert = opencode_runtime::StageRevert {
        session_id: session.clone(),
        message_id: first.id,
        part_id: None,
        exact: true,
        files: false,
    };
    f.within("stage", f.runtime().stage_revert(revert))
        .await
        .unwrap();
    f.resume(&session).await;
    f.wait(&session).await;
    assert_eq!(requests(&f), [usual(), reviewing(), usual()]);
}

#[tokio::test]
async fn no_setting_restores_a_tool_that_the_agent_denies() {
    let (f, session) = opened().await;
    f.model
        .reply(Reply::calls("c1", "edit", json!({})))
        .reply(Reply::says("Yes."));
    let settings = json!({"agent": "reader", "tools": {"edit": true, "*": true}});
    f.ask_with(&session, "a", settings).await;
    let (_, _, tools) = of(&f.model.last_request());
    assert_eq!(tools, ["read", "bash"]);
    let failed = f.payloads(&session, "tool.failed").await;
    assert_eq!(failed[0]["error"]["message"], "Unknown tool: edit");
}

#[tokio::test]
async fn a_removed_tool_cannot_be_called() {
    let (f, session) = opened().await;
    f.model
        .reply(Reply::calls("c1", "bash", json!({})))
        .reply(Reply::says("Yes."));
    f.ask_with(&session, "a", json!({"tools": {"bash": false}}))
        .await;
    let failed = f.payloads(&session, "tool.failed").await;
    assert_eq!(failed[0]["error"]["message"], "Unknown tool: bash");
}

const HEADING: &str = "The following applies to the next request of the user, and to no request after that one is done:";

#[tokio::test]
async fn the_system_text_precedes_its_prompt_and_keeps_the_prefix() {
    let (f, session) = opened().await;
    f.model.otherwise(|_| Reply::says("Yes."));
    f.ask(&session, "a").await;
    f.ask_with(&session, "b", json!({"system": "Answer in French."}))
        .await;
    f.ask(&session, "c").await;
    assert_eq!(
        compact::messages(&f.model.last_request()),
        [
            "user: a".to_owned(),
            "assistant: Yes.".to_owned(),
            format!("system: {HEADING}\n\nAnswer in French."),
            "user: b".to_owned(),
            "assistant: Yes.".to_owned(),
            "user: c".to_owned(),
        ]
    );
    assert_eq!(
        reasons(&f, &session).await,
        [json!("first"), Value::Null, Value::Null]
    );
}

/// The reasons in the prefix reports of all steps.
async fn reasons(f: &Fixture, session: &SessionID) -> Vec<Value> {
    let messages = serde_json::to_value(f.messages(session).await).unwrap();
    let reports = messages.as_array().unwrap().iter();
    let reports = reports.filter_map(|it| it.pointer("/metadata/prefix"));
    reports.map(|report| report["reason"].clone()).collect()
}

#[tokio::test]
async fn the_prefix_report_gives_the_changed_setting_as_the_reason() {
    let (f, session) = opened().await;
    f.model.otherwise(|_| Reply::says("Yes."));
    for settings in [
        json!({}),
        json!({"tools": {"bash": false}}),
        json!({}),
        json!({"model": model("m2")}),
        json!({}),
        json!({"agent": "reviewer"}),
    ] {
        f.ask_with(&session, "a", settings).await;
    }
    assert_eq!(
        reasons(&f, &session).await,
        ["first", "tools", "tools", "model", "model", "agent"]
    );
}

#[tokio::test]
async fn a_steer_without_system_text_ends_the_text_of_the_settings_that_it_replaces() {
    let (f, session) = opened().await;
    let gate = Gate::new();
    f.model
        .reply(Reply::new().text("One.").hold(&gate).stop())
        .reply(Reply::says("Two."));
    f.admit(with_settings(
        prompt_request(&session, "a"),
        json!({"system": "Answer in French."}),
    ))
    .await;
    f.reached(&gate).await;
    f.admit(with_settings(
        prompt_request(&session, "b"),
        json!({"tools": {}}),
    ))
    .await;
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        compact::messages(&f.model.last_request())[2..],
        [
            "assistant: One.",
            "system: The text that applied to the current request of the user alone does not apply any more.",
            "user: b",
        ]
    );
}

#[tokio::test]
async fn the_system_text_is_repeated_if_the_baseline_is_replaced_in_its_activity() {
    let (f, session) = opened().await;
    let gate = Gate::new();
    f.model
        .reply(
            Reply::new()
                .call("c1", "read", json!({}))
                .hold(&gate)
                .tool_calls(),
        )
        .reply(Reply::says("Two."));
    f.admit(with_settings(
        prompt_request(&session, "a"),
        json!({"system": "Answer in French."}),
    ))
    .await;
    f.reached(&gate).await;
    let moved = f.project.root().join("project/inner");
    std::fs::create_dir_all(&moved).unwrap();
    f.move_to(&session, moved.to_str().unwrap()).await;
    gate.release();
    f.wait(&session).await;
    let messages = compact::messages(&f.model.last_request());
    let told = messages
        .iter()
        .filter(|it| it.contains("Answer in French."));
    assert_eq!(told.count(), 1, "{messages:?}");
}

#[tokio::test]
async fn an_exact_retry_includes_the_settings() {
    let (f, session) = opened().await;
    let id = MessageID::parse("msg_1").unwrap();
    let request = |settings: Value| PromptRequest {
        id: Some(id.clone()),
        resume: false,
        ..with_settings(prompt_request(&session, "a"), settings)
    };
    let first = f.admit(request(review())).await;
    assert_eq!(f.admit(request(review())).await, first);
    for other in [json!({}), json!({"system": "Answer in French."})] {
        let refused = f.try_admit(request(other)).await;
        assert!(matches!(refused, Err(RuntimeError::PromptConflict(_))));
    }
}

#[tokio::test]
async fn a_prompt_without_settings_is_stored_as_before() {
    let (f, session) = opened().await;
    f.leave(&session, "a", Delivery::Steer).await;
    f.leave_with(&session, "b", json!({"tools": {}})).await;
    let prompts = f.payloads(&session, "prompt.admitted").await;
    let prompts: Vec<_> = prompts.iter().map(|it| &it["prompt"]).collect();
    assert_eq!(
        json!(prompts),
        json!([{"text": "a"}, {"text": "b", "settings": {"tools": {}}}])
    );
}

#[tokio::test]
async fn a_prompt_with_an_unknown_model_stays_pending() {
    let (f, session) = opened().await;
    f.ask_with(&session, "a", json!({"model": model("m9")}))
        .await;
    f.ask_with(&session, "b", json!({"agent": "absent"})).await;
    assert_eq!(f.inbox(&session).await, ["a", "b"]);
    assert_eq!(f.model.requests().len(), 0);
}

#[tokio::test]
async fn the_view_of_the_next_request_has_the_settings_of_pending_prompts() {
    let (f, session) = opened().await;
    f.model.otherwise(|_| Reply::says("Yes."));
    for (settings, delivery) in [
        (review(), Delivery::Steer),
        (json!({}), Delivery::Steer),
        (review(), Delivery::Queue),
    ] {
        f.admit(PromptRequest {
            delivery,
            resume: false,
            ..with_settings(prompt_request(&session, "a"), settings)
        })
        .await;
        let view = f.within("request", f.runtime().next_request(&session));
        let view = view.await.unwrap();
        f.resume(&session).await;
        f.wait(&session).await;
        let request = f.model.last_request();
        let sent: Vec<_> = request.tools.iter().map(|tool| tool.name.clone()).collect();
        assert_eq!(
            (view.model.id, view.tools),
            (request.model.id.clone(), sent)
        );
    }
}
