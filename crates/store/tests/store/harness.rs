//! Shared test helpers: a store in its own folder, events from JSON, and messages as JSON.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use opencode_schema::clock::Clock;
use opencode_schema::event::{DURABLE_EVENTS, SessionEvent, is_streamed};
use opencode_schema::id::{IdSource, MessageID, SessionID};
use opencode_store::{
    Abort, CommitListener, Committed, DatabasePath, Draft, Durability, LifecycleConflict,
    OpenError, Order, Sequence, SessionRow, Store, StoreOptions, StoredEvent, TestHook,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A clock that advances one millisecond at each read, shared by all stores of this process. If one
/// store opens the file of another, their ids must differ.
struct Ticks;

impl Clock for Ticks {
    fn now(&self) -> i64 {
        static NOW: AtomicI64 = AtomicI64::new(1_795_179_302_007);
        NOW.fetch_add(1, Ordering::Relaxed)
    }
}

pub(crate) fn ids() -> Arc<IdSource> {
    Arc::new(IdSource::with_random(Arc::new(Ticks), |bytes| {
        *bytes = [7; 14];
    }))
}

/// The entries that a listener received, in order.
pub(crate) type CommitLog = Arc<Mutex<Vec<Committed>>>;

pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
    pub(crate) heard: CommitLog,
}

pub(crate) fn options(path: DatabasePath, listener: CommitListener) -> StoreOptions {
    StoreOptions {
        path,
        durability: Durability::Normal,
        ids: ids(),
        listener,
        test_hook: None,
    }
}

/// Opens a store with this test hook.
pub(crate) async fn open_watched(
    path: &Path,
    test_hook: Arc<dyn TestHook>,
) -> Result<Store, OpenError> {
    let path = DatabasePath::File(path.to_owned());
    let options = StoreOptions {
        test_hook: Some(test_hook),
        ..options(path, Box::new(|_| {}))
    };
    Store::open(options).await
}

pub(crate) async fn open(path: &Path) -> Result<Store, OpenError> {
    let path = DatabasePath::File(path.to_owned());
    Store::open(options(path, Box::new(|_| {}))).await
}

impl Bench {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let heard = CommitLog::default();
        let sink = Arc::clone(&heard);
        let listener: CommitListener = Box::new(move |committed| {
            sink.lock().unwrap().extend_from_slice(committed);
        });
        let path = DatabasePath::File(folder.path().join("opencode.db"));
        let store = Store::open(options(path, listener)).await.unwrap();
        Self {
            folder,
            store,
            heard,
        }
    }

    /// Returns a store with one empty session.
    pub(crate) async fn with_session(id: &str) -> (Self, SessionRow) {
        let bench = Self::new().await;
        let session = bench.session(id).await;
        (bench, session)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("opencode.db")
    }

    pub(crate) async fn session(&self, id: &str) -> SessionRow {
        create(&self.store, id).await
    }

    /// Appends one event, which must succeed.
    pub(crate) async fn append(&self, session: &SessionRow, time: i64, event: SessionEvent) -> u64 {
        append(&self.store, &session.info.id, time, event)
            .await
            .unwrap()
    }

    /// Appends events one millisecond apart from `time` on. All must succeed.
    pub(crate) async fn all(
        &self,
        session: &SessionRow,
        time: i64,
        events: impl IntoIterator<Item = SessionEvent>,
    ) {
        for (time, event) in (time..).zip(events) {
            self.append(session, time, event).await;
        }
    }

    pub(crate) async fn events(&self, session: &SessionRow) -> Vec<StoredEvent> {
        let key = session.key;
        let read = self.store.read(move |db| db.events(key, None, 100_000));
        read.await.unwrap()
    }

    /// Returns all messages as JSON, oldest first.
    pub(crate) async fn messages(&self, session: &SessionRow) -> Vec<Value> {
        let key = session.key;
        let read = self
            .store
            .read(move |db| db.messages(key, Order::Ascending, None, 100_000));
        let messages = read.await.unwrap();
        messages.iter().map(|(_, message)| json!(message)).collect()
    }

    /// Returns the current row of the session.
    pub(crate) async fn row(&self, session: &SessionRow) -> Option<SessionRow> {
        let id = session.info.id.clone();
        let read = self.store.read(move |db| db.session(&id));
        read.await.unwrap()
    }

    /// Opens a direct SQLite connection to the database.
    pub(crate) fn raw(&self) -> rusqlite::Connection {
        raw(&self.path())
    }
}

/// Removes a session and deletes all its rows. Returns true if it existed.
pub(crate) async fn remove(store: &Store, id: &str) -> bool {
    let id = SessionID::parse(id).unwrap();
    let hidden = store.write(move |transaction| {
        let session = transaction.reader().session(&id)?;
        let Some(session) = session else {
            return Ok::<_, Abort<&'static str>>(false);
        };
        transaction.hide(&session, 3000)?;
        Ok(true)
    });
    let hidden = hidden.await.unwrap();
    while purge(store, 2).await.remains {}
    hidden
}

/// The result of one step of the deletion.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Purged {
    pub(crate) files: Vec<String>,
    pub(crate) remains: bool,
}

/// Runs one step of the deletion of removed sessions, and takes the files that it recorded.
pub(crate) async fn purge(store: &Store, rows: usize) -> Purged {
    let purged = store.write(move |transaction| {
        let remains = transaction.purge(rows)?;
        let files = transaction.reader().removed_files(1000)?;
        transaction.files_deleted(&files)?;
        Ok::<_, Abort<&'static str>>(Purged { files, remains })
    });
    purged.await.unwrap()
}

