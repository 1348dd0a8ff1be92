//! The Context Epoch of a session and its related data: events that replace or delete them.

use opencode_schema::event::SessionEvent;
use opencode_store::{Abort, Epoch, Sequence, SessionRow, StoreError, Transaction};
use serde_json::json;

use crate::harness::{Bench, event, prompted, step_started};

/// The stored epoch, its baseline sequence, and the explored directories.
type Kept = (Option<Epoch>, Option<Sequence>, Vec<String>);

fn epoch(baseline: &str, snapshot: &str, baseline_seq: u64) -> Epoch {
    Epoch {
        baseline: baseline.into(),
        snapshot: snapshot.into(),
        baseline_seq: baseline_seq.into(),
    }
}

async fn write(
    bench: &Bench,
    work: impl FnOnce(&mut Transaction<'_>) -> Result<(), StoreError> + Send + 'static,
) {
    let written = bench
        .store
        .write(move |transaction| Ok::<_, Abort<&'static str>>(work(transaction)?));
    written.await.unwrap();
}

async fn kept(bench: &Bench, session: &SessionRow) -> Kept {
    let key = session.key;
    let read = bench
        .store
        .read(move |db| Ok((db.epoch(key)?, db.baseline_seq(key)?, db.explored(key)?)));
    read.await.unwrap()
}

/// Returns a session with an epoch that began at 1 and one explored directory.
async fn begun() -> (Bench, SessionRow) {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench
        .append(&session, 1, prompted("msg_1", "x", "steer"))
        .await;
    let key = session.key;
    write(&bench, move |transaction| {
        transaction.set_epoch(key, &epoch("b", "{}", 1))?;
        transaction.add_explored(key, "src")
    })
    .await;
    (bench, session)
}

#[tokio::test]
async fn a_snapshot_can_change_and_its_baseline_cannot() {
    let (bench, session) = begun().await;
    let other = bench.session("ses_b").await;
    let (key, without) = (session.key, other.key);
    write(&bench, move |transaction| {
        transaction.set_snapshot(key, r#"{"a":1}"#)?;
        // The session has no epoch for the snapshot.
        transaction.set_snapshot(without, r#"{"a":1}"#)
    })
    .await;
    let expected = (
        Some(epoch("b", r#"{"a":1}"#, 1)),
        Some(1.into()),
        vec!["src".to_owned()],
    );
    assert_eq!(kept(&bench, &session).await, expected);
    assert_eq!(kept(&bench, &other).await, (None, None, Vec::new()));
}

#[tokio::test]
async fn read_directories_are_stored_once_and_in_order() {
    let (bench, session) = begun().await;
    let other = bench.session("ses_b").await;
    let key = session.key;
    write(&bench, move |transaction| {
        for directory in ["src/deep", "docs", "src/deep", "src"] {
            transaction.add_explored(key, directory)?;
        }
        Ok(())
    })
    .await;
    assert_eq!(kept(&bench, &session).await.2, ["docs", "src", "src/deep"]);
    assert_eq!(kept(&bench, &other).await.2, [""; 0]);
}

#[tokio::test]
async fn the_first_thousand_directories_are_kept() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let key = session.key;
    write(&bench, move |transaction| {
        (0..1002).try_for_each(|at| transaction.add_explored(key, &format!("{at:04}")))
    })
    .await;
    let expected: Vec<_> = (0..1000).map(|at| format!("{at:04}")).collect();
    assert_eq!(kept(&bench, &session).await.2, expected);
}

fn system() -> SessionEvent {
    event(
        "context.updated",
        json!({"messageID": "msg_s", "text": "news"}),
    )
}

#[tokio::test]
async fn a_move_removes_all_directories_and_a_revert_the_later_ones() {
    let step = || step_started("msg_a");
    let boundary = || event("revert.committed", json!({"messageID": "msg_1"}));
    let moved = event("moved", json!({"location": {"directory": "/b"}}));
    for (name, makes, stay) in [
        ("a step", vec![step()], (true, true)),
        ("an update", vec![system()], (true, true)),
        ("a move", vec![moved], (false, false)),
        ("a revert", vec![step(), boundary()], (true, true)),
        (
            "a revert of an update",
            vec![system(), boundary()],
            (false, true),
        ),
    ] {
        let (bench, session) = begun().await;
        bench.all(&session, 2, makes).await;
        let (epoch, seq, explored) = kept(&bench, &session).await;
        assert_eq!(epoch.is_some(), seq.is_some(), "{name}");
        assert_eq!((epoch.is_some(), !explored.is_empty()), stay, "{name}");
    }
}

#[tokio::test]
async fn a_deleted_session_leaves_no_rows() {
    let (bench, session) = begun().await;
    let info = json!({
        "id": session.info.id, "slug": "s", "projectID": "project", "directory": "/project",
        "title": "New", "version": "1", "time": {"created": 1, "updated": 1},
    });
    let deleted = event("session.deleted", json!({"info": info}));
    bench.append(&session, 2, deleted).await;
    assert_eq!(kept(&bench, &session).await, (None, None, Vec::new()));
}
