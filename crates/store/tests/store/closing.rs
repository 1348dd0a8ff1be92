//! Closing: queued commands run, later calls are refused, and the file is free.

use std::sync::Arc;
use std::sync::mpsc::channel;

use opencode_store::{Abort, Store, StoreError};
use tokio::task::{JoinSet, yield_now};

use crate::harness::{Bench, admitted, append, open};

async fn is_closed(store: &Store) -> bool {
    let write = store.write(|_| Ok::<_, Abort<&'static str>>(())).await;
    let read = store.read(|_| Ok(())).await;
    let is_closed = |error: StoreError| matches!(error, StoreError::Closed);
    write.map_err(Abort::unexpected).is_err_and(is_closed) && read.is_err_and(is_closed)
}

#[tokio::test]
async fn queued_commands_are_executed_and_later_calls_are_refused() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let path = bench.path();
    let store = Arc::new(bench.store);
    let mut early = JoinSet::new();
    let send = |commands: &mut JoinSet<_>, id: String| {
        let (store, session) = (Arc::clone(&store), session.info.id.clone());
        commands
            .spawn(async move { append(&store, &session, 5, admitted(&id, "x", "steer")).await });
    };
    // The writer is blocked, so that the commands and the close queue up.
    let (release, held) = channel::<()>();
    let holder = {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let write = store.write(move |_| Ok::<_, Abort<&'static str>>(held.recv().is_err()));
            write.await.unwrap()
        })
    };
    yield_now().await;
    for at in 0..300 {
        send(&mut early, format!("msg_early_{at}"));
    }
    yield_now().await;
    let closing = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.close().await })
    };
    yield_now().await;
    let mut late = JoinSet::new();
    for at in 0..10 {
        send(&mut late, format!("msg_late_{at}"));
    }
    yield_now().await;
    drop(release);
    assert!(holder.await.unwrap());
    closing.await.unwrap();
    assert!(
        early
            .join_all()
            .await
            .into_iter()
            .all(|answer| answer.is_ok())
    );
    let late = late.join_all().await;
    assert!(
        late.iter()
            .all(|answer| matches!(answer, Err(Abort::Failed(StoreError::Closed)))),
        "{late:?}"
    );
    assert!(is_closed(&store).await);

    let store = open(&path).await.unwrap();
    let read = store.read(move |db| db.latest_seq(session.key));
    assert_eq!(read.await.unwrap(), 300.into());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn after_closing_the_file_is_free() {
    let bench = Bench::new().await;
    let path = bench.path();
    bench.store.close().await;
    for _ in 0..20 {
        let store = Arc::new(open(&path).await.unwrap());
        let mut closers = JoinSet::new();
        for _ in 0..3 {
            let (store, lock) = (
                Arc::clone(&store),
                bench.folder.path().join("opencode.db.lock"),
            );
            closers.spawn(async move {
                store.close().await;
                assert!(is_closed(&store).await);
                let lock = std::fs::File::open(lock).unwrap();
                lock.try_lock_shared().unwrap();
            });
        }
        closers.join_all().await;
        store.close().await;
    }
}

#[tokio::test]
async fn an_abandoned_store_refuses_writes_and_can_be_read_and_closed() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let (store, id) = (&bench.store, &session.info.id);
    let before = append(store, id, 5, admitted("msg_before", "x", "steer")).await;
    assert!(before.is_ok());
    store.abandon();
    let after = append(store, id, 5, admitted("msg_after", "x", "steer")).await;
    assert!(
        matches!(after, Err(Abort::Failed(StoreError::Poisoned(_)))),
        "{after:?}"
    );
    let key = session.key;
    let read = store.read(move |db| db.latest_seq(key));
    assert_eq!(read.await.unwrap(), 1.into());
    store.close().await;
    let again = open(&bench.path()).await.unwrap();
    assert_eq!(
        again.read(move |db| db.latest_seq(key)).await.unwrap(),
        1.into()
    );
}

#[tokio::test]
async fn a_running_read_is_finished_first() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let store = Arc::new(bench.store);
    let (release, held) = channel::<()>();
    let (began, begins) = tokio::sync::oneshot::channel();
    let reading = {
        let (store, key) = (Arc::clone(&store), session.key);
        tokio::spawn(async move {
            let read = store.read(move |db| {
                let _ = began.send(());
                let _ = held.recv();
                db.latest_seq(key)
            });
            read.await
        })
    };
    begins.await.unwrap();
    let closing = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.close().await })
    };
    yield_now().await;
    assert!(!closing.is_finished());
    drop(release);
    assert_eq!(reading.await.unwrap().unwrap(), 0.into());
    closing.await.unwrap();
    // No companion file is left, so no connection has the file open.
    let mut names: Vec<_> = std::fs::read_dir(bench.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["opencode.db", "opencode.db.lock"]);
}
