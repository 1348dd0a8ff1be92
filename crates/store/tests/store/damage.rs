//! A damaged file: reads of damaged data fail, other reads continue, and nothing panics.

use std::fs;
use std::io::{Seek, SeekFrom, Write};

use opencode_store::{Abort, Order, SessionFilter, SessionRow, Store, StoreError};
use serde_json::json;

use crate::harness::{
    Bench, admitted, append, event, message_id, of_a, open, prompted, raw, step_started,
};

/// Returns a session with one turn and a call as entries 1 to 9, and another session that stays
/// intact.
async fn bench() -> (Bench, SessionRow, SessionRow) {
    let (bench, session) = Bench::with_session("ses_a").await;
    let text = r#"{"path":"src/main.rs","limit":200}"#;
    let input: serde_json::Value = serde_json::from_str(text).unwrap();
    let provider = json!({"executed": false});
    let called = json!({"callID": "c", "tool": "read", "input": input, "provider": provider});
    let success = json!({"callID": "c", "structured": {}, "content": [], "provider": provider});
    for event in [
        admitted("msg_u", "one", "steer"),
        prompted("msg_u", "one", "steer"),
        step_started("msg_a"),
        of_a("text.started", json!({"textID": "t"})),
        of_a("text.ended", json!({"textID": "t", "text": "x"})),
        of_a("tool.input.started", json!({"callID": "c", "name": "read"})),
        of_a("tool.input.ended", json!({"callID": "c", "text": text})),
        of_a("tool.called", called),
        of_a("tool.success", success),
        event("synthetic", json!({"messageID": "msg_s", "text": "after"})),
    ] {
        bench.append(&session, 5, event).await;
    }
    let other = bench.session("ses_b").await;
    bench
        .append(&other, 5, admitted("msg_o", "x", "steer"))
        .await;
    bench
        .append(&other, 5, prompted("msg_o", "x", "steer"))
        .await;
    (bench, session, other)
}

fn is_corrupt<T: std::fmt::Debug>(read: Result<T, StoreError>, seq: u64) -> bool {
    matches!(&read, Err(StoreError::Corrupt { seq: at, .. }) if *at == seq.into())
}

/// Reads all data of a session, and fails with the first failure.
async fn read_all(store: &Store, session: &SessionRow) -> Result<(), StoreError> {
    let (key, id) = (session.key, session.info.id.clone());
    let row = session.clone();
    let read = store.read(move |db| {
        db.session(&id)?;
        db.pending_inputs(&row)?;
        db.epoch(key)?;
        db.events(key, None, usize::MAX)?;
        db.messages(key, Order::Descending, None, usize::MAX)?;
        db.history(key)?;
        db.changed_since(key, 0.into())?;
        db.open_calls(key)?;
        db.interruption(key)?;
        db.log(key, 0.into(), usize::MAX, usize::MAX)?;
        db.pending(
            &id,
            key,
            opencode_schema::prompt::Delivery::Steer,
            u64::MAX.into(),
            9,
        )?;
        for id in ["msg_u", "msg_a", "msg_o"] {
            db.message(key, &message_id(id))?;
        }
        Ok(())
    });
    read.await
}

#[tokio::test]
async fn a_damaged_entry_fails_only_the_page_that_contains_it() {
    let (bench, session, other) = bench().await;
    let raw = bench.raw();
    raw.execute_batch("CREATE TEMP TABLE kept AS SELECT * FROM event WHERE aggregate = 1")
        .unwrap();
    let restore = "UPDATE event SET (id, type, time, format, source, data, metadata) =
        (SELECT id, type, time, format, source, data, metadata FROM kept WHERE seq = event.seq)
        WHERE aggregate = 1";
    for (seq, damage) in [
        (5, "data = 'not json'"),
        (5, "data = NULL"),
        (5, "data = ''"),
        (5, "data = x'7b7d'"),
        (5, "data = CAST(x'22ff22' AS TEXT)"),
        (5, "data = '\"textID\":\"t\",\"text\":\"cut of'"),
        (5, "data = substr(data, 1, 9)"),
        (5, "data = data || x'00'"),
        (5, "format = 0"),
        (5, "format = 9"),
        (5, "format = 'text'"),
        (5, "type = 99"),
        (5, "type = -1"),
        (5, "type = 'text'"),
        (5, "time = 'noon'"),
        (5, "id = 'nobody'"),
        (5, "id = x'00'"),
        (5, "id = CAST(x'6576745fff' AS TEXT)"),
        (5, "metadata = 'not json'"),
        (5, "metadata = x'00'"),
        (2, "source = 99"),
        (2, "source = NULL"),
    ] {
        raw.execute(
            &format!("UPDATE event SET {damage} WHERE aggregate = 1 AND seq = {seq}"),
            [],
        )
        .unwrap();
        let key = session.key;
        let page = |after: u64, limit: usize| {
            bench
                .store
                .read(move |db| db.events(key, Some(after.into()), limit))
        };
        assert!(is_corrupt(page(0, 100).await, seq), "{damage}");
        assert!(is_corrupt(page(seq - 1, 1).await, seq), "{damage}");
        assert_eq!(
            page(0, seq as usize - 1).await.unwrap().len(),
            seq as usize - 1,
            "{damage}"
        );
        assert_eq!(
            page(seq, 100).await.unwrap().len(),
            10 - seq as usize,
            "{damage}"
        );
        read_all(&bench.store, &other).await.unwrap();
        raw.execute(restore, []).unwrap();
        read_all(&bench.store, &session).await.unwrap();
    }
}

