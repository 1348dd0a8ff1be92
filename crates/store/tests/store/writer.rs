//! The writer: order of commands, and notifications after failures.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use opencode_schema::id::SessionID;
use opencode_store::{Abort, CommitListener, DatabasePath, Draft, Store, StoreError};
use tokio::task::{JoinHandle, JoinSet, yield_now};

use crate::harness::{Bench, admitted, append, create, options};

/// The calls of the listener, each as ids of admitted prompts.
type Batches = Arc<Mutex<Vec<Vec<String>>>>;

/// Returns a store with the session `ses_a` and a listener that records its entries.
async fn store() -> (tempfile::TempDir, Store, Batches) {
    let folder = tempfile::tempdir().unwrap();
    let batches = Batches::default();
    let sink = Arc::clone(&batches);
    let listener: CommitListener = Box::new(move |committed| {
        let ids = committed
            .iter()
            .filter_map(|entry| match &entry.event.payload {
                opencode_schema::event::SessionEvent::PromptAdmitted(it) => {
                    Some(it.message_id.to_string())
                }
                _ => None,
            });
        sink.lock().unwrap().push(ids.collect());
    });
    let path = DatabasePath::File(folder.path().join("opencode.db"));
    let store = Store::open(options(path, listener)).await.unwrap();
    create(&store, "ses_a").await;
    batches.lock().unwrap().clear();
    (folder, store, batches)
}

/// The end of a command after it has appended its entry.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Well,
    Decides,
    Fails,
    Panics,
}

#[derive(Debug, PartialEq)]
enum Answer {
    Seq(u64),
    Decided,
    Failed,
}

async fn command(store: &Store, id: &str, end: End) -> Answer {
    let draft = Draft::new(5, admitted(id, "x", "steer"));
    let write = store.write(move |transaction| {
        let session = SessionID::parse("ses_a").unwrap();
        let seq = transaction.append(&session, None, draft);
        let seq = seq.map_err(|abort| abort.map(|_| "conflict"))?;
        match end {
            End::Well => Ok(seq),
            End::Decides => Err(Abort::Refused("decided")),
            End::Fails => Err(StoreError::Database("failed".into()).into()),
            End::Panics => panic!("a bug in a command"),
        }
    });
    match write.await {
        Ok(seq) => Answer::Seq(seq.into()),
        Err(Abort::Refused(_)) => Answer::Decided,
        Err(Abort::Failed(StoreError::Database(_))) => Answer::Failed,
        Err(Abort::Failed(error)) => panic!("{error}"),
    }
}

/// Blocks the writer until the sender is dropped, so that commands queue up.
async fn hold(store: &Arc<Store>) -> (JoinHandle<()>, Sender<()>) {
    let (release, held) = channel::<()>();
    let store = Arc::clone(store);
    let task = tokio::spawn(async move {
        let write = store.write(move |_| {
            let _ = held.recv();
            Ok::<_, Abort<&'static str>>(())
        });
        write.await.unwrap();
    });
    yield_now().await;
    (task, release)
}

