//! A write of a Safe Provider-Turn Boundary: all its changes are in one transaction.

use opencode_schema::clock::Millis;
use opencode_schema::event::ContextUpdated;
use opencode_store::{
    Abort, Epoch, LifecycleConflict, Sequence, SessionRow, StoreError, Transaction,
};

use super::DrainStop;
use super::epoch::{EpochChange, EpochStart};
use super::settings::ActiveSettings;
use crate::error::DrainError;
use crate::inbox::{Attached, Promotion, promote, system_message};
use crate::journal::append;
use crate::provider::Fence;

/// The changes to write, and the state of the session that they are based on.
pub(super) struct Entry {
    pub(super) fence: Fence,
    pub(super) change: EpochChange,
    pub(super) promotion: Promotion,
    /// The attached texts of inputs that may be promoted.
    pub(super) attached: Attached,
    /// The settings that must apply after the promotion.
    pub(super) settings: Option<ActiveSettings>,
    /// Maximum number of steers that are promoted.
    pub(super) steer_batch: usize,
    /// True if the model is reminded that the promoted prompts arrived during its work.
    pub(super) reminds: bool,
    pub(super) time: Millis,
}

/// The reminder after prompts that arrived while the model worked.
const STEERED: &str = "The user sent the messages directly before this one during your work. Follow them now, and then go on with the work that is left.";

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
        let first = change.take_if(|change| change.begins_first());
        let begins_first = first.is_some();
        if let Some(first) = first {
            apply(transaction, session, first, self.time)?;
        }
        let (promotion, batch) = (self.promotion, self.steer_batch);
        let promoted = promote(transaction, session, promotion, batch, self.attached);
        let conflict = |conflict: LifecycleConflict| Refusal::Conflict(conflict.to_string());
        let promoted = promoted.map_err(|abort| abort.map(conflict))?;
        if promotion != Promotion::Nothing {
            // The turn was prepared for these settings. Another prompt may have come meanwhile.
            let now = transaction.reader().session(&session.info.id)?;
            let settings = now.and_then(|it| it.activity).map(|it| it.settings);
            if settings != self.settings.as_ref().map(|it| it.admitted) {
                return Err(Abort::Refused(Refusal::Outdated));
            }
        }
        if self.reminds && promoted > 0 {
            let (message_id, text) = (transaction.message_id(), STEERED.to_owned());
            let reminder = ContextUpdated { message_id, text };
            append(transaction, session, self.time, reminder)?;
        }
        let begins = begins_first || matches!(change, Some(EpochChange::Begin { .. }));
        if let Some(change) = change {
            apply(transaction, session, change, self.time)?;
        }
        if begins && let Some(settings) = &self.settings {
            repeat_system(transaction, session, settings, self.time)?;
        }
        let baseline_seq = transaction.reader().baseline_seq(session.key)?;
        Ok(BoundaryResult {
            promoted,
            baseline_seq,
        })
    }
}

/// Tells the model the system text of the current activity again, if a new Context Epoch dropped its message.
fn repeat_system(
    transaction: &mut Transaction<'_>,
    session: &SessionRow,
    settings: &ActiveSettings,
    time: Millis,
) -> Result<(), StoreError> {
    let system = settings.values.system.as_deref();
    let Some(system) = system.filter(|text| !text.is_empty()) else {
        return Ok(());
    };
    let reader = transaction.reader();
    let promoted = reader.promotion(session.key, settings.admitted)?;
    let baseline = reader.baseline_seq(session.key)?;
    if promoted > baseline {
        return Ok(());
    }
    let text = system_message(system);
    let message_id = transaction.message_id();
    append(
        transaction,
        session,
        time,
        ContextUpdated { message_id, text },
    )?;
    Ok(())
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
