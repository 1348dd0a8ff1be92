//! Titles that the agent `title` writes.

use opencode_llm::{ErrorKind, FinishReason, LlmError, LlmRequest};
use opencode_schema::session::is_default_title;
use opencode_testkit::{Fixture, Gate, Reply};
use serde_json::{Value, json};

async fn with_titles() -> Fixture {
    let f = Fixture::with(|options| options.titles = Some(true)).await;
    answers(&f, || {
        Reply::says("<think>Hm.</think>\nGreeting of a person\nMore")
    });
    f
}

fn is_for_title(request: &LlmRequest) -> bool {
    request
        .system
        .iter()
        .any(|it| it.text.starts_with("You name conversations"))
}

/// Answers prompts with `Hello.`, and requests for titles with `title`.
fn answers(f: &Fixture, title: impl Fn() -> Reply + Send + 'static) {
    f.model
        .otherwise(move |request| match is_for_title(request) {
            true => title(),
            false => Reply::says("Hello."),
        });
}

fn titles(f: &Fixture) -> Vec<LlmRequest> {
    f.model
        .requests()
        .into_iter()
        .filter(is_for_title)
        .collect()
}

#[tokio::test]
async fn a_session_gets_one_title_after_its_first_answer() {
    let mut f = with_titles().await;
    let session = f.session().await;
    let mut live = f.live();
    f.ask(&session, "Hi there").await;
    f.idle().await;
    assert_eq!(f.info(&session).await.title, "Greeting of a person");
    let [request] = &titles(&f)[..] else {
        panic!("one request")
    };
    assert_eq!(request.model.id, "m1");
    assert!(request.tools.is_empty() && request.is_by_agent);
    let messages = format!("{:?}", request.messages);
    assert!(
        messages.contains("Hi there") && messages.contains("Hello."),
        "{messages}"
    );
    f.ask(&session, "Again").await;
    f.reopen().await;
    answers(&f, || panic!("there is no second title"));
    f.ask(&session, "More").await;
    f.idle().await;
    assert_eq!(titles(&f).len(), 1);
    f.read_to_end(&mut live).await;
    let updated = live
        .values()
        .iter()
        .filter(|it| it["type"] == "session.updated");
    let updated: Vec<&Value> = updated.collect();
    assert_eq!(updated.len(), 1);
    assert!(updated[0]["durable"]["seq"].is_u64());
    assert_eq!(updated[0]["data"]["info"]["title"], "Greeting of a person");
}

#[tokio::test]
async fn the_session_is_idle_before_its_title_is_there() {
    let f = Fixture::with(|options| options.titles = Some(true)).await;
    let gate = Gate::new();
    let held = gate.clone();
    answers(&f, move || Reply::new().hold(&held).text("Late").stop());
    let session = f.session().await;
    // This waits for the drain.
    f.ask(&session, "Hi").await;
    f.reached(&gate).await;
    assert!(f.runtime().active().is_empty());
    f.ask(&session, "Another prompt meanwhile").await;
    gate.release();
    f.idle().await;
    assert_eq!(f.info(&session).await.title, "Late");
}

#[tokio::test]
async fn closing_the_host_ends_the_request_for_a_title() {
    let mut f = Fixture::with(|options| options.titles = Some(true)).await;
    let gate = Gate::new();
    let held = gate.clone();
    answers(&f, move || Reply::new().hold(&held).text("Never").stop());
    let session = f.session().await;
    f.ask(&session, "Hi").await;
    f.reached(&gate).await;
    f.close().await;
    f.dropped(&gate).await;
    f.reopen().await;
    assert!(is_default_title(&f.info(&session).await.title));
}

#[tokio::test]
async fn a_failure_leaves_the_default_title_and_is_not_repeated() {
    let f = Fixture::with(|options| options.titles = Some(true)).await;
    for answer in [
        || Reply::fails(LlmError::invalid_request("no")),
        || Reply::says(" \n"),
        || Reply::new().provider_error("no", ErrorKind::Unknown),
        || Reply::new().text("Half a ti").finish(FinishReason::Length),
        || {
            Reply::new()
                .text("Half")
                .finish(FinishReason::ContentFilter)
        },
        || Reply::new().text("Half"),
    ] {
        answers(&f, answer);
        let session = f.session().await;
        let before = titles(&f).len();
        for text in ["Hi", "Again"] {
            f.ask(&session, text).await;
            f.idle().await;
        }
        assert_eq!(titles(&f).len(), before + 1);
        assert!(is_default_title(&f.info(&session).await.title));
    }
}

#[tokio::test]
async fn sessions_get_titles_only_if_the_host_or_the_configuration_wants_them() {
    let small = json!({"small_model": "mock/m2"});
    let own = json!({"agents": {"title": {"model": "mock/m2"}}});
    let text = json!({"agents": {"title": {"system": "You name conversations. Briefly."}}});
    let off = json!({"small_model": "mock/m2", "agents": {"title": {"disabled": true}}});
    let unknown = json!({"small_model": "mock/none"});
    for (wanted, config, model) in [
        (None, json!({}), None),
        (None, text.clone(), None),
        (Some(true), text, Some("m1")),
        (None, small.clone(), Some("m2")),
        (None, own, Some("m2")),
        (Some(false), small, None),
        (Some(true), off, None),
        (Some(true), unknown, None),
    ] {
        let f = Fixture::with(move |options| options.titles = wanted).await;
        f.project.write("opencode.json", &config.to_string());
        answers(&f, || Reply::says("T"));
        let session = f.session().await;
        f.ask(&session, "Hi").await;
        f.idle().await;
        let models: Vec<String> = titles(&f)
            .iter()
            .map(|it| it.model.id.to_string())
            .collect();
        assert_eq!(models, Vec::from_iter(model), "{wanted:?} {config}");
    }
}
