//! Following one session's durable events.

use std::sync::Arc;

use opencode_schema::id::SessionID;
use opencode_store::{SessionRow, StoredEvent};
use tokio_util::sync::CancellationToken;

use crate::core::Core;
use crate::error::RuntimeError;

/// Events read at once: enough to make the look-up cheap, few enough to hand on soon.
const BATCH: usize = 256;
/// Bytes of payloads read at once, beyond the event that passes it: prompts carry attachments.
const BATCH_BYTES: usize = 1024 * 1024;

/// Replays a session's durable events and then follows them, without gap or duplicate. It holds
/// no queue: a slow reader costs nothing and loses nothing.
pub struct SessionEvents {
    core: Arc<Core>,
    session: SessionRow,
    tail: opencode_store::tail::Tail,
    after: Option<u64>,
    closed: CancellationToken,
}

impl SessionEvents {
    pub(crate) fn new(
        core: Arc<Core>,
        session: SessionRow,
        after: Option<u64>,
        closed: CancellationToken,
    ) -> Self {
        // Registered before the first read, so that nothing falls between the two.
        let tail = core.store.tail(&session);
        Self {
            core,
            session,
            tail,
            after,
            closed,
        }
    }

    /// The session.
    pub fn session_id(&self) -> &SessionID {
        &self.session.info.id
    }

    /// Waits for events and returns them in order; never an empty batch.
    ///
    /// # Errors
    ///
    /// `Closed` when the host closes, else what storage says.
    pub async fn next(&mut self) -> Result<Vec<StoredEvent>, RuntimeError> {
        loop {
            let (key, after) = (self.session.key, self.after);
            let events = self
                .core
                .store
                .read(move |reader| reader.events_within(key, after, BATCH, BATCH_BYTES))
                .await?;
            if let Some(last) = events.last() {
                self.after = Some(last.seq);
                return Ok(events);
            }
            tokio::select! {
                () = self.tail.changed() => {}
                () = self.closed.cancelled() => return Err(RuntimeError::Closed),
            }
        }
    }
}
