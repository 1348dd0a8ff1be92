//! Real failures: files that cannot grow, a full database, and another process that holds the file.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use opencode_schema::id::SessionID;
use opencode_store::{Abort, Fault, Moment, Store, StoreError, TestHook};
use serde_json::json;

use crate::harness::{append, create, event, incompressible, open_watched, raw};

fn session() -> SessionID {
    SessionID::parse("ses_a").unwrap()
}

/// Writes an entry of about that many pages.
async fn write(store: &Store, id: &str, pages: usize) -> Result<u64, StoreError> {
    let payload = json!({"messageID": id, "text": incompressible(pages * 4096)});
    let written = append(store, &session(), 5, event("synthetic", payload)).await;
    written.map_err(Abort::unexpected)
}

async fn latest(store: &Store) -> u64 {
    let read = store.read(|db| {
        let session = db.session(&session())?.expect("the session exists");
        let messages = db.messages(session.key, opencode_store::Order::Ascending, None, 9999)?;
        let latest = db.latest_seq(session.key)?;
        assert_eq!(messages.len() as u64, u64::from(latest));
        Ok(latest)
    });
    read.await.unwrap().into()
}

/// Counts attempts to begin a transaction. Each waits for the file until the timeout.
#[derive(Default)]
struct Begins(AtomicU64);

impl TestHook for Begins {
    fn at(&self, moment: Moment<'_>) -> Result<(), Fault> {
        if matches!(moment, Moment::Begin) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_file_that_another_process_locks_is_busy_until_the_lock_is_released() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let begins = Arc::new(Begins::default());
    let test_hook = Arc::clone(&begins) as Arc<dyn TestHook>;
    let store = open_watched(&path, test_hook).await.unwrap();
    create(&store, "ses_a").await;
    let other = raw(&path);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    begins.0.store(0, Ordering::SeqCst);
    let answers = tokio::join!(
        write(&store, "msg_1", 1),
        write(&store, "msg_2", 1),
        write(&store, "msg_3", 1),
    );
    let busy = "database is locked";
    for answer in [answers.0, answers.1, answers.2] {
        let Err(StoreError::Busy(reason)) = answer else {
            panic!("{answer:?}")
        };
        assert_eq!(reason, busy);
    }
    // All commands share one wait.
    assert_eq!(begins.0.load(Ordering::SeqCst), 1);
    // Reads never wait.
    assert_eq!(latest(&store).await, 0);
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(write(&store, "msg_1", 1).await.unwrap(), 1);

    // A short lock of another process has no visible effect.
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let release = async { other.execute_batch("COMMIT").unwrap() };
    let (written, ()) = tokio::join!(write(&store, "msg_2", 1), release);
    assert_eq!(written.unwrap(), 2);
    assert_eq!(latest(&store).await, 2);
}

/// A limit on the size of files, which the operating system enforces for a separate process.
#[cfg(unix)]
mod limited {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use opencode_schema::clock::SystemClock;
    use opencode_schema::id::IdSource;
    use opencode_store::{DatabasePath, Fault, Moment, Store, StoreError, StoreOptions, TestHook};
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::{latest, write};
    use crate::harness::{create, open, options};

    /// Variables for the child process: its database file, and the limit that applies.
    const FILE: &str = "STORE_FAULTS_FILE";
    const LIMITS: &str = "STORE_FAULTS_LIMITS";

    /// Counts checkpoint attempts.
    #[derive(Default)]
    struct Folds(AtomicU64);

    impl TestHook for Folds {
        fn at(&self, moment: Moment<'_>) -> Result<(), Fault> {
            if matches!(moment, Moment::Checkpoint) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }
    }

    fn size(path: &Path) -> u64 {
        fs::metadata(path).map_or(0, |file| file.len())
    }

    fn log(path: &Path) -> PathBuf {
        path.with_file_name("opencode.db-wal")
    }

    /// Limits the size of files that this process writes from now on.
    fn limit(bytes: u64) {
        let maximum = getrlimit(Resource::Fsize).maximum;
        let limit = Rlimit {
            current: Some(bytes),
            maximum,
        };
        setrlimit(Resource::Fsize, limit).unwrap();
    }