#[tokio::test]
async fn a_damaged_projection_is_reported_as_corrupt_without_a_panic() {
    let damages = [
        "UPDATE message SET type = 99 WHERE id = 'msg_a'",
        "UPDATE message SET type = 'x' WHERE id = 'msg_a'",
        "UPDATE message SET type = 1 WHERE id = 'msg_a'",
        "UPDATE message SET settled = 99 WHERE id = 'msg_a'",
        "UPDATE message SET settled = 4 WHERE id = 'msg_a'",
        "UPDATE message SET seq = -5 WHERE id = 'msg_a'",
        "UPDATE message SET seq = 4 WHERE id = 'msg_a'",
        "UPDATE message SET completed = 'x' WHERE id = 'msg_a'",
        "UPDATE part SET kind = 9 WHERE kind = 0",
        "UPDATE part SET kind = 1 WHERE kind = 0",
        "UPDATE part SET name = x'00' WHERE kind = 0",
        "UPDATE part SET started = 99 WHERE kind = 2",
        "UPDATE part SET started = 4 WHERE kind = 2",
        "UPDATE part SET input = 4, called = NULL, settled = NULL WHERE kind = 2",
        "UPDATE part SET called = 99 WHERE kind = 2",
        "UPDATE part SET called = 4 WHERE kind = 2",
        "UPDATE part SET called = 4, settled = NULL WHERE kind = 2",
        "UPDATE part SET message = 2, settled = NULL WHERE kind = 2",
        "UPDATE part SET progress = 4 WHERE kind = 2",
        "UPDATE part SET settled = 4",
        "UPDATE part SET settled = -9223372036854775808",
        "UPDATE part SET settled = 9223372036854775807",
        "UPDATE input SET admitted = 3, promoted = NULL WHERE id = 'msg_u'",
        "UPDATE input SET admitted = 99, promoted = NULL WHERE id = 'msg_u'",
        "UPDATE input SET delivery = 9, promoted = NULL WHERE id = 'msg_u'",
        "UPDATE session SET model = 'x' WHERE aggregate = 1",
        "UPDATE session SET model = x'00' WHERE aggregate = 1",
        "UPDATE session SET staged = 99 WHERE aggregate = 1",
        "UPDATE session SET staged = 1 WHERE aggregate = 1",
        "UPDATE session SET staged = 'x' WHERE aggregate = 1",
        "UPDATE session SET parent = 'nobody' WHERE aggregate = 1",
        "UPDATE session SET cost = 'x' WHERE aggregate = 1",
        "UPDATE session SET tokens_input = 'x' WHERE aggregate = 1",
        "UPDATE session SET time_created = 'x' WHERE aggregate = 1",
        "INSERT INTO context_epoch VALUES (1, x'00', '', 0)",
        "INSERT INTO context_epoch VALUES (1, '', '', 'x')",
        "UPDATE aggregate SET id = 'nobody' WHERE key = 1",
    ];
    for damage in damages {
        let (bench, session, other) = bench().await;
        bench.raw().execute(damage, []).unwrap();
        let read = read_all(&bench.store, &session).await;
        let is_corrupt = matches!(read, Err(StoreError::Corrupt { .. }));
        assert!(is_corrupt, "{damage}: {read:?}");
        read_all(&bench.store, &other).await.unwrap();
        // The damaged session does not hide the others and takes no slot of a page.
        for order in [Order::Ascending, Order::Descending] {
            let list = bench
                .store
                .read(move |db| db.sessions(&SessionFilter::default(), order, None, 2));
            let ids: Vec<_> = list
                .await
                .unwrap()
                .into_iter()
                .map(|it| it.info.id)
                .collect();
            assert!(ids.contains(&other.info.id), "{damage}: {ids:?}");
        }
        // Writing to the other session continues.
        bench
            .append(&other, 6, admitted("msg_next", "x", "steer"))
            .await;
    }
}

