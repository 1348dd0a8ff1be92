//! Prompt Promotion: makes inputs visible at a Safe Provider-Turn Boundary.

use opencode_schema::event::{Prompted, Synthetic};
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};
use opencode_store::{
    Abort, Draft, LifecycleConflict, Reader, SessionRow, StoreError, Transaction,
};

use super::attachments::{Attached, has_text};

/// The inputs that a boundary promotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promotion {
    /// The pending steers, up to the limit of one boundary.
    Steers,
    /// The oldest queued input, then the pending steers up to the limit.
    QueuedThenSteers,
    /// None: the same logical turn continues.
    Nothing,
}

/// Returns the inputs that a boundary promotes, in order.
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

/// Returns the inputs with texts to read, of those that a boundary would promote now.
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

/// Promotes the eligible inputs inside the transaction of a boundary: at most `steer_batch` steers, oldest first. The
/// text of attached files comes before its prompt. An input without its text stays pending, together with all inputs
/// after it. Returns the number of inputs that became visible.
pub(crate) fn promote(
    transaction: &mut Transaction<'_>,
    session: &SessionRow,
    promotion: Promotion,
    steer_batch: usize,
    mut attached: Attached,
) -> Result<usize, Abort<LifecycleConflict>> {
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
            transaction.append(id, Some(&session.info.location), draft)?;
        }
        count += 1;
        let payload = Prompted {
            message_id: input.id,
            prompt: input.prompt,
            delivery: input.delivery,
        };
        // The message keeps the time of its admission, independent of its place in the history.
        let draft = Draft::new(input.time_created, payload);
        transaction.append(id, Some(&session.info.location), draft)?;
    }
    Ok(count)
}