/// Opens a direct SQLite connection without constraints, which can damage the data.
pub(crate) fn raw(path: &Path) -> rusqlite::Connection {
    let raw = rusqlite::Connection::open(path).unwrap();
    raw.pragma_update(None, "foreign_keys", false).unwrap();
    raw
}

pub(crate) async fn create(store: &Store, id: &str) -> SessionRow {
    let id = SessionID::parse(id).unwrap();
    let seq = append(store, &id, 1000, created(id.as_str(), "/project"))
        .await
        .unwrap();
    assert_eq!(seq, 0);
    let read = store.read(move |db| db.session(&id));
    read.await.unwrap().unwrap()
}

pub(crate) async fn append(
    store: &Store,
    session: &SessionID,
    time: i64,
    event: SessionEvent,
) -> Result<u64, Abort<LifecycleConflict>> {
    let session = session.clone();
    let write =
        store.write(move |transaction| transaction.append(&session, None, Draft::new(time, event)));
    write.await.map(u64::from)
}

/// Returns the event of that name. Adds the prefix `session.next.` unless the name begins with
/// `session.`.
pub(crate) fn event(name: &str, payload: Value) -> SessionEvent {
    let name = match name.strip_prefix("session.") {
        Some(_) => name.to_owned(),
        None => format!("session.next.{name}"),
    };
    let spec = DURABLE_EVENTS.iter().find(|spec| spec.name == name);
    SessionEvent::read(spec.unwrap().number, &payload.to_string()).unwrap()
}

/// Returns an event of the assistant message `msg_a`.
pub(crate) fn of_a(name: &str, payload: Value) -> SessionEvent {
    event(name, with(json!({"assistantMessageID": "msg_a"}), payload))
}

/// Returns `base` with the members of `more`.
pub(crate) fn with(mut base: Value, mut more: Value) -> Value {
    let members = base.as_object_mut().unwrap();
    members.extend(std::mem::take(more.as_object_mut().unwrap()));
    base
}

pub(crate) fn step_started(message: &str) -> SessionEvent {
    event(
        "step.started",
        json!({"assistantMessageID": message, "agent": "build", "model": model()}),
    )
}

pub(crate) fn model() -> Value {
    json!({"id": "claude-sonnet-4-5", "providerID": "anthropic"})
}

pub(crate) fn created(id: &str, directory: &str) -> SessionEvent {
    let info = json!({
        "id": id, "slug": "quiet-river", "projectID": "project", "directory": directory,
        "title": "New session", "version": "1.0.0", "time": {"created": 1000, "updated": 1000},
    });
    event("session.created", json!({"info": info}))
}

pub(crate) fn admitted(message: &str, text: &str, delivery: &str) -> SessionEvent {
    let prompt = json!({"text": text});
    event(
        "prompt.admitted",
        json!({"messageID": message, "prompt": prompt, "delivery": delivery}),
    )
}

pub(crate) fn prompted(message: &str, text: &str, delivery: &str) -> SessionEvent {
    let prompt = json!({"text": text});
    event(
        "prompted",
        json!({"messageID": message, "prompt": prompt, "delivery": delivery}),
    )
}

pub(crate) fn message_id(text: &str) -> MessageID {
    MessageID::parse(text).unwrap()
}

/// Returns a text that does not get shorter by compression.
pub(crate) fn incompressible(length: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut state = 1_u64;
    let mut text = String::with_capacity(length + 10);
    while text.len() < length {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        text.extend((4..14).map(|at| char::from(LETTERS[(state >> (4 * at)) as usize % 64])));
    }
    text.truncate(length);
    text
}

/// Returns the stored payload of an entry, including entries that are not streamed.
pub(crate) fn raw_data(bench: &Bench, session: &SessionRow, seq: u64) -> Option<Vec<u8>> {
    let raw = bench.raw();
    raw.query_row(
        "SELECT CAST(data AS BLOB) FROM event WHERE aggregate = ? AND seq = ?",
        (session.key, Sequence::from(seq)),
        |row| row.get(0),
    )
    .unwrap()
}

/// Appends the events and checks that reading returns them unchanged.
pub(crate) async fn round_trip(bench: &Bench, session: &SessionRow, events: &[SessionEvent]) {
    // All at the same time, because a promotion has the time of its admission.
    for event in events {
        bench.append(session, 1000, event.clone()).await;
    }
    let read = bench.events(session).await;
    let mut read = read.iter();
    for (index, event) in events.iter().enumerate() {
        let written = serde_json::to_string(event).unwrap();
        let seq = index as u64 + 1;
        if is_streamed(event.number()) {
            let entry = read.next().unwrap();
            assert_eq!((entry.seq, entry.timestamp), (seq.into(), 1000));
            assert_eq!(
                (entry.number, entry.metadata.as_deref()),
                (event.number(), None)
            );
            assert_eq!(entry.data, written);
            assert_eq!(&entry.payload().unwrap(), event);
        } else {
            let key = session.key;
            let log = bench
                .store
                .read(move |db| db.log(key, seq.into(), 1, 1))
                .await;
            let entry = log.unwrap().pop().unwrap();
            assert_eq!((entry.seq, entry.data), (seq.into(), written));
        }
    }
    assert_eq!(read.next(), None);
}

/// Returns the messages that these events create in a new session. The events have the times 11,
/// 12, ..., which are their sequences plus ten.
pub(crate) async fn project(events: impl IntoIterator<Item = SessionEvent>) -> Vec<Value> {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench.all(&session, 11, events).await;
    bench.messages(&session).await
}

/// Returns the content of `msg_a`, which starts at 11, after these events.
pub(crate) async fn content(events: impl IntoIterator<Item = SessionEvent>) -> Value {
    let first = std::iter::once(step_started("msg_a"));
    project(first.chain(events)).await.swap_remove(0)["content"].take()
}
