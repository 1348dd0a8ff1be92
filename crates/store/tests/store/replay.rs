//! Replay: the form of a log, and applied and skipped elements.

use opencode_schema::id::{EventID, SessionID};
use opencode_store::{
    Abort, ReplayConflict, ReplayEvent, ReplayOptions, Replayed, SessionRow, Store,
};
use serde_json::{Value, json};

use crate::harness::{Bench, admitted, event, prompted, step_started};

pub(crate) fn session_id(text: &str) -> SessionID {
    SessionID::parse(text).unwrap()
}

/// Returns every entry of a session as an element.
pub(crate) async fn export(store: &Store, id: &str) -> Vec<ReplayEvent> {
    let id = session_id(id);
    let read = store.read(move |db| {
        let session = db.session(&id)?.expect("the session exists");
        let log = db.log(session.key, 0.into(), usize::MAX, usize::MAX)?;
        log.iter().map(|entry| entry.element(&id)).collect()
    });
    read.await.unwrap()
}

pub(crate) type Outcome = Result<Replayed, ReplayConflict>;

pub(crate) async fn replay_as(
    store: &Store,
    event: &ReplayEvent,
    options: &ReplayOptions,
) -> Outcome {
    let (event, options) = (event.clone(), options.clone());
    let write = store.write(move |transaction| transaction.replay(&event, &options));
    match write.await {
        Ok(replayed) => Ok(replayed),
        Err(Abort::Refused(conflict)) => Err(conflict),
        Err(Abort::Failed(error)) => panic!("{error}"),
    }
}

pub(crate) async fn replay(store: &Store, event: &ReplayEvent) -> Outcome {
    replay_as(store, event, &ReplayOptions::default()).await
}

pub(crate) async fn replay_all(store: &Store, events: &[ReplayEvent]) {
    for event in events {
        assert_eq!(replay(store, event).await, Ok(Replayed::Applied));
    }
}

/// Returns a session and its log: a turn, and a pending input.
pub(crate) async fn source() -> (Bench, SessionRow, Vec<ReplayEvent>) {
    let (bench, session) = Bench::with_session("ses_a").await;
    for event in [
        admitted("msg_u", "one", "steer"),
        prompted("msg_u", "one", "steer"),
        step_started("msg_a"),
        admitted("msg_w", "two", "queue"),
    ] {
        bench.append(&session, 5, event).await;
    }
    let log = export(&bench.store, "ses_a").await;
    (bench, session, log)
}

pub(crate) fn element(seq: u64, kind: &str, data: &Value) -> ReplayEvent {
    ReplayEvent {
        id: EventID::parse(&format!("evt_{seq}")).unwrap(),
        session_id: session_id("ses_a"),
        seq,
        kind: kind.to_owned(),
        data: data.to_string(),
        metadata: None,
    }
}

/// Returns the creation of `ses_a` as another program writes it.
pub(crate) fn creation() -> ReplayEvent {
    let info = json!({
        "title": "T", "id": "ses_a", "slug": "s", "projectID": "p", "directory": "/w/app/sub",
        "path": "sub", "version": "1", "share": {"url": "x"}, "time": {"created": 7, "updated": 8},
    });
    element(
        0,
        "session.created.1",
        &json!({"sessionID": "ses_a", "info": info}),
    )
}

