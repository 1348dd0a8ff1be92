//! Reads server-sent events one after the other.

use axum::body::Body;
use axum::http::{HeaderMap, Response};
use http_body_util::BodyExt;
use opencode_testkit::{Fixture, compact};
use serde_json::Value;

/// An open stream.
pub(crate) struct Sse {
    pub(crate) headers: HeaderMap,
    body: Body,
    text: String,
}

/// The next item of a stream.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// A block of lines, without the blank line after it.
    Block(String),
    /// The stream ended.
    End,
    /// The stream broke.
    Break,
}

impl Sse {
    pub(crate) fn new(response: Response<Body>) -> Self {
        let (head, body) = response.into_parts();
        Self {
            headers: head.headers,
            body,
            text: String::new(),
        }
    }

    /// The next block, comments included.
    pub(crate) async fn next(&mut self, f: &Fixture) -> Next {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Next::Block(block);
            }
            match f.within("the next event", self.body.frame()).await {
                Some(Ok(frame)) => {
                    let data = frame.into_data().unwrap();
                    self.text.push_str(std::str::from_utf8(&data).unwrap());
                }
                Some(Err(_)) => return Next::Break,
                None => {
                    assert_eq!(self.text, "", "the last block is not whole");
                    return Next::End;
                }
            }
        }
    }

    /// The next event. Comments are skipped; an event is one line of data.
    pub(crate) async fn event(&mut self, f: &Fixture) -> Value {
        loop {
            match self.next(f).await {
                Next::Block(block) if block.starts_with(':') => {}
                Next::Block(block) => return data(&block),
                other => panic!("{other:?} instead of an event"),
            }
        }
    }

    /// The next events, as short texts.
    pub(crate) async fn events(&mut self, f: &Fixture, count: usize) -> Vec<String> {
        let mut events = Vec::new();
        for _ in 0..count {
            events.push(shown(&self.event(f).await));
        }
        events
    }

    /// Returns all events up to the end as short texts, and the kind of the end.
    pub(crate) async fn rest(&mut self, f: &Fixture) -> (Vec<String>, Next) {
        let mut events = Vec::new();
        loop {
            match self.next(f).await {
                Next::Block(block) if block.starts_with(':') => {}
                Next::Block(block) => events.push(shown(&data(&block))),
                end => return (events, end),
            }
        }
    }
}

/// The event of a block, which is one line.
fn data(block: &str) -> Value {
    let data = block.strip_prefix("data: ");
    let data = data.unwrap_or_else(|| panic!("{block}"));
    serde_json::from_str(data).unwrap()
}

/// An event as a short text.
pub(crate) fn shown(event: &Value) -> String {
    compact::event(event["type"].as_str().unwrap(), &event["data"])
}
