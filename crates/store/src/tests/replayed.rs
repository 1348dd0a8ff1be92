//! Replaying any log into an empty database creates the same rows and exports the same log.

use opencode_schema::event::SessionEvent;
use opencode_schema::id::SessionID;
use proptest::collection::vec;
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::DatabasePath;
use crate::error::Abort;
use crate::format::entry::Draft;
use crate::integer::Sequence;
use crate::open::{Durability, open};
use crate::replay::element::ReplayEvent;
use crate::replay::{ReplayOptions, Replayed};
use crate::tests::{created, event, ids, session_id};
use crate::view::cleaner::Cleaner;
use crate::view::demand::Demands;
use crate::view::reader::Reader;
use crate::view::test_hook::Hook;
use crate::view::transaction::{Appended, Transaction};

/// Two sessions with events chosen by number. Most events are consistent with the earlier ones.
const SESSIONS: [&str; 2] = ["ses_a", "ses_b"];

/// The next event: session, kind, message or call, and variant.
type Step = (usize, usize, usize, usize);

/// Generates prompts and turns often, and mostly the first of each kind, so that many events refer
/// to each other.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind = prop_oneof![2 => 0..3_usize, 6 => 2..17_usize, 2 => 17..34_usize];
    let target = prop_oneof![5 => Just(0), 1 => 0..4_usize];
    vec((0..2_usize, kind, target, 0..4_usize), 1..200)
}

/// Argument texts: one that equals the JSON text of its input, one that differs, and short ones.
const ARGUMENTS: [&str; 4] = [
    r#"{"path":"src/main.rs","limit":200}"#,
    r#"{ "path": "src/main.rs", "limit": 200 }"#,
    "{}",
    "not json at all",
];

fn prompt(at: usize) -> Value {
    match at {
        0 => json!({"text": ""}),
        1 => json!({"text": "a \"quoted\" \u{0} text"}),
        2 => json!({"text": "see", "files": [{"uri": "file:///a", "mime": "text/plain"}]}),
        _ => json!({"text": "ask", "agents": [{"name": "plan"}]}),
    }
}

fn delivery(at: usize) -> &'static str {
    if at.is_multiple_of(2) {
        "steer"
    } else {
        "queue"
    }
}

fn of_turn(kind: usize, turn: &str, at: usize) -> (&'static str, Value) {
    let call = format!("c{}", at % 2);
    let input: Value = serde_json::from_str(ARGUMENTS[at % 3]).unwrap();
    let provider = json!({"executed": at == 3, "metadata": {"mock": {"z": 1, "a": [0.1]}}});
    let kind_of = if at == 1 { "interrupted" } else { "tool" };
    let cause = json!({"kind": kind_of, "retryable": false});
    let error = json!({"type": "unknown", "message": "no", "cause": cause});
    let file = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=";
    let uri = format!("data:image/png;base64,{file}");
    let tokens =
        json!({"input": at, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}});
    let (name, more) = match kind {
        0 => (
            "step.started",
            json!({"agent": "build", "model": {"id": "m", "providerID": "p"}}),
        ),
        1 => ("text.started", json!({"textID": call})),
        2 => ("text.ended", json!({"textID": call, "text": "a text"})),
        3 => ("reasoning.started", json!({"reasoningID": call})),
        4 => (
            "reasoning.ended",
            json!({"reasoningID": call, "text": "why"}),
        ),
        5 | 6 => (
            "tool.input.started",
            json!({"callID": call, "name": "read"}),
        ),
        7 => (
            "tool.input.ended",
            json!({"callID": call, "text": ARGUMENTS[at]}),
        ),
        8 | 9 => (
            "tool.called",
            json!({"callID": call, "tool": "read", "input": input, "provider": provider}),
        ),
        10 => (
            "tool.progress",
            json!({"callID": call, "structured": {"n": at}, "content": []}),
        ),
        11 => (
            "tool.success",
            json!({
                "callID": call, "structured": {"bytes": file}, "provider": provider,
                "content": [{"type": "file", "uri": uri, "mime": "image/png"}],
            }),
        ),
        12 => (
            "tool.failed",
            json!({"callID": call, "error": error, "provider": provider}),
        ),
        13 => (
            "step.ended",
            json!({"finish": "stop", "cost": 0.1 * at as f64, "tokens": tokens}),
        ),
        _ => ("step.failed", json!({"error": error})),
    };
    let mut payload = json!({"assistantMessageID": turn});
    let members = payload.as_object_mut().unwrap();
    members.extend(more.as_object().cloned().unwrap());
    (name, payload)
}

