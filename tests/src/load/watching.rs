//! Subscribers that report the events that streams show.

use opencode_runtime::{LiveBatch, Runtime};
use opencode_schema::id::{EventID, SessionID};
use serde_json::Value;

use super::problem;
use crate::line::{Line, Shown, say};

/// Maximum number of events per line, so that a line fits in one write.
const AT_ONCE: usize = 20;

/// Follows the durable events of a session until the host closes.
pub(super) async fn follow(runtime: Runtime, session: SessionID) {
    let mut events = match runtime.events(&session, None).await {
        Ok(events) => events,
        Err(error) => return problem("events", &error),
    };
    let mut last = 0;
    while let Ok(batch) = events.next().await {
        let shown = batch.iter().map(|event| Shown {
            session: session.clone(),
            seq: event.seq.into(),
            id: event.id.clone(),
        });
        let shown: Vec<_> = shown.collect();
        // The stream does not contain the entry that records the creation.
        if !shown
            .iter()
            .map(|it| it.seq)
            .eq(last + 1..=last + shown.len() as u64)
        {
            problem("events", &format!("{shown:?} follow {last}"));
        }
        last += shown.len() as u64;
        print_events(&shown);
    }
}

/// Follows the live stream until the host closes. A subscriber that is too slow is cut, which is
/// not a problem.
pub(super) async fn listen(runtime: Runtime) {
    let mut subscription = runtime.subscribe();
    while let LiveBatch::Events(batch) = subscription.next(256).await {
        let shown: Vec<_> = batch.iter().filter_map(|text| durable(text)).collect();
        print_events(&shown);
    }
}

/// The durable event in an event of the live stream, if it has one.
fn durable(text: &str) -> Option<Shown> {
    let event: Value = serde_json::from_str(text).expect("live events are JSON");
    let place = event.get("durable")?;
    let session = SessionID::parse(place["aggregateID"].as_str()?);
    let id = EventID::parse(event["id"].as_str()?);
    Some(Shown {
        session: session.expect("events name their session"),
        seq: place["seq"].as_u64()?,
        id: id.expect("events have an id"),
    })
}

fn print_events(shown: &[Shown]) {
    for events in shown.chunks(AT_ONCE) {
        let events = events.to_vec();
        say(&Line::Showing { events });
    }
}