/// Returns the ids in the log, in order.
async fn logged(store: &Store) -> Vec<String> {
    let read = store.read(|db| {
        let session = db.session(&SessionID::parse("ses_a").unwrap())?.unwrap();
        let events = db.events(session.key, None, usize::MAX)?;
        assert!(
            events
                .iter()
                .map(|entry| u64::from(entry.seq))
                .eq(1..=events.len() as u64)
        );
        assert_eq!(db.latest_seq(session.key)?, (events.len() as u64).into());
        Ok(events)
    });
    let events = read.await.unwrap();
    let id =
        |data: &str| serde_json::from_str::<serde_json::Value>(data).unwrap()["messageID"].take();
    events
        .iter()
        .map(|entry| id(&entry.data).as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn commands_are_committed_in_the_order_of_their_calls() {
    let (_folder, store, batches) = store().await;
    let store = Arc::new(store);
    let (held, release) = hold(&store).await;
    // More than the queue holds. The other senders also wait in order.
    let count = 1300;
    let mut commands = JoinSet::new();
    for at in 0..count {
        let store = Arc::clone(&store);
        commands.spawn(async move { command(&store, &format!("msg_{at:04}"), End::Well).await });
    }
    yield_now().await;
    drop(release);
    held.await.unwrap();
    commands.join_all().await;
    let expected: Vec<_> = (0..count).map(|at| format!("msg_{at:04}")).collect();
    assert_eq!(logged(&store).await, expected);
    let batches = batches.lock().unwrap();
    assert_eq!(batches.concat(), expected);
    // The queued commands share a few commits. Each later command may need its own commit.
    assert!(
        batches.len() < 290,
        "{} commits for {count} commands",
        batches.len()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writers_get_their_answers_after_the_listener_was_notified() {
    let (_folder, store, batches) = store().await;
    let store = Arc::new(store);
    let mut writers = JoinSet::new();
    for writer in 0..200 {
        let (store, batches) = (Arc::clone(&store), Arc::clone(&batches));
        writers.spawn(async move {
            let mut last = 0;
            for at in 0..3 {
                let id = format!("msg_{writer}_{at}");
                let Answer::Seq(seq) = command(&store, &id, End::Well).await else {
                    panic!("{id}")
                };
                assert!(seq > last, "{id} got {seq} after {last}");
                last = seq;
                assert!(
                    batches
                        .lock()
                        .unwrap()
                        .iter()
                        .flatten()
                        .any(|heard| *heard == id)
                );
            }
        });
    }
    writers.join_all().await;
    let logged = logged(&store).await;
    assert_eq!(logged.len(), 600);
    assert_eq!(batches.lock().unwrap().concat(), logged);
}

#[tokio::test]
async fn a_preview_returns_its_result_and_stores_nothing() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let id = session.info.id.clone();
    let preview = bench.store.preview(move |transaction| {
        transaction.append(&id, None, Draft::new(5, admitted("msg_1", "x", "steer")))
    });
    assert_eq!(preview.await, Ok(1.into()));
    let refused = bench.store.preview(|_| Err::<(), _>(Abort::Refused("no")));
    assert_eq!(refused.await, Err(Abort::Refused("no")));
    assert_eq!(bench.events(&session).await, []);
    bench
        .append(&session, 5, admitted("msg_1", "x", "steer"))
        .await;
    assert_eq!(bench.events(&session).await.len(), 1);
}

#[tokio::test]
async fn a_failed_command_rolls_back_only_itself() {
    use End::{Decides, Fails, Panics, Well};
    for ends in [
        [Well, Decides, Well, Fails, Well, Panics, Well],
        [Decides, Well, Fails, Panics, Well, Well, Decides],
        [Panics, Fails, Decides, Well, Panics, Decides, Fails],
        [Fails, Panics, Fails, Decides, Panics, Decides, Fails],
    ] {
        let (_folder, store, batches) = store().await;
        let store = Arc::new(store);
        let (held, release) = hold(&store).await;
        let mut commands = Vec::new();
        for (at, end) in ends.into_iter().enumerate() {
            let store = Arc::clone(&store);
            commands.push(tokio::spawn(async move {
                command(&store, &format!("msg_{at}"), end).await
            }));
        }
        yield_now().await;
        drop(release);
        held.await.unwrap();
        let mut kept = Vec::new();
        for ((at, end), command) in ends.into_iter().enumerate().zip(commands) {
            let expected = match end {
                Well => {
                    kept.push(format!("msg_{at}"));
                    Answer::Seq(kept.len() as u64)
                }
                Decides => Answer::Decided,
                Fails | Panics => Answer::Failed,
            };
            assert_eq!(command.await.unwrap(), expected, "{at} of {ends:?}");
        }
        assert_eq!(logged(&store).await, kept);
        let one_commit = if kept.is_empty() { vec![] } else { vec![kept] };
        assert_eq!(*batches.lock().unwrap(), one_commit);
    }
}

#[tokio::test]
async fn nothing_is_announced_if_the_commit_fails() {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench.heard.lock().unwrap().clear();
    let tail = bench.store.tail(&session);
    // A deferred constraint that fails at the commit, which this project violates.
    let raw = bench.raw();
    raw.execute_batch(
        "CREATE TABLE promise (project TEXT REFERENCES project(id) DEFERRABLE INITIALLY DEFERRED);
         CREATE TRIGGER broken AFTER INSERT ON project BEGIN
           INSERT INTO promise VALUES ('nobody');
         END;",
    )
    .unwrap();
    let store = Arc::new(bench.store);
    let (held, release) = hold(&store).await;
    let mut commands = Vec::new();
    for breaks in [false, true, false] {
        let store = Arc::clone(&store);
        commands.push(tokio::spawn(async move {
            let write = store.write(move |transaction| {
                let session = SessionID::parse("ses_a").unwrap();
                if breaks {
                    transaction.add_project("p", "/", 5)?;
                }
                let event = admitted(&format!("msg_{breaks}"), "x", "steer");
                transaction.append(&session, None, Draft::new(5, event))
            });
            write.await
        }));
    }
    yield_now().await;
    drop(release);
    assert!(
        held.await.is_err(),
        "not even the empty command is told that it was committed"
    );
    for command in commands {
        // The last command found its id in use by an entry that was never stored. It must not get
        // that answer.
        let answer = command.await.unwrap();
        assert!(
            matches!(answer, Err(Abort::Failed(StoreError::Database(_)))),
            "{answer:?}"
        );
    }
    assert_eq!(bench.heard.lock().unwrap().len(), 0);
    assert_eq!(logged(&store).await, [""; 0]);
    raw.execute_batch("DROP TRIGGER broken").unwrap();
    let next = append(
        &store,
        &session.info.id,
        5,
        admitted("msg_next", "x", "steer"),
    );
    assert_eq!(next.await, Ok(1));
    tail.changed().await;
    assert_eq!(bench.heard.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_transaction_that_sqlite_rolled_back_fails_all_its_commands() {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench.heard.lock().unwrap().clear();
    let raw = bench.raw();
    raw.execute_batch(
        "CREATE TRIGGER broken BEFORE INSERT ON project WHEN new.id = 'broken' BEGIN
           SELECT RAISE(ROLLBACK, 'all of it');
         END;",
    )
    .unwrap();
    let store = Arc::new(bench.store);
    for swallows in [false, true] {
        let (held, release) = hold(&store).await;
        let mut commands = Vec::new();
        for at in 0..4 {
            let store = Arc::clone(&store);
            commands.push(tokio::spawn(async move {
                let write = store.write(move |transaction| {
                    let session = SessionID::parse("ses_a").unwrap();
                    let event = admitted(&format!("msg_{swallows}_{at}"), "x", "steer");
                    let seq = transaction.append(&session, None, Draft::new(5, event))?;
                    let project = if at == 1 { "broken" } else { "fine" };
                    match transaction.add_project(project, "/", 5) {
                        Err(_) if swallows => Ok(seq),
                        other => Ok(other.map(|()| seq)?),
                    }
                });
                write.await
            }));
        }
        yield_now().await;
        drop(release);
        assert!(
            held.await.is_err(),
            "the first command was taken back with the second"
        );
        let mut answers = Vec::new();
        for command in commands {
            answers.push(command.await.unwrap().is_ok());
        }
        assert_eq!(answers, [false, false, true, true]);
    }
    let kept = ["msg_false_2", "msg_false_3", "msg_true_2", "msg_true_3"];
    assert_eq!(logged(&store).await, kept);
    assert_eq!(bench.heard.lock().unwrap().len(), 4);
    drop(session);
}

#[tokio::test]
async fn a_listener_that_panics_delays_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = DatabasePath::File(folder.path().join("opencode.db"));
    let listener: CommitListener = Box::new(|_| panic!("a bug in the listener"));
    let store = Store::open(options(path, listener)).await.unwrap();
    create(&store, "ses_a").await;
    assert_eq!(command(&store, "msg_1", End::Well).await, Answer::Seq(1));
    assert_eq!(logged(&store).await, ["msg_1"]);
}

#[tokio::test]
async fn the_command_of_a_dropped_caller_is_committed() {
    let (_folder, store, batches) = store().await;
    let store = Arc::new(store);
    let (held, release) = hold(&store).await;
    let caller = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { command(&store, "msg_1", End::Well).await })
    };
    yield_now().await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    drop(release);
    held.await.unwrap();
    assert_eq!(command(&store, "msg_2", End::Well).await, Answer::Seq(2));
    assert_eq!(logged(&store).await, ["msg_1", "msg_2"]);
    assert_eq!(batches.lock().unwrap().concat(), ["msg_1", "msg_2"]);
}

#[tokio::test]
async fn a_command_that_writes_nothing_is_not_announced() {
    let (_folder, store, batches) = store().await;
    let write = store.write(|transaction| Ok::<_, Abort<&'static str>>(transaction.message_id()));
    write.await.unwrap();
    assert_eq!(batches.lock().unwrap().len(), 0);
}
