//! The log messages of a server in the log of the host.

#![expect(
    deprecated,
    reason = "the versions of the protocol in use have log messages"
)]

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use serde_json::Value;
use tracing::dispatcher::{get_default, with_default};
use tracing::{Dispatch, Span};

use crate::limits::cut;

/// Maximum length of one message, in bytes.
const MAX_TEXT: usize = 4096;

/// Maximum number of messages at once.
const BURST: u32 = 100;

/// The time after which one more message is allowed.
const REFILL: Duration = Duration::from_millis(100);

/// Writes messages of one server to the log, and omits those that are too many.
pub(crate) struct ServerLog {
    server: String,
    rate: Mutex<Rate>,
    /// The log of the host, because tasks of the library do not have it.
    log: Dispatch,
    span: Span,
}

impl ServerLog {
    pub(crate) fn new(server: &str) -> Self {
        Self {
            server: server.to_owned(),
            rate: Mutex::new(Rate::new(Instant::now())),
            log: get_default(Clone::clone),
            span: Span::current(),
        }
    }

    /// The name of the server.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Logs a message of the protocol.
    pub(crate) fn message(&self, message: &LoggingMessageNotificationParam) {
        let text = || match &message.data {
            Value::String(text) => text.clone(),
            data => data.to_string(),
        };
        let is_warning = !matches!(
            message.level,
            LoggingLevel::Debug | LoggingLevel::Info | LoggingLevel::Notice
        );
        self.write(is_warning, text);
    }

    /// Logs a line of standard error, or a problem of the connection.
    pub(crate) fn line(&self, line: &str) {
        self.write(false, || line.to_owned());
    }

    fn write(&self, is_warning: bool, text: impl FnOnce() -> String) {
        let Some(omitted) = self.rate.lock().take(Instant::now()) else {
            return;
        };
        with_default(&self.log, || {
            self.span.in_scope(|| self.enter(is_warning, omitted, text));
        });
    }

    fn enter(&self, is_warning: bool, omitted: u64, text: impl FnOnce() -> String) {
        let server = self.server.as_str();
        if omitted > 0 {
            tracing::debug!(server, omitted, "messages of a server are omitted");
        }
        if is_warning {
            let text = cut(text(), MAX_TEXT);
            tracing::warn!(server, text, "a server reports a problem");
        } else if tracing::enabled!(tracing::Level::DEBUG) {
            let text = cut(text(), MAX_TEXT);
            tracing::debug!(server, text, "a server logs a message");
        }
    }
}

/// Limits the number of messages in a time.
struct Rate {
    left: u32,
    refilled: Instant,
    omitted: u64,
}

impl Rate {
    fn new(now: Instant) -> Self {
        Self {
            left: BURST,
            refilled: now,
            omitted: 0,
        }
    }

    /// Returns the number of messages that were omitted before this one, or `None` if this one must be
    /// omitted, too.
    fn take(&mut self, now: Instant) -> Option<u64> {
        let passed = now.duration_since(self.refilled).as_millis() / REFILL.as_millis();
        let more = u32::try_from(passed).unwrap_or(BURST).min(BURST);
        if more > 0 {
            self.left = (self.left + more).min(BURST);
            self.refilled = now;
        }
        if self.left == 0 {
            self.omitted += 1;
            return None;
        }
        self.left -= 1;
        Some(std::mem::take(&mut self.omitted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_omitted_and_counted() {
        let start = Instant::now();
        let mut rate = Rate::new(start);
        let passed = (0..1000).filter(|_| rate.take(start).is_some()).count();
        assert_eq!(passed, 100);
        assert_eq!(rate.take(start + REFILL), Some(900));
        assert_eq!(rate.take(start + REFILL), None);
        let later = start + REFILL * 1000;
        assert_eq!(
            (0..1000).filter(|_| rate.take(later).is_some()).count(),
            100
        );
    }
}
