//! Removal of sessions: hidden at once, and then deleted in steps.

use opencode_schema::event::SessionEvent;
use opencode_schema::id::SessionID;
use opencode_store::{Abort, Epoch, Order, SessionFilter, SessionRow, Store, StoreError};
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value as Column;
use serde_json::json;

use crate::harness::{
    Bench, admitted, append, create, event, open, prompted, purge, raw, remove, step_started, with,
};

async fn hide(store: &Store, session: &SessionRow) {
    let session = session.clone();
    let hidden = store
        .write(move |transaction| Ok::<_, Abort<&'static str>>(transaction.hide(&session, 3000)?));
    hidden.await.unwrap();
}

/// A prompt, an answer with a call, and one waiting prompt.
fn exchange(n: usize) -> Vec<SessionEvent> {
    let (prompt, answer) = (format!("msg_p{n}"), format!("msg_a{n}"));
    let of =
        |name: &str, payload| event(name, with(json!({"assistantMessageID": answer}), payload));
    let executed = json!({"executed": false});
    vec![
        admitted(&prompt, "Hi", "steer"),
        prompted(&prompt, "Hi", "steer"),
        step_started(&answer),
        of("text.started", json!({"textID": "t"})),
        of("text.ended", json!({"textID": "t", "text": "Hello."})),
        of("tool.input.started", json!({"callID": "c", "name": "bash"})),
        of("tool.input.ended", json!({"callID": "c", "text": "{}"})),
        of(
            "tool.called",
            json!({"callID": "c", "tool": "bash", "input": {}, "provider": executed}),
        ),
        of(
            "tool.success",
            json!({"callID": "c", "structured": {}, "content": [], "provider": executed,
                "outputPaths": [format!("/out/tool_{n}")]}),
        ),
        admitted(&format!("msg_w{n}"), "Later", "queue"),
    ]
}

async fn exchanged(bench: &Bench, session: &SessionRow, n: usize) {
    for event in exchange(n) {
        bench.append(session, 5, event).await;
    }
}

#[tokio::test]
async fn a_hidden_session_is_in_no_read_although_its_rows_remain() {
    let bench = Bench::new().await;
    let (kept, gone) = (bench.session("ses_a").await, bench.session("ses_b").await);
    exchanged(&bench, &gone, 1).await;
    hide(&bench.store, &gone).await;
    assert_eq!(bench.row(&gone).await, None);
    let id = gone.info.id.clone();
    let key = gone.key;
    let read = bench.store.read(move |db| {
        let listed = db.sessions(&SessionFilter::default(), Order::Ascending, None, 9)?;
        let listed: Vec<_> = listed.into_iter().map(|it| it.info.id).collect();
        Ok((
            listed,
            db.interrupted()?,
            db.with_descendants(&id)?,
            db.session_exists(key)?,
        ))
    });
    assert_eq!(
        read.await.unwrap(),
        (vec![kept.info.id.clone()], vec![], vec![], false)
    );
    // A stale caller cannot continue it, and its id can be used again at once.
    let stale = append(
        &bench.store,
        &gone.info.id,
        9,
        admitted("msg_s", "x", "steer"),
    );
    assert!(matches!(stale.await, Err(Abort::Failed(_))));
    let again = create(&bench.store, "ses_b").await;
    assert!(again.key > gone.key);
    while purge(&bench.store, 3).await.remains {}
    assert_eq!(bench.messages(&again).await, [json!(null); 0]);
    assert!(bench.row(&again).await.is_some());
}

#[tokio::test]
async fn the_last_record_is_announced_once_and_before_any_row_is_deleted() {
    let (bench, session) = Bench::with_session("ses_a").await;
    exchanged(&bench, &session, 1).await;
    let before = bench.heard.lock().unwrap().len();
    assert!(remove(&bench.store, "ses_a").await);
    let heard = bench.heard.lock().unwrap();
    let [deleted] = &heard[before..] else {
        panic!("{heard:?}");
    };
    let SessionEvent::SessionDeleted(payload) = &deleted.event.payload else {
        panic!("{deleted:?}");
    };
    assert_eq!(payload.info.id, session.info.id);
    assert_eq!(payload.info.cost, Some(0.0));
    assert_eq!((deleted.event.seq, deleted.event.timestamp), (11, 3000));
}

#[tokio::test]
async fn a_step_deletes_few_entries_and_names_their_files() {
    let (bench, session) = Bench::with_session("ses_a").await;
    for n in 1..=3 {
        exchanged(&bench, &session, n).await;
    }
    hide(&bench.store, &session).await;
    let raw = bench.raw();
    let left = || -> i64 {
        raw.query_row("SELECT count(*) FROM event", [], |row| row.get(0))
            .unwrap()
    };
    let (mut files, mut steps) = (Vec::new(), 0);
    loop {
        let before = left();
        // The entry that begins a message and the results of its calls are in different steps.
        let purged = purge(&bench.store, 4).await;
        assert!(before - left() <= 4);
        files.extend(purged.files);
        steps += 1;
        if !purged.remains {
            break;
        }
    }
    assert_eq!((left(), steps), (0, 8));
    assert_eq!(files, ["/out/tool_1", "/out/tool_2", "/out/tool_3"]);
    assert_eq!(purge(&bench.store, 10).await, Default::default());
}

#[tokio::test]
async fn a_deletion_that_a_crash_cut_is_continued_after_the_next_opening() {
    let (bench, session) = Bench::with_session("ses_a").await;
    exchanged(&bench, &session, 1).await;
    hide(&bench.store, &session).await;
    purge(&bench.store, 3).await;
    bench.store.close().await;
    let store = open(&bench.path()).await.unwrap();
    let id = session.info.id.clone();
    let remain = store.read(move |db| Ok((db.has_removed_rows()?, db.session(&id)?)));
    assert_eq!(remain.await.unwrap(), (true, None));
    while purge(&store, 3).await.remains {}
    let remain = store.read(|db| db.has_removed_rows());
    assert!(!remain.await.unwrap());
    store.close().await;
    assert_eq!(rows(&raw(&bench.path())), Vec::<String>::new());
}

#[tokio::test]
async fn a_damaged_session_can_be_deleted() {
    let (bench, session) = Bench::with_session("ses_a").await;
    exchanged(&bench, &session, 1).await;
    exchanged(&bench, &session, 2).await;
    let raw = bench.raw();
    raw.execute("UPDATE session SET model = '{'", []).unwrap();
    let damaged = "UPDATE event SET data = '{\"outputPaths\"' WHERE type = 33 AND seq < 12";
    raw.execute(damaged, []).unwrap();
    let id = session.info.id.clone();
    let unreadable = bench.store.read(move |db| db.session(&id)).await;
    assert!(matches!(unreadable, Err(StoreError::Corrupt { .. })));
    let id = session.info.id.clone();
    let hidden = bench
        .store
        .write(move |it| Ok::<_, Abort<&'static str>>(it.hide_unreadable(&id)?));
    hidden.await.unwrap();
    assert_eq!(bench.row(&session).await, None);
    let mut files = Vec::new();
    loop {
        let purged = purge(&bench.store, 5).await;
        files.extend(purged.files);
        if !purged.remains {
            break;
        }
    }
    assert_eq!(files, ["/out/tool_2"]);
    bench.store.close().await;
    assert_eq!(rows(&raw), Vec::<String>::new());
}

#[tokio::test]
async fn descendants_are_found_once_even_in_a_cycle() {
    let bench = Bench::new().await;
    let child = |id: &str, parent: &str| {
        event(
            "session.created",
            json!({"info": {
                "id": id, "slug": "s", "projectID": "p", "directory": "/", "title": "T",
                "version": "1", "parentID": parent, "time": {"created": 1, "updated": 1},
            }}),
        )
    };
    for (id, parent) in [
        ("ses_a", "ses_c"),
        ("ses_b", "ses_a"),
        ("ses_c", "ses_b"),
        ("ses_d", "ses_a"),
        ("ses_e", "ses_e"),
    ] {
        let id = SessionID::parse(id).unwrap();
        let created = child(id.as_str(), parent);
        append(&bench.store, &id, 1, created).await.unwrap();
    }
    for (root, expected) in [
        ("ses_a", "abdc"),
        ("ses_c", "cabd"),
        ("ses_d", "d"),
        ("ses_e", "e"),
        ("ses_x", ""),
    ] {
        let id = SessionID::parse(root).unwrap();
        let found = bench.store.read(move |db| db.with_descendants(&id)).await;
        let found = found.unwrap();
        let found: String = found.iter().map(|id| &id.as_str()[4..]).collect();
        assert_eq!(found, expected);
    }
}

/// Returns all rows of all tables as text, without event ids and the guard of keys. Sorted.
fn rows(raw: &Connection) -> Vec<String> {
    let mut tables = raw
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'removed'")
        .unwrap();
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let mut found = Vec::new();
    for table in tables.map(Result::unwrap) {
        let mut select = raw.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let names: Vec<_> = select.column_names().map(str::to_owned).collect();
        let mut rows = select.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let columns = names.iter().enumerate();
            let columns = columns.filter(|(_, name)| table != "event" || **name != "id");
            let columns = columns.map(|(at, name)| {
                let value: Column = row.get(at).unwrap();
                format!("{name}={value:?}")
            });
            found.push(format!("{table} {}", columns.collect::<Vec<_>>().join(" ")));
        }
    }
    found.sort();
    found
}

/// Writes the sessions `ses_kept` and, unless `without`, others between its events. Removes the others.
async fn scene(plan: &[(usize, usize)], without: bool) -> Vec<String> {
    let (bench, kept) = Bench::with_session("ses_kept").await;
    let mut others = Vec::new();
    let mut last = 0;
    for (at, (session, kind)) in plan.iter().enumerate() {
        if *session == 0 {
            bench
                .append(&kept, 5, exchange(1000).swap_remove(last))
                .await;
            last = (last + 1).min(9);
            if last == 9 {
                break;
            }
            continue;
        }
        if without {
            continue;
        }
        let id = format!("ses_{session}");
        if !others.contains(&id) {
            create(&bench.store, &id).await;
            others.push(id.clone());
        }
        let id = SessionID::parse(&id).unwrap();
        for event in exchange(at).into_iter().take(1 + kind) {
            append(&bench.store, &id, 7, event).await.unwrap();
        }
        let operational = bench.store.write(move |transaction| {
            let key = transaction.reader().session(&id)?.unwrap().key;
            transaction.set_epoch(
                key,
                &Epoch {
                    baseline: "B".into(),
                    snapshot: "{}".into(),
                    baseline_seq: 0.into(),
                },
            )?;
            transaction.add_explored(key, "sub")?;
            Ok::<_, Abort<&'static str>>(())
        });
        operational.await.unwrap();
    }
    for id in others {
        assert!(remove(&bench.store, &id).await);
    }
    bench.store.close().await;
    rows(&raw(&bench.path()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_database_after_removals_equals_one_that_never_had_the_sessions(
        plan in proptest::collection::vec((0..4_usize, 0..10_usize), 1..24),
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (removed, never) = runtime.block_on(async {
            (scene(&plan, false).await, scene(&plan, true).await)
        });
        prop_assert_eq!(removed, never);
    }
}
