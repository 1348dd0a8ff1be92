//! The view of the request that the next turn would send.

use opencode_llm::LlmRequest;
use opencode_runtime::RuntimeError;
use opencode_schema::id::SessionID;
use opencode_schema::inspection::{
    ContextMetrics, ContextSourceState, HistoryView, ObservationMetrics, ProviderRequestView,
    TextMetrics, UnavailableSource,
};
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, ScriptedSource, output};
use serde_json::{Value, json};

const KEY: &str = "acme/rules";

async fn shown(f: &Fixture, session: &SessionID) -> ProviderRequestView {
    let shown = f.within("request", f.runtime().next_request(session));
    shown.await.expect("a turn could begin")
}

async fn refused(f: &Fixture, session: &SessionID) -> String {
    match f.within("request", f.runtime().next_request(session)).await {
        Err(RuntimeError::Unavailable { service, message }) => format!("{service}: {message}"),
        Err(other) => other.to_string(),
        Ok(_) => "nothing is wrong".to_owned(),
    }
}

/// A sent request in the form of its view.
fn sent(request: &LlmRequest) -> Value {
    let messages = request.messages.iter().chain(&request.closing);
    let mut shown = json!({
        "system": request.system.iter().map(|it| &*it.text).collect::<Vec<_>>(),
        "messages": messages.collect::<Vec<_>>(),
        "tools": &*request.tools,
        "options": {},
    });
    if request.tool_choice.is_some() {
        shown["toolChoice"] = json!("none");
    }
    shown
}

/// The prefixes that steps have recorded, oldest first.
async fn recorded(f: &Fixture, session: &SessionID) -> Vec<(Value, Value)> {
    let messages = f.messages(session).await;
    let messages = serde_json::to_value(messages).unwrap();
    let steps = messages.as_array().unwrap().iter();
    let reports = steps.filter_map(|it| it.pointer("/metadata/prefix"));
    let prefixes = reports.map(|it| (it["sha256"].clone(), it["bytes"].clone()));
    prefixes.collect()
}

/// Reads the view twice, runs the session and compares. Reading the view changes nothing.
async fn assert_is_next_request(f: &Fixture, session: &SessionID) -> ProviderRequestView {
    let before = f.export(session).await;
    let (requests, steps) = (f.model.requests().len(), recorded(f, session).await.len());
    let view = Box::pin(shown(f, session)).await;
    assert_eq!(Box::pin(shown(f, session)).await, view);
    assert_eq!(f.export(session).await, before);
    f.run(session).await;
    let request = f.model.requests().swap_remove(requests);
    assert_eq!(serde_json::to_value(&view.request).unwrap(), sent(&request));
    let prefix = (json!(view.prefix.sha256), json!(view.prefix.bytes));
    assert_eq!(prefix, recorded(f, session).await[steps]);
    let baseline = request.system.last().unwrap();
    assert_eq!(view.epoch.baseline, *baseline.text);
    let tools = request.tools.iter().map(|tool| tool.name.clone());
    assert_eq!(view.tools, tools.collect::<Vec<_>>());
    view
}

