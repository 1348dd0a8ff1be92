//! Bounds on everything that a server sends.

use std::time::Duration;

/// Maximum length of a message over standard output, and of an answer or an event over HTTP, in bytes.
pub(crate) const MAX_MESSAGE: usize = 32 * 1024 * 1024;

/// Maximum length of an error message, in bytes.
pub(crate) const MAX_ERROR: usize = 1024;

/// Maximum length of the message of a failed tool call, in bytes.
pub(crate) const MAX_FAILURE: usize = 64 * 1024;

/// Maximum number of tools, prompts, resources or resource templates of a server.
pub(crate) const MAX_ITEMS: usize = 1000;

/// Maximum number of pages of a list.
pub(crate) const MAX_PAGES: usize = 1000;

/// Maximum length of a cursor, in bytes.
pub(crate) const MAX_CURSOR: usize = 16 * 1024;

/// Maximum length of the name of a tool, a prompt or an argument, in bytes.
pub(crate) const MAX_NAME: usize = 256;

/// Maximum length of an address, in bytes.
pub(crate) const MAX_URI: usize = 8 * 1024;

/// Maximum length of a description, in bytes. A longer one is cut.
pub(crate) const MAX_DESCRIPTION: usize = 16 * 1024;

/// Maximum length of the instructions of a server, in bytes. Longer ones are cut.
pub(crate) const MAX_INSTRUCTIONS: usize = 64 * 1024;

/// Maximum size of the input schema of a tool as JSON, in bytes.
pub(crate) const MAX_SCHEMA: usize = 128 * 1024;

/// Maximum nesting of an input schema.
pub(crate) const MAX_SCHEMA_DEPTH: usize = 32;

/// Maximum size of all input schemas and descriptions of a server, in bytes.
pub(crate) const MAX_LISTED: usize = 8 * 1024 * 1024;

/// Maximum number of requests to a server that wait for an answer.
pub(crate) const MAX_IN_FLIGHT: usize = 64;

/// Maximum number of requests of a server that wait for an answer of the host.
pub(crate) const MAX_SERVER_REQUESTS: usize = 64;

/// Maximum time of a request, however often the server reports progress.
pub(crate) const MAX_REQUEST_TIME: Duration = Duration::from_secs(60 * 60);

/// Maximum time to write one message to a local server.
pub(crate) const MAX_WRITE_TIME: Duration = Duration::from_secs(30);

/// Minimum time between two listings after notifications about changes.
pub(crate) const MIN_LISTING_GAP: Duration = Duration::from_secs(1);

/// Returns the text, cut to at most `limit` bytes at a character.
pub(crate) fn cut(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push('…');
    }
    text
}
