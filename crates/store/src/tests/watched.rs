//! A database with statement profiling during writes and reads of sessions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use opencode_schema::Record;
use opencode_schema::id::MessageID;
use opencode_schema::prompt::Delivery;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::{Connection, StatementStatus};
use serde_json::{Value, json};

use crate::DatabasePath;
use crate::format::entry::Draft;
use crate::integer::Sequence;
use crate::open::{Durability, open};
use crate::projections::epoch::Epoch;
use crate::projections::messages::Order;
use crate::readers::history::HistoryPoint;
use crate::tests::{append, created, event, ids, session_id};
use crate::view::cleaner::Cleaner;
use crate::view::demand::{Demand, Demands};
use crate::view::reader::Reader;
use crate::view::test_hook::Hook;
use crate::view::transaction::{Appended, Transaction};

/// SQLite VM steps so far, by statement.
pub(super) type Steps = Arc<Mutex<BTreeMap<String, i32>>>;

/// Opens a database with statement profiling.
fn watched() -> (Connection, Steps) {
    let mut connection = open(&DatabasePath::Memory, Durability::Normal)
        .unwrap()
        .writer;
    let steps = Steps::default();
    let sink = Arc::clone(&steps);
    let codes = TraceEventCodes::SQLITE_TRACE_PROFILE;
    let watch = move |traced: TraceEvent<'_>| {
        if let TraceEvent::Profile(statement, _) = traced {
            let count = statement.get_status(StatementStatus::VmStep);
            sink.lock()
                .unwrap()
                .insert(statement.sql().into_owned(), count);
        }
    };
    connection.trace_v2(codes, Some(watch)).unwrap();
    (connection, steps)
}