#[tokio::test]
async fn the_shown_request_equals_the_sent_one() {
    let mut f = Fixture::open().await;
    f.tool("echo", |input, _| async { output(input) });
    let session = f.session_on("m1").await;
    let source = ScriptedSource::telling(KEY, "one");
    let _told = f.contribute(&f.project.directory(), &source);
    let state = |view: &ProviderRequestView| {
        let mut sources = view.epoch.sources.iter();
        sources.find(|source| source.key == KEY).map(|it| it.state)
    };
    f.model.otherwise(|_| Reply::says("Yes."));
    // The first epoch, with a queued input and a pending steer.
    f.leave(&session, "Queued", Delivery::Queue).await;
    f.leave(&session, "Steer", Delivery::Steer).await;
    let view = assert_is_next_request(&f, &session).await;
    assert_eq!(state(&view), Some(ContextSourceState::Current));
    assert_eq!(view.agent, "build");
    assert_eq!((view.history.messages, view.estimate.window), (1, 0));
    // A change for the next turn, and one that the turn cannot observe.
    source.set("two");
    f.leave(&session, "Next", Delivery::Steer).await;
    let view = assert_is_next_request(&f, &session).await;
    assert_eq!(state(&view), Some(ContextSourceState::Changed));
    source.fail();
    f.leave(&session, "More", Delivery::Steer).await;
    let view = assert_is_next_request(&f, &session).await;
    assert_eq!(state(&view), Some(ContextSourceState::Unavailable));
    source.hide();
    f.leave(&session, "Hidden", Delivery::Steer).await;
    let view = assert_is_next_request(&f, &session).await;
    assert_eq!(state(&view), Some(ContextSourceState::Absent));
    // A call that a crash left open, another model and another agent.
    let gate = Gate::new();
    f.held_tool("slow", &gate);
    f.model.reply(Reply::calls("c1", "slow", json!({})));
    f.prompt(&session, "Call").await;
    f.reached(&gate).await;
    f.kill().await;
    f.switch_model(&session, "m2").await;
    f.switch_agent(&session, "plan").await;
    let view = assert_is_next_request(&f, &session).await;
    assert_eq!((&*view.model.id, &*view.agent), ("m2", "plan"));
    gate.release();
}

#[tokio::test]
async fn a_running_session_shows_the_turn_after_the_one_under_way() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.held_tool("slow", &gate);
    f.model
        .reply(Reply::calls("c1", "slow", json!({})))
        .reply(Reply::says("Done."));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    f.prompt(&session, "Steer").await;
    let view = shown(&f, &session).await;
    let roles = view.request.messages.iter().map(|it| it["role"].clone());
    assert_eq!(roles.collect::<Vec<_>>(), ["user", "assistant", "user"]);
    let expected = HistoryView {
        from_seq: Some(2),
        to_seq: view.history.to_seq,
        messages: 3,
    };
    assert_eq!(view.history, expected);
    gate.release();
    f.wait(&session).await;
    assert_eq!(f.inbox(&session).await, [""; 0]);
}

#[tokio::test]
async fn the_last_turn_of_an_agent_is_shown_with_its_closing_text() {
    let f = Fixture::open().await;
    let config = json!({
        "agent": {"build": {"steps": 1, "options": {"temperature": 0.5, "apiKey": "sk-secret"}}},
        "provider": {"mock": {"models": {"m1": {"limit": {"context": 50_000, "output": 1_000}}}}},
    });
    f.project.write("opencode.json", &config.to_string());
    let session = f.session().await;
    f.leave(&session, "Go", Delivery::Steer).await;
    let view = shown(&f, &session).await;
    assert_eq!(view.request.tool_choice.as_deref(), Some("none"));
    assert_eq!(view.request.tools.len(), 0);
    let last = view.request.messages.last().unwrap();
    assert_eq!(last["role"], "assistant");
    assert_eq!(
        (view.estimate.window, view.estimate.reserve),
        (50_000, 20_000)
    );
    let text = serde_json::to_string(&view).unwrap();
    assert!(!text.contains("sk-secret"), "{text}");
}

#[tokio::test]
async fn the_reason_that_blocks_a_turn_is_reported() {
    let f = Fixture::open().await;
    let unknown = SessionID::parse("ses_unknown").unwrap();
    assert_eq!(
        refused(&f, &unknown).await,
        "Session not found: ses_unknown"
    );
    let session = f.session().await;
    let source = ScriptedSource::new(KEY);
    source.fail();
    let told = f.contribute(&f.project.directory(), &source);
    assert_eq!(
        refused(&f, &session).await,
        "session.request: the System Context is not available yet: acme/rules: the test says so"
    );
    drop(told);
    let none = f.session_on("none").await;
    let said = refused(&f, &none).await;
    assert!(
        said.starts_with("session.request: The model mock/none is not available"),
        "{said}"
    );
    // The session has neither history nor pending input.
    let view = shown(&f, &session).await;
    assert_eq!((view.history.messages, view.request.messages.len()), (0, 0));
}

