//! What the tests share: a store in a folder of its own, events from JSON, and messages as JSON.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use opencode_schema::clock::Clock;
use opencode_schema::event::{DURABLE_EVENTS, SessionEvent};
use opencode_schema::id::{IdSource, MessageID, SessionID};
use opencode_store::{
    Anchored, CommitListener, Committed, DatabasePath, Draft, Durability, LifecycleConflict,
    OpenError, Order, SessionRow, Store, StoreError, StoreOptions, StoredEvent,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A clock that moves one millisecond each time it is read.
struct Ticks(AtomicI64);

impl Clock for Ticks {
    fn now(&self) -> i64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

pub(crate) fn ids() -> Arc<IdSource> {
    let count = AtomicU64::new(0);
    let clock = Ticks(AtomicI64::new(1_795_179_302_007));
    Arc::new(IdSource::with_random(Arc::new(clock), move |bytes| {
        let count = count.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        bytes[..8].copy_from_slice(&count);
    }))
}

/// What a listener heard, in order.
pub(crate) type Heard = Arc<Mutex<Vec<Committed>>>;

pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
    pub(crate) heard: Heard,
}

pub(crate) fn options(path: DatabasePath, listener: CommitListener) -> StoreOptions {
    StoreOptions {
        path,
        durability: Durability::Normal,
        ids: ids(),
        listener,
    }
}

pub(crate) async fn open(path: &Path) -> Result<Store, OpenError> {
    let path = DatabasePath::File(path.to_owned());
    Store::open(options(path, Box::new(|_| {}))).await
}

impl Bench {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let heard = Heard::default();
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

    /// A store with one empty session.
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
            .unwrap()
    }

    /// Appends events a millisecond apart from `time` on, which must succeed.
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

    /// All messages, oldest first, as JSON.
    pub(crate) async fn messages(&self, session: &SessionRow) -> Vec<Value> {
        let key = session.key;
        let read = self
            .store
            .read(move |db| db.messages(key, Order::Ascending, None::<&Anchored<u64>>, 100_000));
        let messages = read.await.unwrap();
        messages.iter().map(|(_, message)| json!(message)).collect()
    }

    /// The row of the session as it is now.
    pub(crate) async fn row(&self, session: &SessionRow) -> Option<SessionRow> {
        let id = session.info.id.clone();
        let read = self.store.read(move |db| db.session(&id));
        read.await.unwrap()
    }

    /// The database as SQLite sees it, beside the store.
    pub(crate) fn raw(&self) -> rusqlite::Connection {
        let raw = rusqlite::Connection::open(self.path()).unwrap();
        raw.pragma_update(None, "foreign_keys", false).unwrap();
        raw
    }
}

pub(crate) async fn create(store: &Store, id: &str) -> SessionRow {
    let id = SessionID::parse(id).unwrap();
    let seq = append(store, &id, 1000, created(id.as_str(), "/project"))
        .await
        .unwrap()
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
) -> Result<Result<u64, LifecycleConflict>, StoreError> {
    let session = session.clone();
    let write =
        store.write(move |transaction| transaction.append(&session, None, Draft::new(time, event)));
    write.await
}

/// The event of that name, of `session.next.` unless it says `session.` itself.
pub(crate) fn event(name: &str, payload: Value) -> SessionEvent {
    let name = match name.strip_prefix("session.") {
        Some(_) => name.to_owned(),
        None => format!("session.next.{name}"),
    };
    let spec = DURABLE_EVENTS.iter().find(|spec| spec.name == name);
    SessionEvent::read(spec.unwrap().number, &payload.to_string()).unwrap()
}

/// An event of the assistant message `msg_a`.
pub(crate) fn of_a(name: &str, payload: Value) -> SessionEvent {
    let mut with_owner = json!({"assistantMessageID": "msg_a"});
    let members = payload.as_object().unwrap().clone();
    with_owner.as_object_mut().unwrap().extend(members);
    event(name, with_owner)
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
