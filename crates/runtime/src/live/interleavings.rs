//! Tests the live stream under chosen schedules: publishers, readers and the end run at the same time.

use std::sync::Arc;
use std::time::Duration;

use opencode_interleave::{self as sync, block_on, check, thread};

use super::selection::{self, Selection, Topic};

use self::events::{Bounds, LiveBatch, LiveEvents, LiveSubscription};

#[path = "events.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    clippy::duplicate_mod,
    reason = "compiled once more"
)]
mod events;

fn topic() -> Topic<'static> {
    Topic {
        name: "session.idle",
        session: None,
    }
}

/// Publishes events of its name with ascending numbers.
fn publisher(live: &Arc<LiveEvents>, name: char, count: usize) -> thread::JoinHandle<()> {
    let live = Arc::clone(live);
    thread::spawn(move || {
        for number in 0..count {
            live.publish(topic(), || format!("{name}{number}"));
        }
    })
}

/// Reads to the end. Returns the events, and true if the reader was cut.
fn read(mut subscription: LiveSubscription, most: usize) -> (Vec<String>, bool) {
    let mut got = Vec::new();
    loop {
        let cut = match block_on(subscription.next(most)) {
            LiveBatch::Events(events) => {
                assert!(!events.is_empty() && events.len() <= most);
                got.extend(events.iter().map(ToString::to_string));
                continue;
            }
            LiveBatch::Cut => true,
            LiveBatch::Ended => false,
        };
        // The final state is stable.
        let again = block_on(subscription.next(most));
        let expected = if cut {
            LiveBatch::Cut
        } else {
            LiveBatch::Ended
        };
        assert_eq!(again, expected);
        return (got, cut);
    }
}

/// Returns the numbers of one publisher's events.
fn of(got: &[String], name: char) -> Vec<usize> {
    let numbers = got.iter().filter_map(|event| event.strip_prefix(name));
    numbers.map(|number| number.parse().unwrap()).collect()
}

fn counted(numbers: impl IntoIterator<Item = usize>) -> Vec<usize> {
    numbers.into_iter().collect()
}

#[test]
fn readers_get_all_later_events_in_order() {
    check(|| {
        let live = Arc::new(LiveEvents::default());
        let early = live.subscribe(Selection::default());
        let publishers = ['a', 'b'].map(|name| publisher(&live, name, 2));
        let early = thread::spawn(|| read(early, 2));
        let comes = Arc::clone(&live);
        let late = thread::spawn(move || read(comes.subscribe(Selection::default()), usize::MAX));
        publishers.into_iter().for_each(|it| it.join().unwrap());
        live.end();
        let (got, cut) = early.join().unwrap();
        assert!(!cut);
        assert_eq!([of(&got, 'a'), of(&got, 'b')], [[0, 1], [0, 1]]);
        let (got, cut) = late.join().unwrap();
        assert!(!cut);
        for name in ['a', 'b'] {
            let numbers = of(&got, name);
            assert_eq!(numbers, counted(2 - numbers.len()..2));
        }
    });
}

#[test]
fn an_end_during_delivery_cuts_no_reader_and_leaves_no_gap() {
    check(|| {
        let live = Arc::new(LiveEvents::default());
        let reader = live.subscribe(Selection::default());
        let publishing = publisher(&live, 'a', 3);
        let reading = thread::spawn(|| read(reader, 1));
        let ends = Arc::clone(&live);
        let ending = thread::spawn(move || ends.end());
        let late = read(live.subscribe(Selection::default()), 1);
        let (got, cut) = reading.join().unwrap();
        let numbers = of(&got, 'a');
        assert_eq!((&numbers, cut), (&counted(0..numbers.len()), false));
        assert!(!late.1);
        publishing.join().unwrap();
        ending.join().unwrap();
    });
}

#[test]
fn a_slow_reader_is_cut_before_the_gap() {
    check(|| {
        let live = Arc::new(LiveEvents::new(Bounds {
            events: 2,
            max_wait: Duration::ZERO,
            ..Bounds::default()
        }));
        let reader = live.subscribe(Selection::default());
        let reading = thread::spawn(|| read(reader, 1));
        publisher(&live, 'a', 4).join().unwrap();
        live.end();
        let (got, cut) = reading.join().unwrap();
        let numbers = of(&got, 'a');
        assert_eq!(numbers, counted(0..numbers.len()));
        // A reader that is not cut has lost nothing.
        assert!(cut || numbers.len() == 4, "{got:?}");
        assert!(!cut || numbers.len() <= 1, "{got:?}");
    });
}

#[test]
fn waiting_readers_are_woken_and_dropped_readers_are_removed() {
    check(|| {
        let live = Arc::new(LiveEvents::default());
        let mut stays = live.subscribe(Selection::default());
        let goes = live.subscribe(Selection::default());
        let publishing = publisher(&live, 'a', 2);
        let going = thread::spawn(|| drop(goes));
        // The stream does not end during this loop, so only the publisher wakes the reader.
        let mut got = 0;
        while got < 2 {
            match block_on(stays.next(usize::MAX)) {
                LiveBatch::Events(events) => got += events.len(),
                other => panic!("{other:?}"),
            }
        }
        going.join().unwrap();
        publishing.join().unwrap();
        drop(stays);
        live.publish(topic(), || panic!("no client listens"));
    });
}
