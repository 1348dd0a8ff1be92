//! Prompt Promotion: what a Safe Provider-Turn Boundary makes visible.

use opencode_schema::event::{Prompted, Synthetic};
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};
use opencode_store::{Draft, LifecycleConflict, Reader, SessionRow, StoreError, Transaction};

use super::attachments::{Attached, has_text};

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

/// The inputs that a boundary promotes, in order.
fn eligible(
    reader: &Reader<'_>,
    session: &SessionRow,
    promotion: Promotion,
    steer_batch: usize,
) -> Result<Vec<SessionInputAdmitted>, StoreError> {
    let (id, key) = (&session.info.id, session.key);
    let cutoff = reader.latest_seq(key)?;
    let pending = |delivery, limit| reader.pending(id, key, delivery, cutoff, limit);
    in_order(promotion, steer_batch, pending)
}

/// Those of the inputs that a boundary would promote now which have texts to read.
pub(crate) fn attaching(
    reader: &Reader<'_>,
    session: &SessionRow,
    promotion: Promotion,
    steer_batch: usize,
) -> Result<Vec<SessionInputAdmitted>, StoreError> {
    let (id, key) = (&session.info.id, session.key);
    let cutoff = reader.latest_seq(key)?;
    let pending = |delivery, limit| reader.pending_attached(id, key, delivery, cutoff, limit);
    let mut inputs = in_order(promotion, steer_batch, pending)?;
    inputs.retain(|input| has_text(&input.prompt));
    Ok(inputs)
}

fn in_order(
    promotion: Promotion,
    steer_batch: usize,
    pending: impl Fn(Delivery, usize) -> Result<Vec<SessionInputAdmitted>, StoreError>,
) -> Result<Vec<SessionInputAdmitted>, StoreError> {
    let mut inputs = match promotion {
        Promotion::Nothing => return Ok(Vec::new()),
        Promotion::Steers => Vec::new(),
        Promotion::QueuedThenSteers => pending(Delivery::Queue, 1)?,
    };
    inputs.extend(pending(Delivery::Steer, steer_batch)?);
    Ok(inputs)
}

/// Promotes what is eligible, inside the transaction of a boundary: of the steers at most
/// `steer_batch`, the oldest first. The text of attached files comes before its prompt. An input whose
/// text is not ready stays pending, and so do those behind it. Returns how many became visible.
pub(crate) fn promote(
    transaction: &mut Transaction<'_>,
    session: &SessionRow,
    promotion: Promotion,
    steer_batch: usize,
    mut attached: Attached,
) -> Result<Result<usize, LifecycleConflict>, StoreError> {
    let id = &session.info.id;
    let inputs = eligible(&transaction.reader(), session, promotion, steer_batch)?;
    let mut count = 0;
    for input in inputs {
        let Some(text) = attached.take(&input) else {
            break;
        };
        if let Some(text) = text {
            let message_id = transaction.message_id();
            let draft = Draft::new(input.time_created, Synthetic { message_id, text });
            if let Err(conflict) = transaction.append(id, Some(&session.info.location), draft)? {
                return Ok(Err(conflict));
            }
        }
        count += 1;
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
