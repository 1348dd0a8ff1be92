//! Tests that need the connection itself.

mod full;
mod interleavings;
mod numbers;
mod replayed;
mod tails;
mod watched;
mod work;

use std::sync::Arc;

use opencode_schema::clock::SystemClock;
use opencode_schema::event::{DURABLE_EVENTS, SessionEvent};
use opencode_schema::id::{IdSource, SessionID};
use serde_json::{Value, json};

use crate::DatabasePath;
use crate::format::entry::Draft;
use crate::open::{Durability, open};
use crate::view::transaction::Transaction;

fn ids() -> Arc<IdSource> {
    Arc::new(IdSource::new(Arc::new(SystemClock)))
}

fn session_id(text: &str) -> SessionID {
    SessionID::parse(text).unwrap()
}

/// Returns the event of that name. Adds the prefix `session.next.` unless the name begins with
/// `session.`.
fn event(name: &str, payload: &Value) -> SessionEvent {
    let name = match name.strip_prefix("session.") {
        Some(_) => name.to_owned(),
        None => format!("session.next.{name}"),
    };
    let spec = DURABLE_EVENTS.iter().find(|spec| spec.name == name);
    SessionEvent::read(spec.unwrap().number, &payload.to_string()).unwrap()
}

fn created(id: &str) -> SessionEvent {
    let info = json!({
        "id": id, "slug": "s", "projectID": "p", "directory": "/d", "title": "T",
        "version": "1", "time": {"created": 1, "updated": 1},
    });
    event("session.created", &json!({"info": info}))
}

/// Appends one event, which must succeed.
fn append(transaction: &mut Transaction<'_>, session: &str, event: SessionEvent) {
    let draft = Draft::new(5, event);
    let seq = transaction.append(&session_id(session), None, draft);
    seq.unwrap();
}

#[test]
fn each_level_of_durability_has_its_settings() {
    for (durability, expected) in [
        (Durability::Normal, [1, 0, 1, -2048, 2]),
        (Durability::Full, [2, 1, 1, -2048, 2]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = DatabasePath::File(folder.path().join("opencode.db"));
        let writer = open(&path, durability).unwrap().writer;
        let names = [
            "synchronous",
            "fullfsync",
            "foreign_keys",
            "cache_size",
            "auto_vacuum",
        ];
        let found = names.map(|name| {
            let value = writer.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            value.unwrap()
        });
        assert_eq!(found, expected);
        let mode = writer.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
        assert_eq!(mode.unwrap(), "wal");
    }
}
