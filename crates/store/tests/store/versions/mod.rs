//! Databases that every schema version wrote, opened by the current version.
//!
//! `versions/<n>.sql` is the result of [`scenario`] with version n. After adding a migration, run
//! these tests once. They write the file of the new version, which must be reviewed and committed.
//! Data that older versions do not support needs separate tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use opencode_schema::clock::Clock;
use opencode_schema::event::SessionEvent;
use opencode_schema::id::{IdSource, SessionID};
use opencode_schema::prompt::Delivery;
use opencode_store::{
    Abort, DatabasePath, Draft, Durability, Epoch, OpenError, Order, Reader, SessionFilter,
    SessionKey, Store, StoreError, StoreOptions,
};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::harness::{
    admitted, created, event, message_id, model, of_a, prompted, raw, step_started, with,
};

struct At(i64);

impl Clock for At {
    fn now(&self) -> i64 {
        self.0
    }
}

/// Opens a database with ids that depend only on `time`.
async fn open(path: &Path, time: i64) -> Result<Store, OpenError> {
    let ids = IdSource::with_random(Arc::new(At(time)), |bytes| *bytes = [7; 14]);
    let options = StoreOptions {
        path: DatabasePath::File(path.to_owned()),
        durability: Durability::Normal,
        ids: Arc::new(ids),
        listener: Box::new(|_| {}),
        test_hook: None,
    };
    Store::open(options).await
}

async fn append(store: &Store, session: &str, time: i64, event: SessionEvent) {
    let session = SessionID::parse(session).unwrap();
    let metadata = match &event {
        SessionEvent::StepEnded(_) => json!({"prefix": {"bytes": 7}}).as_object().cloned(),
        _ => None,
    };
    let write = store.write(move |transaction| {
        let draft = Draft {
            metadata,
            ..Draft::new(time, event)
        };
        transaction.append(&session, None, draft)
    });
    write.await.unwrap();
}

fn call(id: &str, input: &Value) -> [SessionEvent; 3] {
    let provider = json!({"executed": false, "metadata": {"mock": {"n": 1}}});
    [
        of_a("tool.input.started", json!({"callID": id, "name": "read"})),
        of_a(
            "tool.input.ended",
            json!({"callID": id, "text": input.to_string()}),
        ),
        of_a(
            "tool.called",
            json!({"callID": id, "tool": "read", "input": input, "provider": provider}),
        ),
    ]
}

