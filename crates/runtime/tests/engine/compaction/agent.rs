//! Summaries written by the agent `compaction`.

use opencode_testkit::Reply;
use serde_json::json;

use super::*;

/// Configures the agent `compaction`. The window of the model `m2` differs from that of the
/// session's model.
fn agent(f: &Fixture, agent: &Value) {
    let limits = |context: u64| json!({"limit": {"context": context, "output": OUTPUT}});
    let config = json!({
        "agents": {"build": {"system": "Build."}, "compaction": agent},
        "compaction": {"buffer": 8_000, "keep": {"tokens": KEEP}},
        "provider": {"mock": {"models": {"m1": limits(WINDOW), "m2": limits(10 * WINDOW)}}},
    });
    f.project.write("opencode.json", &config.to_string());
}

#[tokio::test]
async fn a_configured_agent_writes_the_summary() {
    let f = Fixture::open().await;
    let request = json!({"headers": {"X-Kind": "summary"}, "body": {"temperature": 0.5, "x": 1}});
    let own = json!({"model": "mock/m2", "system": "Sum up.", "request": request});
    agent(&f, &own);
    let session = f.session().await;
    grown(&f, &session).await;
    f.model
        .reply(Reply::says("Summary."))
        .reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    let requests = f.model.requests();
    let [first, summary, turn] = &requests[..] else {
        panic!("{} requests", requests.len())
    };
    let texts: Vec<_> = summary.system.iter().map(|part| &*part.text).collect();
    assert_eq!((&*summary.model.id, texts), ("m2", vec!["Sum up."]));
    assert_eq!(summary.generation.temperature, Some(0.5));
    assert_eq!(summary.generation.max_tokens, Some(OUTPUT));
    assert_eq!(summary.http.body.get("x"), Some(&json!(1)));
    let header = ("X-Kind".to_owned(), "summary".to_owned());
    assert!(summary.http.headers.contains(&header));
    assert!(!turn.http.headers.contains(&header));
    assert_eq!([&*first.model.id, &*turn.model.id], ["m1", "m1"]);
    let by_agent = [first, summary, turn].map(|request| request.is_by_agent);
    assert_eq!(by_agent, [false, true, false]);
}

#[tokio::test]
async fn an_agent_with_only_a_text_keeps_model_and_settings_of_the_session() {
    let f = Fixture::open().await;
    agent(&f, &json!({"system": "Sum up."}));
    let session = f.session().await;
    grown(&f, &session).await;
    f.model
        .reply(Reply::says("Summary."))
        .reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    let requests = f.model.requests();
    let texts: Vec<_> = requests[1].system.iter().map(|part| &*part.text).collect();
    assert_eq!((&*requests[1].model.id, texts), ("m1", vec!["Sum up."]));
    assert_eq!(requests[1].http.headers, requests[0].http.headers);
}

#[tokio::test]
async fn an_unusable_model_is_not_replaced() {
    let f = Fixture::open().await;
    agent(&f, &json!({"model": "mock/none"}));
    let session = f.session().await;
    grown(&f, &session).await;
    let compacted = f.within("compact", f.runtime().compact(&session)).await;
    let error = compacted.unwrap_err().to_string();
    let expected = "the model of the agent compaction cannot be used: ";
    assert!(error.contains(expected), "{error}");
    // The turn runs without a checkpoint.
    f.model.reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    assert_eq!(f.model.requests().len(), 2);
    let events = f.events_after(&session, GROWN).await;
    assert!(
        events.iter().all(|it| !it.starts_with("compaction.")),
        "{events:#?}"
    );
}
