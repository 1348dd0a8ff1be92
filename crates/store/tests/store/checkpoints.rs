//! The length of the write-ahead log, and checkpoints that fail: they have no effect on callers
//! until the log is too long.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use opencode_schema::id::SessionID;
use opencode_store::{
    Abort, Fault, LifecycleConflict, Moment, Sequence, SessionRow, Store, StoreError, TestHook,
};
use serde_json::json;
use tempfile::TempDir;

use crate::harness::{admitted, append, create, event, incompressible, open, open_watched};

/// Size of a log page in bytes.
const PAGE: u64 = 4096 + 24;

/// Counts checkpoint attempts, and injects a fault while one is set.
struct Folds {
    log: PathBuf,
    attempts: AtomicUsize,
    /// Maximum number of log pages at an attempt.
    longest: AtomicU64,
    fault: Mutex<Option<Fault>>,
}

impl Folds {
    fn fail(&self, fault: Option<Fault>) {
        *self.fault.lock().unwrap() = fault;
    }

    fn attempts(&self) -> usize {
        self.attempts.load(Ordering::Relaxed)
    }
}

fn pages(log: &Path) -> u64 {
    fs::metadata(log).map_or(0, |log| log.len() / PAGE)
}

impl TestHook for Folds {
    fn at(&self, moment: Moment<'_>) -> Result<(), Fault> {
        if !matches!(moment, Moment::Checkpoint) {
            return Ok(());
        }
        self.attempts.fetch_add(1, Ordering::Relaxed);
        self.longest.fetch_max(pages(&self.log), Ordering::Relaxed);
        self.fault.lock().unwrap().map_or(Ok(()), Err)
    }
}

struct Bench {
    folder: TempDir,
    store: Store,
    folds: Arc<Folds>,
    session: SessionRow,
    written: usize,
}

impl Bench {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let folds = Arc::new(Folds {
            log: folder.path().join("opencode.db-wal"),
            attempts: AtomicUsize::new(0),
            longest: AtomicU64::new(0),
            fault: Mutex::new(None),
        });
        let path = folder.path().join("opencode.db");
        let store = open_watched(&path, Arc::clone(&folds) as Arc<dyn TestHook>)
            .await
            .unwrap();
        let session = create(&store, "ses_a").await;
        Self {
            folder,
            store,
            folds,
            session,
            written: 0,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("opencode.db")
    }

    /// Returns the number of pages in the log file.
    fn log(&self) -> u64 {
        pages(&self.folds.log)
    }

    /// Writes an entry of about that many pages.
    async fn write(&mut self, pages: usize) -> Result<u64, StoreError> {
        self.written += 1;
        let id = format!("msg_{}", self.written);
        let text = incompressible(pages * 4096);
        let synthetic = event("synthetic", json!({"messageID": id, "text": text}));
        let written = append(&self.store, &self.session.info.id, 5, synthetic).await;
        written.map_err(Abort::unexpected)
    }

    /// Returns the number of checkpoint attempts, after the writer has finished the earlier
    /// commands.
    async fn attempts(&self) -> usize {
        let write = self
            .store
            .write(|_| Err::<(), Abort<_>>(Abort::Refused("nothing")));
        let _ = write.await;
        self.folds.attempts()
    }

    async fn latest(&self) -> u64 {
        latest(&self.store).await
    }
}

async fn latest(store: &Store) -> u64 {
    let read = store.read(|db| {
        let session = db.session(&SessionID::parse("ses_a").unwrap())?;
        db.latest_seq(session.expect("the session exists").key)
    });
    read.await.unwrap().into()
}

#[tokio::test]
async fn the_log_is_checkpointed_when_it_has_grown_and_starts_again() {
    let mut bench = Bench::new().await;
    for at in 1..=300 {
        assert_eq!(bench.write(50).await.unwrap(), at);
        assert!(bench.log() < 1100, "{}", bench.log());
    }
    // 300 entries of slightly more than 50 pages.
    assert!(
        (14..18).contains(&bench.attempts().await),
        "{}",
        bench.attempts().await
    );
    assert_eq!(bench.latest().await, 300);
}