#[tokio::test]
async fn unreadable_sessions_are_not_part_of_a_page() {
    let (bench, _, other) = bench().await;
    let third = bench.session("ses_c").await;
    let damage = "UPDATE session SET cost = 'x' WHERE aggregate = 1";
    bench.raw().execute(damage, []).unwrap();
    for limit in 1..4 {
        let list = bench
            .store
            .read(move |db| db.sessions(&SessionFilter::default(), Order::Ascending, None, limit));
        let ids: Vec<_> = list
            .await
            .unwrap()
            .into_iter()
            .map(|it| it.info.id)
            .collect();
        let readable = [other.info.id.clone(), third.info.id.clone()];
        assert_eq!(ids, readable[..limit.min(2)]);
    }
}

#[tokio::test]
async fn absurd_numbers_of_an_older_version_are_read_within_bounds() {
    let (bench, session, _) = bench().await;
    let ended = json!({"finish": "stop", "cost": 0.5,
        "tokens": {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}}});
    bench
        .append(&session, 6, of_a("step.ended", ended.clone()))
        .await;
    let raw = bench.raw();
    for damage in [
        "UPDATE session SET tokens_input = 9223372036854775807, tokens_output = 1.8e19,
           tokens_reasoning = -1, cost = 9e999 WHERE aggregate = 1",
        r#"UPDATE event SET data = '{"assistantMessageID":"msg_a","finish":"stop","cost":0.5,
             "tokens":{"input":18446744073709551615,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}'
           WHERE aggregate = 1 AND seq = 11"#,
    ] {
        assert_eq!(raw.execute(damage, []).unwrap(), 1);
    }
    read_all(&bench.store, &session).await.unwrap();
    bench.append(&session, 7, step_started("msg_b")).await;
    let id = session.info.id.clone();
    let row = bench.store.read(move |db| db.session(&id)).await.unwrap();
    let info = row.unwrap().info;
    let most = opencode_schema::bounded::MAX_SAFE_INTEGER;
    assert_eq!((info.tokens.input, info.tokens.output), (most, most));
    assert_eq!((info.tokens.reasoning, info.cost), (0, most as f64));
}

#[tokio::test]
async fn an_unreadable_session_hides_no_other_interrupted_session() {
    let (bench, session, other) = bench().await;
    let listed = async || {
        let read = bench.store.read(|db| db.interrupted());
        let ids = read.await.unwrap().into_iter().map(|it| it.session_id);
        ids.collect::<Vec<_>>()
    };
    let both = [session.info.id.clone(), other.info.id.clone()];
    assert_eq!(listed().await, both);
    bench
        .raw()
        .execute(
            "UPDATE event SET data = '' WHERE aggregate = 1 AND seq = 3",
            [],
        )
        .unwrap();
    assert_eq!(listed().await, both[1..]);
    let key = session.key;
    let alone = bench.store.read(move |db| db.interruption(key)).await;
    assert!(is_corrupt(alone, 3));
}

#[tokio::test]
async fn a_read_that_panics_affects_no_other_read() {
    let (bench, session, _) = bench().await;
    for _ in 0..5 {
        let panicked = bench
            .store
            .read(|_| -> Result<(), StoreError> { panic!("a bug in a read") });
        assert!(matches!(panicked.await, Err(StoreError::Database(_))));
    }
    read_all(&bench.store, &session).await.unwrap();
}

#[tokio::test]
async fn a_damaged_file_refuses_writes_and_answers_possible_reads() {
    let (bench, session, _) = bench().await;
    let path = bench.path();
    bench.store.close().await;
    // Damages only the root page of the table `event`.
    let (page, size) = {
        let raw = raw(&path);
        let page: u32 = raw
            .query_row(
                "SELECT rootpage FROM sqlite_schema WHERE name = 'event'",
                [],
                |row| row.get(0),
            )
            .unwrap();
        let size: u32 = raw
            .pragma_query_value(None, "page_size", |row| row.get(0))
            .unwrap();
        (page, size)
    };
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(u64::from((page - 1) * size)))
        .unwrap();
    file.write_all(&vec![0xff; size as usize]).unwrap();
    drop(file);

    let store = open(&path).await.unwrap();
    let key = session.key;
    let events = store.read(move |db| db.events(key, None, 9)).await;
    assert!(matches!(events, Err(StoreError::Poisoned(_))), "{events:?}");
    // A failed read does not stop writing.
    let add = |id: &'static str| {
        store.write(move |transaction| {
            transaction.add_project(id, "/", 5)?;
            Ok::<_, Abort<&'static str>>(())
        })
    };
    add("before").await.unwrap();
    let id = session.info.id.clone();
    let written = append(&store, &id, 5, admitted("msg_n", "x", "steer")).await;
    assert!(
        matches!(written, Err(Abort::Failed(StoreError::Poisoned(_)))),
        "{written:?}"
    );
    let refused = add("after").await;
    assert!(
        matches!(refused, Err(Abort::Failed(StoreError::Poisoned(_)))),
        "{refused:?}"
    );
    let row = store.read(move |db| db.session(&id)).await.unwrap();
    assert_eq!(row, Some(session));
    store.close().await;
}
