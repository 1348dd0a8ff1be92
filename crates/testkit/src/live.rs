//! What a subscriber of the live stream saw.

use std::collections::VecDeque;

use opencode_runtime::{LiveBatch, LiveSubscription};
use serde_json::Value;

use crate::compact;

/// A subscription with everything it has got so far.
pub struct LiveLog {
    subscription: LiveSubscription,
    waiting: VecDeque<Value>,
    seen: Vec<Value>,
}

impl LiveLog {
    pub(crate) fn new(subscription: LiveSubscription) -> Self {
        Self {
            subscription,
            waiting: VecDeque::new(),
            seen: Vec::new(),
        }
    }

    /// Every event taken so far, as [`compact::event`] writes them.
    pub fn events(&self) -> Vec<String> {
        self.seen.iter().map(compacted).collect()
    }

    /// Every event taken so far, as JSON.
    pub fn values(&self) -> &[Value] {
        &self.seen
    }

    /// Takes events up to the one that reads so. Fails when the stream ends before it.
    pub(crate) async fn until(&mut self, wanted: &str) {
        while let Some(event) = self.next().await {
            let found = compacted(&event) == wanted;
            self.seen.push(event);
            if found {
                return;
            }
        }
        panic!(
            "the live stream ended before {wanted:?}: {:#?}",
            self.events()
        );
    }

    /// Takes everything up to the end of the stream. Fails when it is cut instead.
    pub(crate) async fn rest(&mut self) {
        while let Some(event) = self.next().await {
            self.seen.push(event);
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

fn compacted(event: &Value) -> String {
    compact::event(event["type"].as_str().unwrap_or_default(), &event["data"])
}
