//! Reads a response: one batch of events per piece of the body.

use std::time::Duration;

use bytes::Bytes;
use opencode_llm::canonical::error::{BEGINNING, LlmError, is_page};
use opencode_llm::canonical::event::LlmEvent;
use tokio::time::Instant;

use super::call::{Opened, Target};
use crate::protocol::Decoder;

/// Maximum time to read the rest of a complete reply. Its last bytes have usually arrived already. A
/// connection that is read to the end can be reused; otherwise the next turn needs a new handshake.
const DRAIN: Duration = Duration::from_millis(50);

/// Maximum silence behind the reason of the end. Some servers keep the connection open there. A server that sends the
/// reason with each piece may be silent before the next one, so the limit is not short.
const SILENT_AFTER_REASON: Duration = Duration::from_secs(30);

/// A response that is decoded into events. Dropping it aborts the exchange.
pub(super) struct Reply {
    target: Target,
    opened: Opened,
    decoder: Box<dyn Decoder>,
    /// A failure that is returned after the events before it.
    failure: Option<LlmError>,
    phase: Phase,
    /// The first bytes of the body.
    beginning: Vec<u8>,
    /// The time at which the reply ends if nothing more comes. Absent until its reason is known.
    ends: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Reading,
    /// The outcome is reached, but the body may have a rest.
    Drain,
    Over,
}

impl Reply {
    pub(super) fn new(target: Target, opened: Opened, decoder: Box<dyn Decoder>) -> Self {
        Self {
            target,
            opened,
            decoder,
            failure: None,
            phase: Phase::Reading,
            beginning: Vec::new(),
            ends: None,
        }
    }

    /// Returns the next batch or the failure, and `None` after the end.
    pub(super) async fn next(&mut self) -> Option<Result<Vec<LlmEvent>, LlmError>> {
        if let Some(error) = self.failure.take() {
            return Some(Err(error));
        }
        while self.phase == Phase::Reading {
            let mut events = Vec::new();
            let outcome = self.step(&mut events).await;
            let failure = outcome
                .err()
                .map(|error| error.redacted(&self.target.redactor));
            if failure.is_some() {
                self.phase = Phase::Over;
            }
            if events.is_empty() {
                match failure {
                    Some(error) => return Some(Err(error)),
                    None => continue,
                }
            }
            self.failure = failure;
            self.redact(&mut events);
            return Some(Ok(events));
        }
        if self.phase == Phase::Drain {
            self.phase = Phase::Over;
            self.drain().await;
        }
        None
    }

    /// Reads one piece of the body.
    async fn step(&mut self, events: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        match self.read().await? {
            Some(chunk) => {
                let missing = BEGINNING.saturating_sub(self.beginning.len());
                self.beginning.extend(chunk.iter().take(missing));
                // The rest of a page is not needed.
                if missing > 0 && self.beginning.len() == BEGINNING && self.is_page() {
                    return Err(self.page());
                }
                self.decode(|decoder| decoder.push(&chunk, events))?;
                let is_new = self.ends.is_none() || !events.is_empty();
                if is_new && self.decoder.has_reason() {
                    self.ends = Some(Instant::now() + SILENT_AFTER_REASON);
                }
                if self.decoder.is_over() {
                    self.phase = Phase::Drain;
                }
            }
            None => {
                self.phase = Phase::Over;
                self.decode(|decoder| decoder.end(events))?;
            }
        }
        Ok(())
    }

    /// Runs the decoder. If it fails on an HTML page, the failure reports the page.
    fn decode(
        &mut self,
        decode: impl FnOnce(&mut dyn Decoder) -> Result<(), LlmError>,
    ) -> Result<(), LlmError> {
        let decoded = decode(self.decoder.as_mut());
        match decoded.is_err() && self.is_page() {
            true => Err(self.page()),
            false => decoded,
        }
    }

    fn is_page(&self) -> bool {
        let headers = self.opened.response.headers();
        let kind = headers.get(http::header::CONTENT_TYPE);
        is_page(kind.and_then(|kind| kind.to_str().ok()), &self.beginning)
    }

    fn page(&self) -> LlmError {
        self.target.page(self.opened.response.status().as_u16())
    }

    /// Returns the next piece of the body, and `None` at its end.
    async fn read(&mut self) -> Result<Option<Bytes>, LlmError> {
        let reading = self.target.chunk(&mut self.opened);
        let read = match self.ends {
            Some(ends) => match tokio::time::timeout_at(ends, reading).await {
                Ok(read) => read,
                Err(_) => return Ok(None),
            },
            None => reading.await,
        };
        read.ok_or_else(|| self.target.timed_out())?
            .map_err(|error| self.target.cut(&error))
    }

    async fn drain(&mut self) {
        let rest = async { while let Ok(Some(_)) = self.opened.response.chunk().await {} };
        let _ = tokio::time::timeout(DRAIN, rest).await;
    }

    /// Error messages of providers may contain credentials.
    fn redact(&self, events: &mut [LlmEvent]) {
        if let Some(LlmEvent::ProviderError { message, .. }) = events.last_mut() {
            *message = self.target.redactor.text(message);
        }
    }
}
