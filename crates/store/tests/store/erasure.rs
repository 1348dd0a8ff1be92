//! The traces that removed sessions and removed secrets leave in the files of a database.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use opencode_schema::id::SessionID;
use opencode_store::{Abort, Credential, Fault, Moment, Store, StoreError, TestHook};
use tempfile::TempDir;

use crate::harness::{
    Bench, admitted, append, create, open, open_watched, prompted, purge, remove, step_started,
};

/// The words that a file of the database contains.
fn found(bench: &Bench, words: &[String]) -> Vec<String> {
    found_in(bench.path().parent().unwrap(), words)
}

fn found_in(folder: &Path, words: &[String]) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap();
    let files = files.filter_map(|file| fs::read(file.unwrap().path()).ok());
    let content: Vec<Vec<u8>> = files.collect();
    let occurs = |word: &&String| {
        let word = word.as_bytes();
        let mut files = content.iter();
        files.any(|file| file.windows(word.len()).any(|part| part == word))
    };
    words.iter().filter(occurs).cloned().collect()
}

/// Many sessions whose rows move between pages: of different sizes, and written and removed in turns.
async fn churned(bench: &Bench) -> (Vec<String>, Vec<String>) {
    let (mut kept, mut removed) = (Vec::new(), Vec::new());
    for n in 0..60 {
        let (id, word) = (format!("ses_needle{n:03}"), format!("needle-word-{n:03}"));
        let session = create(&bench.store, &id).await;
        for (at, length) in [1, 40, 300, 12].into_iter().enumerate() {
            let (message, text) = (format!("msg_{n}_{at}"), format!("{word} ").repeat(length));
            bench
                .append(&session, 5, admitted(&message, &text, "steer"))
                .await;
            bench
                .append(&session, 5, prompted(&message, &text, "steer"))
                .await;
            let answer = format!("msg_{n}_{at}_a");
            bench.append(&session, 5, step_started(&answer)).await;
        }
        if n % 3 == 0 {
            kept.extend([id, word]);
            continue;
        }
        removed.extend([id.clone(), word]);
        if n % 2 == 0 {
            remove(&bench.store, &id).await;
        }
    }
    for id in removed.iter().step_by(2) {
        remove(&bench.store, id).await;
    }
    (kept, removed)
}

#[tokio::test]
async fn an_erasure_leaves_nothing_of_removed_sessions_in_any_file() {
    let (bench, _) = Bench::with_session("ses_a").await;
    let (kept, removed) = churned(&bench).await;
    assert!(!found(&bench, &removed).is_empty());
    assert_eq!(
        bench.store.read(|db| Ok(db.remains()?.parts)).await,
        Ok(true)
    );
    bench.store.erase(|| false).await.unwrap();
    assert_eq!(found(&bench, &removed), Vec::<String>::new());
    assert_eq!(found(&bench, &kept), kept);
    assert_eq!(
        bench.store.read(|db| Ok(db.remains()?.parts)).await,
        Ok(false)
    );
    // The next removal has a key that no session had.
    let session = create(&bench.store, "ses_after").await;
    let newest = bench
        .raw()
        .query_row("SELECT max(key) FROM aggregate", [], |row| row.get(0));
    assert_eq!(
        Ok(session.key.to_string()),
        newest.map(|key: i64| key.to_string())
    );
}

