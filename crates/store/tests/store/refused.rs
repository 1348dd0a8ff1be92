//! Values that could never be read again are refused before they are stored.

use opencode_schema::Record;
use opencode_schema::bounded::MAX_SAFE_INTEGER;
use opencode_schema::event::{Paused, SessionEvent, StepEnded, ToolCalled};
use opencode_schema::session::{BudgetLimit, BudgetScope, Tokens};
use opencode_store::{Abort, Draft, StoreError};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Bench, append, event, message_id, of_a, step_started};

/// Returns a record with that many levels, including itself.
fn deep(levels: usize) -> Record {
    let inner = (1..levels).fold(json!(1), |inner, _| json!({"a": inner}));
    Record::from_iter([("a".to_owned(), inner)])
}

fn call(input: Record) -> ToolCalled {
    ToolCalled {
        assistant_message_id: message_id("msg_a"),
        call_id: "c".into(),
        tool: "read".into(),
        input,
        provider: Default::default(),
    }
}

fn step_ended(cost: f64) -> StepEnded {
    StepEnded {
        assistant_message_id: message_id("msg_a"),
        finish: "stop".into(),
        cost,
        tokens: Tokens::default(),
        snapshot: None,
        files: None,
    }
}

fn paused(used: f64, allowed: f64) -> Paused {
    Paused {
        scope: BudgetScope::Host,
        budget_id: None,
        limit: BudgetLimit::Cost,
        used,
        allowed,
        message: String::new(),
    }
}

/// Returns an admission with a file whose range has these ends.
fn admitted_with(start: f64, end: f64) -> SessionEvent {
    let file = json!({
        "uri": "file:///a", "mime": "text/plain", "source": {"start": 0.0, "end": 1.0, "text": "a"},
    });
    let payload = json!({
        "messageID": "msg_u", "prompt": {"text": "a", "files": [file]}, "delivery": "steer",
    });
    let SessionEvent::PromptAdmitted(mut admitted) = event("prompt.admitted", payload) else {
        panic!("no admission")
    };
    let source = admitted.prompt.files.as_mut().unwrap()[0]
        .source
        .as_mut()
        .unwrap();
    (source.start, source.end) = (start, end);
    admitted.into()
}

#[tokio::test]
async fn unreadable_values_are_refused() {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench.append(&session, 5, step_started("msg_a")).await;
    bench
        .append(
            &session,
            6,
            of_a("tool.input.started", json!({"callID": "c", "name": "read"})),
        )
        .await;
    let synthetic = event("synthetic", json!({"messageID": "msg_1", "text": "x"}));
    let with_metadata = Draft {
        metadata: Some(deep(200)),
        ..Draft::new(7, synthetic)
    };
    for draft in [
        Draft::new(7, call(deep(200))),
        Draft::new(7, step_ended(f64::NAN)),
        Draft::new(7, step_ended(f64::INFINITY)),
        Draft::new(7, paused(f64::NAN, 1.0)),
        Draft::new(7, paused(1.0, f64::NEG_INFINITY)),
        Draft::new(7, admitted_with(f64::NAN, 1.0)),
        Draft::new(7, admitted_with(0.0, f64::INFINITY)),
        with_metadata,
    ] {
        let id = session.info.id.clone();
        let write = bench
            .store
            .write(move |transaction| transaction.append(&id, None, draft));
        let refused = write.await;
        assert!(
            matches!(refused, Err(Abort::Failed(StoreError::Database(_)))),
            "{refused:?}"
        );
    }
    assert_eq!(bench.events(&session).await.len(), 2);
    // The deepest accepted value can also be read.
    let deepest = (1..200)
        .rev()
        .find(|levels| {
            serde_json::from_str::<Value>(&json!({"input": deep(*levels)}).to_string()).is_ok()
        })
        .unwrap();
    bench.append(&session, 8, call(deep(deepest)).into()).await;
    let messages = bench.messages(&session).await;
    assert_eq!(
        messages[0]["content"][0]["state"]["input"],
        json!(deep(deepest))
    );
    let next = append(
        &bench.store,
        &session.info.id,
        9,
        call(deep(deepest + 1)).into(),
    );
    assert!(next.await.is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn a_cost_is_read_as_written(cost in 0.0..=MAX_SAFE_INTEGER as f64) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (bench, session) = Bench::with_session("ses_a").await;
            bench.append(&session, 5, step_started("msg_a")).await;
            bench.append(&session, 6, step_ended(cost).into()).await;
            let messages = bench.messages(&session).await;
            assert_eq!(messages[0]["cost"].to_string(), json!(cost).to_string());
            assert_eq!(bench.row(&session).await.unwrap().info.cost, cost);
        });
    }
}
