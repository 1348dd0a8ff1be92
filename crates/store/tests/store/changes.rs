//! The files that the steps of a session changed, and its shared copy.

use opencode_schema::event::SessionEvent;
use opencode_schema::session::SessionSummary;
use opencode_store::{Changes, CountedFile, SessionRow, Store};
use serde_json::json;

use crate::harness::{Bench, event, model};
use crate::replay::{export, replay_all};

fn step(message: &str, start: &str, end: &str, files: &[&str]) -> [SessionEvent; 2] {
    let tokens = json!({"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}});
    [
        event(
            "step.started",
            json!({"assistantMessageID": message, "agent": "a", "model": model(), "snapshot": start}),
        ),
        event(
            "step.ended",
            json!({"assistantMessageID": message, "finish": "stop", "cost": 0.0, "tokens": tokens, "snapshot": end,
                "files": files}),
        ),
    ]
}

async fn changes(store: &Store, session: &SessionRow) -> Option<Changes> {
    let key = session.key;
    store.read(move |db| db.changes(key, 100)).await.unwrap()
}

async fn stale(bench: &Bench, session: &SessionRow) -> Vec<String> {
    let key = session.key;
    let read = bench.store.read(move |db| db.stale_changes(key, 100));
    read.await.unwrap().map(|it| it.paths).unwrap_or_default()
}

async fn count(
    bench: &Bench,
    session: &SessionRow,
    end: &str,
    files: &[(&str, Option<(u64, u64)>)],
) -> Option<SessionSummary> {
    let files = files.iter().map(|(path, lines)| CountedFile {
        path: (*path).to_owned(),
        lines: *lines,
    });
    let (key, end, files) = (session.key, end.to_owned(), files.collect::<Vec<_>>());
    let counted = bench.store.write(move |transaction| {
        Ok::<_, opencode_store::Abort<std::convert::Infallible>>(
            transaction.count_changes(key, &end, &files)?,
        )
    });
    counted.await.unwrap()
}

fn expected(start: &str, end: &str, paths: &[&str]) -> Option<Changes> {
    Some(Changes {
        start: start.to_owned(),
        end: end.to_owned(),
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
    })
}

#[tokio::test]
async fn steps_add_their_files_between_the_first_and_the_newest_snapshot() {
    let (bench, session) = Bench::with_session("ses_a").await;
    assert_eq!(changes(&bench.store, &session).await, None);
    bench.all(&session, 1, step("msg_a", "t0", "t0", &[])).await;
    assert_eq!(changes(&bench.store, &session).await, None);
    bench
        .all(&session, 3, step("msg_b", "t1", "t2", &["b", "a"]))
        .await;
    bench
        .all(&session, 5, step("msg_c", "t2", "t3", &["c", "a"]))
        .await;
    assert_eq!(
        changes(&bench.store, &session).await,
        expected("t1", "t3", &["a", "b", "c"])
    );
    assert_eq!(stale(&bench, &session).await, ["a", "b", "c"]);

    // An older count does not apply.
    assert_eq!(
        count(&bench, &session, "t2", &[("a", Some((9, 9)))]).await,
        None
    );
    let counts = [("a", Some((1, 2))), ("b", None), ("c", Some((3, u64::MAX)))];
    let summary = count(&bench, &session, "t3", &counts).await.unwrap();
    assert_eq!(
        (summary.additions, summary.deletions, summary.files),
        (4, 2 + (1 << 40), 2)
    );
    assert_eq!(
        bench.row(&session).await.unwrap().info.summary,
        Some(summary)
    );
    assert_eq!(stale(&bench, &session).await, [""; 0]);
    bench
        .all(&session, 7, step("msg_d", "t3", "t4", &["b"]))
        .await;
    assert_eq!(stale(&bench, &session).await, ["b"]);
}

#[tokio::test]
async fn a_committed_revert_keeps_the_files_of_the_remaining_steps() {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench
        .all(&session, 1, step("msg_a", "t1", "t2", &["a"]))
        .await;
    bench
        .all(&session, 3, step("msg_b", "t2", "t3", &["b"]))
        .await;
    count(
        &bench,
        &session,
        "t3",
        &[("a", Some((1, 0))), ("b", Some((1, 0)))],
    )
    .await
    .unwrap();
    bench
        .append(
            &session,
            5,
            event("revert.committed", json!({"messageID": "msg_a"})),
        )
        .await;
    assert_eq!(
        changes(&bench.store, &session).await,
        expected("t1", "t2", &["a"])
    );
    assert_eq!(bench.row(&session).await.unwrap().info.summary, None);
    assert_eq!(stale(&bench, &session).await, ["a"]);
}

#[tokio::test]
async fn a_replay_gives_the_same_files_and_a_move_and_a_deletion_forget_them() {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench
        .all(&session, 1, step("msg_a", "t1", "t2", &["a"]))
        .await;
    let other = Bench::new().await;
    replay_all(&other.store, &export(&bench.store, "ses_a").await).await;
    let key = opencode_schema::id::SessionID::parse("ses_a").unwrap();
    let copied = other
        .store
        .read(move |db| db.session(&key))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        changes(&other.store, &copied).await,
        expected("t1", "t2", &["a"])
    );
    other
        .append(
            &copied,
            9,
            event("moved", json!({"location": {"directory": "/e"}})),
        )
        .await;
    assert_eq!(changes(&other.store, &copied).await, None);
    let info = json!({"id": "ses_a", "slug": "s", "projectID": "project", "directory": "/project", "title": "T",
        "version": "1.0.0", "time": {"created": 1000, "updated": 1000}});
    bench
        .append(&session, 9, event("session.deleted", json!({"info": info})))
        .await;
    let rows: i64 = bench
        .raw()
        .query_row("SELECT count(*) FROM changed_file", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 0);
}

#[tokio::test]
async fn a_share_is_set_only_over_the_expected_one() {
    let (bench, session) = Bench::with_session("ses_a").await;
    for (expected, url, changes) in [
        (None, Some("https://a"), true),
        (None, Some("https://b"), false),
        (Some("https://b"), None, false),
        (Some("https://a"), None, true),
        (Some("https://a"), Some("https://b"), false),
    ] {
        let key = session.key;
        let set = bench.store.write(move |transaction| {
            Ok::<_, opencode_store::Abort<std::convert::Infallible>>(
                transaction.set_share(key, expected, url)?,
            )
        });
        assert_eq!(set.await.unwrap(), changes, "{expected:?} {url:?}");
    }
    assert_eq!(bench.row(&session).await.unwrap().info.share, None);
}
