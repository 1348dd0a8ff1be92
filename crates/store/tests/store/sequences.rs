//! Positions of entries: sequences, event ids, and pages of the durable stream.

use std::collections::HashSet;

use opencode_schema::id::SessionID;
use opencode_store::{Abort, LifecycleConflict, Sequence, StoreError};
use serde_json::json;

use crate::harness::{Bench, admitted, append, created, event, message_id};

#[tokio::test]
async fn sequences_are_gapless_and_event_ids_are_unique() {
    let bench = Bench::new().await;
    let sessions = [bench.session("ses_a").await, bench.session("ses_b").await];
    for at in 0..20 {
        let session = &sessions[at % 3 % 2];
        let seq = bench
            .append(session, 5, admitted(&format!("msg_{at}"), "x", "steer"))
            .await;
        // The same event again is a conflict and leaves no gap.
        let again = append(
            &bench.store,
            &session.info.id,
            5,
            admitted(&format!("msg_{at}"), "x", "steer"),
        );
        let conflict = LifecycleConflict::IdInUse(message_id(&format!("msg_{at}")));
        assert_eq!(again.await, Err(Abort::Refused(conflict)));
        let key = session.key;
        let latest = bench.store.read(move |db| db.latest_seq(key));
        assert_eq!(latest.await.unwrap(), seq.into());
    }
    let mut ids = HashSet::new();
    for (session, count) in sessions.iter().zip([13, 7]) {
        let read = bench.events(session).await;
        let seqs: Vec<_> = read.iter().map(|entry| u64::from(entry.seq)).collect();
        assert_eq!(seqs, (1..=count).collect::<Vec<_>>());
        ids.extend(read.into_iter().map(|entry| entry.id));
    }
    let heard = bench.heard.lock().unwrap();
    assert_eq!(heard.len(), 22);
    ids.extend(heard.iter().map(|committed| committed.event.id.clone()));
    assert_eq!(
        ids.len(),
        22,
        "streamed entries have the ids that were announced"
    );
}

#[tokio::test]
async fn a_page_is_bounded_by_bytes_and_not_empty_before_the_end() {
    let (bench, session) = Bench::with_session("ses_a").await;
    for at in 1..=6 {
        let text = "x".repeat(1000);
        bench
            .append(&session, 5, admitted(&format!("msg_{at}"), &text, "steer"))
            .await;
    }
    for (after, bytes, expected) in [
        (0, 1, vec![1]),
        (0, 2000, vec![1, 2]),
        (4, 100_000, vec![5, 6]),
        (6, 1, vec![]),
    ] {
        let key = session.key;
        let page = bench
            .store
            .read(move |db| db.events_within(key, Some(after.into()), 100, bytes));
        let seqs: Vec<_> = page
            .await
            .unwrap()
            .iter()
            .map(|it| u64::from(it.seq))
            .collect();
        assert_eq!(seqs, expected, "after {after}, {bytes} bytes");
    }
}

#[tokio::test]
async fn a_session_starts_with_its_creation_and_is_created_once() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let again = append(
        &bench.store,
        &session.info.id,
        5,
        created("ses_a", "/elsewhere"),
    );
    assert_eq!(
        again.await,
        Err(Abort::Refused(LifecycleConflict::SessionExists))
    );
    assert_eq!(bench.row(&session).await, Some(session.clone()));
    assert_eq!(bench.events(&session).await, []);

    let unknown = SessionID::parse("ses_b").unwrap();
    let event = event("synthetic", json!({"messageID": "msg_1", "text": "x"}));
    let refused = append(&bench.store, &unknown, 5, event).await;
    assert!(
        matches!(refused, Err(Abort::Failed(StoreError::Database(_)))),
        "{refused:?}"
    );
    let read = bench.store.read(move |db| db.session(&unknown));
    assert_eq!(read.await.unwrap(), None);
}

#[tokio::test]
async fn a_conflict_changes_nothing_even_if_the_command_continues() {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench
        .append(
            &session,
            5,
            event("synthetic", json!({"messageID": "msg_1", "text": "x"})),
        )
        .await;
    bench
        .append(&session, 6, crate::harness::step_started("msg_2"))
        .await;
    let (row, messages) = (bench.row(&session).await, bench.messages(&session).await);
    for conflicting in [
        event(
            "agent.switched",
            json!({"messageID": "msg_1", "agent": "plan"}),
        ),
        event(
            "model.switched",
            json!({"messageID": "msg_1", "model": {"id": "m", "providerID": "p"}}),
        ),
        crate::harness::prompted("msg_1", "x", "steer"),
        crate::harness::step_started("msg_1"),
        event(
            "shell.started",
            json!({"messageID": "msg_1", "callID": "c", "command": "ls"}),
        ),
        event("revert.committed", json!({"messageID": "msg_9"})),
    ] {
        let id = session.info.id.clone();
        let write = bench.store.write(move |transaction| {
            let draft = opencode_store::Draft::new(9, conflicting);
            let ignored = transaction.append(&id, None, draft);
            Ok::<_, Abort<&'static str>>(matches!(ignored, Err(Abort::Refused(_))))
        });
        assert!(write.await.unwrap());
    }
    assert_eq!(bench.row(&session).await, row);
    assert_eq!(bench.messages(&session).await, messages);
    assert_eq!(bench.events(&session).await.len(), 2);
    assert_eq!(
        bench
            .append(&session, 10, admitted("msg_3", "x", "steer"))
            .await,
        3
    );
}

#[tokio::test]
async fn pages_of_the_stream_are_slices_of_it() {
    let (bench, session) = Bench::with_session("ses_a").await;
    for at in 0..6 {
        bench
            .append(&session, 5, admitted(&format!("msg_{at}"), "x", "steer"))
            .await;
    }
    // An entry of the older shape has a sequence but is not part of the stream.
    let info = json!({
        "id": "ses_a", "slug": "s", "projectID": "p", "directory": "/", "title": "T",
        "version": "1", "time": {"created": 1, "updated": 2},
    });
    bench
        .append(&session, 6, event("session.updated", json!({"info": info})))
        .await;
    bench
        .append(&session, 7, admitted("msg_7", "x", "steer"))
        .await;
    let all = bench.events(&session).await;
    let seqs: Vec<_> = all.iter().map(|entry| u64::from(entry.seq)).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5, 6, 8]);
    let key = session.key;
    for after in [
        None,
        Some(0),
        Some(1),
        Some(5),
        Some(6),
        Some(7),
        Some(8),
        Some(u64::MAX),
    ] {
        let after = after.map(Sequence::from);
        for limit in [0, 1, 2, 7, usize::MAX] {
            let page = bench.store.read(move |db| db.events(key, after, limit));
            let rest = all
                .iter()
                .filter(|entry| after.is_none_or(|after| entry.seq > after));
            let expected: Vec<_> = rest.take(limit).cloned().collect();
            assert_eq!(page.await.unwrap(), expected, "{after:?} {limit}");
        }
    }
}
