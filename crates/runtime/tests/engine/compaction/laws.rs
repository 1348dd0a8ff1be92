//! Properties that hold for all answers of models to turns and to requests for a summary.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use opencode_llm::{ErrorKind, LlmError, LlmErrorReason};
use opencode_testkit::{Reply, compact};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// The answer of the model to one request.
#[derive(Debug, Clone, Copy)]
enum Says {
    /// A text with this number of tokens.
    Text(usize),
    Calls,
    Nothing,
    Breaks,
    /// Refuses the request because of its size: true fails the exchange, false reports the error in
    /// the stream.
    Overflow(bool),
}

/// One step of a story.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// A prompt with this number of tokens in addition to its name.
    Ask(usize),
    Compact,
    Reopen,
}

impl Says {
    fn reply(self, number: usize) -> Reply {
        match self {
            Self::Text(tokens) => Reply::says(&format!("A{number} {}", filler("said", tokens))),
            Self::Calls => Reply::calls(&format!("c{number}"), "echo", json!({"n": number})),
            Self::Nothing => Reply::says(""),
            Self::Breaks => {
                let lost = LlmError::invalid_output("mock", "lost");
                Reply::new().begin_text().delta("Ha").fail(lost)
            }
            Self::Overflow(true) => Reply::fails(LlmError::new(
                LlmErrorReason::InvalidRequest {
                    parameter: None,
                    context_overflow: true,
                },
                "too long",
            )),
            Self::Overflow(false) => {
                Reply::new().provider_error("too long", ErrorKind::ContextOverflow)
            }
        }
    }
}

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![
        6 => prop_oneof![Just(10), Just(500), Just(3_000)].prop_map(Says::Text),
        2 => Just(Says::Calls),
        1 => Just(Says::Nothing),
        1 => Just(Says::Breaks),
        2 => any::<bool>().prop_map(Says::Overflow),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => prop_oneof![Just(0), Just(1_000), Just(4_000)].prop_map(Act::Ask),
        1 => Just(Act::Compact),
        1 => Just(Act::Reopen),
    ]
}

async fn play(answers: Vec<Says>, story: Vec<Act>) {
    let (mut f, session) = with(json!({"limit": {"context": 9_000, "output": OUTPUT}})).await;
    f.tool("echo", |input, _| async { opencode_testkit::output(input) });
    let plan = Arc::new(Mutex::new((VecDeque::from(answers), 0)));
    f.model.otherwise(move |_| {
        let mut plan = plan.lock().unwrap();
        plan.1 += 1;
        let says = plan.0.pop_front().unwrap_or(Says::Text(10));
        says.reply(plan.1)
    });
    for (number, act) in story.into_iter().enumerate() {
        let (requests, events) = (f.model.requests().len(), f.events(&session).await.len());
        match act {
            Act::Reopen => f.reopen().await,
            Act::Compact => {
                // The outcome is not relevant here: the caller receives an error if there is no summary.
                let compacted = f.within("compact", f.runtime().compact(&session)).await;
                drop(compacted);
                let events = f.events_after(&session, events).await;
                check_summaries(f.model.requests().len() - requests, &events);
            }
            Act::Ask(tokens) => {
                let name = format!("P{number}.");
                let text = format!("{} {name}", filler("ask", tokens));
                f.ask(&session, &text).await;
                let asked = f.model.requests().split_off(requests);
                check(&name, &asked, &f.events_after(&session, events).await);
            }
        }
    }
    // Every promoted input is a message, and no input is pending.
    let prompted = f.payloads(&session, "prompted").await.len();
    let messages = f.messages(&session).await;
    let is_user = |it: &&SessionMessage| matches!(it, SessionMessage::User { .. });
    assert_eq!(messages.iter().filter(is_user).count(), prompted);
    assert_eq!(f.runtime().inbox(&session).await.unwrap(), []);
}

/// Checks the requests and events of one prompt.
fn check(name: &str, requests: &[LlmRequest], events: &[String]) {
    let (mut turns, mut summaries, mut is_summed_up) = (0, 0, false);
    for request in requests {
        let is_said = compact::messages(request)
            .iter()
            .any(|it| it.contains(name));
        if request.system.is_empty() {
            summaries += 1;
            is_summed_up |= is_said;
            assert_eq!((request.messages.len(), request.tools.len()), (1, 0));
            continue;
        }
        turns += 1;
        // The prompt is in the request verbatim until a summary contains it.
        assert!(
            is_said || is_summed_up,
            "{name} is not in turn {turns}: {events:#?}"
        );
    }
    let count = |wanted: &str| events.iter().filter(|it| it.starts_with(wanted)).count();
    check_summaries(summaries, events);
    // Each step ends once. A turn that was refused and made again has only one step.
    let steps = count("step.started");
    assert_eq!(
        steps,
        count("step.ended") + count("step.failed"),
        "{events:#?}"
    );
    let again = turns - steps;
    assert!(again <= steps, "{events:#?}");
    // At most one compaction for the estimate and one for a refusal.
    assert!(count("compaction.started") <= 2 * steps, "{events:#?}");
    let last = events.last().expect("there is an outcome");
    assert!(
        last.starts_with("step.ended") || last.starts_with("step.failed"),
        "{events:#?}"
    );
}

/// Checks the number of requests for summaries against the events.
fn check_summaries(summaries: usize, events: &[String]) {
    let begins = |it: &&String| it.starts_with("compaction.started");
    let started = events.iter().filter(begins).count();
    // A compaction makes one request for each part and each refusal.
    assert!((started..=started * 72).contains(&summaries), "{events:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_input_gets_its_turn_and_no_turn_is_compacted_repeatedly(
        answers in prop::collection::vec(says(), 0..30),
        story in prop::collection::vec(act(), 0..14),
    ) {
        let threads = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        threads.block_on(play(answers, story));
    }
}
