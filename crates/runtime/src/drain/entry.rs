//! What a Safe Provider-Turn Boundary writes, in one transaction.

use opencode_schema::clock::Millis;
use opencode_schema::event::ContextUpdated;
use opencode_store::{Abort, Epoch, LifecycleConflict, SessionRow, StoreError, Transaction};

use super::DrainStop;
use super::epoch::{Begins, EpochChange};
use crate::error::DrainError;
use crate::inbox::{Attached, Promotion, promote};
use crate::journal::append;
use crate::provider::Fence;

/// What is to be written, and what it was decided on.
pub(super) struct Entry {
    pub(super) fence: Fence,
    pub(super) change: EpochChange,
    pub(super) promotion: Promotion,
    /// The texts of what may be promoted.
    pub(super) attached: Attached,
    /// Steers that are promoted at most.
    pub(super) steer_batch: usize,
    pub(super) time: Millis,
}

/// What was written.
pub(super) struct BoundaryResult {
    /// Inputs that became visible.
    pub(super) promoted: usize,
    /// Where the Context Epoch begins.
    pub(super) baseline_seq: Option<u64>,
}

/// Why nothing was written.
pub(super) enum Refusal {
    /// The session is not what the entry was decided on any more.
    Outdated,
    /// The inbox contradicts the log.
    Conflict(String),
}

impl Refusal {
    /// Ends or repeats the drain.
    pub(super) fn stop(self) -> DrainStop {
        match self {
            Self::Outdated => DrainStop::Outdated,
            Self::Conflict(reason) => DrainError::Internal(reason).into(),
        }
    }
}

impl Entry {
    /// Whether there is nothing to write.
    pub(super) fn is_empty(&self) -> bool {
        self.promotion == Promotion::Nothing && self.change == EpochChange::Keep
    }

    /// Begins the first epoch, promotes, then tells the model what changed: in this order the model
    /// reads it.
    ///
    /// A session may have moved, or its agent or model been switched, since the runner read it. A
    /// runner with a former view writes nothing here.
    pub(super) fn write(
        self,
        transaction: &mut Transaction<'_>,
    ) -> Result<BoundaryResult, Abort<Refusal>> {
        if !self.fence.holds(&transaction.reader())? {
            return Err(Abort::Refused(Refusal::Outdated));
        }
        let session = self.fence.session();
        let mut change = Some(self.change);
        if let Some(first) = change.take_if(|change| change.begins_first()) {
            apply(transaction, session, first, self.time)?;
        }
        let (promotion, batch) = (self.promotion, self.steer_batch);
        let promoted = promote(transaction, session, promotion, batch, self.attached);
        let conflict = |conflict: LifecycleConflict| Refusal::Conflict(conflict.to_string());
        let promoted = promoted.map_err(|abort| abort.map(conflict))?;
        if let Some(change) = change {
            apply(transaction, session, change, self.time)?;
        }
        let baseline_seq = transaction.reader().baseline_seq(session.key)?;
        Ok(BoundaryResult {
            promoted,
            baseline_seq,
        })
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
