//! Dirty signals: the readers that a commit wakes, and the number of wake-ups.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use opencode_schema::event::SessionEvent;
use opencode_store::tail::Tail;
use opencode_store::{Abort, Draft, LifecycleConflict, Sequence};

use crate::harness::{Bench, admitted, append};

/// True if the tail has signalled more entries than its reader has.
fn is_dirty(tail: &Tail) -> bool {
    let changed = pin!(tail.changed());
    changed.poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
}

fn prompt(at: usize) -> SessionEvent {
    admitted(&format!("msg_{at}"), "x", "steer")
}

#[tokio::test]
async fn many_commits_are_one_signal_to_the_tails_of_their_session() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let other = bench.session("ses_b").await;
    bench.append(&session, 5, prompt(0)).await;
    let tails = [bench.store.tail(&session), bench.store.tail(&session)];
    let silent = bench.store.tail(&other);
    // Entries from before the registration are found by the first read.
    assert!(tails.iter().all(|tail| !is_dirty(tail)));
    for at in 1..4 {
        bench.append(&session, 5, prompt(at)).await;
    }
    assert!(tails.iter().all(|tail| is_dirty(tail) && !tail.has_all()));
    // Three of the four entries are not all.
    tails.iter().for_each(|tail| tail.has_read(3.into()));
    assert!(tails.iter().all(is_dirty));
    tails.iter().for_each(|tail| tail.has_read(4.into()));
    assert!(tails.iter().all(|tail| !is_dirty(tail) && tail.has_all()));
    assert!(!is_dirty(&silent) && !silent.has_all());
    let [first, second] = tails;
    drop(first);
    bench.append(&session, 5, prompt(4)).await;
    assert!(is_dirty(&second));
    second.has_read(5.into());
    bench.append(&other, 5, prompt(5)).await;
    assert!(is_dirty(&silent) && !is_dirty(&second));
}

#[tokio::test]
async fn one_command_wakes_the_tails_of_every_session_that_it_changed() {
    let bench = Bench::new().await;
    let sessions = [
        bench.session("ses_a").await,
        bench.session("ses_b").await,
        bench.session("ses_c").await,
    ];
    let tails = sessions.each_ref().map(|session| bench.store.tail(session));
    let ids = [0, 1, 0].map(|at| sessions[at].info.id.clone());
    let write = bench.store.write(move |transaction| {
        for (at, id) in ids.iter().enumerate() {
            transaction.append(id, None, Draft::new(5, prompt(at)))?;
        }
        Ok::<_, Abort<LifecycleConflict>>(())
    });
    write.await.unwrap();
    assert_eq!(tails.each_ref().map(is_dirty), [true, true, false]);
}

#[tokio::test]
async fn a_rolled_back_command_wakes_no_tail() {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench.append(&session, 5, prompt(0)).await;
    let tail = bench.store.tail(&session);
    let again = append(&bench.store, &session.info.id, 5, prompt(0));
    assert!(matches!(again.await, Err(Abort::Refused(_))));
    assert!(!is_dirty(&tail));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reader_that_follows_the_signals_sees_every_entry() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let store = std::sync::Arc::new(bench.store);
    let reader = {
        let (store, session) = (std::sync::Arc::clone(&store), session.clone());
        let tail = store.tail(&session);
        tokio::spawn(async move {
            let mut seen = Vec::new();
            while seen.len() < 300 {
                let (key, after) = (session.key, seen.last().copied());
                let read = store
                    .read(move |db| db.events(key, after, 7))
                    .await
                    .unwrap();
                if let Some(last) = read.last() {
                    tail.has_read(last.seq);
                } else {
                    tail.changed().await;
                }
                seen.extend(read.iter().map(|entry| entry.seq));
            }
            seen
        })
    };
    for at in 0..300 {
        let written = append(&store, &session.info.id, 5, prompt(at));
        written.await.unwrap();
    }
    assert!(
        reader
            .await
            .unwrap()
            .into_iter()
            .eq((1..=300).map(Sequence::from))
    );
}