fn of_session(kind: usize, session: &str, target: usize, at: usize) -> (&'static str, Value) {
    let input = format!("msg_{session}_u{target}");
    let turn = format!("msg_{session}_t{target}");
    let other = format!("msg_{session}_o{target}{at}");
    let boundary = [&input, &turn, &other][at % 3].clone();
    let model = json!({"id": "m", "providerID": "p", "variant": "high"});
    match kind {
        0 => ("prompt.withdrawn", json!({"messageID": input})),
        1 => (
            "prompt.redelivered",
            json!({"messageID": input, "delivery": delivery(at)}),
        ),
        2 => (
            "context.updated",
            json!({"messageID": other, "text": "news"}),
        ),
        3 => ("synthetic", json!({"messageID": other, "text": "go on"})),
        4 => (
            "shell.started",
            json!({"messageID": other, "callID": "s", "command": "ls"}),
        ),
        5 => ("shell.ended", json!({"callID": "s", "output": "a\tb"})),
        6 => (
            "agent.switched",
            json!({"messageID": other, "agent": "plan"}),
        ),
        7 => (
            "model.switched",
            json!({"messageID": other, "model": model}),
        ),
        8 => (
            "moved",
            json!({"location": {"directory": "/e"}, "subdirectory": "x"}),
        ),
        9 => {
            let call = json!({"assistantMessageID": turn, "callID": format!("c{}", at % 2)});
            ("pruned", json!({"calls": [call]}))
        }
        10 => (
            "compaction.started",
            json!({"messageID": other, "reason": "auto"}),
        ),
        11 => (
            "compaction.ended",
            json!({"messageID": other, "reason": "auto", "text": "so far", "recent": ""}),
        ),
        12 if at == 1 => (
            "revert.staged",
            json!({"revert": {"messageID": boundary, "partID": "c1", "snapshot": "s"}}),
        ),
        12 => (
            "revert.staged",
            json!({"revert": {"messageID": boundary, "snapshot": "s"}}),
        ),
        13 => ("revert.cleared", json!({})),
        14 => ("revert.committed", json!({"messageID": boundary})),
        15 => (
            "retried",
            json!({"attempt": at, "error": {"message": "m", "isRetryable": true}}),
        ),
        _ => {
            let SessionEvent::SessionCreated(mut it) = created(session) else {
                panic!("not a creation")
            };
            it.info.title = format!("Title {at}");
            let name = if at == 3 && target == 3 {
                "session.deleted"
            } else {
                "session.updated"
            };
            (name, json!(it))
        }
    }
}

/// A database for appending or replaying events.
struct Side(Connection);

impl Side {
    fn new() -> Self {
        Self(
            open(&DatabasePath::Memory, Durability::Normal)
                .unwrap()
                .writer,
        )
    }

    fn write<T>(&self, work: impl FnOnce(&mut Transaction<'_>) -> T) -> T {
        let mut appended = Appended::default();
        let watched = Hook::default();
        work(&mut Transaction::new(
            &self.0,
            &ids(),
            &watched,
            &Demands::default(),
            &Cleaner::default(),
            &mut appended,
        ))
    }

    fn reader(&self) -> Reader<'_> {
        Reader {
            connection: &self.0,
        }
    }

    /// Appends the events of the steps. Skips events that contradict the history.
    fn live(&self, steps: &[Step]) {
        self.write(|transaction| {
            transaction.add_project("p", "/d", 1).unwrap();
            for session in SESSIONS {
                transaction
                    .append(&session_id(session), None, Draft::new(1, created(session)))
                    .unwrap();
            }
            for (now, (session, kind, target, at)) in (10..).zip(steps) {
                let (session, at) = (SESSIONS[*session], *at);
                let turn = format!("msg_{session}_t{target}");
                let (name, payload, time) = match kind {
                    0..2 => prompted(transaction, session, *target, at, now, *kind == 1),
                    2..17 => with_time(of_turn(kind - 2, &turn, at), now),
                    _ => with_time(of_session(kind - 17, session, *target, at), now),
                };
                let draft = Draft {
                    metadata: (at == 2)
                        .then(|| json!({"z": 1, "a": now}).as_object().cloned().unwrap()),
                    ..Draft::new(time, event(name, &payload))
                };
                // A conflict changes nothing.
                match transaction.append(&session_id(session), None, draft) {
                    Ok(_) | Err(Abort::Refused(_)) => {}
                    Err(Abort::Failed(error)) => panic!("{error}"),
                }
            }
        });
    }

    fn export(&self, session: &str) -> Vec<ReplayEvent> {
        let id = session_id(session);
        let key = self
            .0
            .query_row("SELECT key FROM aggregate WHERE id = ?", [session], |row| {
                row.get(0)
            })
            .unwrap();
        let log = self
            .reader()
            .log(key, Sequence::FIRST, usize::MAX, usize::MAX)
            .unwrap();
        assert!(
            log.iter()
                .map(|entry| u64::from(entry.seq))
                .eq(0..log.len() as u64)
        );
        log.iter()
            .map(|entry| entry.element(&id).unwrap())
            .collect()
    }

