//! Prompt Promotion: makes inputs visible at a Safe Provider-Turn Boundary.

use opencode_schema::event::{ContextUpdated, Prompted, Synthetic};
use opencode_schema::prompt::{Delivery, Prompt, SessionInputAdmitted};
use opencode_store::{
    Abort, Draft, LifecycleConflict, Reader, Sequence, SessionRow, StoreError, Transaction,
};

use super::attachments::{Attached, AttachedMessage, Prepared, has_attached};
use super::settings::{SYSTEM_ENDED, system_message};

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

/// Returns the inputs that may have attachments to read, of those that a boundary would promote now.
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
    inputs.retain(|input| has_attached(&input.prompt));
    Ok(inputs)
}

/// Returns the admission of the prompt whose settings apply after the promotion that a boundary would make now.
pub(crate) fn settings_after(
    reader: &Reader<'_>,
    session: &SessionRow,
    promotion: Promotion,
    steer_batch: usize,
) -> Result<Option<Sequence>, StoreError> {
    let (id, key) = (&session.info.id, session.key);
    let cutoff = reader.latest_seq(key)?;
    let with_settings =
        |delivery, limit| reader.pending_with_settings(id, key, delivery, cutoff, limit);
    let with_settings = in_order(promotion, steer_batch, with_settings)?;
    let first = match session.activity {
        Some(_) if with_settings.is_empty() => {
            let pending = |delivery, _| reader.pending(id, key, delivery, cutoff, 1);
            in_order(promotion, 1, pending)?.into_iter().next()
        }
        _ => None,
    };
    reader.settings_after(session, first.as_ref(), &with_settings)
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
/// messages that go with a prompt come before it, and the system text of the prompt before them. An input without its
/// messages stays pending, together with all inputs
/// after it. Returns the number of inputs that became visible.
pub(crate) fn promote(
    transaction: &mut Transaction<'_>,
    session: &SessionRow,
    promotion: Promotion,
    steer_batch: usize,
    mut attached: Attached,
) -> Result<usize, Abort<LifecycleConflict>> {
    let id = &session.info.id;
    let place = Some(&session.info.location);
    let inputs = eligible(&transaction.reader(), session, promotion, steer_batch)?;
    let mut count = 0;
    for input in inputs {
        let Some(Prepared { messages, files }) = attached.take(&input) else {
            break;
        };
        let time = input.time_created;
        if let Some(text) = system_text(&transaction.reader(), session, &input)? {
            let message_id = transaction.message_id();
            let draft = Draft::new(time, ContextUpdated { message_id, text });
            transaction.append(id, place, draft)?;
        }
        for AttachedMessage { text, files } in messages {
            let message_id = transaction.message_id();
            let payload = Synthetic {
                message_id,
                text,
                files,
            };
            transaction.append(id, place, Draft::new(time, payload))?;
        }
        count += 1;
        let files = files.or(input.prompt.files);
        let payload = Prompted {
            message_id: input.id,
            prompt: Prompt {
                files,
                ..input.prompt
            },
            delivery: input.delivery,
        };
        // The message keeps the time of its admission, independent of its place in the history.
        transaction.append(id, place, Draft::new(time, payload))?;
    }
    Ok(count)
}

/// Returns the Mid-Conversation System Message directly before a prompt: its system text, or the end of the system text
/// that applied before. A prompt without settings has none.
fn system_text(
    reader: &Reader<'_>,
    session: &SessionRow,
    input: &SessionInputAdmitted,
) -> Result<Option<String>, StoreError> {
    let Some(settings) = &input.prompt.settings else {
        return Ok(None);
    };
    if let Some(system) = settings.system.as_deref().filter(|text| !text.is_empty()) {
        return Ok(Some(system_message(system)));
    }
    // Another input of this promotion may have changed the settings.
    let now = reader.session(&session.info.id)?;
    let activity = now.and_then(|now| now.activity);
    let admitted = input.admitted_seq.into();
    let Some(activity) = activity else {
        return Ok(None);
    };
    let replaces = reader.continues(session.key, input.delivery, admitted)?;
    let former = reader.prompt_settings(session.key, activity.settings)?;
    let has_text = former.system.is_some_and(|text| !text.is_empty());
    Ok((replaces && has_text).then(|| SYSTEM_ENDED.to_owned()))
}
