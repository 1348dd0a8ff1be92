//! The quirks of models and servers. Each file of a folder here is one of them, with its meaning and the place where
//! users reported it. The tests list the folders, so a new file needs no code.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod corpus;
mod deviations;
mod errors;
#[path = "../common/event_stream.rs"]
mod event_stream;
mod replies;
#[path = "../common/run.rs"]
mod run;
mod schemas;