    /// Runs the test below in a separate process and returns its output: the number of acknowledged
    /// entries. The shell ignores the signal that would end the process at the limit.
    fn child(path: &Path, limits: &str) -> u64 {
        let output = Command::new("sh")
            .args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#])
            .arg(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "faults::limited::in_a_process_of_its_own",
                "--nocapture",
            ])
            .env(FILE, path)
            .env(LIMITS, limits)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}\n{errors}");
        let count = said.split_once("acknowledged ").unwrap().1;
        count.split_once(';').unwrap().0.parse().unwrap()
    }

    /// Runs in the child process with limited file sizes.
    #[tokio::test]
    async fn in_a_process_of_its_own() {
        let (Ok(path), Ok(limits)) = (std::env::var(FILE), std::env::var(LIMITS)) else {
            return;
        };
        let path = PathBuf::from(path);
        let folds = Arc::new(Folds::default());
        let options = StoreOptions {
            // The clock of the tests restarts in each process.
            ids: Arc::new(IdSource::new(Arc::new(SystemClock))),
            test_hook: Some(Arc::clone(&folds) as Arc<dyn TestHook>),
            ..options(DatabasePath::File(path.clone()), Box::new(|_| {}))
        };
        let store = Store::open(options).await.unwrap();
        let mut count = latest(&store).await;
        match limits.as_str() {
            "log" => {
                count = grow(&store, count, 5).await;
                limit(size(&log(&path)) + 8192);
                count = refused(&store, count).await;
            }
            "file" => {
                let before = size(&path);
                limit(before);
                // The log may grow to the size of the file, and a checkpoint is due before that.
                count = refused(&store, count).await;
                assert_eq!(folds.0.load(Ordering::Relaxed), 1);
                assert!(size(&log(&path)) > 1400 * 4096);
                assert_eq!(size(&path), before);
            }
            "end" => {
                count = grow(&store, count, 5).await;
                limit(size(&path));
            }
            other => panic!("{other}"),
        }
        store.close().await;
        assert!(size(&log(&path)) > 0, "the log is left to the next opening");
        let mut said = std::io::stdout();
        std::io::Write::write_all(&mut said, format!("acknowledged {count};").as_bytes()).unwrap();
    }

    async fn grow(store: &Store, mut count: u64, entries: usize) -> u64 {
        for _ in 0..entries {
            count += 1;
            assert_eq!(
                write(store, &format!("msg_{count}"), 20).await.unwrap(),
                count
            );
        }
        count
    }

    /// Writes until a write fails. Acknowledged entries stay readable. Later writes are refused.
    async fn refused(store: &Store, mut count: u64) -> u64 {
        let error = loop {
            match write(store, &format!("msg_{}", count + 1), 20).await {
                Ok(seq) => {
                    count += 1;
                    assert_eq!(seq, count);
                }
                Err(error) => break error,
            }
        };
        let StoreError::Poisoned(reason) = error else {
            panic!("{error}")
        };
        assert_eq!(reason, "disk I/O error");
        let again = write(store, "msg_again", 1).await;
        assert!(matches!(again, Err(StoreError::Poisoned(_))), "{again:?}");
        assert_eq!(latest(store).await, count);
        count
    }

    #[tokio::test]
    async fn acknowledged_data_is_stored_if_a_file_cannot_grow() {
        for limits in ["log", "file", "end"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("opencode.db");
            let store = open(&path).await.unwrap();
            create(&store, "ses_a").await;
            // More than the log holds before a checkpoint.
            grow(&store, 0, 80).await;
            store.close().await;
            let acknowledged = child(&path, limits);
            assert!(acknowledged > 80, "{limits}");
            let store = open(&path).await.unwrap();
            assert_eq!(latest(&store).await, acknowledged, "{limits}");
            let next = write(&store, "msg_next", 20).await.unwrap();
            assert_eq!(next, acknowledged + 1, "{limits}");
            store.close().await;
        }
    }
}
