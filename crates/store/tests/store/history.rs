//! Messages that a read selects: the active history, changes, pages, and unsettled calls.

use opencode_schema::event::SessionEvent;
use opencode_schema::message::SessionMessage;
use opencode_store::{Abort, Anchored, Epoch, OpenCall, Order, Sequence, SessionRow};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Bench, event, message_id, of_a, prompted, step_started, with};

type Messages = Vec<(Sequence, SessionMessage)>;

async fn all(bench: &Bench, session: &SessionRow) -> Messages {
    let key = session.key;
    let read = bench
        .store
        .read(move |db| db.messages(key, Order::Ascending, None, usize::MAX));
    read.await.unwrap()
}

/// Returns an event that creates one message, of a kind that affects the selection.
fn message(kind: usize, at: usize) -> SessionEvent {
    let id = format!("msg_{at}");
    match kind {
        0 => prompted(&id, "x", "steer"),
        1 => event("context.updated", json!({"messageID": id, "text": "news"})),
        2 => step_started(&id),
        _ => event(
            "compaction.ended",
            json!({"messageID": id, "reason": "auto", "text": "t", "recent": "r"}),
        ),
    }
}

fn is_system(message: &SessionMessage) -> bool {
    matches!(message, SessionMessage::System { .. })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn the_active_history_starts_at_the_checkpoint_and_the_epoch(
        kinds in prop::collection::vec(prop::sample::select(vec![0, 0, 1, 1, 1, 2, 3]), 0..12),
        baseline in prop::option::of((0..13_u64).prop_map(Sequence::from)),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (bench, session) = Bench::with_session("ses_a").await;
            bench.all(&session, 11, kinds.iter().enumerate().map(|(at, kind)| message(*kind, at))).await;
            let key = session.key;
            if let Some(baseline_seq) = baseline {
                let epoch = Epoch { baseline: "b".into(), snapshot: "{}".into(), baseline_seq };
                let write = bench.store.write(move |transaction| {
                    transaction.set_epoch(key, &epoch)?;
                    Ok::<_, Abort<&'static str>>(())
                });
                write.await.unwrap();
            }
            let mut expected = all(&bench, &session).await;
            let is_checkpoint = |message: &SessionMessage| matches!(message, SessionMessage::Compaction { .. });
            let checkpoint = expected.iter().rfind(|(_, it)| is_checkpoint(it)).map(|(seq, _)| *seq);
            expected.retain(|(seq, message)| {
                let is_news = is_system(message) && baseline.is_some_and(|baseline| *seq > baseline);
                let is_recent = checkpoint.is_none_or(|checkpoint| *seq >= checkpoint);
                (is_recent || is_news) && (baseline.is_none() || !is_system(message) || is_news)
            });
            let history = bench.store.read(move |db| db.history(key));
            assert_eq!(history.await.unwrap(), expected);
        });
    }

    #[test]
    fn pages_in_either_order_are_slices_of_the_complete_list(
        count in 0..6_usize, at in (0..8_u64).prop_map(Sequence::from), before: bool, limit in 0..7_usize, descending: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (bench, session) = Bench::with_session("ses_a").await;
            bench.all(&session, 11, (0..count).map(|at| message(0, at))).await;
            let mut whole = all(&bench, &session).await;
            assert!(whole.iter().map(|(seq, _)| *seq).eq((1..=count as u64).map(Sequence::from)));
            let order = if descending { Order::Descending } else { Order::Ascending };
            if descending {
                whole.reverse();
            }
            let is_earlier = |seq: Sequence| if descending { seq > at } else { seq < at };
            let mut expected = whole.clone();
            expected.retain(|(seq, _)| *seq != at && is_earlier(*seq) == before);
            let expected = match before {
                true => expected.split_off(expected.len().saturating_sub(limit)),
                false => expected.into_iter().take(limit).collect(),
            };
            let key = session.key;
            let page = bench.store.read(move |db| db.messages(key, order, Some(&Anchored { at, before }), limit));
            assert_eq!(page.await.unwrap(), expected);
            let first = bench.store.read(move |db| db.messages(key, order, None, limit)).await;
            assert_eq!(first.unwrap(), whole[..limit.min(count)]);
        });
    }
}

#[tokio::test]
async fn a_page_that_would_be_too_large_keeps_the_entries_next_to_its_anchor() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let text = "x".repeat(1000);
    let events = (1..=8).map(|at| prompted(&format!("msg_{at}"), &text, "steer"));
    bench.all(&session, 11, events).await;
    let (up, down) = (Order::Ascending, Order::Descending);
    for (order, anchor, limit, bytes, expected) in [
        (up, None, 8, 100_000, vec![1, 2, 3, 4, 5, 6, 7, 8]),
        (up, None, 8, 5_000, vec![1, 2, 3, 4]),
        (up, None, 8, 2_500, vec![1, 2]),
        (up, None, 8, 1, vec![1]),
        (up, None, 0, 1, vec![]),
        (down, None, 8, 5_000, vec![8, 7, 6, 5]),
        (up, Some((7, true)), 6, 3_500, vec![4, 5, 6]),
        (up, Some((2, false)), 6, 3_500, vec![3, 4, 5]),
        (down, Some((2, true)), 6, 3_500, vec![5, 4, 3]),
        (down, Some((7, false)), 6, 3_500, vec![6, 5, 4]),
    ] {
        let key = session.key;
        let anchor = anchor.map(|(at, before): (u64, bool)| Anchored {
            at: Sequence::from(at),
            before,
        });
        let case = format!("{order:?} {anchor:?} {limit} {bytes}");
        let page = bench
            .store
            .read(move |db| db.messages_within(key, order, anchor.as_ref(), limit, bytes));
        let messages = page.await.unwrap();
        let found: Vec<u64> = messages.iter().map(|(seq, _)| (*seq).into()).collect();
        assert_eq!(found, expected, "{case}");
    }
}