#[tokio::test]
async fn an_element_has_the_wire_form_of_its_entry() {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench
        .append(&session, 5, event("revert.cleared", json!({})))
        .await;
    bench
        .append(&session, 6, admitted("msg_1", "x", "queue"))
        .await;
    let log = export(&bench.store, "ses_a").await;
    let lines: Vec<_> = log
        .iter()
        .map(|it| {
            (
                it.seq,
                it.kind.as_str(),
                it.data.as_str(),
                it.metadata.clone(),
            )
        })
        .collect();
    let info = r#"{"id":"ses_a","slug":"quiet-river","projectID":"project","directory":"/project","title":"New session","version":"1.0.0","time":{"created":1000,"updated":1000}}"#;
    let created = format!(r#"{{"sessionID":"ses_a","info":{info}}}"#);
    let cleared = r#"{"timestamp":5,"sessionID":"ses_a"}"#;
    let admitted = r#"{"timestamp":6,"sessionID":"ses_a","messageID":"msg_1","prompt":{"text":"x"},"delivery":"queue"}"#;
    assert_eq!(
        lines,
        [
            (0, "session.created.1", created.as_str(), None),
            (1, "session.next.revert.cleared.1", cleared, None),
            (2, "session.next.prompt.admitted.1", admitted, None),
        ]
    );
}

#[tokio::test]
async fn a_log_is_read_from_a_sequence_within_its_bounds() {
    let (bench, session, log) = source().await;
    let key = session.key;
    for (from, limit, bytes, expected) in [
        (0, usize::MAX, usize::MAX, 0..5_usize),
        (0, 2, usize::MAX, 0..2),
        (3, 9, usize::MAX, 3..5),
        (5, 9, usize::MAX, 5..5),
        (u64::MAX, 9, usize::MAX, 5..5),
        // At least one entry, and none after the byte limit is reached.
        (1, 9, 0, 1..2),
        (1, 9, 70, 1..3),
    ] {
        let read = bench
            .store
            .read(move |db| db.log(key, from.into(), limit, bytes));
        let id = session.info.id.clone();
        let elements = read.await.unwrap();
        let elements: Vec<_> = elements.iter().map(|it| it.element(&id).unwrap()).collect();
        assert_eq!(elements, log[expected], "{from} {limit} {bytes}");
    }
}

#[tokio::test]
async fn stored_elements_are_skipped_and_later_ones_are_applied() {
    let (source, session, log) = source().await;
    let bench = Bench::new().await;
    replay_all(&bench.store, &log[..3]).await;
    for event in &log[..3] {
        assert_eq!(replay(&bench.store, event).await, Ok(Replayed::Skipped));
    }
    replay_all(&bench.store, &log[3..]).await;
    assert_eq!(export(&bench.store, "ses_a").await, log);
    let mut row = bench.row(&session).await.unwrap();
    // Only the marks of the import differ.
    assert!(row.info.imported.take().is_some() && row.imported.take().is_some());
    assert_eq!(Some(row), source.row(&session).await);
    assert_eq!(
        bench.messages(&session).await,
        source.messages(&session).await
    );
    let mut pending = Vec::new();
    for bench in [&bench, &source] {
        let session = session.clone();
        let read = bench.store.read(move |db| db.pending_inputs(&session));
        pending.push(read.await.unwrap());
    }
    assert_eq!(pending[0], pending[1]);
    // The session continues like any other.
    assert_eq!(
        bench
            .append(&session, 5, prompted("msg_w", "two", "queue"))
            .await,
        5
    );
}

#[tokio::test]
async fn payloads_are_converted_to_their_canonical_form() {
    let bench = Bench::new().await;
    replay_all(
        &bench.store,
        &[
            creation(),
            element(
                1,
                "session.next.prompt.admitted.1",
                &json!({
                    "more": 1, "delivery": "steer", "messageID": "msg_u", "sessionID": "ses_a",
                    "prompt": {"files": [], "text": "x", "more": 2}, "timestamp": 9,
                }),
            ),
            ReplayEvent {
                metadata: json!({"z": 1, "a": 2}).as_object().cloned(),
                ..element(
                    2,
                    "session.next.synthetic.1",
                    &json!({"timestamp": 9, "sessionID": "ses_a", "text": "t", "messageID": "msg_s"}),
                )
            },
        ],
    )
    .await;
    let log = export(&bench.store, "ses_a").await;
    let data: Vec<_> = log.iter().map(|it| it.data.as_str()).collect();
    assert_eq!(
        data,
        [
            r#"{"sessionID":"ses_a","info":{"id":"ses_a","slug":"s","projectID":"p","directory":"/w/app/sub","path":"sub","title":"T","version":"1","time":{"created":7,"updated":8},"share":{"url":"x"}}}"#,
            r#"{"timestamp":9,"sessionID":"ses_a","messageID":"msg_u","prompt":{"text":"x","files":[]},"delivery":"steer"}"#,
            r#"{"timestamp":9,"sessionID":"ses_a","messageID":"msg_s","text":"t"}"#,
        ]
    );
    let metadata = json!({"z": 1, "a": 2});
    assert_eq!(log[2].metadata.as_ref(), metadata.as_object());
    let session = bench
        .store
        .read(|db| db.session(&session_id("ses_a")))
        .await;
    let messages = bench.messages(&session.unwrap().unwrap()).await;
    assert_eq!(messages[0]["metadata"], metadata);
    // The project of the session was also created.
    let project = bench.raw().query_row("SELECT * FROM project", [], |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, i64>(2)?,
        ))
    });
    assert_eq!(project.unwrap(), ("p".into(), "/w/app".into(), 7));
}

#[tokio::test]
async fn the_directory_of_a_project_contains_that_of_its_session() {
    for (directory, path, expected) in [
        ("/w/app/sub", Some("sub"), "/w/app"),
        ("/w/app", None, "/w/app"),
        ("/w/app", Some(""), "/w/app"),
        ("/w/app", Some("w/app"), "/"),
        ("/w/app", Some("elsewhere"), "/w/app"),
        ("/w/app", Some("p"), "/w/app"),
    ] {
        let bench = Bench::new().await;
        let info = json!({
            "id": "ses_a", "slug": "s", "projectID": "p", "directory": directory, "path": path,
            "title": "T", "version": "1", "time": {"created": 7, "updated": 8},
        });
        let created = json!({"sessionID": "ses_a", "info": info});
        replay_all(&bench.store, &[element(0, "session.created.1", &created)]).await;
        let found: String = bench
            .raw()
            .query_row("SELECT directory FROM project", [], |row| row.get(0))
            .unwrap();
        assert_eq!(found, expected, "{directory} {path:?}");
    }
}

#[tokio::test]
async fn a_checkpoint_keeps_its_version() {
    let payload = json!({
        "timestamp": 9, "sessionID": "ses_a", "messageID": "msg_k", "reason": "auto", "text": "t",
        "recent": "r",
    });
    let versions = [
        "session.next.compaction.ended.1",
        "session.next.compaction.ended.2",
    ];
    for (kind, other) in [(versions[0], versions[1]), (versions[1], versions[0])] {
        let bench = Bench::new().await;
        let ended = element(1, kind, &payload);
        replay_all(&bench.store, &[creation(), ended.clone()]).await;
        assert_eq!(export(&bench.store, "ses_a").await[1], ended);
        let session = bench
            .store
            .read(|db| db.session(&session_id("ses_a")))
            .await;
        let session = session.unwrap().unwrap();
        let message = json!({
            "type": "compaction", "id": "msg_k", "time": {"created": 9}, "reason": "auto",
            "summary": "t", "recent": "r",
        });
        assert_eq!(bench.messages(&session).await, [message]);
        let read = bench.events(&session).await;
        assert_eq!(
            (read[0].number, read[0].kind().as_deref()),
            (37, Some(kind))
        );
        let again = replay(&bench.store, &element(1, other, &payload)).await;
        let diverged = ReplayConflict::Diverged {
            session_id: session_id("ses_a"),
            seq: 1,
        };
        assert_eq!(again, Err(diverged));
    }
}