fn step_ended(message: &str) -> SessionEvent {
    let tokens = json!({"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}});
    let message = json!({"assistantMessageID": message});
    let ended = json!({"finish": "tool-calls", "cost": 0.25, "tokens": tokens});
    event("step.ended", with(message, ended))
}

/// Returns a long history: every kind of entry, message, part and input, and an epoch.
fn long() -> Vec<SessionEvent> {
    let input = json!({"path": "src/main.rs", "limit": 200});
    let error =
        json!({"type": "unknown", "message": "no", "cause": {"kind": "tool", "retryable": false}});
    let provider = json!({"executed": false});
    let file = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=";
    let content = json!([{"type": "file", "uri": format!("data:image/png;base64,{file}"), "mime": "image/png"}]);
    let id = |id: &str| json!({"messageID": id});
    let mut events = vec![
        event(
            "moved",
            json!({"location": {"directory": "/b"}, "subdirectory": "x"}),
        ),
        event(
            "agent.switched",
            with(id("msg_g"), json!({"agent": "plan"})),
        ),
        event(
            "model.switched",
            with(id("msg_m"), json!({"model": model()})),
        ),
        admitted("msg_1", "one", "steer"),
        admitted("msg_2", "two", "steer"),
        admitted("msg_3", "three", "queue"),
        admitted("msg_4", "four", "queue"),
        admitted("msg_5", "five", "steer"),
        event("prompt.withdrawn", id("msg_5")),
        event(
            "prompt.redelivered",
            with(id("msg_4"), json!({"delivery": "steer"})),
        ),
        prompted("msg_1", "one", "steer"),
        event(
            "context.updated",
            with(id("msg_c"), json!({"text": "It is Friday."})),
        ),
        event("synthetic", with(id("msg_s"), json!({"text": "go on"}))),
        event(
            "shell.started",
            with(id("msg_h"), json!({"callID": "sh", "command": "ls"})),
        ),
        event("shell.ended", json!({"callID": "sh", "output": "a\tb"})),
        step_started("msg_a"),
        of_a("text.started", json!({"textID": "t"})),
        of_a("text.ended", json!({"textID": "t", "text": "An answer."})),
        of_a("reasoning.started", json!({"reasoningID": "r"})),
        of_a(
            "reasoning.ended",
            json!({"reasoningID": "r", "text": "A thought."}),
        ),
    ];
    for name in ["c1", "c2", "c3"] {
        events.extend(call(name, &input));
    }
    let structured = json!({"content": file});
    events.extend([
        of_a("tool.progress", json!({"callID": "c1", "structured": {"n": 1}, "content": []})),
        of_a(
            "tool.success",
            json!({"callID": "c1", "structured": structured, "content": content, "provider": provider}),
        ),
        of_a("tool.failed", json!({"callID": "c2", "error": error, "provider": provider})),
        of_a("tool.success", json!({"callID": "c3", "structured": {}, "content": [], "provider": provider})),
        step_ended("msg_a"),
        event("pruned", json!({"calls": [{"assistantMessageID": "msg_a", "callID": "c1"}]})),
        event("compaction.started", with(id("msg_k"), json!({"reason": "auto"}))),
        event(
            "compaction.ended",
            with(id("msg_k"), json!({"reason": "auto", "text": "Done so far.", "recent": "one"})),
        ),
        event("revert.staged", json!({"revert": {"messageID": "msg_1", "snapshot": "s"}})),
    ]);
    events
}

/// Returns interrupted, stopped, reverted and archived sessions.
fn short() -> Vec<(&'static str, Vec<SessionEvent>)> {
    let user = |id: &str| [admitted(id, "x", "steer"), prompted(id, "x", "steer")];
    let unknown = json!({"type": "unknown", "message": "cut"});
    let failed = |id: &str| {
        let message = json!({"assistantMessageID": id});
        event("step.failed", with(message, json!({"error": unknown})))
    };
    let retried = |attempt: u32| {
        let error = json!({"message": "the process ended", "isRetryable": true});
        event("retried", json!({"attempt": attempt, "error": error}))
    };
    let archived = json!({
        "id": "ses_archived", "slug": "s", "projectID": "project", "directory": "/project",
        "title": "Old", "version": "1", "time": {"created": 1000, "updated": 9, "archived": 9},
    });
    let mut open = user("msg_open").to_vec();
    open.push(step_started("msg_open_a"));
    open.extend([retried(1), retried(2)]);
    let mut progress = user("msg_progress").to_vec();
    progress.extend([
        retried(1),
        step_started("msg_progress_a"),
        step_ended("msg_progress_a"),
    ]);
    progress.push(retried(1));
    let mut reverted = user("msg_kept").to_vec();
    reverted.extend([step_started("msg_kept_a"), failed("msg_kept_a")]);
    reverted.extend(user("msg_gone"));
    reverted.push(admitted("msg_waits", "x", "queue"));
    let boundary = json!({"messageID": "msg_kept_a"});
    reverted.push(event("revert.committed", boundary));
    let archive = event("session.updated", json!({"info": archived}));
    vec![
        ("ses_unanswered", user("msg_unanswered").to_vec()),
        ("ses_open", open),
        ("ses_progress", progress),
        ("ses_reverted", reverted),
        ("ses_archived", vec![archive]),
    ]
}

/// Writes data to every table. Must not change, because the files of older versions contain the
/// result.
async fn scenario(store: &Store) {
    let project = store.write(|transaction| {
        transaction.add_project("project", "/project", 5)?;
        Ok::<_, Abort<&'static str>>(())
    });
    project.await.unwrap();
    for (session, events) in [("ses_long", long())].into_iter().chain(short()) {
        append(store, session, 1000, created(session, "/project")).await;
        for event in events {
            append(store, session, 2000, event).await;
        }
    }
    let epoch = store.write(|transaction| {
        let session = SessionID::parse("ses_long").unwrap();
        let key = transaction.reader().session(&session)?.unwrap().key;
        let epoch = Epoch {
            baseline: "You are in /b.".into(),
            snapshot: "{}".into(),
            baseline_seq: 12.into(),
        };
        transaction.set_epoch(key, &epoch)?;
        Ok::<_, Abort<&'static str>>(())
    });
    epoch.await.unwrap();
}

/// Returns all readable data as text.
async fn reads(store: &Store) -> Vec<String> {
    let read = store.read(|db| {
        let mut seen = Vec::new();
        for session in db.sessions(&SessionFilter::default(), Order::Ascending, None, 99)? {
            seen.push(format!("{session:?}"));
            seen.extend(of_session(db, session.key, &session.info.id)?);
            seen.push(format!("{:?}", db.pending_inputs(&session)?));
        }
        seen.push(format!("{:?}", db.interrupted()?));
        Ok(seen)
    });
    read.await.unwrap()
}

fn of_session(db: &Reader<'_>, key: SessionKey, id: &SessionID) -> Result<Vec<String>, StoreError> {
    let log = db.log(key, 0.into(), 999, usize::MAX)?;
    let mut seen = vec![
        format!("{:?}", db.messages(key, Order::Ascending, None, 999)?),
        format!("{:?}", db.history(key)?),
        format!("{:?}", db.changed_since(key, 0.into())?),
        format!("{:?}", db.events(key, None, 999)?),
        format!("{log:?}"),
        format!("{:?}", db.epoch(key)?),
        format!("{:?}", db.open_calls(key)?),
        format!("{:?}", db.latest_seq(key)?),
        format!("{:?}", db.owner(key)?),
        format!("{:?}", db.pending_count(key)?),
        format!("{:?}", db.retries_since_progress(key)?),
    ];
    for delivery in [Delivery::Steer, Delivery::Queue] {
        seen.push(format!("{:?}", db.has_pending(key, delivery)?));
        let pending = db.pending(id, key, delivery, u64::MAX.into(), 99)?;
        seen.push(format!("{pending:?}"));
    }
    for entry in log {
        if let SessionEvent::PromptAdmitted(it) = entry.payload()? {
            seen.push(format!("{:?}", db.input(&it.message_id)?));
            seen.push(format!("{:?}", db.message(key, &it.message_id)?));
        }
    }
    seen.push(format!("{:?}", db.message(key, &message_id("msg_a"))?));
    Ok(seen)
}

/// Continues every session.
async fn go_on(store: &Store) {
    for (at, session) in ["ses_long", "ses_reverted", "ses_open", "ses_archived"]
        .into_iter()
        .enumerate()
    {
        let id = format!("msg_next_{at}");
        append(store, session, 3000, admitted(&id, "next", "steer")).await;
        append(store, session, 3000, prompted(&id, "next", "steer")).await;
    }
    append(store, "ses_long", 2000, prompted("msg_2", "two", "steer")).await;
    append(store, "ses_open", 3000, step_started("msg_open_b")).await;
    append(store, "ses_open", 3000, step_ended("msg_open_b")).await;
}

fn file(version: i64) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store/versions");
    folder.join(format!("{version}.sql"))
}

fn number(raw: &Connection, pragma: &str) -> i64 {
    raw.pragma_query_value(None, pragma, |row| row.get(0))
        .unwrap()
}

/// Returns names and SQL of all tables and indexes.
fn schema(raw: &Connection) -> Vec<(String, String)> {
    let mut statement = raw
        .prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

/// Returns a database as the SQL statements that create it.
fn dump(raw: &Connection) -> String {
    let mut text = String::new();
    for pragma in ["application_id", "user_version"] {
        text += &format!("PRAGMA {pragma} = {};\n", number(raw, pragma));
    }
    for (name, sql) in schema(raw) {
        text += &format!("{sql};\n");
        if !sql.starts_with("CREATE TABLE") {
            continue;
        }
        let mut columns = raw.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let quoted: Vec<_> = columns
            .column_names()
            .map(|column| {
                // A text with a NUL cannot be a literal.
                format!(
                    "iif(instr({column}, char(0)) AND typeof({column}) = 'text',
                       'CAST(' || quote(CAST({column} AS BLOB)) || ' AS TEXT)', quote({column}))"
                )
            })
            .collect();
        columns = raw
            .prepare(&format!(
                "SELECT {} FROM {name}",
                quoted.join(" || ', ' || ")
            ))
            .unwrap();
        let rows = columns
            .query_map([], |row| row.get::<_, String>(0))
            .unwrap();
        for row in rows {
            text += &format!("INSERT INTO {name} VALUES ({});\n", row.unwrap());
        }
    }
    text
}

/// Returns a database with the scenario, created by the current version.
async fn fresh(folder: &Path) -> PathBuf {
    let path = folder.join("fresh.db");
    let store = open(&path, 5).await.unwrap();
    scenario(&store).await;
    store.close().await;
    path
}

#[tokio::test]
async fn a_database_of_every_version_can_be_read_and_continued() {
    let folder = tempfile::tempdir().unwrap();
    let today = fresh(folder.path()).await;
    let (current, expected_schema) = {
        let raw = raw(&today);
        (number(&raw, "user_version"), schema(&raw))
    };
    let store = open(&today, 6).await.unwrap();
    let expected = reads(&store).await;
    go_on(&store).await;
    let expected_later = reads(&store).await;
    store.close().await;
    for version in 1..=current {
        let sql = fs::read_to_string(file(version))
            .unwrap_or_else(|_| panic!("versions/{version}.sql is missing"));
        let path = folder.path().join(format!("{version}.db"));
        let raw = raw(&path);
        raw.execute_batch(&sql).unwrap();
        assert_eq!(number(&raw, "user_version"), version);
        drop(raw);

        let store = open(&path, 6).await.unwrap();
        assert_eq!(reads(&store).await, expected, "version {version}");
        go_on(&store).await;
        assert_eq!(reads(&store).await, expected_later, "version {version}");
        store.close().await;
        let raw = crate::harness::raw(&path);
        assert_eq!(number(&raw, "user_version"), current);
        assert_eq!(schema(&raw), expected_schema, "version {version}");
    }
}

#[tokio::test]
async fn a_failed_migration_leaves_the_file_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("1.db");
    let raw = raw(&path);
    raw.execute_batch(&fs::read_to_string(file(1)).unwrap())
        .unwrap();
    // Conflicts with the last statement of the next migration.
    raw.execute_batch("CREATE TABLE removed (x); PRAGMA journal_mode = WAL")
        .unwrap();
    let before = dump(&raw);
    drop(raw);
    let bytes = fs::read(&path).unwrap();
    for _ in 0..2 {
        match open(&path, 6).await.map(|_| ()) {
            Err(OpenError::Unavailable { path: at, reason }) => {
                assert_eq!(
                    (at, reason.as_str()),
                    (
                        path.clone(),
                        "its schema cannot be brought to version 12: table removed already exists"
                    )
                );
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    let raw = crate::harness::raw(&path);
    assert_eq!(dump(&raw), before);
    raw.execute_batch("DROP TABLE removed").unwrap();
    drop(raw);
    let store = open(&path, 6).await.unwrap();
    go_on(&store).await;
    store.close().await;
}

#[tokio::test]
async fn the_newest_version_is_among_the_stored_samples() {
    let folder = tempfile::tempdir().unwrap();
    let raw = raw(&fresh(folder.path()).await);
    let file = file(number(&raw, "user_version"));
    if !file.exists() {
        fs::write(&file, dump(&raw)).unwrap();
        panic!("{} was missing and is written: keep it", file.display());
    }
    let kept = Connection::open_in_memory().unwrap();
    kept.pragma_update(None, "foreign_keys", false).unwrap();
    kept.execute_batch(&fs::read_to_string(&file).unwrap())
        .unwrap();
    assert_eq!(schema(&kept), schema(&raw));
    assert_eq!(dump(&kept), dump(&raw));
}
