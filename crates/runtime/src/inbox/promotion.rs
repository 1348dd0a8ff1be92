//! Prompt Promotion: what a Safe Provider-Turn Boundary makes visible.

use opencode_schema::event::Prompted;
use opencode_schema::prompt::Delivery;
use opencode_store::{Draft, LifecycleConflict, SessionRow, StoreError, Transaction};

/// What a boundary promotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promotion {
    /// Every pending steer.
    Steers,
    /// The oldest queued input, then every pending steer.
    QueuedThenSteers,
    /// Nothing: the same logical turn goes on.
    Nothing,
}

/// Promotes what is eligible, inside the transaction of a boundary: of the steers at most
/// `steer_batch`, the oldest first. Returns how many inputs became visible.
pub(crate) fn promote(
    transaction: &mut Transaction<'_>,
    session: &SessionRow,
    promotion: Promotion,
    steer_batch: usize,
) -> Result<Result<usize, LifecycleConflict>, StoreError> {
    let (id, key) = (&session.info.id, session.key);
    let reader = transaction.reader();
    let cutoff = reader.latest_seq(key)?;
    let mut inputs = match promotion {
        Promotion::Nothing => return Ok(Ok(0)),
        Promotion::Steers => Vec::new(),
        Promotion::QueuedThenSteers => reader.pending(id, key, Delivery::Queue, cutoff, 1)?,
    };
    inputs.extend(reader.pending(id, key, Delivery::Steer, cutoff, steer_batch)?);
    let count = inputs.len();
    for input in inputs {
        let payload = Prompted {
            message_id: input.id,
            prompt: input.prompt,
            delivery: input.delivery,
        };
        // The message is as old as its admission, wherever it comes to stand.
        let draft = Draft::new(input.time_created, payload);
        if let Err(conflict) = transaction.append(id, Some(&session.info.location), draft)? {
            return Ok(Err(conflict));
        }
    }
    Ok(Ok(count))
}
