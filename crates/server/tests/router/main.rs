//! The router, tested with requests of clients and their answers and streams.

// Clippy recognises only functions with the attribute `test`; helpers may unwrap like the tests beside them.

#[cfg(test)]
mod api;
#[cfg(test)]
mod bodies;
#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod compaction;
#[cfg(test)]
mod concrete;
#[cfg(test)]
mod definitions;
#[cfg(test)]
mod document;
#[cfg(test)]
mod durable_stream;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod files;
#[cfg(test)]
mod history;
#[cfg(test)]
mod inbox;
#[cfg(test)]
mod inspection;
#[cfg(test)]
mod integrations;
#[cfg(test)]
mod live_stream;
#[cfg(test)]
mod mcp_integrations;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod moving;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod paths;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod pipeline;
#[cfg(test)]
mod places;
#[cfg(test)]
mod ptys;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod session_fields;
#[cfg(test)]
mod session_lists;
#[cfg(test)]
mod session_removal;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod sse;
#[cfg(test)]
mod storage;
#[cfg(test)]
mod todos;
#[cfg(test)]
mod transfer;
#[cfg(test)]
mod unfit;
