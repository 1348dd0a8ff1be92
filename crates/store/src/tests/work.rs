//! Query plans: statements use indexes, and their cost does not grow with the length of a session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use opencode_schema::event::SessionEvent;
use opencode_schema::id::EventID;
use rusqlite::StatementStatus;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::types::Null;
use serde_json::{Value, json};

use crate::integer::Sequence;
use crate::projections::changes::CountedFile;
use crate::projections::credentials::Credential;
use crate::projections::messages::{Anchored, Order};
use crate::projections::sessions::SessionFilter;
use crate::replay::ReplayOptions;
use crate::replay::element::ReplayEvent;
use crate::tests::watched::Bench;
use crate::tests::{append, created, event, session_id};
use crate::view::reader::Reader;

#[test]
fn the_work_of_a_turn_does_not_depend_on_the_length_of_the_session() {
    let mut bench = Bench::new();
    let mut costs = Vec::new();
    for turns in [20, 300] {
        for _ in 0..turns {
            bench.turn();
        }
        bench.compact();
        costs.push(bench.cost(|bench| {
            bench.turn();
            bench.reads();
            bench.read_blocked();
        }));
    }
    assert_same(&costs);
}

#[test]
fn the_work_for_new_entries_does_not_depend_on_the_uncompacted_length() {
    let mut bench = Bench::new();
    let mut costs = Vec::new();
    for turns in [20, 300] {
        for _ in 0..turns {
            bench.turn();
        }
        let known = bench.point();
        costs.push(bench.cost(|bench| {
            bench.turn();
            bench.read_new(&known);
        }));
    }
    assert_same(&costs);
}

#[test]
fn the_work_for_a_part_does_not_depend_on_the_number_of_parts() {
    let mut bench = Bench::new();
    bench.turn();
    let mut costs = Vec::new();
    let mut part = 0;
    for parts in [20, 300] {
        let mut write = |bench: &Bench| {
            part += 1;
            bench.write(|transaction| {
                for name in ["text.started", "text.ended"] {
                    let payload = json!({"assistantMessageID": "msg_a0", "textID": format!("t{part}"), "text": "x"});
                    append(transaction, "ses_a", event(name, &payload));
                }
            });
        };
        for _ in 0..parts {
            write(&bench);
        }
        costs.push(bench.cost(|bench| write(bench)));
    }
    assert_same(&costs);
}

fn assert_same(costs: &[BTreeMap<String, i32>]) {
    let [short, long] = costs else {
        panic!("two lengths are compared")
    };
    assert!(!short.is_empty() && short.keys().eq(long.keys()));
    for (sql, steps) in short {
        assert_eq!(*steps, long[sql], "{sql}");
    }
}

