//! A write of a Safe Provider-Turn Boundary: all its changes are in one transaction.

use opencode_schema::clock::Millis;
use opencode_schema::event::ContextUpdated;
use opencode_store::{
    Abort, Epoch, LifecycleConflict, Sequence, SessionRow, StoreError, Transaction,
};

use super::DrainStop;
use super::epoch::{EpochChange, EpochStart};
use crate::error::DrainError;
use crate::inbox::{Attached, Promotion, promote};
use crate::journal::append;
use crate::provider::Fence;

/// The changes to write, and the state of the session that they are based on.
pub(super) struct Entry {
    pub(super) fence: Fence,
    pub(super) change: EpochChange,
    pub(super) promotion: Promotion,
    /// The attached texts of inputs that may be promoted.
    pub(super) attached: Attached,
    /// Maximum number of steers that are promoted.
    pub(super) steer_batch: usize,
    pub(super) time: Millis,
}

/// The result of the transaction.
pub(super) struct BoundaryResult {
    /// Number of inputs that became visible.
    pub(super) promoted: usize,
    /// The entry at which the Context Epoch begins.
    pub(super) baseline_seq: Option<Sequence>,
}

/// The reason that nothing was written.
pub(super) enum Refusal {
    /// The session no longer has the state that the entry is based on.
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
    /// True if there is nothing to write.
    pub(super) fn is_empty(&self) -> bool {
        self.promotion == Promotion::Nothing && self.change == EpochChange::Keep
    }

    /// Begins the first epoch, promotes inputs, then tells the model the changes. The model reads them
    /// in this order.
    ///
    /// A caller may have moved the session, or switched its agent or model, since the runner read it. A
    /// runner with an outdated view writes nothing.
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
        EpochChange::Update { text, snapshot } => {
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
                EpochStart::First | EpochStart::Now => {
                    transaction.reader().latest_seq(session.key)?
                }
                EpochStart::At(seq) => seq,
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
