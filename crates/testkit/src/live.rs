//! Events that a subscriber of the live stream has received.

use std::collections::VecDeque;

use opencode_runtime::{LiveBatch, LiveSubscription};
use serde_json::Value;

use crate::compact;

/// A subscription and all events that it has received so far.
pub struct LiveLog {
    subscription: LiveSubscription,
    waiting: VecDeque<Value>,
    seen: Vec<Value>,
    /// The status events of the session, separate from the other events, because every test has them.
    statuses: Vec<String>,
}

impl LiveLog {
    pub(crate) fn new(subscription: LiveSubscription) -> Self {
        Self {
            subscription,
            waiting: VecDeque::new(),
            seen: Vec::new(),
            statuses: Vec::new(),
        }
    }

    /// Every event received so far in the format of [`compact::event`].
    pub fn events(&self) -> Vec<String> {
        self.seen.iter().map(compacted).collect()
    }

    /// Every event received so far, as JSON.
    pub fn values(&self) -> &[Value] {
        &self.seen
    }

    /// Every `session.status` and `session.idle` received so far, such as `busy`, `idle` and
    /// `session.idle`.
    pub fn statuses(&self) -> &[String] {
        &self.statuses
    }

    /// Receives events up to the one with this text. Panics if the stream ends before it.
    pub(crate) async fn until(&mut self, wanted: &str) {
        while let Some(event) = self.next().await {
            let found = compacted(&event) == wanted;
            self.keep(event);
            if found {
                return;
            }
        }
        panic!(
            "the live stream ended before {wanted:?}: {:#?}",
            self.events()
        );
    }

    /// Receives events up to the end of the stream. Panics if the subscription is cut.
    pub(crate) async fn rest(&mut self) {
        while let Some(event) = self.next().await {
            self.keep(event);
        }
    }

    fn keep(&mut self, event: Value) {
        match event["type"].as_str() {
            Some("session.status") => self.statuses.push(status(&event["data"]["status"])),
            Some(idle @ "session.idle") => self.statuses.push(idle.to_owned()),
            _ => self.seen.push(event),
        }
    }

    async fn next(&mut self) -> Option<Value> {
        while self.waiting.is_empty() {
            match self.subscription.next(1024).await {
                LiveBatch::Events(events) => {
                    let events = events.iter().map(|text| serde_json::from_str(text));
                    let events = events.map(|event| event.expect("live events are JSON"));
                    self.waiting.extend(events);
                }
                LiveBatch::Ended => return None,
                LiveBatch::Cut => panic!("the subscription was cut: {:#?}", self.events()),
            }
        }
        self.waiting.pop_front()
    }
}

/// The type of a status, followed by the silence in milliseconds if a busy status has it.
fn status(status: &Value) -> String {
    let kind = status["type"].as_str().unwrap_or_default();
    match &status["silentMs"] {
        Value::Null => kind.to_owned(),
        silent => format!("{kind} {silent}"),
    }
}

fn compacted(event: &Value) -> String {
    compact::event(event["type"].as_str().unwrap_or_default(), &event["data"])
}