/// Returns the entries of one turn with every kind of part. `at` makes its ids unique.
fn turn(at: usize) -> Vec<(&'static str, Value)> {
    let (user, assistant) = (format!("msg_u{at}"), format!("msg_a{at}"));
    let prompt = json!({"messageID": user, "prompt": {"text": "x"}, "delivery": "steer"});
    let model = json!({"id": "m", "providerID": "p"});
    let provider = json!({"executed": false});
    let of = |mut payload: Value| {
        payload["assistantMessageID"] = json!(assistant);
        payload
    };
    let input = json!({"path": "src/main.rs", "limit": 200});
    let error = json!({"type": "unknown", "message": "no"});
    let tokens = json!({"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}});
    vec![
        ("prompt.admitted", prompt.clone()),
        (
            "prompt.redelivered",
            json!({"messageID": user, "delivery": "steer"}),
        ),
        ("prompted", prompt),
        (
            "prompt.admitted",
            json!({"messageID": format!("msg_w{at}"), "prompt": {"text": "x"}, "delivery": "queue"}),
        ),
        (
            "prompt.withdrawn",
            json!({"messageID": format!("msg_w{at}")}),
        ),
        (
            "context.updated",
            json!({"messageID": format!("msg_c{at}"), "text": "news"}),
        ),
        (
            "synthetic",
            json!({"messageID": format!("msg_s{at}"), "text": "x"}),
        ),
        (
            "agent.switched",
            json!({"messageID": format!("msg_g{at}"), "agent": "plan"}),
        ),
        (
            "model.switched",
            json!({"messageID": format!("msg_m{at}"), "model": model}),
        ),
        (
            "shell.started",
            json!({"messageID": format!("msg_h{at}"), "callID": "same", "command": "ls"}),
        ),
        ("shell.ended", json!({"callID": "same", "output": "o"})),
        ("shell.ended", json!({"callID": "nobody's", "output": "o"})),
        ("step.started", of(json!({"agent": "a", "model": model}))),
        ("text.started", of(json!({"textID": "t"}))),
        ("text.ended", of(json!({"textID": "t", "text": "x"}))),
        ("reasoning.started", of(json!({"reasoningID": "r"}))),
        (
            "reasoning.ended",
            of(json!({"reasoningID": "r", "text": "x"})),
        ),
        (
            "tool.input.started",
            of(json!({"callID": "c", "name": "read"})),
        ),
        (
            "tool.input.ended",
            of(json!({"callID": "c", "text": input.to_string()})),
        ),
        (
            "tool.called",
            of(json!({"callID": "c", "tool": "read", "input": input, "provider": provider})),
        ),
        (
            "tool.progress",
            of(json!({"callID": "c", "structured": {}, "content": []})),
        ),
        (
            "tool.success",
            of(json!({"callID": "c", "structured": {}, "content": [], "provider": provider})),
        ),
        (
            "tool.failed",
            of(json!({"callID": "d", "error": error, "provider": provider})),
        ),
        (
            "pruned",
            json!({"calls": [{"assistantMessageID": assistant, "callID": "c"}]}),
        ),
        (
            "step.ended",
            of(json!({"finish": "stop", "cost": 0.5, "tokens": tokens})),
        ),
        ("step.failed", of(json!({"error": error}))),
        (
            "compaction.started",
            json!({"messageID": format!("msg_k{at}"), "reason": "auto"}),
        ),
        (
            "retried",
            json!({"attempt": 1, "error": {"message": "m", "isRetryable": true}}),
        ),
        ("revert.staged", json!({"revert": {"messageID": user}})),
        ("revert.cleared", json!({})),
    ]
}

pub(super) struct Bench {
    pub(super) connection: Connection,
    pub(super) steps: Steps,
    pub(super) turns: usize,
    /// Derived announcements are part of the work.
    demand: (Demands, Demand),
}

impl Bench {
    pub(super) fn new() -> Self {
        let (connection, steps) = watched();
        let demands = Demands::default();
        let demand = demands.add();
        let bench = Self {
            connection,
            steps,
            turns: 0,
            demand: (demands, demand),
        };
        bench.write(|transaction| {
            for id in ["ses_a", "ses_b"] {
                append(transaction, id, created(id));
            }
        });
        bench
    }

    pub(super) fn write(&self, work: impl FnOnce(&mut Transaction<'_>)) {
        let mut appended = Appended::default();
        work(&mut Transaction::new(
            &self.connection,
            &ids(),
            &Hook::default(),
            &self.demand.0,
            &Cleaner::default(),
            &mut appended,
        ));
    }

    pub(super) fn turn(&mut self) {
        let at = self.turns;
        self.turns += 1;
        self.write(|transaction| {
            for (name, payload) in turn(at) {
                let mut draft = Draft::new(5, event(name, &payload));
                let says = name == "step.ended";
                draft.metadata = says.then(|| Record::from_iter([("of".to_owned(), json!(at))]));
                let seq = transaction.append(&session_id("ses_a"), None, draft);
                seq.unwrap();
            }
        });
    }

    /// Returns the SQLite VM steps of `work`, by statement.
    pub(super) fn cost(&mut self, work: impl FnOnce(&mut Self)) -> BTreeMap<String, i32> {
        let before = self.steps.lock().unwrap().clone();
        work(self);
        let mut after = self.steps.lock().unwrap().clone();
        for (sql, steps) in &mut after {
            *steps -= before.get(sql).unwrap_or(&0);
        }
        after.retain(|_, steps| *steps != 0);
        after
    }

    /// Runs the reads with a cost that must not depend on the history before the newest turn.
    pub(super) fn reads(&self) {
        let db = Reader {
            connection: &self.connection,
        };
        let key = db.session(&session_id("ses_a")).unwrap().unwrap().key;
        let latest = u64::from(db.latest_seq(key).unwrap());
        let recent = Sequence::from(latest - 5);
        let last = MessageID::parse(&format!("msg_a{}", self.turns - 1)).unwrap();
        let user = MessageID::parse(&format!("msg_u{}", self.turns - 1)).unwrap();
        db.history(key).unwrap();
        db.changed_since(key, recent).unwrap();
        db.events(key, Some(recent), 5).unwrap();
        db.message(key, &last).unwrap().unwrap();
        db.messages(key, Order::Descending, None, 5).unwrap();
        db.open_calls(key).unwrap();
        db.epoch(key).unwrap();
        db.input(&user).unwrap().unwrap();
        db.pending_count(key).unwrap();
        db.pending_inputs(&db.session(&session_id("ses_a")).unwrap().unwrap())
            .unwrap();
        db.interrupted().unwrap();
        db.interruption(key).unwrap();
        db.retries_since_progress(key).unwrap();
        db.log(key, recent, 5, usize::MAX).unwrap();
        db.owner(key).unwrap();
        for delivery in [Delivery::Steer, Delivery::Queue] {
            db.has_pending(key, delivery).unwrap();
            db.pending(&session_id("ses_a"), key, delivery, latest.into(), 5)
                .unwrap();
        }
    }

    /// Returns the history point of a caller that has read the whole history.
    pub(super) fn point(&self) -> HistoryPoint {
        let db = Reader {
            connection: &self.connection,
        };
        let key = db.session(&session_id("ses_a")).unwrap().unwrap().key;
        db.history_since(key, None).unwrap().point
    }

    /// Runs the reads of the next turn, and of the first turn of a process.
    pub(super) fn read_new(&self, known: &HistoryPoint) {
        let db = Reader {
            connection: &self.connection,
        };
        let key = db.session(&session_id("ses_a")).unwrap().unwrap().key;
        assert!(!db.history_since(key, Some(known)).unwrap().is_whole);
        db.checkpoint(key).unwrap();
        db.explored(key).unwrap();
        db.history_changes(key, known.seq()).unwrap();
        db.recorded_step(key).unwrap().unwrap();
    }

    /// Reads a history with an epoch that is older than its checkpoint.
    pub(super) fn read_blocked(&self) {
        self.write(|transaction| {
            let key = transaction
                .reader()
                .session(&session_id("ses_a"))
                .unwrap()
                .unwrap()
                .key;
            let epoch = transaction.reader().epoch(key).unwrap().unwrap();
            let baseline_seq = Sequence::from(u64::from(epoch.baseline_seq) - 20);
            transaction
                .set_epoch(
                    key,
                    &Epoch {
                        baseline_seq,
                        ..epoch
                    },
                )
                .unwrap();
            transaction.reader().history(key).unwrap();
        });
    }

    /// Ends the current history with a checkpoint and a later epoch.
    pub(super) fn compact(&self) {
        self.write(|transaction| {
            let id = format!("msg_k{}", self.turns);
            let payload = json!({"messageID": id, "reason": "auto", "text": "t", "recent": "r"});
            append(transaction, "ses_a", event("compaction.ended", &payload));
            let key = transaction
                .reader()
                .session(&session_id("ses_a"))
                .unwrap()
                .unwrap()
                .key;
            let epoch = Epoch {
                baseline: "b".into(),
                snapshot: "{}".into(),
                baseline_seq: transaction.reader().latest_seq(key).unwrap(),
            };
            transaction.set_epoch(key, &epoch).unwrap();
        });
    }
}
