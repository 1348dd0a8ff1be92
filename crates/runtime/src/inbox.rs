//! Admission and Prompt Promotion.

use opencode_schema::clock::Millis;
use opencode_schema::event::{PromptAdmitted, Prompted};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::prompt::{Delivery, Prompt, PromptInput, SessionInputAdmitted};
use opencode_store::{Draft, LifecycleConflict, SessionRow, StoreError, Transaction};

use crate::core::Core;
use crate::error::{RuntimeError, check_new_id};

/// Steers that one boundary promotes at most; more stay pending for the next one.
const STEER_BATCH: usize = 10_000;

/// A prompt that somebody wants admitted.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptRequest {
    /// The session.
    pub session_id: SessionID,
    /// The caller's id, by which a retry is recognised.
    pub id: Option<MessageID>,
    /// What is asked.
    pub prompt: PromptInput,
    /// How it enters the session.
    pub delivery: Delivery,
    /// Whether the session may run because of it.
    pub resume: bool,
}

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

impl Core {
    /// Admits a prompt, or returns the receipt of the same prompt admitted before. The session is
    /// looked up inside the one command, so that admissions keep the order of the calls.
    pub(crate) async fn admit(
        &self,
        request: PromptRequest,
    ) -> Result<SessionInputAdmitted, RuntimeError> {
        let now = self.now();
        self.store
            .write(move |transaction| admit(transaction, request, now))
            .await?
    }
}

type Admission = Result<Result<SessionInputAdmitted, RuntimeError>, StoreError>;

fn admit(transaction: &mut Transaction<'_>, request: PromptRequest, now: Millis) -> Admission {
    let PromptRequest {
        session_id,
        id,
        prompt,
        delivery,
        ..
    } = request;
    let Some(session) = transaction.reader().session(&session_id)? else {
        return Ok(Err(RuntimeError::SessionNotFound(session_id)));
    };
    let prompt = prompt.admit();
    let id = match id {
        None => transaction.message_id(),
        Some(id) => match transaction.reader().input(&id)? {
            None => match check_new_id(id.as_str()) {
                Ok(()) => id,
                Err(error) => return Ok(Err(error)),
            },
            Some(stored) => {
                let receipt = stored.receipt;
                let same = receipt.session_id == session_id
                    && receipt.delivery == delivery
                    && same_prompt(&receipt.prompt, &prompt);
                let answer = if same && !stored.withdrawn {
                    Ok(receipt)
                } else {
                    Err(RuntimeError::PromptConflict(id))
                };
                return Ok(answer);
            }
        },
    };
    let payload = PromptAdmitted {
        message_id: id.clone(),
        prompt: prompt.clone(),
        delivery,
    };
    let location = session.info.location;
    match transaction.append(&session_id, Some(&location), Draft::new(now, payload))? {
        Ok(admitted_seq) => Ok(Ok(SessionInputAdmitted {
            admitted_seq,
            id,
            session_id,
            prompt,
            delivery,
            time_created: now,
            promoted_seq: None,
        })),
        Err(_) => Ok(Err(RuntimeError::PromptConflict(id))),
    }
}

/// Equality of the JSON texts: an empty list differs from an absent one.
fn same_prompt(one: &Prompt, other: &Prompt) -> bool {
    one == other
}

/// Promotes what is eligible, inside the transaction of a boundary. Returns how many.
pub(crate) fn promote(
    transaction: &mut Transaction<'_>,
    session: &SessionRow,
    promotion: Promotion,
) -> Result<Result<usize, LifecycleConflict>, StoreError> {
    let (id, key) = (&session.info.id, session.key);
    let reader = transaction.reader();
    let cutoff = reader.latest_seq(key)?;
    let mut inputs = match promotion {
        Promotion::Nothing => return Ok(Ok(0)),
        Promotion::Steers => Vec::new(),
        Promotion::QueuedThenSteers => reader.pending(id, key, Delivery::Queue, cutoff, 1)?,
    };
    inputs.extend(reader.pending(id, key, Delivery::Steer, cutoff, STEER_BATCH)?);
    let count = inputs.len();
    for input in inputs {
        let payload = Prompted {
            message_id: input.id,
            prompt: input.prompt,
            delivery: input.delivery,
        };
        // The message is as old as its admission, wherever it comes to stand.
        let draft = Draft::new(input.time_created, payload);
        let location = session.info.location.clone();
        if let Err(conflict) = transaction.append(id, Some(&location), draft)? {
            return Ok(Err(conflict));
        }
    }
    Ok(Ok(count))
}

#[cfg(test)]
mod tests;
