//! Streams of one session's durable events.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use opencode_schema::id::SessionID;
use opencode_store::{Sequence, SessionKey, SessionRow, StoredEvent};
use parking_lot::Mutex;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::error::RuntimeError;
use crate::journal::Journal;

/// Maximum number of events per read: enough to amortise the lookup, and few enough to deliver them soon.
const BATCH: usize = 256;
/// Maximum payload bytes per read; the event that exceeds it is included. Prompts can carry large attachments.
const BATCH_BYTES: usize = 1024 * 1024;

/// Replays a session's durable events and then follows them, without gap or duplicate. It has no queue: a slow reader
/// uses no memory and loses no event.
pub struct SessionEvents {
    journal: Arc<Journal>,
    session: SessionRow,
    tail: opencode_store::tail::Tail,
    readings: Arc<LatestBatch>,
    after: Option<Sequence>,
    /// True if a read of the database may find events.
    may_have_events: bool,
    closed: CancellationToken,
}

impl SessionEvents {
    pub(crate) fn new(
        journal: Arc<Journal>,
        followed: &SharedReads,
        session: SessionRow,
        after: Option<Sequence>,
        closed: CancellationToken,
    ) -> Self {
        // Registered before the first read, so that no event is missed in between.
        let tail = journal.store.tail(&session);
        if let Some(after) = after {
            tail.has_read(after);
        }
        let readings = followed.of(session.key);
        Self {
            journal,
            session,
            tail,
            readings,
            after,
            may_have_events: true,
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
    /// `Closed` when the host closes; `SessionNotFound` when the session was removed; otherwise the error of the
    /// storage.
    pub async fn next(&mut self) -> Result<Arc<[StoredEvent]>, RuntimeError> {
        loop {
            if self.may_have_events {
                let end = self.tail.end();
                let (found, is_rest) = self.read().await?;
                if is_rest {
                    self.tail.has_reached_end(end);
                }
                if let Some(events) = found {
                    self.have(&events);
                    return Ok(events);
                }
            }
            tokio::select! {
                biased;
                () = self.closed.cancelled() => return Err(RuntimeError::Closed),
                () = self.tail.changed() => self.may_have_events = true,
            }
        }
    }

    fn have(&mut self, events: &[StoredEvent]) {
        let last = events.last().map(|it| it.seq);
        self.after = last.or(self.after);
        last.into_iter().for_each(|last| self.tail.has_read(last));
        self.may_have_events = !self.tail.has_all();
    }

    /// Returns the next events, if there are any, and true if they are certainly the last ones so far. Readers at the
    /// same position share one read of the database. A batch that another reader read may be old, so it returns false.
    async fn read(&self) -> Result<(Option<Arc<[StoredEvent]>>, bool), RuntimeError> {
        let reading = self.readings.at(self.after);
        let mut is_rest = false;
        let found = reading.get_or_try_init(async || {
            let (key, after) = (self.session.key, self.after);
            let read = self
                .journal
                .store
                .read(move |reader| match reader.session_exists(key)? {
                    true => Ok(Some(reader.events_within(
                        key,
                        after,
                        BATCH,
                        BATCH_BYTES,
                    )?)),
                    false => Ok(None),
                });
            let events = read.await.map_err(|error| Unread::Failed(error.into()))?;
            let events = events.ok_or_else(|| {
                let id = self.session_id().clone();
                Unread::Failed(RuntimeError::SessionNotFound(id))
            })?;
            // An empty result is not shared. It is valid for this reader only: the signal for new events can reach
            // another reader before that reader reads.
            if events.is_empty() {
                return Err(Unread::Nothing);
            }
            let bytes: usize = events.iter().map(|it| it.data.len()).sum();
            is_rest = events.len() < BATCH && bytes < BATCH_BYTES;
            Ok(Arc::from(events))
        });
        match found.await {
            Ok(events) => Ok((Some(Arc::clone(events)), is_rest)),
            Err(Unread::Nothing) => Ok((None, true)),
            Err(Unread::Failed(error)) => Err(error),
        }
    }
}

/// Reason why a read of the database returned no events.
enum Unread {
    Nothing,
    Failed(RuntimeError),
}

/// The latest shared reads of all sessions that have readers.
#[derive(Default)]
pub(crate) struct SharedReads(Mutex<HashMap<SessionKey, Weak<LatestBatch>>>);

impl SharedReads {
    fn of(&self, session: SessionKey) -> Arc<LatestBatch> {
        let mut all = self.0.lock();
        if let Some(readings) = all.get(&session).and_then(Weak::upgrade) {
            return readings;
        }
        all.retain(|_, readings| readings.strong_count() > 0);
        let readings = Arc::default();
        all.insert(session, Arc::downgrade(&readings));
        readings
    }
}

/// The latest batch that the readers of one session read. The log only grows, so the events that were found after a
/// sequence are always the first events after that sequence.
#[derive(Default)]
struct LatestBatch(Mutex<Reading>);

#[derive(Default)]
struct Reading {
    after: Option<Sequence>,
    found: Arc<OnceCell<Arc<[StoredEvent]>>>,
}

impl LatestBatch {
    /// Returns the cell for the events after a sequence, filled or empty. Only the latest position is kept.
    fn at(&self, after: Option<Sequence>) -> Arc<OnceCell<Arc<[StoredEvent]>>> {
        let mut latest = self.0.lock();
        if latest.after != after {
            *latest = Reading {
                after,
                found: Arc::default(),
            };
        }
        Arc::clone(&latest.found)
    }
}
