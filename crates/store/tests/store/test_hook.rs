//! The test hooks of the store: an injected fault reaches only the command that it concerns.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opencode_schema::id::SessionID;
use opencode_store::{
    Abort, CommitListener, Committed, DatabasePath, Draft, Fault, LifecycleConflict, Moment, Store,
    StoreError, StoreOptions, TestHook,
};
use tokio::task::yield_now;

use crate::harness::{admitted, append, create, created, open, open_watched, options};

/// The fault to inject once, by the name or the full text of a moment, and the moments seen so far.
#[derive(Default)]
struct Script {
    fault: Mutex<Option<(&'static str, Fault)>>,
    seen: Mutex<Vec<String>>,
}

impl Script {
    fn fail(&self, moment: &'static str, fault: Fault) {
        *self.fault.lock().unwrap() = Some((moment, fault));
    }

    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    /// Waits for a moment. Callers receive their answers before `Notified`.
    async fn until(&self, text: &str) {
        let seen = async {
            while self.seen.lock().unwrap().iter().all(|seen| seen != text) {
                yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), seen)
            .await
            .unwrap();
    }

    fn note(&self, text: &str) {
        self.seen.lock().unwrap().push(text.to_owned());
    }
}

fn seqs(entries: &[Committed]) -> Vec<u64> {
    entries.iter().map(|entry| entry.event.seq).collect()
}

impl TestHook for Script {
    fn at(&self, moment: Moment<'_>) -> Result<(), Fault> {
        let (name, text) = match moment {
            Moment::Begin => ("begin", "begin".to_owned()),
            Moment::Appended(event) => ("appended", format!("appended {}", event.seq)),
            Moment::Commit(entries) => ("commit", format!("commit {:?}", seqs(entries))),
            Moment::Committed(entries) => ("committed", format!("committed {:?}", seqs(entries))),
            Moment::Notified(entries) => ("told", format!("told {:?}", seqs(entries))),
            Moment::Checkpoint => ("checkpoint", "checkpoint".to_owned()),
            Moment::Read => ("read", "read".to_owned()),
        };
        self.note(&text);
        let mut fault = self.fault.lock().unwrap();
        let fault = fault.take_if(|(at, _)| *at == name || *at == text);
        fault.map_or(Ok(()), |(_, fault)| Err(fault))
    }
}

fn session() -> SessionID {
    SessionID::parse("ses_a").unwrap()
}

async fn admit(store: &Store, id: &str) -> Result<u64, StoreError> {
    let appended = append(store, &session(), 5, admitted(id, "x", "steer")).await;
    appended.map_err(Abort::unexpected)
}

async fn latest(store: &Store) -> Result<u64, StoreError> {
    let read = store.read(|db| {
        let session = db.session(&session())?.expect("the session exists");
        Ok(db.latest_seq(session.key)?.into())
    });
    read.await
}

/// Returns a store with the hook and the session `ses_a`.
async fn watched(script: &Arc<Script>) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let store = open_watched(&path, Arc::clone(script) as Arc<dyn TestHook>)
        .await
        .unwrap();
    create(&store, "ses_a").await;
    script.until("told [0]").await;
    script.seen();
    (folder, store)
}

#[tokio::test]
async fn every_fail_point_is_reached_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = DatabasePath::File(folder.path().join("opencode.db"));
    for (path, at_end) in [(file, vec!["checkpoint"]), (DatabasePath::Memory, vec![])] {
        let script = Arc::new(Script::default());
        let hears = Arc::clone(&script);
        let listener: CommitListener =
            Box::new(move |entries| hears.note(&format!("heard {:?}", seqs(entries))));
        let store = Store::open(StoreOptions {
            test_hook: Some(Arc::clone(&script) as Arc<dyn TestHook>),
            ..options(path, listener)
        });
        let store = store.await.unwrap();
        let made = append(&store, &session(), 5, created("ses_a", "/")).await;
        assert_eq!(made, Ok(0));
        script.until("told [0]").await;
        latest(&store).await.unwrap();
        assert_eq!(
            script.seen(),
            [
                "begin",
                "appended 0",
                "commit [0]",
                "committed [0]",
                "heard [0]",
                "told [0]",
                "read"
            ]
        );
        let two = store.write(|transaction| {
            for id in ["msg_1", "msg_2"] {
                let draft = Draft::new(5, admitted(id, "x", "steer"));
                transaction.append(&session(), None, draft)?;
            }
            Ok::<_, Abort<LifecycleConflict>>(())
        });
        two.await.unwrap();
        let decided = store.write(|transaction| {
            let draft = Draft::new(5, admitted("msg_3", "x", "steer"));
            transaction
                .append(&session(), None, draft)
                .map_err(Abort::unexpected)?;
            Err::<(), Abort<_>>(Abort::Refused("decided"))
        });
        assert_eq!(decided.await, Err(Abort::Refused("decided")));
        let other = store.write(|transaction| {
            transaction.add_project("p", "/", 5)?;
            Ok::<_, Abort<&'static str>>(())
        });
        other.await.unwrap();
        store.close().await;
        let mut expected = vec![
            "begin",
            "appended 1",
            "appended 2",
            "commit [1, 2]",
            "committed [1, 2]",
            "heard [1, 2]",
            "told [1, 2]",
            "begin",
            "appended 3",
            "begin",
            "commit []",
            "committed []",
            "told []",
        ];
        expected.extend(at_end);
        assert_eq!(script.seen(), expected);
    }
}

