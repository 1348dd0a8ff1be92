//! Progress of running calls. The implementation of the trait sends it to connected clients.

use opencode_schema::{Record, message::ToolContent};

/// Receives the progress of the calls of one Provider Turn.
pub trait Progress: Send + Sync + 'static {
    /// Sends the progress of a call to connected clients. It replaces the progress before and is never stored.
    fn report(&self, call_id: &str, structured: Record, content: Vec<ToolContent>);
}
