//! A full disk: only stored entries are acknowledged, later writes are refused, and reads continue.

use std::sync::{Arc, Mutex, mpsc};

use opencode_schema::event::SessionEvent;
use serde_json::json;

use crate::error::StoreError;
use crate::format::entry::{Committed, Draft};
use crate::integer::Sequence;
use crate::open::Durability;
use crate::tests::{append, created, event, ids, session_id};
use crate::writer::CommitListener;
use crate::{Abort, DatabasePath, Store, StoreOptions};

async fn open(path: &DatabasePath, listener: CommitListener) -> Store {
    let options = StoreOptions {
        path: path.clone(),
        durability: Durability::Normal,
        ids: ids(),
        listener,
        test_hook: None,
    };
    Store::open(options).await.unwrap()
}

/// Returns a store with a session and almost no free space.
async fn full(path: &DatabasePath) -> (Arc<Store>, Arc<Mutex<usize>>) {
    let heard = Arc::new(Mutex::new(0));
    let count = Arc::clone(&heard);
    let listener = move |committed: &[Committed]| *count.lock().unwrap() += committed.len();
    let store = open(path, Box::new(listener)).await;
    let write = store.write(|transaction| {
        append(transaction, "ses_a", created("ses_a"));
        let database = transaction.connection;
        let pages: i64 = database.pragma_query_value(None, "page_count", |row| row.get(0))?;
        database.pragma_update(None, "max_page_count", pages + 2)?;
        Ok::<_, Abort<()>>(())
    });
    write.await.unwrap();
    (Arc::new(store), heard)
}

fn small() -> SessionEvent {
    event("revert.cleared", &json!({}))
}

fn large() -> SessionEvent {
    // The numbers do not get much shorter by compression.
    let text: String = (0..40_000)
        .map(|n| (n * 7919 % 99_991).to_string())
        .collect();
    event(
        "synthetic",
        &json!({"messageID": "msg_large", "text": text}),
    )
}

async fn write(store: &Store, event: SessionEvent) -> Result<Sequence, StoreError> {
    let write = store.write(move |transaction| {
        transaction.append(&session_id("ses_a"), None, Draft::new(5, event))
    });
    write.await.map_err(Abort::unexpected)
}

#[tokio::test]
async fn a_full_disk_poisons_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let file = DatabasePath::File(folder.path().join("opencode.db"));
    for path in [file, DatabasePath::Memory] {
        let (store, heard) = full(&path).await;
        // The writer is blocked, so that the commands share a transaction.
        let (release, held) = mpsc::channel::<()>();
        let holder = Arc::clone(&store);
        let holder = tokio::spawn(async move {
            let write = holder.write(move |_| Ok::<_, Abort<()>>(held.recv().is_err()));
            write.await
        });
        let mut commands = Vec::new();
        for event in [small(), large(), small()] {
            let store = Arc::clone(&store);
            commands.push(tokio::spawn(async move { write(&store, event).await }));
        }
        tokio::task::yield_now().await;
        drop(release);
        // SQLite decides if the first commands are stored. Each answer must report the actual
        // result.
        let _ = holder.await.unwrap();
        let mut answers = Vec::new();
        for command in commands {
            answers.push(command.await.unwrap());
        }
        assert!(
            matches!(answers[1], Err(StoreError::Poisoned(_))),
            "{answers:?}"
        );
        assert!(
            matches!(answers[2], Err(StoreError::Poisoned(_))),
            "{answers:?}"
        );
        assert!(matches!(
            write(&store, small()).await,
            Err(StoreError::Poisoned(_))
        ));

        let read = store.read(|db| {
            let key = db.session(&session_id("ses_a"))?.unwrap().key;
            Ok((db.events(key, None, 9)?.len(), db.latest_seq(key)?))
        });
        let stored = usize::from(answers[0].is_ok());
        assert_eq!(read.await.unwrap(), (stored, Sequence::from(stored as u64)));
        assert_eq!(*heard.lock().unwrap(), 1 + stored);
        store.close().await;
        if path != DatabasePath::Memory {
            // There is free space again, and the host is opened again.
            let store = open(&path, Box::new(|_| {})).await;
            assert_eq!(
                write(&store, large()).await.unwrap(),
                (stored as u64 + 1).into()
            );
            store.close().await;
        }
    }
}