/// Runs all other queries: lists, and rare operations.
fn rare(bench: &mut Bench) {
    let db = Reader {
        connection: &bench.connection,
    };
    let key = db.session(&session_id("ses_a")).unwrap().unwrap().key;
    let some = |text: &str| Some(text.to_owned());
    let none = SessionFilter::default;
    for filter in [
        none(),
        SessionFilter {
            directory: some("/d"),
            ..none()
        },
        SessionFilter {
            project: some("p"),
            ..none()
        },
        SessionFilter {
            project: some("p"),
            subpath: some("x"),
            ..none()
        },
        SessionFilter {
            directory: some("/d"),
            workspace: some("wrk"),
            search: some("T"),
            ..none()
        },
        SessionFilter {
            archived: Some(true),
            ..none()
        },
        SessionFilter {
            archived: Some(false),
            ..none()
        },
        SessionFilter {
            roots: true,
            ..none()
        },
        SessionFilter {
            parent: some("ses_b"),
            archived: Some(false),
            ..none()
        },
    ] {
        for order in [Order::Ascending, Order::Descending] {
            db.sessions(&filter, order, None, 5).unwrap();
            for before in [false, true] {
                let anchor = Anchored {
                    at: (1, "ses_a".to_owned()),
                    before,
                };
                db.sessions(&filter, order, Some(&anchor), 5).unwrap();
                let anchor = Anchored {
                    at: 9.into(),
                    before,
                };
                db.messages(key, order, Some(&anchor), 5).unwrap();
            }
        }
    }
    // Entries that are far apart.
    db.gather(key, [1, 90, 400].map(Sequence::from).to_vec())
        .unwrap();
    let boundary = format!("msg_a{}", bench.turns - 2);
    bench.write(|transaction| {
        transaction.add_project("p", "/d", 1).unwrap();
        let moved = json!({"location": {"directory": "/e"}});
        append(transaction, "ses_a", event("moved", &moved));
        let ended = json!({"assistantMessageID": "msg_z", "finish": "stop", "cost": 0.5, "snapshot": "t2", "files": ["a"],
            "tokens": {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}}});
        let of = json!({"assistantMessageID": "msg_z", "agent": "a", "snapshot": "t1",
            "model": {"id": "m", "providerID": "p"}});
        append(transaction, "ses_a", event("step.started", &of));
        append(transaction, "ses_a", event("step.ended", &ended));
        let changes = transaction.reader().stale_changes(key, 5).unwrap().unwrap();
        let file = CountedFile { path: changes.paths[0].clone(), lines: Some((1, 2)) };
        transaction.count_changes(key, &changes.end, &[file]).unwrap().unwrap();
        transaction.reader().changes(key, 5).unwrap().unwrap();
        assert!(transaction.set_share(key, None, Some("https://a")).unwrap());
        let committed = json!({"messageID": boundary});
        append(transaction, "ses_a", event("revert.committed", &committed));
        for name in ["session.updated", "session.deleted"] {
            let SessionEvent::SessionCreated(it) = created("ses_a") else {
                panic!("not a creation")
            };
            append(transaction, "ses_a", event(name, &json!(it)));
        }
    });
}

/// Replays a log of another program that admits an input again and deletes its session.
fn replayed(bench: &Bench) {
    let of = |seq: u64, name: &str, more: Value| {
        let mut data = json!({"timestamp": 5, "sessionID": "ses_c"});
        let members = data.as_object_mut().unwrap();
        members.extend(more.as_object().cloned().unwrap());
        ReplayEvent {
            id: EventID::parse(&format!("evt_{seq}")).unwrap(),
            session_id: session_id("ses_c"),
            seq,
            kind: format!("session.{name}.1"),
            data: data.to_string(),
            metadata: None,
        }
    };
    let SessionEvent::SessionCreated(created) = created("ses_c") else {
        panic!("not a creation")
    };
    let input = json!({"messageID": "msg_c", "prompt": {"text": "x"}, "delivery": "steer"});
    let options = ReplayOptions {
        owner: Some("elsewhere".into()),
        ..ReplayOptions::default()
    };
    bench.write(|transaction| {
        for event in [
            of(0, "created", json!(created)),
            of(0, "created", json!(created)),
            of(
                1,
                "next.synthetic",
                json!({"messageID": "msg_d", "text": "x"}),
            ),
            of(2, "next.prompt.admitted", input.clone()),
            of(3, "next.revert.committed", json!({"messageID": "msg_d"})),
            of(4, "next.prompt.admitted", input),
        ] {
            transaction.replay(&event, &options).unwrap();
        }
        assert!(transaction.claim(&session_id("ses_c"), "here").unwrap());
        let session = transaction.reader().session(&session_id("ses_c"));
        transaction.hide(&session.unwrap().unwrap(), 5).unwrap();
        assert!(transaction.purge(2).unwrap());
        assert!(!transaction.purge(100).unwrap());
    });
}

/// Stores, changes, reads and removes a credential.
fn with_credential(bench: &Bench) {
    let credential = Credential {
        id: "cred_a".into(),
        integration_id: "mcp:x".into(),
        label: "default".into(),
        value: "secret".into(),
    };
    bench.write(|transaction| {
        transaction.insert_credential(&credential, 1).unwrap();
        let value = Some("new");
        transaction
            .update_credential("cred_a", None, value, 2)
            .unwrap();
        let stored = transaction.reader().credentials("mcp:x").unwrap();
        assert_eq!(stored.len(), 1);
        transaction.remove_credential("cred_a").unwrap();
    });
}

