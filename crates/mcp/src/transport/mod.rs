//! The ways of messages to a server and back.

mod answer;
mod bounded_events;
mod exchange;
mod http;
mod stdio;
mod watched;

pub(crate) use answer::{has_unclear_tools, whole_result};
pub(crate) use http::transport as http_transport;
pub(crate) use stdio::{Stdio, log_lines};
pub(crate) use watched::Watched;