#[tokio::test]
async fn the_changes_are_exactly_the_differences() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let provider = json!({"executed": false});
    let call = json!({"callID": "c"});
    let events = [
        prompted("msg_u", "x", "steer"),
        step_started("msg_a"),
        of_a("text.started", json!({"textID": "t"})),
        of_a("text.ended", json!({"textID": "t", "text": "x"})),
        of_a(
            "tool.input.started",
            with(call.clone(), json!({"name": "read"})),
        ),
        of_a(
            "tool.called",
            with(
                call.clone(),
                json!({"tool": "read", "input": {}, "provider": provider}),
            ),
        ),
        event(
            "shell.started",
            json!({"messageID": "msg_s", "callID": "c", "command": "ls"}),
        ),
        of_a(
            "tool.success",
            with(
                call,
                json!({"structured": {}, "content": [], "provider": provider}),
            ),
        ),
        event("shell.ended", json!({"callID": "c", "output": "o"})),
        event(
            "pruned",
            json!({"calls": [{"assistantMessageID": "msg_a", "callID": "c"}]}),
        ),
        step_started("msg_b"),
    ];
    let mut before = vec![all(&bench, &session).await];
    for (time, event) in (11..).zip(events) {
        bench.append(&session, time, event).await;
        before.push(all(&bench, &session).await);
    }
    let now = before.last().unwrap();
    for (after, before) in before.iter().enumerate() {
        let (key, after) = (session.key, after as u64);
        let changed = bench
            .store
            .read(move |db| db.changed_since(key, after.into()));
        let mut expected = now.clone();
        expected.retain(|message| !before.contains(message));
        assert_eq!(changed.await.unwrap(), expected, "after {after}");
    }
    let key = session.key;
    let none = bench
        .store
        .read(move |db| db.changed_since(key, u64::MAX.into()));
    assert_eq!(none.await.unwrap(), []);
}

#[tokio::test]
async fn one_message_is_found_in_its_session_only() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let other = bench.session("ses_b").await;
    bench
        .append(&session, 5, prompted("msg_1", "x", "steer"))
        .await;
    let found = |session: &SessionRow, id: &str| {
        let (key, id) = (session.key, message_id(id));
        bench.store.read(move |db| db.message(key, &id))
    };
    let message = json!({"type": "user", "id": "msg_1", "time": {"created": 5}, "text": "x"});
    assert_eq!(json!(found(&session, "msg_1").await.unwrap()), message);
    assert_eq!(found(&other, "msg_1").await.unwrap(), None);
    assert_eq!(found(&session, "msg_2").await.unwrap(), None);
}

#[tokio::test]
async fn unsettled_calls_are_found() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let other = bench.session("ses_b").await;
    let of = |message: &str, name: &str, call: &str, more: Value| {
        let base = json!({"assistantMessageID": message, "callID": call});
        event(name, with(base, more))
    };
    let started = |message: &str, call: &str| {
        of(message, "tool.input.started", call, json!({"name": "read"}))
    };
    let called = |message: &str, call: &str, executed: bool| {
        let more = json!({"tool": "read", "input": {}, "provider": {"executed": executed}});
        of(message, "tool.called", call, more)
    };
    let failed = |message: &str, call: &str| {
        let error = json!({"type": "unknown", "message": "no"});
        of(
            message,
            "tool.failed",
            call,
            json!({"error": error, "provider": {"executed": false}}),
        )
    };
    bench
        .all(&other, 5, [step_started("msg_o"), started("msg_o", "c")])
        .await;
    let events = [
        step_started("msg_a"),
        started("msg_a", "pending"),
        started("msg_a", "settled"),
        called("msg_a", "settled", false),
        failed("msg_a", "settled"),
        started("msg_a", "hosted"),
        called("msg_a", "hosted", true),
        of_a("text.started", json!({"textID": "never ended"})),
        step_started("msg_b"),
        started("msg_b", "twice"),
        started("msg_b", "pending"),
        called("msg_b", "pending", false),
        started("msg_b", "twice"),
        called("msg_b", "twice", false),
        failed("msg_b", "twice"),
    ];
    bench.all(&session, 11, events).await;
    let key = session.key;
    let read = || bench.store.read(move |db| db.open_calls(key));
    let open = read().await.unwrap();
    let found: Vec<_> = open
        .iter()
        .map(|call: &OpenCall| {
            let called = call.called.as_ref().map(|(tool, _)| tool.as_str());
            (
                call.message_id.as_str(),
                call.call_id.as_str(),
                called,
                call.provider_executed,
            )
        })
        .collect();
    let expected = [
        ("msg_a", "pending", None, false),
        ("msg_a", "hosted", Some("read"), true),
        ("msg_b", "pending", Some("read"), false),
    ];
    assert_eq!(found, expected);
    for call in &open {
        bench
            .append(
                &session,
                50,
                failed(call.message_id.as_str(), &call.call_id),
            )
            .await;
    }
    assert_eq!(read().await.unwrap(), []);
}