#[tokio::test]
async fn no_secret_of_a_configuration_is_shown() {
    let f = Fixture::open().await;
    let config = json!({
        "agent": {"build": {
            "options": {"custom": {"accessToken": "hush-1", "kept": "seen-1"}},
            "request": {"headers": {"x-agent": "hush-2"}, "body": {"client_secret": "hush-3"}},
        }},
        "provider": {"mock": {
            "options": {"apiKey": "hush-4", "headers": {"x-provider": "hush-5"}},
            "models": {"m1": {
                "options": {"api_key": "hush-6", "reasoningEffort": "seen-2"},
                "headers": {"x-model": "hush-7"},
            }},
        }},
    });
    f.project.write("opencode.json", &config.to_string());
    let session = f.session_on("m1").await;
    f.leave(&session, "Go", Delivery::Steer).await;
    let view = shown(&f, &session).await;
    let shown = serde_json::to_string(&view).unwrap();
    assert_eq!(shown.matches("hush-").count(), 0, "{shown}");
    assert_eq!(
        shown.matches("seen-").count(),
        2,
        "{:?}",
        view.request.options
    );
}

#[tokio::test]
async fn a_closing_host_does_not_block_readers() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let (source, gate) = (ScriptedSource::telling(KEY, "one"), Gate::new());
    let _told = f.contribute(&f.project.directory(), source.hold(&gate));
    let close = async {
        f.reached(&gate).await;
        f.close().await;
    };
    let (said, ()) = tokio::join!(refused(&f, &session), close);
    assert_eq!(said, RuntimeError::Closed.to_string());
}

#[tokio::test]
async fn a_session_that_is_removed_meanwhile_is_not_found() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Yes."));
    f.ask(&session, "Hi").await;
    let (source, gate) = (ScriptedSource::telling(KEY, "one"), Gate::new());
    let _told = f.contribute(&f.project.directory(), source.hold(&gate));
    let remove = async {
        f.reached(&gate).await;
        f.runtime().remove_session(&session, true).await.unwrap();
        gate.release();
    };
    let (said, ()) = tokio::join!(refused(&f, &session), remove);
    assert_eq!(said, RuntimeError::SessionNotFound(session).to_string());
}

#[tokio::test]
async fn a_request_that_is_too_large_is_not_shown() {
    let f = Fixture::open().await;
    let session = f.session().await;
    for _ in 0..5 {
        f.leave(&session, &"x".repeat(7 * 1024 * 1024), Delivery::Steer)
            .await;
    }
    let said = refused(&f, &session).await;
    assert_eq!(
        said,
        "session.request: the request has more than 33554432 bytes as JSON, and no more than that are shown"
    );
}

#[tokio::test]
async fn a_location_counts_its_observations() {
    let f = Fixture::open().await;
    let here = f.project.directory();
    let location = opencode_schema::location::LocationRef {
        directory: here.clone(),
        workspace_id: None,
    };
    let location = f.runtime().open_location(&location).await.unwrap();
    let metrics = || f.runtime().context_metrics(&location);
    assert_eq!(metrics(), ContextMetrics::default());
    let session = f.session().await;
    let source = ScriptedSource::telling(KEY, "one");
    let _told = f.contribute(&here, &source);
    f.model.otherwise(|_| Reply::says("Yes."));
    f.ask(&session, "1").await;
    let baseline = f.model.last_request().system[1].text.len() as u64;
    source.set("two");
    f.ask(&session, "2").await;
    source.fail();
    f.ask(&session, "3").await;
    // Reading the view is not counted.
    shown(&f, &session).await;
    let found = metrics();
    let observations = found.observations;
    assert!(observations.max_micros >= observations.last_micros);
    assert!(observations.total_micros >= observations.max_micros);
    let update = "acme/rules is now two".len() as u64;
    let text = |bytes| TextMetrics {
        count: 1,
        last_bytes: bytes,
        total_bytes: bytes,
    };
    let expected = ContextMetrics {
        observations: ObservationMetrics {
            count: 3,
            ..observations
        },
        unavailable: vec![UnavailableSource {
            key: KEY.to_owned(),
            count: 1,
        }],
        contention: 0,
        baselines: text(baseline),
        updates: text(update),
    };
    assert_eq!(found, expected);
}
