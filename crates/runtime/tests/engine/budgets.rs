//! Budgets of sessions and of a host.

use opencode_llm::Usage;
use opencode_runtime::{BudgetOptions, CreateSession, UpdateSession};
use opencode_schema::id::SessionID;
use opencode_schema::session::SessionBudget;
use opencode_testkit::{Fixture, Reply};
use serde_json::json;

const NONE: SessionBudget = SessionBudget {
    tokens: None,
    cost: None,
    turns: None,
    duration_ms: None,
};

async fn limited(f: &Fixture, budget: SessionBudget) -> SessionID {
    let request = CreateSession {
        budget: Some(budget),
        ..f.new_session()
    };
    f.create(request).await.id
}

async fn set(f: &Fixture, session: &SessionID, budget: SessionBudget) {
    let request = UpdateSession {
        budget: Some(budget),
        ..UpdateSession::default()
    };
    f.runtime().update_session(session, request).await.unwrap();
}

fn used(input: u64, output: u64) -> Usage {
    Usage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        ..Usage::default()
    }
}

/// A call whose result the model needs.
fn looks(at: u32) -> Reply {
    let pattern = format!("{at}*");
    Reply::new()
        .call(&format!("c{at}"), "glob", json!({"pattern": pattern}))
        .usage(used(100, 10))
        .tool_calls()
}

#[tokio::test]
async fn a_session_pauses_between_two_turns_and_continues_with_a_larger_budget() {
    let mut f = Fixture::open().await;
    let session = limited(
        &f,
        SessionBudget {
            turns: Some(2),
            ..NONE
        },
    )
    .await;
    f.model.reply(looks(1)).reply(looks(2));
    f.prompt(&session, "Look").await;
    f.wait(&session).await;
    let events = f.events(&session).await;
    assert_eq!(events.last().unwrap(), "paused turns 2.0 of 2.0");
    let paused = &f.payloads(&session, "paused").await[0];
    assert_eq!(paused["budgetID"], json!(session.as_str()));
    assert!(
        paused["message"]
            .as_str()
            .unwrap()
            .contains("sessions.update")
    );

    // The pause is durable: neither a new host nor another run makes a turn.
    f.reopen().await;
    assert_eq!(f.interrupted().await, [], "a pause is not a crash");
    f.resume(&session).await;
    f.wait(&session).await;
    assert_eq!(f.model.requests().len(), 2);

    set(
        &f,
        &session,
        SessionBudget {
            turns: Some(3),
            ..NONE
        },
    )
    .await;
    f.model.reply(Reply::says("Two files."));
    f.resume(&session).await;
    f.wait(&session).await;
    assert_eq!(f.events(&session).await.last().unwrap(), "step.ended stop");
}

#[tokio::test]
async fn a_prompt_beyond_the_budget_stays_pending() {
    let f = Fixture::open().await;
    let session = limited(
        &f,
        SessionBudget {
            tokens: Some(110),
            ..NONE
        },
    )
    .await;
    f.model
        .reply(Reply::new().text("One").usage(used(100, 10)).stop());
    f.ask(&session, "First").await;
    f.prompt(&session, "Second").await;
    f.wait(&session).await;
    assert_eq!(
        f.events(&session).await.last().unwrap(),
        "paused tokens 110.0 of 110.0"
    );
    assert_eq!(f.inbox(&session).await.len(), 1);
    set(&f, &session, NONE).await;
    assert_eq!(f.info(&session).await.budget, None);
    f.model.reply(Reply::says("Two"));
    f.resume(&session).await;
    f.wait(&session).await;
    assert_eq!(f.inbox(&session).await.len(), 0);
}

#[tokio::test]
async fn costs_count_and_need_prices() {
    let f = Fixture::open().await;
    let budget = SessionBudget {
        cost: Some(0.003),
        ..NONE
    };
    let session = limited(&f, budget).await;
    // 1,000 tokens of input at 3 for a million.
    f.model
        .reply(Reply::new().text("One").usage(used(1000, 0)).stop());
    f.ask(&session, "First").await;
    f.prompt(&session, "Second").await;
    f.wait(&session).await;
    assert_eq!(
        f.events(&session).await.last().unwrap(),
        "paused cost 0.003 of 0.003"
    );

    let unpriced = f.session_on("m2").await;
    set(&f, &unpriced, budget).await;
    f.prompt(&unpriced, "Hi").await;
    f.wait(&unpriced).await;
    let paused = &f.payloads(&unpriced, "paused").await[0];
    assert!(
        paused["message"].as_str().unwrap().contains("no prices"),
        "{paused}"
    );
    assert_eq!(f.model.requests().len(), 1);
}

#[tokio::test]
async fn the_budget_of_the_host_holds_for_all_its_sessions() {
    let host = SessionBudget {
        turns: Some(1),
        ..NONE
    };
    let f = Fixture::with(move |options| {
        options.budgets = BudgetOptions {
            host,
            session: NONE,
        }
    })
    .await;
    let (one, other) = (f.session().await, f.session().await);
    f.model.reply(Reply::says("Hello"));
    f.ask(&one, "Hi").await;
    f.prompt(&other, "Hi").await;
    f.wait(&other).await;
    let paused = &f.payloads(&other, "paused").await[0];
    assert_eq!(
        (&paused["scope"], paused.get("budgetID")),
        (&json!("host"), None)
    );
    f.runtime()
        .set_host_budget(SessionBudget {
            turns: Some(2),
            ..NONE
        })
        .unwrap();
    f.model.reply(Reply::says("Hello"));
    f.resume(&other).await;
    f.wait(&other).await;
    assert_eq!(f.events(&other).await.last().unwrap(), "step.ended stop");
}

#[tokio::test]
async fn sessions_without_a_budget_have_that_of_the_host_for_each() {
    let session = SessionBudget {
        turns: Some(1),
        ..NONE
    };
    let f = Fixture::with(move |options| {
        options.budgets = BudgetOptions {
            host: NONE,
            session,
        }
    })
    .await;
    let (one, free) = (
        f.session().await,
        limited(
            &f,
            SessionBudget {
                turns: Some(5),
                ..NONE
            },
        )
        .await,
    );
    f.model.otherwise(|_| Reply::says("Hello"));
    for session in [&one, &free] {
        f.ask(session, "First").await;
        f.prompt(session, "Second").await;
        f.wait(session).await;
    }
    assert_eq!(
        f.events(&one).await.last().unwrap(),
        "paused turns 1.0 of 1.0"
    );
    assert_eq!(f.events(&free).await.last().unwrap(), "step.ended stop");
}

#[tokio::test]
async fn impossible_limits_are_refused_and_nothing_is_stored() {
    let f = Fixture::open().await;
    let session = f.session().await;
    for (budget, problem) in [
        (
            SessionBudget {
                cost: Some(-1.0),
                ..NONE
            },
            "budget.cost",
        ),
        (
            SessionBudget {
                tokens: Some(u64::MAX),
                ..NONE
            },
            "budget.tokens",
        ),
        (
            SessionBudget {
                duration_ms: Some(u64::MAX),
                ..NONE
            },
            "budget.durationMs",
        ),
    ] {
        let request = UpdateSession {
            budget: Some(budget),
            ..UpdateSession::default()
        };
        let error = f
            .runtime()
            .update_session(&session, request)
            .await
            .unwrap_err();
        assert!(error.to_string().starts_with(problem), "{error}");
        assert!(f.runtime().set_host_budget(budget).is_err());
    }
    assert_eq!(f.events(&session).await, [""; 0]);
}
