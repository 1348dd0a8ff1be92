//! What a Safe Provider-Turn Boundary writes, in one transaction.

use opencode_schema::clock::Millis;
use opencode_schema::event::ContextUpdated;
use opencode_store::{Epoch, SessionRow, StoreError, Transaction};

use super::epoch::{Begins, EpochChange};
use crate::core::append;
use crate::inbox::{Promotion, promote};

/// What is to be written, and what it was decided on.
pub(super) struct Entry {
    pub(super) session: SessionRow,
    /// Where the epoch of the session began.
    pub(super) baseline_seq: Option<u64>,
    pub(super) change: EpochChange,
    pub(super) promotion: Promotion,
    /// Steers that are promoted at most.
    pub(super) steer_batch: usize,
    pub(super) time: Millis,
}

/// Why nothing was written.
pub(super) enum Fence {
    /// The session is gone, lives elsewhere, or its epoch is another one than was looked at.
    Moved,
    /// The inbox contradicts the log.
    Conflict(String),
}

impl Entry {
    /// Whether there is nothing to write.
    pub(super) fn is_empty(&self) -> bool {
        self.promotion == Promotion::Nothing && self.change == EpochChange::Keep
    }

    /// Begins the first epoch, promotes, then tells the model what changed: in this order the model
    /// reads it. Returns how many inputs became visible.
    ///
    /// A session may have moved since it was looked at. Somebody who works for its former Location
    /// writes nothing here.
    pub(super) fn write(
        self,
        transaction: &mut Transaction<'_>,
    ) -> Result<Result<usize, Fence>, StoreError> {
        if !self.holds(transaction)? {
            return Ok(Err(Fence::Moved));
        }
        let session = &self.session;
        let mut change = Some(self.change);
        if let Some(first) = change.take_if(|change| change.begins_first()) {
            apply(transaction, session, first, self.time)?;
        }
        let promoted = match promote(transaction, session, self.promotion, self.steer_batch)? {
            Ok(promoted) => promoted,
            Err(conflict) => return Ok(Err(Fence::Conflict(conflict.to_string()))),
        };
        if let Some(change) = change {
            apply(transaction, session, change, self.time)?;
        }
        Ok(Ok(promoted))
    }

    /// Whether what was decided is still about the same session, Location and epoch.
    fn holds(&self, transaction: &Transaction<'_>) -> Result<bool, StoreError> {
        let reader = transaction.reader();
        let Some(session) = reader.session(&self.session.info.id)? else {
            return Ok(false);
        };
        Ok(session.key == self.session.key
            && session.info.location == self.session.info.location
            && reader.baseline_seq(session.key)? == self.baseline_seq)
    }
}

fn apply(
    transaction: &mut Transaction<'_>,
    session: &SessionRow,
    change: EpochChange,
    time: Millis,
) -> Result<(), StoreError> {
    match change {
        EpochChange::Keep => Ok(()),
        EpochChange::Tell { text, snapshot } => {
            let message_id = transaction.message_id();
            append(
                transaction,
                session,
                time,
                ContextUpdated { message_id, text },
            )?;
            transaction.set_snapshot(session.key, &snapshot)
        }
        EpochChange::Begin {
            baseline,
            snapshot,
            begins,
        } => {
            let baseline_seq = match begins {
                Begins::First | Begins::Now => transaction.reader().latest_seq(session.key)?,
                Begins::At(seq) => seq,
            };
            let epoch = Epoch {
                baseline,
                snapshot,
                baseline_seq,
            };
            transaction.set_epoch(session.key, &epoch)
        }
    }
}
