//! Sizes and ages of sessions, and copies that are not published.

use opencode_schema::id::SessionID;
use opencode_store::{Abort, CopiedState, Draft, Order, SessionFilter, StoreError};
use serde_json::json;

use crate::harness::{Bench, admitted, event, open, prompted, purge, step_started};

#[tokio::test]
async fn the_bytes_of_a_session_are_those_of_its_stored_entries() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let other = bench.session("ses_b").await;
    bench
        .append(&session, 5, admitted("msg_1", "Hi", "steer"))
        .await;
    bench
        .append(&session, 5, prompted("msg_1", "Hi", "steer"))
        .await;
    bench.append(&other, 900_000, step_started("msg_a")).await;
    let read = bench
        .store
        .read(|db| Ok((db.session_sizes(9)?, db.session_ages()?)));
    let ((count, sizes), ages) = read.await.unwrap();
    let raw = bench.raw();
    let stored = |key| -> i64 {
        let sql = "SELECT sum(ifnull(octet_length(data), 0) + ifnull(octet_length(metadata), 0))
            FROM event WHERE aggregate = ?";
        raw.query_row(sql, [key], |row| row.get(0)).unwrap()
    };
    assert_eq!((count, sizes.len()), (2, 2));
    for session in [&session, &other] {
        let size = sizes.iter().find(|it| it.id == session.info.id).unwrap();
        assert_eq!(size.bytes as i64, stored(session.key));
    }
    assert!(sizes[0].bytes >= sizes[1].bytes);
    let active: Vec<_> = ages
        .iter()
        .map(|age| (age.id.as_str(), age.active))
        .collect();
    assert_eq!(active, [("ses_a", 1000), ("ses_b", 900_000)]);
    let one = bench.store.read(|db| db.session_sizes(1)).await.unwrap();
    assert_eq!((one.0, one.1), (2, sizes[..1].to_vec()));
}

#[tokio::test]
async fn a_damaged_row_decides_about_no_other_session() {
    let (bench, session) = Bench::with_session("ses_a").await;
    for id in ["ses_b", "ses_c", "ses_d"] {
        bench.session(id).await;
    }
    let raw = bench.raw();
    for damage in [
        "UPDATE session SET parent = 'ses_a' WHERE aggregate = (SELECT key FROM aggregate WHERE id = 'ses_b')",
        "UPDATE aggregate SET id = x'ff' WHERE id = 'ses_b'",
        "UPDATE session SET parent = x'fe', time_updated = 'soon'
         WHERE aggregate = (SELECT key FROM aggregate WHERE id = 'ses_c')",
    ] {
        assert_eq!(raw.execute(damage, []).unwrap(), 1, "{damage}");
    }
    let id = session.info.id.clone();
    let read = bench.store.read(move |db| {
        Ok((
            db.session_ages()?,
            db.session_sizes(9)?,
            db.with_descendants(&id)?,
        ))
    });
    let (ages, sizes, tree) = read.await.unwrap();
    let ages = ages
        .iter()
        .map(|it| (it.id.as_str(), it.active, &it.parent));
    let expected = [
        ("ses_a", 1000, &None),
        ("ses_c", i64::MAX, &None),
        ("ses_d", 1000, &None),
    ];
    assert_eq!(ages.collect::<Vec<_>>(), expected);
    assert_eq!((sizes.0, sizes.1.len()), (4, 3));
    assert_eq!(tree, [session.info.id]);
}

#[tokio::test]
async fn a_copy_is_in_no_read_until_it_is_published() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let id = SessionID::parse("ses_copy").unwrap();
    let drafts = || {
        let events = [
            event("synthetic", json!({"messageID": "msg_c", "text": "x"})),
            step_started("msg_d"),
        ];
        events.map(|event| Draft::new(5, event)).to_vec()
    };
    let name = id.clone();
    let copy = bench.store.write(move |transaction| {
        let copy = transaction.begin_copy()?;
        transaction.append_copied(copy, &name, drafts())?;
        Ok(copy)
    });
    let copy = copy.await.unwrap();
    let listed = || async {
        let read = bench.store.read(|db| {
            let listed = db.sessions(&SessionFilter::default(), Order::Ascending, None, 9)?;
            Ok((
                listed.len(),
                db.interrupted()?.len(),
                db.has_removed_rows()?,
            ))
        });
        read.await.unwrap()
    };
    assert_eq!(listed().await, (1, 0, false));
    assert_eq!(bench.heard.lock().unwrap().len(), 1);
    let name = id.clone();
    let published = bench.store.write(move |transaction| {
        let reader = transaction.reader();
        let source = reader.session(&session.info.id)?.unwrap();
        let mut info = reader.session_record(&source)?;
        info.id = name;
        transaction.publish_copy(copy, info, 2000, &CopiedState::default())
    });
    published.await.unwrap();
    assert_eq!(listed().await, (2, 1, false));
    let read = bench.store.read(move |db| {
        let session = db.session(&id)?.unwrap();
        let log = db.log(session.key, 0.into(), 9, usize::MAX)?;
        let seqs: Vec<_> = log.iter().map(|entry| u64::from(entry.seq)).collect();
        Ok((session.is_fork, seqs))
    });
    assert_eq!(read.await.unwrap(), (true, vec![0, 1, 2]));
    assert_eq!(bench.heard.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_copy_that_was_given_up_or_cut_by_a_crash_is_deleted() {
    let (bench, _) = Bench::with_session("ses_a").await;
    let begin = |message: &'static str| {
        let draft = Draft::new(
            5,
            event("synthetic", json!({"messageID": message, "text": "x"})),
        );
        bench.store.write(move |transaction| {
            let copy = transaction.begin_copy()?;
            let id = SessionID::parse("ses_copy").unwrap();
            transaction.append_copied(copy, &id, vec![draft])?;
            Ok(copy)
        })
    };
    let (given_up, _cut) = (begin("msg_1").await.unwrap(), begin("msg_2").await.unwrap());
    let gave_up = bench.store.write(move |transaction| {
        Ok::<_, Abort<&'static str>>(transaction.give_up_copy(given_up)?)
    });
    gave_up.await.unwrap();
    // A copy that is being written stays.
    assert!(!purge(&bench.store, 9).await.remains);
    let rows = |raw: &rusqlite::Connection| -> (i64, i64) {
        let count = |sql| raw.query_row(sql, [], |row| row.get(0)).unwrap();
        (
            count("SELECT count(*) FROM aggregate"),
            count("SELECT count(*) FROM message"),
        )
    };
    assert_eq!(rows(&bench.raw()), (2, 1));
    bench.store.close().await;
    let store = open(&bench.path()).await.unwrap();
    let remains = store.read(|db| db.has_removed_rows()).await;
    assert_eq!(remains, Ok::<_, StoreError>(true));
    assert!(!purge(&store, 9).await.remains);
    assert_eq!(rows(&bench.raw()), (1, 0));
}