/// Returns the plan lines of each statement so far, as pairs of statement and line.
fn plans(bench: &Bench) -> Vec<(String, String)> {
    let mut plans = Vec::new();
    let statements = bench.steps.lock().unwrap().clone();
    for sql in statements.into_keys() {
        let is_data = ["SELECT", "INSERT", "UPDATE", "DELETE"]
            .iter()
            .any(|verb| sql.starts_with(verb));
        if !is_data {
            continue;
        }
        let explain = format!("EXPLAIN QUERY PLAN {sql}");
        let mut explain = bench.connection.prepare(&explain).unwrap();
        let count = explain.parameter_count();
        let nulls = rusqlite::params_from_iter(std::iter::repeat_n(Null, count));
        let lines = explain
            .query_map(nulls, |row| row.get::<_, String>(3))
            .unwrap();
        plans.extend(lines.map(|line| (sql.clone(), line.unwrap())));
    }
    plans
}

#[test]
fn every_statement_uses_an_index_and_every_index_is_used() {
    let mut bench = Bench::new();
    for _ in 0..20 {
        bench.turn();
    }
    bench.compact();
    let known = bench.point();
    bench.turn();
    bench.reads();
    bench.read_new(&known);
    bench.read_blocked();
    rare(&mut bench);
    replayed(&bench);
    with_credential(&bench);
    let plans = plans(&bench);
    assert!(plans.len() > 50);
    for (sql, line) in &plans {
        let is_fine = line.starts_with("SEARCH")
            || line.contains("SCALAR SUBQUERY ")
            // A list of all sessions. A page of it is read in the order of the index.
            || line == "SCAN s USING INDEX session_created"
            || line == "SCAN s USING INDEX session_archived"
            || line == "SCAN s USING INDEX session_current"
            || line == "SCAN s USING INDEX session_root"
            // The sessions of one tree, which are removed together.
            || (sql.contains("RECURSIVE") && !line.starts_with("SCAN s "))
            // The first of the few sessions that are being removed.
            || line == "SCAN hidden USING COVERING INDEX hidden_removed"
            // All credentials, which are few.
            || line == "SCAN credential"
            // A check of each session for an interruption.
            || line == "SCAN s USING COVERING INDEX session_created"
            || line == "USE TEMP B-TREE FOR LAST TERM OF ORDER BY"
            // The few messages of a turn.
            || (line == "USE TEMP B-TREE FOR ORDER BY" && sql.contains("changed > ?2"))
            // The few kinds of events that change a history.
            || (line == "USE TEMP B-TREE FOR DISTINCT" && sql.contains("DISTINCT type"));
        assert!(is_fine, "{line}: {sql}");
    }
    let mut indexes = bench
        .connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
        .unwrap();
    let indexes = indexes
        .query_map([], |row| row.get::<_, String>(0))
        .unwrap();
    for index in indexes.map(Result::unwrap) {
        let is_used = plans
            .iter()
            .any(|(_, line)| line.contains(&format!(" INDEX {index}")));
        assert!(is_used, "{index}");
    }
}

#[test]
fn a_statement_is_planned_once_for_all_parameters() {
    let mut bench = Bench::new();
    let replanned = Arc::new(Mutex::new(BTreeSet::new()));
    let sink = Arc::clone(&replanned);
    let watch = move |traced: TraceEvent<'_>| {
        if let TraceEvent::Profile(statement, _) = traced
            && statement.get_status(StatementStatus::RePrepare) > 0
        {
            sink.lock().unwrap().insert(statement.sql().into_owned());
        }
    };
    let codes = TraceEventCodes::SQLITE_TRACE_PROFILE;
    bench.connection.trace_v2(codes, Some(watch)).unwrap();
    for _ in 0..3 {
        bench.turn();
        bench.reads();
    }
    rare(&mut bench);
    assert_eq!(*replanned.lock().unwrap(), BTreeSet::new());
}
