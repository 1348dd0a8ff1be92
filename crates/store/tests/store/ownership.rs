//! Owners of logs, listeners of replays, and the removal of sessions.

use std::time::Duration;

use opencode_store::tail::Tail;
use opencode_store::{Abort, Draft, ReplayConflict, ReplayOptions, Replayed, Store};
use serde_json::json;

use crate::harness::{Bench, admitted, event, remove};
use crate::replay::{export, replay, replay_all, replay_as, session_id, source};

async fn signalled(tail: &Tail) {
    let signal = tokio::time::timeout(Duration::from_secs(30), tail.changed());
    signal.await.unwrap();
}

fn owned_by(owner: &str, strict_owner: bool) -> ReplayOptions {
    ReplayOptions {
        owner: Some(owner.to_owned()),
        strict_owner,
        publish: false,
    }
}

async fn owner(store: &Store, id: &str) -> Option<String> {
    let id = session_id(id);
    let read = store.read(move |db| {
        let session = db.session(&id)?.expect("the session exists");
        db.owner(session.key)
    });
    read.await.unwrap()
}

#[tokio::test]
async fn only_the_owner_extends_a_log() {
    let (_, _, log) = source().await;
    let bench = Bench::new().await;
    let store = &bench.store;
    // A replay without an owner sets no owner.
    assert_eq!(replay(store, &log[0]).await, Ok(Replayed::Applied));
    assert_eq!(owner(store, "ses_a").await, None);
    // The first replayer with an owner becomes the owner, even with an element that is already
    // stored.
    assert_eq!(
        replay_as(store, &log[0], &owned_by("here", false)).await,
        Ok(Replayed::Skipped)
    );
    assert_eq!(owner(store, "ses_a").await.as_deref(), Some("here"));
    let refused = ReplayConflict::OwnerMismatch {
        session_id: session_id("ses_a"),
        owner: "here".into(),
    };
    for (event, options, expected) in [
        (&log[0], owned_by("there", true), Err(refused.clone())),
        (&log[1], owned_by("there", true), Err(refused.clone())),
        (
            &log[1],
            ReplayOptions {
                strict_owner: true,
                ..ReplayOptions::default()
            },
            Err(refused),
        ),
        // Stored elements must be identical for every replayer. Later elements of other replayers
        // are skipped.
        (&log[0], owned_by("there", false), Ok(Replayed::Skipped)),
        (&log[1], owned_by("there", false), Ok(Replayed::Skipped)),
        (&log[4], owned_by("there", false), Ok(Replayed::Skipped)),
        (&log[1], ReplayOptions::default(), Ok(Replayed::Skipped)),
        (&log[1], owned_by("here", true), Ok(Replayed::Applied)),
        (&log[2], owned_by("here", false), Ok(Replayed::Applied)),
    ] {
        assert_eq!(
            replay_as(store, event, &options).await,
            expected,
            "{options:?}"
        );
    }
    let mut changed = log[1].clone();
    changed.data = changed.data.replace("one", "two");
    let diverged = ReplayConflict::Diverged {
        session_id: session_id("ses_a"),
        seq: 1,
    };
    assert_eq!(
        replay_as(store, &changed, &owned_by("there", false)).await,
        Err(diverged)
    );
    assert_eq!(owner(store, "ses_a").await.as_deref(), Some("here"));
    assert_eq!(export(store, "ses_a").await, log[..3]);

    let claim = |id: &'static str| {
        store.write(move |transaction| {
            Ok::<_, Abort<&'static str>>(transaction.claim(&session_id(id), "there")?)
        })
    };
    assert!(claim("ses_a").await.unwrap());
    assert!(!claim("ses_nobody").await.unwrap());
    assert_eq!(owner(store, "ses_a").await.as_deref(), Some("there"));
    assert_eq!(
        replay_as(store, &log[3], &owned_by("there", true)).await,
        Ok(Replayed::Applied)
    );
}

#[tokio::test]
async fn tails_are_notified_of_applied_events_and_the_listener_of_published_ones() {
    let (_, _, log) = source().await;
    let bench = Bench::new().await;
    replay_all(&bench.store, &log[..1]).await;
    let session = bench
        .store
        .read(|db| db.session(&session_id("ses_a")))
        .await;
    let session = session.unwrap().unwrap();
    let tail = bench.store.tail(&session);
    replay_all(&bench.store, &log[1..2]).await;
    signalled(&tail).await;
    assert_eq!(bench.heard.lock().unwrap().len(), 0);

    let publish = ReplayOptions {
        publish: true,
        ..ReplayOptions::default()
    };
    assert_eq!(
        replay_as(&bench.store, &log[2], &publish).await,
        Ok(Replayed::Applied)
    );
    signalled(&tail).await;
    assert_eq!(
        replay_as(&bench.store, &log[2], &publish).await,
        Ok(Replayed::Skipped)
    );
    // Between entries of the same transaction that listeners do not receive.
    let id = session.info.id.clone();
    let (third, fourth) = (log[3].clone(), log[4].clone());
    let write = bench.store.write(move |transaction| {
        for (event, publish) in [(&third, false), (&fourth, true)] {
            let options = ReplayOptions {
                publish,
                ..ReplayOptions::default()
            };
            transaction.replay(event, &options)?;
        }
        let draft = Draft::new(9, event("revert.cleared", json!({})));
        transaction
            .append(&id, None, draft)
            .map_err(|abort| abort.unexpected().into())
    });
    assert_eq!(write.await, Ok(5.into()));
    let heard = bench.heard.lock().unwrap();
    let seen: Vec<_> = heard
        .iter()
        .map(|it| (it.event.seq, it.event.id.clone(), it.location.clone()))
        .collect();
    let here = Some(session.info.location.clone());
    assert_eq!(
        seen[..2],
        [
            (2, log[2].id.clone(), here.clone()),
            (4, log[4].id.clone(), here)
        ]
    );
    assert_eq!((seen.len(), seen[2].0), (3, 5));
}

#[tokio::test]
async fn a_removed_session_leaves_no_rows_and_its_key_is_not_reused() {
    let (bench, session, log) = source().await;
    let other = bench.session("ses_b").await;
    bench
        .append(&other, 5, admitted("msg_other", "x", "steer"))
        .await;
    let kept = export(&bench.store, "ses_b").await;
    for (id, expected) in [("ses_a", true), ("ses_a", false), ("ses_nobody", false)] {
        assert_eq!(remove(&bench.store, id).await, expected, "{id}");
    }
    assert_eq!(bench.row(&session).await, None);
    let raw = bench.raw();
    for table in [
        "event",
        "session",
        "message",
        "part",
        "input",
        "context_epoch",
    ] {
        let sql = format!("SELECT count(*) FROM {table} WHERE aggregate = ?");
        let left: i64 = raw
            .query_row(&sql, [session.key], |row| row.get(0))
            .unwrap();
        assert_eq!(left, 0, "{table}");
    }
    assert_eq!(export(&bench.store, "ses_b").await, kept);

    // A reader with an old key sees none of the later sessions.
    assert!(remove(&bench.store, "ses_b").await);
    let next = bench.session("ses_c").await;
    assert!(next.key > other.key && other.key > session.key, "{next:?}");
    let key = other.key;
    let gone = bench.store.read(move |db| db.events(key, None, 9)).await;
    assert_eq!(gone.unwrap(), []);
    // The ids of the session are free again.
    replay_all(&bench.store, &log).await;
    assert_eq!(export(&bench.store, "ses_a").await, log);
}
