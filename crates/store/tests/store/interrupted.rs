//! Interrupted sessions: detection, state, and the number of automatic recoveries.

use opencode_schema::event::SessionEvent;
use opencode_store::{Draft, Interrupted, InterruptedState, Transaction};
use serde_json::{Value, json};

use crate::harness::{
    Bench, admitted, event, message_id, of_a, open, prompted, step_started, with,
};

use InterruptedState::{ContinuationDue, InputUnanswered, StepOpen};

fn input(id: &str) -> [SessionEvent; 2] {
    [admitted(id, "x", "steer"), prompted(id, "x", "steer")]
}

fn step_ended(message: &str) -> SessionEvent {
    let tokens = json!({"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}});
    let message = json!({"assistantMessageID": message});
    let ended = json!({"finish": "tool-calls", "cost": 0.0, "tokens": tokens});
    event("step.ended", with(message, ended))
}

fn error(kind: &str) -> Value {
    let cause = json!({"kind": kind, "retryable": false});
    json!({"type": "unknown", "message": "no", "cause": cause})
}

fn step_failed(kind: &str) -> SessionEvent {
    of_a("step.failed", json!({"error": error(kind)}))
}

fn called(id: &str, executed: bool) -> [SessionEvent; 2] {
    let provider = json!({"executed": executed});
    [
        of_a("tool.input.started", json!({"callID": id, "name": "read"})),
        of_a(
            "tool.called",
            json!({"callID": id, "tool": "read", "input": {}, "provider": provider}),
        ),
    ]
}

fn succeeded(id: &str) -> SessionEvent {
    let provider = json!({"executed": false});
    of_a(
        "tool.success",
        json!({"callID": id, "structured": {}, "content": [], "provider": provider}),
    )
}

fn failed(id: &str, error: &Value) -> SessionEvent {
    let provider = json!({"executed": false});
    of_a(
        "tool.failed",
        json!({"callID": id, "error": error, "provider": provider}),
    )
}

fn retried(attempt: u32) -> SessionEvent {
    let error = json!({"message": "the process ended", "isRetryable": true});
    event("retried", json!({"attempt": attempt, "error": error}))
}

fn switched(id: &str) -> SessionEvent {
    event("agent.switched", json!({"messageID": id, "agent": "plan"}))
}

fn reverted_to(id: &str) -> SessionEvent {
    event("revert.committed", json!({"messageID": id}))
}

/// Joins the parts of a history.
macro_rules! history {
    ($($events:expr),* $(,)?) => {{
        let mut history: Vec<SessionEvent> = Vec::new();
        $( history.extend(IntoIterator::into_iter($events)); )*
        history
    }};
}

/// Returns turns after `msg_u` that ended with a completed call. The last one is `msg_a`.
fn turns(count: usize) -> Vec<SessionEvent> {
    let mut turns = Vec::new();
    for at in 1..count {
        let id = format!("msg_t{at}");
        turns.extend([step_started(&id), step_ended(&id)]);
    }
    turns.push(step_started("msg_a"));
    turns.extend(called("c", false));
    turns.extend([succeeded("c"), step_ended("msg_a")]);
    turns
}

async fn interrupted(bench: &Bench) -> Vec<Interrupted> {
    bench.store.read(|db| db.interrupted()).await.unwrap()
}

/// Returns the interruption of a session with this history: its state, and the message that shows
/// it with its sequence. The entries have times from 10 on.
async fn of(events: Vec<SessionEvent>) -> Option<(InterruptedState, String, u64)> {
    let (bench, session) = Bench::with_session("ses_a").await;
    for event in events {
        bench.append(&session, 10, event).await;
    }
    let mut found = interrupted(&bench).await;
    assert!(found.len() < 2);
    let found = found.pop()?;
    assert_eq!((&found.session_id, found.time), (&session.info.id, 10));
    Some((found.state, found.message_id.to_string(), found.seq.into()))
}

#[tokio::test]
async fn an_interrupted_activity_is_found_by_the_end_of_its_history() {
    let user = || input("msg_u");
    let start = || [step_started("msg_a")];
    let text = of_a("text.started", json!({"textID": "t"}));
    let unanswered = Some((InputUnanswered, "msg_u".to_owned(), 2));
    let open = Some((StepOpen, "msg_a".to_owned(), 3));
    let due = Some((ContinuationDue, "msg_a".to_owned(), 3));
    let ends = || [step_ended("msg_a")];
    let plain = json!({"type": "unknown", "message": "no"});
    for (name, events, expected) in [
        ("nothing happened", vec![], None),
        (
            "nothing was promoted",
            history!([admitted("msg_u", "x", "steer")]),
            None,
        ),
        ("promoted", history!(user()), unanswered.clone()),
        (
            "promoted, then a switch",
            history!(user(), [switched("msg_g")]),
            unanswered.clone(),
        ),
        (
            "promoted, more pending",
            history!(user(), [admitted("msg_v", "x", "steer")]),
            unanswered,
        ),
        ("begun", history!(user(), start()), open.clone()),
        (
            "begun, a part open",
            history!(user(), start(), [text]),
            open.clone(),
        ),
        (
            "begun, a call running",
            history!(user(), start(), called("c", false)),
            open.clone(),
        ),
        (
            "begun, a call failed by the next drain",
            history!(
                user(),
                start(),
                called("c", false),
                [failed("c", &error("interrupted"))]
            ),
            open,
        ),
        ("answered", history!(user(), start(), ends()), None),
        (
            "failed",
            history!(user(), start(), [step_failed("transport")]),
            None,
        ),
        (
            "interrupted",
            history!(user(), start(), [step_failed("interrupted")]),
            None,
        ),
        (
            "ended with a result",
            history!(
                user(),
                start(),
                called("c", false),
                [succeeded("c")],
                ends()
            ),
            due.clone(),
        ),
        (
            "ended with a failed call",
            history!(
                user(),
                start(),
                called("c", false),
                [failed("c", &error("tool"))],
                ends()
            ),
            due.clone(),
        ),
        (
            "ended with a failure without a cause",
            history!(
                user(),
                start(),
                called("c", false),
                [failed("c", &plain)],
                ends()
            ),
            due.clone(),
        ),
        (
            "ended, then a switch and a recovery",
            history!(
                user(),
                start(),
                called("c", false),
                [succeeded("c")],
                ends(),
                [switched("msg_g"), retried(1)]
            ),
            due.clone(),
        ),
        (
            "ended after its call was interrupted",
            history!(
                user(),
                start(),
                called("c", false),
                called("d", false),
                [succeeded("c"), failed("d", &error("interrupted"))],
                ends()
            ),
            None,
        ),
        (
            "ended with a call that was never settled, which the next drain does",
            history!(
                user(),
                start(),
                called("c", false),
                ends(),
                [failed("c", &error("interrupted"))]
            ),
            due.clone(),
        ),
        (
            "ended with calls of the provider only",
            history!(
                user(),
                start(),
                called("c", true),
                [failed("c", &error("interrupted"))],
                ends()
            ),
            None,
        ),
        (
            "ended with calls of both, of which the provider's failed",
            history!(
                user(),
                start(),
                called("c", true),
                called("d", false),
                [failed("c", &error("interrupted")), succeeded("d")],
                ends()
            ),
            due,
        ),
        (
            "ended with a call whose arguments never came",
            history!(
                user(),
                start(),
                [of_a(
                    "tool.input.started",
                    json!({"callID": "c", "name": "x"})
                )],
                ends()
            ),
            None,
        ),
        (
            "left open, then prompted again",
            history!(user(), start(), input("msg_v")),
            Some((InputUnanswered, "msg_v".to_owned(), 5)),
        ),
        (
            "left open, prompted again, answered",
            history!(
                user(),
                start(),
                input("msg_v"),
                [step_started("msg_b"), step_ended("msg_b")]
            ),
            None,
        ),
    ] {
        assert_eq!(of(events).await, expected, "{name}");
    }
}

#[tokio::test]
async fn the_number_of_turns_ends_no_activity() {
    let due = |seq| Some((ContinuationDue, "msg_a".to_owned(), seq));
    let open = |seq| Some((StepOpen, "msg_a".to_owned(), seq));
    let begun = |count: usize| {
        let mut events = turns(count);
        events.truncate(2 * count - 1);
        events
    };
    for (name, events, expected) in [
        ("24 turns", history!(input("msg_u"), turns(24)), due(49)),
        // The number of turns alone ends nothing, because agents may allow more.
        ("30 turns", history!(input("msg_u"), turns(30)), due(61)),
        (
            "24 turns, one open",
            history!(input("msg_u"), begun(24)),
            open(49),
        ),
        (
            "25 turns, one open",
            history!(input("msg_u"), begun(25)),
            open(51),
        ),
        (
            "30 turns, one open",
            history!(input("msg_u"), begun(30)),
            open(61),
        ),
        (
            "3 turns, an input, 24 turns",
            history!(
                input("msg_u"),
                [
                    step_started("msg_1"),
                    step_started("msg_2"),
                    step_started("msg_3")
                ],
                input("msg_v"),
                turns(24)
            ),
            due(54),
        ),
    ] {
        assert_eq!(of(events).await, expected, "{name}");
    }
}

#[tokio::test]
async fn a_reverted_history_is_not_interrupted() {
    let synthetic = event("synthetic", json!({"messageID": "msg_s", "text": "x"}));
    let before = || history!([synthetic.clone()], input("msg_u"));
    for (name, events, expected) in [
        (
            "the input is gone",
            history!(before(), [reverted_to("msg_s")]),
            None,
        ),
        (
            "the input is gone, and the one before has no answer",
            history!(before(), input("msg_v"), [reverted_to("msg_u")]),
            None,
        ),
        (
            "the answer is gone, the input stays",
            history!(before(), [step_started("msg_a"), reverted_to("msg_u")]),
            None,
        ),
        (
            "the turn after a result is gone",
            history!(
                before(),
                turns(1),
                [step_started("msg_b"), reverted_to("msg_a")]
            ),
            None,
        ),
        (
            "another input came after",
            history!(before(), [reverted_to("msg_s")], input("msg_v")),
            Some((InputUnanswered, "msg_v".to_owned(), 6)),
        ),
    ] {
        assert_eq!(of(events).await, expected, "{name}");
    }
}

#[tokio::test]
async fn all_interrupted_sessions_are_listed_after_a_reopening() {
    let bench = Bench::new().await;
    let mut sessions = Vec::new();
    for at in 0..5 {
        sessions.push(bench.session(&format!("ses_{at}")).await);
    }
    // One intact session, one deleted session, and three interrupted sessions.
    let info = crate::harness::created("ses_3", "/project");
    let SessionEvent::SessionCreated(info) = info else {
        panic!("not a creation")
    };
    for (at, events) in [
        (0, history!(input("msg_0"))),
        (
            1,
            history!(input("msg_1"), [step_started("msg_a"), step_ended("msg_a")]),
        ),
        (2, history!(input("msg_2"), [step_started("msg_2a")])),
        (
            3,
            history!(input("msg_3"), [event("session.deleted", json!(info))]),
        ),
        (4, history!(input("msg_4"))),
    ] {
        for (time, event) in events.into_iter().enumerate() {
            // A promotion has the time of its admission.
            bench
                .append(&sessions[at], (10 * at + time / 2) as i64, event)
                .await;
        }
    }
    let of = |at: usize, state, id: &str, seq, time| Interrupted {
        session_id: sessions[at].info.id.clone(),
        state,
        message_id: message_id(id),
        seq,
        time,
    };
    let expected = [
        of(0, InputUnanswered, "msg_0", 2.into(), 0),
        of(2, StepOpen, "msg_2a", 3.into(), 21),
        of(4, InputUnanswered, "msg_4", 2.into(), 40),
    ];
    assert_eq!(interrupted(&bench).await, expected);
    let path = bench.path();
    bench.store.close().await;
    let store = open(&path).await.unwrap();
    assert_eq!(store.read(|db| db.interrupted()).await.unwrap(), expected);
}

#[tokio::test]
async fn recoveries_are_counted_until_a_step_ends() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let other = bench.session("ses_b").await;
    for (event, expected) in [
        (switched("msg_g"), 0),
        (retried(1), 1),
        (retried(2), 2),
        (step_started("msg_a"), 2),
        (step_failed("transport"), 2),
        (retried(3), 3),
        (step_started("msg_b"), 3),
        // A step of another session is no progress of this one.
        (step_ended("msg_nobody"), 3),
        (step_ended("msg_b"), 0),
        (retried(1), 1),
        (reverted_to("msg_g"), 1),
    ] {
        bench.append(&session, 5, event.clone()).await;
        for (key, expected) in [(session.key, expected), (other.key, 0)] {
            let read = bench.store.read(move |db| db.retries_since_progress(key));
            assert_eq!(read.await.unwrap(), expected, "{event:?}");
        }
    }
}

/// If a provider pauses its answer, the next request is due, as after tool calls.
#[tokio::test]
async fn a_paused_answer_continues_unless_a_user_stopped_it() {
    for (said, stopped, expected) in [
        (json!({"pauseTurn": true}), false, true),
        (json!({"pauseTurn": true}), true, false),
        (json!({"pauseTurn": false}), false, false),
        (json!({"pauseTurn": "true"}), false, false),
        // No more turns are allowed.
        (json!({"pauseTurn": true, "turnLimit": 25}), false, false),
        (json!({"prefix": {}}), false, false),
    ] {
        let (bench, session) = Bench::with_session("ses_a").await;
        for event in history!(input("msg_u"), [step_started("msg_a")]) {
            bench.append(&session, 10, event).await;
        }
        let mut ended = Draft::new(10, step_ended("msg_a"));
        ended.metadata = said.as_object().cloned();
        let id = session.info.id.clone();
        let write = move |it: &mut Transaction<'_>| it.append(&id, None, ended);
        bench.store.write(write).await.unwrap();
        if stopped {
            let payload = event("interrupted", json!({}));
            bench.append(&session, 10, payload).await;
        }
        let found = interrupted(&bench).await;
        let states: Vec<_> = found.iter().map(|it| it.state).collect();
        let due = Vec::from_iter(expected.then_some(ContinuationDue));
        assert_eq!(states, due, "{said} {stopped}");
    }
}
