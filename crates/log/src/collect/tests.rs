use std::collections::BTreeMap;
use std::thread::Builder;

use serde_json::json;

use crate::Log;
use crate::carry::{spawn, spawn_blocking, spawn_thread};
use crate::entry::{Entry, Level};
use crate::filter::Filter;
use crate::queue::Entries;

const TARGET: &str = "opencode_store::worker";

fn log(level: Level) -> (Log, Entries) {
    Log::new(Filter::new(Some(level), BTreeMap::new()))
}

async fn all(log: Log, entries: Entries) -> Vec<Entry> {
    log.end();
    let mut all = Vec::new();
    while let Some(batch) = entries.next().await {
        all.extend(batch);
    }
    all
}

#[tokio::test]
async fn an_event_is_an_entry_with_its_values_and_fields() {
    let (log, entries) = log(Level::Warn);
    log.run(|| {
        let span = tracing::error_span!(target: TARGET, "drain", session_id = "ses_1", location = "/p");
        let _entered = span.enter();
        tracing::warn!(target: TARGET, pages = 3, ok = true, error = %"full", "the file {}", "grows");
        tracing::info!(target: TARGET, "below the level");
        tracing::error!(target: "h2", "a library");
    });
    let [entry] = &all(log, entries).await[..] else {
        panic!("one entry is taken")
    };
    let shown = serde_json::to_value(entry).unwrap();
    let expected = json!({
        "time": entry.time, "level": "warn", "target": "opencode::store", "message": "the file grows",
        "fields": {"pages": 3, "ok": true, "error": "full"},
        "sessionID": "ses_1", "location": {"directory": "/p"},
    });
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn fields_that_a_span_records_later_are_in_its_entries() {
    let (log, entries) = log(Level::Warn);
    log.run(|| {
        let span = tracing::error_span!(
            target: TARGET,
            "drain",
            session_id = "ses_1",
            location = tracing::field::Empty,
        );
        let _entered = span.enter();
        tracing::warn!(target: TARGET, "before");
        span.record("location", "/p");
        tracing::warn!(target: TARGET, "at first");
        span.record("location", "/q");
        tracing::warn!(target: TARGET, "after a move");
    });
    let entries = all(log, entries).await;
    let locations = entries.iter().map(|it| it.location.as_ref());
    let directories = locations.map(|it| it.map(|it| it.directory.as_str()));
    let directories: Vec<_> = directories.collect();
    assert_eq!(directories, [None, Some("/p"), Some("/q")]);
    let is_of_the_session = |it: &Entry| it.session_id.as_deref() == Some("ses_1");
    assert!(entries.iter().all(is_of_the_session));
}

#[tokio::test]
async fn long_texts_are_cut() {
    let (log, entries) = log(Level::Warn);
    log.run(|| tracing::warn!(target: TARGET, text = "ä".repeat(10_000), "long"));
    let entries = all(log, entries).await;
    let text = entries[0].fields["text"].as_str().unwrap();
    assert!(text.ends_with("ä…") && text.len() < 8200, "{}", text.len());
}

#[tokio::test]
async fn tasks_and_threads_log_to_their_host() {
    let [first, second] = [1, 2].map(|number| {
        let (log, entries) = log(Level::Warn);
        let work = log.run(|| {
            let session = format!("ses_{number}");
            let span = tracing::error_span!(target: TARGET, "drain", session_id = session);
            let _entered = span.enter();
            spawn(async move {
                tokio::task::yield_now().await;
                tracing::warn!(target: TARGET, number, "a task");
                let blocking = spawn_blocking(move || {
                    tracing::warn!(target: TARGET, number, "blocking");
                    let told = move || tracing::warn!(target: TARGET, number, "a thread");
                    spawn_thread(Builder::new(), told).unwrap().join().unwrap();
                });
                blocking.await.unwrap();
            })
        });
        (log, entries, work)
    });
    for (number, (log, entries, work)) in [(1, first), (2, second)] {
        work.await.unwrap();
        let entries = all(log, entries).await;
        let said: Vec<_> = entries.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(said, ["a task", "blocking", "a thread"]);
        assert!(entries.iter().all(|it| it.fields["number"] == number));
        let session = format!("ses_{number}");
        let is_of_the_session = |it: &Entry| it.session_id.as_ref() == Some(&session);
        assert!(entries.iter().all(is_of_the_session), "{entries:?}");
    }
}

#[tokio::test]
async fn a_disabled_log_collects_nothing() {
    let (log, entries) = Log::new(Filter::off());
    log.run(|| tracing::error!(target: TARGET, "unheard"));
    log.record(Entry::new(Level::Error, "opencode::handlers", "unheard"));
    assert_eq!(all(log, entries).await, []);
}
