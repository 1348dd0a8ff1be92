//! The usage of the requests for summaries and titles.

use opencode_llm::Usage;
use opencode_runtime::{BudgetOptions, ForkSession};
use opencode_schema::id::SessionID;
use opencode_schema::session::SessionBudget;
use opencode_testkit::{Fixture, Reply};
use serde_json::{Value, json};

/// 1,000 tokens of input at 3 for a million.
const COST: f64 = 0.003;

fn used() -> Usage {
    Usage {
        input_tokens: Some(1_000),
        ..Usage::default()
    }
}

fn says(text: &str) -> Reply {
    Reply::new().text(text).usage(used()).stop()
}

fn compact_early(f: &Fixture) {
    let config = json!({"compaction": {"auto": false, "keep": {"tokens": 4}}});
    f.project.write("opencode.json", &config.to_string());
}

async fn compact(f: &Fixture, session: &SessionID) {
    let compacted = f.within("compact", f.runtime().compact(session)).await;
    compacted.expect("there is a checkpoint");
}

/// The cost of a session and its input tokens.
async fn spent(f: &Fixture, session: &SessionID) -> (f64, u64) {
    let info = f.info(session).await;
    (info.cost, info.tokens.input)
}

/// The usage in the metadata of the only checkpoint. Its message, as the contract describes it, has none.
async fn summary_usage(f: &Fixture, session: &SessionID) -> Value {
    let messages = f.messages(session).await.into_iter().map(|it| json!(it));
    let mut checkpoints = messages.filter(|it| it["type"] == "compaction");
    let checkpoint = checkpoints.next().expect("there is a checkpoint");
    assert_eq!(checkpoint.get("metadata"), None);
    let stored = f.stored(session).await;
    let name = "session.next.compaction.ended";
    let mut ended = stored
        .iter()
        .filter(|it| it.spec().is_some_and(|it| it.name == name));
    let ended = ended.next().expect("the checkpoint has an event");
    let metadata = ended.metadata.as_deref().unwrap_or("null");
    let mut metadata: Value = serde_json::from_str(metadata).expect("the log holds JSON");
    metadata["usage"].take()
}

#[tokio::test]
async fn a_summary_counts_towards_its_session() {
    let mut f = Fixture::open().await;
    compact_early(&f);
    let session = f.session().await;
    f.model
        .reply(says("A long enough answer"))
        .reply(says("SUMMARY"));
    f.ask(&session, "Hi").await;
    assert_eq!(spent(&f, &session).await, (COST, 1_000));
    compact(&f, &session).await;
    assert_eq!(spent(&f, &session).await, (2.0 * COST, 2_000));
    let usage = summary_usage(&f, &session).await;
    assert_eq!(usage["cost"], COST);
    assert_eq!(usage["tokens"]["input"], 1_000);
    // The sums are part of the stored state, and the copies of a fork cost nothing.
    f.reopen().await;
    assert_eq!(spent(&f, &session).await, (2.0 * COST, 2_000));
    let request = ForkSession {
        session_id: session.clone(),
        message_id: None,
        part_id: None,
    };
    let fork = f.runtime().fork_session(request).await.unwrap();
    assert_eq!(spent(&f, &fork.id).await, (0.0, 0));
}

#[tokio::test]
async fn a_summary_without_reported_usage_has_none() {
    let f = Fixture::open().await;
    compact_early(&f);
    let session = f.session().await;
    f.model
        .reply(Reply::says("A long enough answer"))
        .reply(Reply::says("SUMMARY"));
    f.ask(&session, "Hi").await;
    compact(&f, &session).await;
    assert_eq!(summary_usage(&f, &session).await, Value::Null);
}

#[tokio::test]
async fn a_summary_counts_towards_the_budget_of_the_host_even_if_it_fails() {
    let host = SessionBudget {
        tokens: Some(2_000),
        cost: None,
        turns: None,
        duration_ms: None,
    };
    let f = Fixture::with(move |options| {
        options.budgets = BudgetOptions {
            host,
            ..BudgetOptions::default()
        };
    })
    .await;
    compact_early(&f);
    let session = f.session().await;
    f.model
        .reply(says("A long enough answer"))
        .reply(says("   "));
    f.ask(&session, "Hi").await;
    let compacted = f.within("compact", f.runtime().compact(&session)).await;
    assert!(compacted.is_err());
    f.prompt(&session, "Next").await;
    f.wait(&session).await;
    let last = f.events(&session).await.pop();
    assert_eq!(last.as_deref(), Some("paused tokens 2000.0 of 2000.0"));
}

#[tokio::test]
async fn a_title_counts_towards_its_session() {
    let mut f = Fixture::with(|options| options.titles = Some(true)).await;
    f.model.otherwise(|_| says("A greeting"));
    let session = f.session().await;
    let mut live = f.live();
    f.ask(&session, "Hi").await;
    f.idle().await;
    assert_eq!(f.info(&session).await.title, "A greeting");
    assert_eq!(spent(&f, &session).await, (2.0 * COST, 2_000));
    f.reopen().await;
    f.read_to_end(&mut live).await;
    let told = live.values().iter();
    let updated: Vec<&Value> = told.filter(|it| it["type"] == "session.updated").collect();
    assert_eq!(updated.len(), 1);
    assert_eq!(updated[0]["metadata"]["usage"]["cost"], COST);
}