#[tokio::test]
async fn a_failed_checkpoint_fails_no_commit() {
    for fault in [Fault::Full, Fault::Io, Fault::Locked] {
        let mut bench = Bench::new().await;
        bench.folds.fail(Some(fault));
        for at in 1..=60 {
            assert_eq!(bench.write(50).await.unwrap(), at, "{fault:?}");
        }
        // The next attempt follows when the log has grown by the same length again.
        assert_eq!(bench.attempts().await, 3, "{fault:?}");
        assert!(bench.log() > 3000, "{fault:?}");
        bench.folds.fail(None);
        for at in 61..=80 {
            assert_eq!(bench.write(50).await.unwrap(), at, "{fault:?}");
        }
        assert_eq!(bench.attempts().await, 4, "{fault:?}");
        // No data was lost, with or without a checkpoint at the end.
        for (last, fault) in [(80, None), (81, Some(fault))] {
            assert_eq!(bench.latest().await, last);
            bench.folds.fail(fault);
            bench.store.close().await;
            assert_eq!(bench.log() > 0, fault.is_some(), "{fault:?}");
            let test_hook = Arc::clone(&bench.folds) as Arc<dyn TestHook>;
            bench.folds.fail(None);
            bench.store = open_watched(&bench.path(), test_hook).await.unwrap();
            assert_eq!(bench.latest().await, last, "{fault:?}");
            assert_eq!(bench.write(1).await.unwrap(), last + 1, "{fault:?}");
        }
    }
}

#[tokio::test]
async fn a_log_that_can_never_be_checkpointed_stops_writes_before_the_disk_is_full() {
    let mut bench = Bench::new().await;
    bench.folds.fail(Some(Fault::Io));
    let mut last = 0;
    let refused = loop {
        match bench.write(200).await {
            Ok(seq) => last = seq,
            Err(error) => break error,
        }
        assert!(bench.log() < 17_300, "{}", bench.log());
    };
    let StoreError::Poisoned(reason) = refused else {
        panic!("{refused}")
    };
    assert_eq!(
        reason,
        "its write-ahead log cannot be folded into the file: disk I/O error"
    );
    assert!(bench.log() > 16_000, "{}", bench.log());
    assert_eq!(bench.latest().await, last);
    // The log is not touched any more. The next opening reads it.
    let attempts = bench.attempts().await;
    bench.store.close().await;
    assert_eq!(bench.folds.attempts(), attempts);
    let store = open(&bench.path()).await.unwrap();
    assert_eq!(latest(&store).await, last);
    let next = append(
        &store,
        &bench.session.info.id,
        5,
        admitted("msg_n", "x", "steer"),
    );
    assert_eq!(next.await, Ok(last + 1));
    store.close().await;
}

#[tokio::test]
async fn a_reader_lets_the_log_grow_only_while_it_reads() {
    let mut bench = Bench::new().await;
    let store = Arc::new(bench.store);
    bench.store = open(&bench.folder.path().join("other.db")).await.unwrap();
    let (began, begins) = tokio::sync::oneshot::channel();
    let (release, held) = channel::<()>();
    let reading = {
        let (store, key) = (Arc::clone(&store), bench.session.key);
        tokio::spawn(async move {
            let read = store.read(move |db| {
                let before = db.latest_seq(key)?;
                let _ = began.send(());
                let _ = held.recv();
                Ok((before, db.latest_seq(key)?))
            });
            read.await.unwrap()
        })
    };
    begins.await.unwrap();
    let id = bench.session.info.id.clone();
    let write = async |at: usize| {
        let text = incompressible(200 * 4096);
        let payload = json!({"messageID": format!("msg_{at}"), "text": text});
        append(&store, &id, 5, event("synthetic", payload))
            .await
            .unwrap()
    };
    for at in 1..=30 {
        assert_eq!(write(at).await, at as u64);
    }
    assert!(bench.log() > 6000, "{}", bench.log());
    drop(release);
    assert_eq!(reading.await.unwrap(), (Sequence::FIRST, Sequence::FIRST));
    for at in 31..=40 {
        assert_eq!(write(at).await, at as u64);
    }
    // The log was truncated and restarted.
    assert!(bench.log() < 2100, "{}", bench.log());
    store.close().await;
}

#[tokio::test]
async fn a_large_transaction_leaves_no_large_log() {
    let bench = Bench::new().await;
    let id = bench.session.info.id.clone();
    let write = bench.store.write(move |transaction| {
        for at in 0..100 {
            let payload =
                json!({"messageID": format!("msg_{at}"), "text": incompressible(100 * 4096)});
            let draft = opencode_store::Draft::new(5, event("synthetic", payload));
            transaction.append(&id, None, draft)?;
        }
        Ok::<_, Abort<LifecycleConflict>>(())
    });
    write.await.unwrap();
    // The log is checkpointed before the next commit.
    let next = append(
        &bench.store,
        &bench.session.info.id,
        5,
        admitted("msg_n", "x", "steer"),
    );
    assert_eq!(next.await, Ok(101));
    assert!(bench.log() < 4100, "{}", bench.log());
    let longest = bench.folds.longest.load(Ordering::Relaxed);
    assert!(longest > 10_000, "{longest}");
    assert_eq!(bench.latest().await, 101);
}