#[tokio::test]
async fn a_command_with_a_storage_failure_is_not_stored_and_reports_it() {
    use Fault::{Full, Io, Locked};
    for moment in ["begin", "appended", "commit"] {
        for (fault, reason) in [
            (Full, "database or disk is full"),
            (Io, "disk I/O error"),
            (Locked, "database is locked"),
        ] {
            let script = Arc::new(Script::default());
            let (folder, store) = watched(&script).await;
            assert_eq!(admit(&store, "msg_1").await.unwrap(), 1);
            script.fail(moment, fault);
            let refused = admit(&store, "msg_2").await;
            let again = admit(&store, "msg_2").await;
            let name = format!("{fault:?} at {moment}: {refused:?}, {again:?}");
            let stored = match (&refused, &again) {
                (Err(StoreError::Busy(said)), Ok(2)) if fault == Locked => {
                    assert_eq!(said, reason, "{name}");
                    2
                }
                (Err(StoreError::Poisoned(said)), Err(StoreError::Poisoned(later)))
                    if fault != Locked =>
                {
                    assert_eq!((said.as_str(), later.as_str()), (reason, reason), "{name}");
                    1
                }
                _ => panic!("{name}"),
            };
            // Reads continue, and so does everything after a new opening.
            assert_eq!(latest(&store).await.unwrap(), stored, "{name}");
            store.close().await;
            let store = open(&folder.path().join("opencode.db")).await.unwrap();
            assert_eq!(latest(&store).await.unwrap(), stored, "{name}");
            assert_eq!(admit(&store, "msg_3").await.unwrap(), stored + 1, "{name}");
            store.close().await;
        }
    }
}

#[tokio::test]
async fn a_failed_read_affects_no_other_read() {
    for (fault, is_busy) in [
        (Fault::Full, false),
        (Fault::Io, false),
        (Fault::Locked, true),
    ] {
        let script = Arc::new(Script::default());
        let (_folder, store) = watched(&script).await;
        script.fail("read", fault);
        let refused = latest(&store).await;
        let said = match refused {
            Err(StoreError::Busy(_)) => true,
            Err(StoreError::Poisoned(_)) => false,
            other => panic!("{other:?}"),
        };
        assert_eq!(said, is_busy, "{fault:?}");
        assert_eq!(latest(&store).await.unwrap(), 0);
        assert_eq!(admit(&store, "msg_1").await.unwrap(), 1);
    }
}

#[tokio::test]
async fn a_committed_command_cannot_fail() {
    for moment in ["committed", "told"] {
        let script = Arc::new(Script::default());
        let (_folder, store) = watched(&script).await;
        script.fail(moment, Fault::Io);
        assert_eq!(admit(&store, "msg_1").await.unwrap(), 1);
        assert_eq!(admit(&store, "msg_2").await.unwrap(), 2);
    }
}

/// Returns the answers to commands that wait together while `moment` fails once.
async fn together(
    moment: &'static str,
    fault: Fault,
    ids: [&'static str; 3],
) -> ([Result<u64, StoreError>; 3], Vec<String>) {
    let script = Arc::new(Script::default());
    let (_folder, store) = watched(&script).await;
    let store = Arc::new(store);
    let (release, held) = channel::<()>();
    let holder = {
        let store = Arc::clone(&store);
        // Its command rolls itself back, so that the next one begins a new transaction.
        tokio::spawn(async move {
            let write =
                store.write(move |_| Err::<(), Abort<_>>(Abort::Refused(held.recv().is_err())));
            write.await
        })
    };
    yield_now().await;
    let commands = ids.map(|id| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { admit(&store, id).await })
    });
    yield_now().await;
    script.until("begin").await;
    script.seen();
    script.fail(moment, fault);
    drop(release);
    assert_eq!(holder.await.unwrap(), Err(Abort::Refused(true)));
    let [first, second, third] = commands;
    let answers = [
        first.await.unwrap(),
        second.await.unwrap(),
        third.await.unwrap(),
    ];
    if answers.iter().any(Result::is_ok) {
        script.until("told [1, 2]").await;
    }
    let seen = script.seen();
    // Unless storage failed, the store continues.
    if !answers
        .iter()
        .any(|answer| matches!(answer, Err(StoreError::Poisoned(_))))
    {
        admit(&store, "msg_next").await.unwrap();
    }
    (answers, seen)
}

#[tokio::test]
async fn commands_that_wait_together_for_a_locked_file_fail_together() {
    let (answers, seen) = together("begin", Fault::Locked, ["msg_1", "msg_2", "msg_3"]).await;
    assert!(
        answers
            .iter()
            .all(|answer| matches!(answer, Err(StoreError::Busy(_)))),
        "{answers:?}"
    );
    assert_eq!(seen, ["begin"]);
}

#[tokio::test]
async fn a_failed_entry_rolls_back_only_its_command() {
    let (answers, seen) = together("appended 2", Fault::Locked, ["msg_1", "msg_2", "msg_3"]).await;
    let answers =
        answers.map(|answer| answer.map_err(|error| matches!(error, StoreError::Busy(_))));
    assert_eq!(answers, [Ok(1), Err(true), Ok(2)]);
    assert_eq!(
        seen,
        [
            "begin",
            "appended 1",
            "appended 2",
            "appended 2",
            "commit [1, 2]",
            "committed [1, 2]",
            "told [1, 2]"
        ]
    );
}

#[tokio::test]
async fn a_failed_commit_fails_all_its_commands() {
    let (answers, seen) = together("commit", Fault::Full, ["msg_1", "msg_2", "msg_3"]).await;
    assert!(
        answers
            .iter()
            .all(|answer| matches!(answer, Err(StoreError::Poisoned(_)))),
        "{answers:?}"
    );
    assert_eq!(
        seen,
        [
            "begin",
            "appended 1",
            "appended 2",
            "appended 3",
            "commit [1, 2, 3]"
        ]
    );
}
