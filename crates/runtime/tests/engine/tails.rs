//! Following the durable events of one session.

use opencode_runtime::{RuntimeError, SessionEvents};
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Reply, compact};
use serde_json::{Value, json};

use crate::transfer::elsewhere;

/// The next `count` events of a stream, each with its sequence.
async fn take(f: &Fixture, events: &mut SessionEvents, count: usize) -> Vec<(u64, String)> {
    let mut taken = Vec::new();
    while taken.len() < count {
        let batch = f.within("events", events.next()).await.unwrap();
        assert!(!batch.is_empty());
        taken.extend(batch.iter().map(|it| (it.seq.into(), compact::stored(it))));
    }
    taken
}

fn numbered(from: u64, events: &[String]) -> Vec<(u64, String)> {
    (from..).zip(events.iter().cloned()).collect()
}

#[tokio::test]
async fn a_tail_begins_anywhere_and_continues_without_gap_or_duplicate() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Hello."));
    f.ask(&session, "One").await;
    let mut all = f.runtime().events(&session, None).await.unwrap();
    let mut middle = f.runtime().events(&session, Some(3.into())).await.unwrap();
    let mut end = f.runtime().events(&session, Some(6.into())).await.unwrap();
    let first = f.events(&session).await;
    assert_eq!(take(&f, &mut all, 6).await, numbered(1, &first));
    assert_eq!(take(&f, &mut middle, 3).await, numbered(4, &first[3..]));
    f.ask(&session, "Two").await;
    let second = f.events_after(&session, 6).await;
    for tail in [&mut all, &mut middle, &mut end] {
        assert_eq!(take(&f, tail, 6).await, numbered(7, &second));
    }
}

#[tokio::test]
async fn a_tail_from_a_future_sequence_is_silent_until_then() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let mut future = f.runtime().events(&session, Some(2.into())).await.unwrap();
    let mut present = f.runtime().events(&session, None).await.unwrap();
    for text in ["1", "2", "3", "4"] {
        f.leave(&session, text, Delivery::Steer).await;
    }
    let events = f.events(&session).await;
    assert_eq!(take(&f, &mut present, 4).await, numbered(1, &events));
    assert_eq!(take(&f, &mut future, 2).await, numbered(3, &events[2..]));
}

#[tokio::test]
async fn a_late_reader_gets_all_events() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let mut events = f.runtime().events(&session, None).await.unwrap();
    for n in 0..600 {
        f.leave(&session, &n.to_string(), Delivery::Steer).await;
    }
    let taken = take(&f, &mut events, 600).await;
    let expected = (0..600).map(|n| (n + 1, format!("prompt.admitted {n}")));
    assert_eq!(taken, expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn a_tail_gets_only_events_of_its_own_session() {
    let f = Fixture::open().await;
    let (one, other) = (f.session().await, f.session().await);
    let mut events = f.runtime().events(&one, None).await.unwrap();
    f.leave(&other, "other", Delivery::Steer).await;
    f.leave(&one, "one", Delivery::Steer).await;
    assert_eq!(
        take(&f, &mut events, 1).await,
        [(1, "prompt.admitted one".to_owned())]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_at_the_same_position_all_get_all_events() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let expected: Vec<_> = (0..100)
        .map(|n| (n + 1, format!("prompt.admitted {n}")))
        .collect();
    let mut readers = Vec::new();
    for _ in 0..20 {
        readers.push(f.runtime().events(&session, None).await.unwrap());
    }
    let reading = futures::future::join_all(
        readers
            .iter_mut()
            .map(|events| take(&f, events, expected.len())),
    );
    let writing = async {
        for n in 0..expected.len() {
            f.leave(&session, &n.to_string(), Delivery::Steer).await;
        }
    };
    let (taken, ()) = futures::join!(reading, writing);
    assert_eq!(taken, vec![expected; 20]);
}

#[tokio::test]
async fn a_waiting_reader_gets_the_committed_events_when_the_host_closes() {
    for _ in 0..16 {
        let f = Fixture::open().await;
        let session = f.session().await;
        let events = f.runtime().events(&session, None).await.unwrap();
        let follows = tokio::spawn(until_closed(events));
        for n in 0..3 {
            f.leave(&session, &n.to_string(), Delivery::Steer).await;
        }
        f.close().await;
        let seen = f.within("the end", follows).await.unwrap();
        assert_eq!(seen, [1, 2, 3]);
    }
}

#[tokio::test]
async fn a_reader_that_subscribes_before_the_host_closes_gets_the_committed_events() {
    let f = Fixture::open().await;
    let session = f.session().await;
    for n in 0..300 {
        f.leave(&session, &n.to_string(), Delivery::Steer).await;
    }
    let events = f.runtime().events(&session, None).await.unwrap();
    let follows = tokio::spawn(until_closed(events));
    f.close().await;
    let seen = f.within("the end", follows).await.unwrap();
    assert_eq!(seen, (1..=300).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_reader_that_lacks_only_omitted_events_does_not_delay_closing() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.switch_agent(&session, "plan").await;
    let mut lines = f.export(&session).await;
    let g = elsewhere().await;
    g.import(&lines).await.unwrap();
    let mut events = g.runtime().events(&session, None).await.unwrap();
    assert_eq!(take(&g, &mut events, 1).await.len(), 1);
    let follows = tokio::spawn(until_closed(events));
    let created: Value = serde_json::from_str(&lines[1]).unwrap();
    let updated = json!({
        "id": "evt_updated", "type": "session.updated.1", "seq": 2,
        "data": created["data"],
    });
    lines.push(updated.to_string());
    assert_eq!(g.import(&lines).await.unwrap().applied, 1);
    g.close().await;
    let none: [u64; 0] = [];
    assert_eq!(g.within("the end", follows).await.unwrap(), none);
}

/// The sequences of all events that the stream still returns.
async fn until_closed(mut events: SessionEvents) -> Vec<u64> {
    let mut seen = Vec::new();
    while let Ok(more) = events.next().await {
        seen.extend(more.iter().map(|it| u64::from(it.seq)));
    }
    seen
}

#[tokio::test]
async fn closing_does_not_wait_for_a_paused_reader_with_all_events() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.leave(&session, "one", Delivery::Steer).await;
    let mut events = f.runtime().events(&session, None).await.unwrap();
    assert_eq!(take(&f, &mut events, 1).await.len(), 1);
    // The clock does not advance, so closing must not wait for the reader.
    f.close().await;
    assert!(matches!(events.next().await, Err(RuntimeError::Closed)));
}

#[tokio::test]
async fn closing_does_not_wait_for_a_reader_that_stopped_reading() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let mut events = f.runtime().events(&session, None).await.unwrap();
    f.leave(&session, "one", Delivery::Steer).await;
    assert_eq!(take(&f, &mut events, 1).await.len(), 1);
    f.leave(&session, "two", Delivery::Steer).await;
    let time_passes = async {
        loop {
            f.clock.advance(1_000);
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = f.close() => {}
        () = time_passes => {}
    }
    assert!(matches!(events.next().await, Err(RuntimeError::Closed)));
}
