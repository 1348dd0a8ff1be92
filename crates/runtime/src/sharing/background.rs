//! Sharing that no caller waits for: of new sessions, and of shared sessions after an activity.

use std::sync::Weak;

use opencode_location::config::Share;
use opencode_schema::event::SessionEvent;
use opencode_schema::id::SessionID;
use opencode_store::Committed;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Sharing;
use crate::error::RuntimeError;

/// Maximum number of sessions that wait to be shared.
const QUEUE: usize = 1_024;

/// The reason why a session is shared.
#[derive(Debug)]
enum Occasion {
    /// It was created in this host.
    Created,
    /// An activity ended.
    Idle,
}

/// Receives the occasions to share sessions. Without a service it does nothing.
#[derive(Clone)]
pub(crate) struct ShareQueue(Option<mpsc::Sender<(Occasion, SessionID)>>);

/// The other end of a queue.
pub(crate) struct Waiting(Option<mpsc::Receiver<(Occasion, SessionID)>>);

impl ShareQueue {
    pub(crate) fn new(has_service: bool) -> (Self, Waiting) {
        let channel = has_service.then(|| mpsc::channel(QUEUE));
        let (sender, receiver) = channel.unzip();
        (Self(sender), Waiting(receiver))
    }

    /// Notes the sessions that were created. Runs on the thread of the writer and never waits.
    pub(crate) fn committed(&self, committed: &[Committed]) {
        if self.0.is_none() {
            return;
        }
        for entry in committed {
            if let SessionEvent::SessionCreated(created) = &entry.event.payload
                && created.info.parent_id.is_none()
            {
                self.add(Occasion::Created, &entry.event.session_id);
            }
        }
    }

    /// Notes that an activity of a session ended.
    pub(crate) fn idle(&self, id: &SessionID) {
        self.add(Occasion::Idle, id);
    }

    fn add(&self, occasion: Occasion, id: &SessionID) {
        let Some(sender) = &self.0 else { return };
        if sender.try_send((occasion, id.clone())).is_err() {
            tracing::warn!(session_id = %id, "too many sessions wait to be shared; this one is left out");
        }
    }
}

impl Sharing {
    /// Shares the sessions of a queue, one after the other, until the host closes or is dropped. It does not keep the
    /// store open while it waits.
    pub(crate) async fn share_waiting(
        sharing: Weak<Self>,
        waiting: Waiting,
        tasks: TaskTracker,
        closing: CancellationToken,
    ) {
        let Some(mut waiting) = waiting.0 else { return };
        while let Some(Some((occasion, id))) = closing.run_until_cancelled(waiting.recv()).await
            && let Some(sharing) = sharing.upgrade()
        {
            let shared = tasks.track_future(sharing.share_on(occasion, &id));
            if let Err(error) = shared.await {
                tracing::warn!(session_id = %id, %error, "the session was not shared in the background");
            }
        }
    }

    async fn share_on(&self, occasion: Occasion, id: &SessionID) -> Result<(), RuntimeError> {
        let session = match self.journal.session(id).await {
            Err(RuntimeError::SessionNotFound(_)) => return Ok(()),
            found => found?,
        };
        let mode = self.mode_of(&session).await?;
        let is_due = match occasion {
            Occasion::Created => mode == Share::Auto && session.info.share.is_none(),
            Occasion::Idle => mode != Share::Disabled && session.info.share.is_some(),
        };
        if is_due {
            self.publish(session).await?;
        }
        Ok(())
    }
}