    fn replay(&self, events: &[ReplayEvent], expected: Replayed) {
        self.write(|transaction| {
            for event in events {
                let replayed = transaction.replay(event, &ReplayOptions::default());
                assert_eq!(replayed, Ok(expected), "{event:?}");
            }
        });
    }

    /// Returns every row that a log creates. The log does not contain the time of entries of the
    /// older shape.
    fn rows(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for (table, order) in [
            ("aggregate", "key"),
            ("event", "aggregate, seq"),
            ("project", "id"),
            ("session", "aggregate"),
            ("message", "aggregate, seq"),
            ("part", "aggregate, message, position"),
            ("input", "aggregate, admitted"),
            ("removed", "key"),
        ] {
            let sql = format!("SELECT * FROM {table} ORDER BY {order}");
            let mut statement = self.0.prepare(&sql).unwrap();
            let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
            let mut found = statement.query([]).unwrap();
            while let Some(row) = found.next().unwrap() {
                let kind: i64 = row.get("type").unwrap_or(99);
                let values = names.iter().map(|name| match name.as_str() {
                    "time" if kind < 10 => String::new(),
                    // An imported log has the same rows, except for its origin.
                    "active" | "unconfirmed" => String::new(),
                    name => format!("{name}={:?}", row.get_ref(name).unwrap()),
                });
                rows.push(format!("{table} {}", values.collect::<Vec<_>>().join(" ")));
            }
        }
        rows
    }

    /// Returns the stored counts and the actual counts of pending inputs.
    fn counts(&self) -> Vec<(i64, i64)> {
        let sql = "SELECT a.pending, count(i.id) FROM aggregate a LEFT JOIN input i
             ON i.aggregate = a.key AND i.promoted IS NULL AND i.withdrawn IS NULL GROUP BY a.key";
        let mut statement = self.0.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.unwrap().collect::<Result<_, _>>().unwrap()
    }
}

fn with_time((name, payload): (&'static str, Value), now: i64) -> (&'static str, Value, i64) {
    (name, payload, now)
}

/// Returns an admission, or the promotion of an admitted input, or sometimes of an input that was
/// not admitted.
fn prompted(
    transaction: &Transaction<'_>,
    session: &str,
    target: usize,
    at: usize,
    now: i64,
    promotes: bool,
) -> (&'static str, Value, i64) {
    let id = format!("msg_{session}_u{target}");
    let message = opencode_schema::id::MessageID::parse(&id).unwrap();
    let stored = transaction.reader().input(&message).unwrap();
    match stored.filter(|_| promotes) {
        Some(stored) => {
            let receipt = stored.receipt;
            let payload = json!({
                "messageID": id, "prompt": receipt.prompt, "delivery": stored.delivery,
            });
            ("prompted", payload, receipt.time_created)
        }
        None => {
            let payload = json!({"messageID": id, "prompt": prompt(at), "delivery": delivery(at)});
            let name = if promotes && at == 3 {
                "prompted"
            } else {
                "prompt.admitted"
            };
            (name, payload, now)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_replayed_log_produces_the_same_rows(steps in steps(), cut in 0..60_usize) {
        let (first, second) = (Side::new(), Side::new());
        first.live(&steps);
        for session in SESSIONS {
            let log = first.export(session);
            // Replay in two parts. The second part repeats the first.
            let cut = cut.min(log.len());
            second.replay(&log[..cut], Replayed::Applied);
            second.replay(&log[..cut], Replayed::Skipped);
            second.replay(&log[cut..], Replayed::Applied);
            prop_assert_eq!(&second.export(session), &log);
        }
        prop_assert_eq!(second.rows(), first.rows());
        for (counted, found) in first.counts() {
            prop_assert_eq!(counted, found);
        }
        // Recovery continues no work of an import.
        prop_assert!(second.reader().interrupted().unwrap().is_empty());
        prop_assert_eq!(messages(&second), messages(&first));
    }
}

fn messages(side: &Side) -> Vec<String> {
    let reader = side.reader();
    let of = |session: &str| {
        let mut row = reader
            .session(&SessionID::parse(session).unwrap())
            .unwrap()?;
        // A replayed log is an import.
        row.info.imported = None;
        row.imported = None;
        row.has_imported_budget = false;
        let messages = reader
            .messages(
                row.key,
                crate::projections::messages::Order::Ascending,
                None,
                999,
            )
            .unwrap();
        let inbox = reader.pending_inputs(&row).unwrap();
        Some(format!("{row:?} {messages:?} {inbox:?}"))
    };
    SESSIONS.into_iter().filter_map(of).collect()
}
