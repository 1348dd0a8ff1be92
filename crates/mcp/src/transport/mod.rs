//! The ways of messages to a server and back.

mod http;
mod stdio;
mod watched;

pub(crate) use http::transport as http_transport;
pub(crate) use stdio::{Stdio, log_lines};
pub(crate) use watched::Watched;
