use std::sync::Arc;
use std::time::Duration;

use super::events::*;
use super::selection::{Selection, Topic};

fn topic() -> Topic<'static> {
    Topic {
        name: "session.idle",
        session: None,
    }
}

fn max_wait() -> Duration {
    Bounds::default().max_wait
}

fn texts(batch: LiveBatch) -> Vec<String> {
    match batch {
        LiveBatch::Events(events) => events.iter().map(ToString::to_string).collect(),
        other => panic!("expected events, got {other:?}"),
    }
}

#[tokio::test]
async fn subscribers_get_the_events_after_their_subscription() {
    let live = Arc::new(LiveEvents::default());
    live.publish(topic(), || panic!("no client listens"));
    let mut one = live.subscribe(Selection::default());
    live.publish(topic(), || "a".into());
    let mut two = live.subscribe(Selection::default());
    live.publish(topic(), || "b".into());
    assert_eq!(texts(one.next(10).await), ["a", "b"]);
    assert_eq!(texts(two.next(10).await), ["b"]);
    drop(two);
    live.publish(topic(), || "c".into());
    live.end();
    live.publish(topic(), || "after the end".into());
    assert_eq!(texts(one.next(10).await), ["c"]);
    assert_eq!(one.next(10).await, LiveBatch::Ended);
    assert_eq!(one.next(10).await, LiveBatch::Ended);
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_does_not_read_is_cut_and_others_are_not() {
    let live = Arc::new(LiveEvents::default());
    let mut idle = live.subscribe(Selection::default());
    let mut attentive = live.subscribe(Selection::default());
    for _ in 0..1000 {
        live.publish(topic(), || "x".into());
    }
    assert_eq!(texts(attentive.next(usize::MAX).await).len(), 1000);
    tokio::time::advance(max_wait()).await;
    live.publish(topic(), || "y".into());
    assert_eq!(idle.next(1).await, LiveBatch::Cut);
    assert_eq!(texts(attentive.next(1).await), ["y"]);
}

#[tokio::test(start_paused = true)]
async fn a_burst_after_a_long_pause_cuts_no_subscriber() {
    let live = Arc::new(LiveEvents::default());
    let mut subscription = live.subscribe(Selection::default());
    tokio::time::advance(10 * max_wait()).await;
    for _ in 0..1000 {
        live.publish(topic(), || "x".into());
    }
    assert_eq!(texts(subscription.next(usize::MAX).await).len(), 1000);
}

#[tokio::test]
async fn a_subscriber_after_the_end_gets_the_end() {
    let live = Arc::new(LiveEvents::default());
    live.end();
    assert_eq!(
        live.subscribe(Selection::default()).next(1).await,
        LiveBatch::Ended
    );
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_with_old_unread_bytes_is_cut() {
    let live = Arc::new(LiveEvents::default());
    let mut idle = live.subscribe(Selection::default());
    let mut attentive = live.subscribe(Selection::default());
    // The events of one turn, which arrive at once.
    for _ in 0..3 {
        live.publish(topic(), || "x".repeat(8 * 1024 * 1024));
    }
    assert_eq!(texts(attentive.next(usize::MAX).await).len(), 3);
    tokio::time::advance(max_wait()).await;
    live.publish(topic(), || "y".into());
    assert_eq!(idle.next(1).await, LiveBatch::Cut);
    assert_eq!(texts(attentive.next(1).await), ["y"]);
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_has_more_time_after_a_large_read() {
    let live = Arc::new(LiveEvents::default());
    let mut reader = live.subscribe(Selection::default());
    live.publish(topic(), || "x".repeat(16 * 1024 * 1024));
    assert_eq!(texts(reader.next(1).await).len(), 1);
    let publish = || (0..1000).for_each(|_| live.publish(topic(), || "x".into()));
    publish();
    tokio::time::advance(max_wait() + Duration::from_secs(1)).await;
    publish();
    assert_eq!(texts(reader.next(usize::MAX).await).len(), 2000);
    publish();
    tokio::time::advance(max_wait()).await;
    publish();
    assert_eq!(reader.next(1).await, LiveBatch::Cut);
}

#[tokio::test]
async fn a_subscriber_with_too_many_unread_bytes_is_cut_at_once() {
    let live = Arc::new(LiveEvents::new(Bounds {
        most_bytes: 10,
        ..Bounds::default()
    }));
    let mut subscription = live.subscribe(Selection::default());
    live.publish(topic(), || "x".repeat(10));
    assert_eq!(texts(subscription.next(1).await).len(), 1);
    live.publish(topic(), || "x".repeat(6));
    live.publish(topic(), || "x".repeat(5));
    assert_eq!(subscription.next(1).await, LiveBatch::Cut);
}