#[tokio::test]
async fn a_removal_that_a_crash_cut_is_erased_after_the_next_opening() {
    let (bench, session) = Bench::with_session("ses_needle").await;
    let text = "needle-word".repeat(200);
    for n in 0..20 {
        let id = format!("msg_{n}");
        bench
            .append(&session, 5, admitted(&id, &text, "steer"))
            .await;
    }
    let hidden = bench
        .store
        .write(move |transaction| Ok::<_, Abort<&'static str>>(transaction.hide(&session, 5)?));
    hidden.await.unwrap();
    purge(&bench.store, 3).await;
    bench.store.close().await;
    let words = ["needle-word".to_owned(), "ses_needle".to_owned()];
    assert!(!found(&bench, &words).is_empty());
    let store = open(&bench.path()).await.unwrap();
    // Rows that remain keep the erasure due.
    store.erase(|| false).await.unwrap();
    assert_eq!(store.read(|db| Ok(db.remains()?.parts)).await, Ok(true));
    while purge(&store, 3).await.remains {}
    store.erase(|| false).await.unwrap();
    assert_eq!(store.read(|db| Ok(db.remains()?.parts)).await, Ok(false));
    assert_eq!(found(&bench, &words), Vec::<String>::new());
    store.close().await;
}

#[tokio::test]
async fn a_removed_or_replaced_secret_is_erased_with_the_commit() {
    let (bench, _) = Bench::with_session("ses_a").await;
    let secret =
        |n: usize, value: usize| format!("needle-secret-{n:03}-{value}-").repeat(n * 9 + 1);
    let word = |n: usize, value: usize| format!("needle-secret-{n:03}-{value}-");
    let write = |n: usize, change: Option<usize>| {
        let (id, value) = (format!("cred_{n}"), change.map(|value| secret(n, value)));
        bench.store.write(move |transaction| {
            match value {
                Some(value) => transaction.update_credential(&id, None, Some(&value), 6)?,
                None => transaction.remove_credential(&id)?,
            };
            Ok::<_, Abort<&'static str>>(())
        })
    };
    for n in 0..40 {
        let credential = Credential {
            id: format!("cred_{n}"),
            integration_id: "mcp:x".into(),
            label: "default".into(),
            value: secret(n, 0),
        };
        let inserted = bench.store.write(move |transaction| {
            Ok::<_, Abort<&'static str>>(transaction.insert_credential(&credential, 5)?)
        });
        inserted.await.unwrap();
    }
    let (mut gone, mut kept): (Vec<_>, Vec<_>) =
        (Vec::new(), (0..40).map(|n| word(n, 0)).collect());
    for n in 0..40 {
        write(n, (n % 2 == 0).then_some(1)).await.unwrap();
        gone.push(word(n, 0));
        kept.retain(|it| *it != word(n, 0));
        if n % 2 == 0 {
            kept.push(word(n, 1));
        }
        assert_eq!(found(&bench, &gone), Vec::<String>::new(), "{n}");
    }
    kept.sort();
    assert_eq!(found(&bench, &kept), kept);
    let left = bench
        .store
        .read(|db| db.credentials("mcp:x"))
        .await
        .unwrap();
    let ids: Vec<_> = left.iter().map(|it| it.id.as_str()).collect();
    let expected: Vec<_> = (0..40).step_by(2).map(|n| format!("cred_{n}")).collect();
    assert_eq!(ids, expected);
}

/// Copies the files of the database before each checkpoint, as a kill would leave them, and injects a fault.
#[derive(Default)]
struct Watch {
    folder: PathBuf,
    copies: Mutex<Vec<TempDir>>,
    fault: Mutex<Option<(&'static str, Fault)>>,
}

impl TestHook for Watch {
    fn at(&self, moment: Moment<'_>) -> Result<(), Fault> {
        let name = match moment {
            Moment::Begin => "begin",
            Moment::Checkpoint => "checkpoint",
            _ => return Ok(()),
        };
        if name == "checkpoint" {
            let copy = tempfile::tempdir().unwrap();
            for file in ["opencode.db", "opencode.db-wal"] {
                fs::copy(self.folder.join(file), copy.path().join(file)).unwrap();
            }
            self.copies.lock().unwrap().push(copy);
        }
        match *self.fault.lock().unwrap() {
            Some((at, fault)) if at == name => Err(fault),
            _ => Ok(()),
        }
    }
}

/// A store with the sessions `ses_needle`, which is removed, and `ses_kept`.
async fn with_removed() -> (TempDir, Arc<Watch>, Store) {
    let folder = tempfile::tempdir().unwrap();
    let watch = Arc::new(Watch {
        folder: folder.path().to_owned(),
        ..Watch::default()
    });
    let hook = Arc::clone(&watch) as Arc<dyn TestHook>;
    let path = folder.path().join("opencode.db");
    let store = open_watched(&path, hook).await.unwrap();
    for (id, text) in [("ses_needle", "needle-word "), ("ses_kept", "kept-word ")] {
        let session = create(&store, id).await;
        for n in 0..10 {
            let text = admitted(&format!("msg_{id}_{n}"), &text.repeat(300), "queue");
            append(&store, &session.info.id, 5, text).await.unwrap();
        }
    }
    assert!(remove(&store, "ses_needle").await);
    (folder, watch, store)
}

async fn is_kept(store: &Store) {
    let id = SessionID::parse("ses_kept").unwrap();
    let inputs = store.read(move |db| {
        let key = db.session(&id)?.unwrap().key;
        db.events(key, None, 99)
    });
    assert_eq!(inputs.await.unwrap().len(), 10);
}

fn words() -> [String; 2] {
    ["needle-word".to_owned(), "ses_needle".to_owned()]
}

async fn is_due(store: &Store) -> bool {
    store.read(|db| Ok(db.remains()?.parts)).await.unwrap()
}

#[tokio::test]
async fn an_erasure_that_a_kill_cut_is_still_due_and_loses_nothing() {
    let (_folder, watch, store) = with_removed().await;
    store.erase(|| false).await.unwrap();
    store.close().await;
    let copies = std::mem::take(&mut *watch.copies.lock().unwrap());
    // The new file is in the log, and the former one is complete.
    let copy = copies.first().unwrap();
    assert!(!found_in(copy.path(), &words()).is_empty());
    let store = open(&copy.path().join("opencode.db")).await.unwrap();
    assert!(is_due(&store).await);
    is_kept(&store).await;
    store.erase(|| false).await.unwrap();
    assert!(!is_due(&store).await);
    is_kept(&store).await;
    assert_eq!(found_in(copy.path(), &words()), Vec::<String>::new());
    store.close().await;
}

#[tokio::test]
async fn an_erasure_without_space_changes_nothing_and_the_store_goes_on() {
    for moment in ["begin", "checkpoint"] {
        let (folder, watch, store) = with_removed().await;
        *watch.fault.lock().unwrap() = Some((moment, Fault::Full));
        let refused = store.erase(|| false).await;
        assert!(
            matches!(refused, Err(StoreError::NoSpace(_))),
            "{refused:?}"
        );
        assert!(is_due(&store).await);
        *watch.fault.lock().unwrap() = None;
        is_kept(&store).await;
        create(&store, "ses_more").await;
        store.erase(|| false).await.unwrap();
        assert!(!is_due(&store).await);
        assert_eq!(found_in(folder.path(), &words()), Vec::<String>::new());
        store.close().await;
    }
}

#[tokio::test]
async fn an_erasure_that_is_stopped_or_that_readers_prevent_stays_due() {
    let (folder, watch, store) = with_removed().await;
    for checks in [0, 1] {
        let left = AtomicU32::new(checks);
        let stopped = store.erase(move || {
            let less = left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
            less.is_err()
        });
        assert_eq!(stopped.await, Err(StoreError::Closed));
    }
    *watch.fault.lock().unwrap() = Some(("checkpoint", Fault::Locked));
    let refused = store.erase(|| false).await;
    assert!(matches!(refused, Err(StoreError::Busy(_))), "{refused:?}");
    assert!(is_due(&store).await);
    *watch.fault.lock().unwrap() = None;
    is_kept(&store).await;
    store.erase(|| false).await.unwrap();
    assert!(!is_due(&store).await);
    assert_eq!(found_in(folder.path(), &words()), Vec::<String>::new());
    store.close().await;
}
