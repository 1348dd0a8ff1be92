//! The inbox of a session: what waits for a Safe Provider-Turn Boundary, and how it comes to wait.
//!
//! Here inputs are admitted; `attachments` reads the texts that go with them, `pending` is what can be done with them while they wait, `promotion`
//! how they become visible. Every decision is made inside one command of the writer.

mod attached_text;
mod attachments;
#[cfg(test)]
mod fuzz;
mod pending;
mod promotion;

use opencode_schema::clock::Millis;
use opencode_schema::event::PromptAdmitted;
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::prompt::{Delivery, Prompt, PromptInput, SessionInputAdmitted};
use opencode_store::{Draft, SessionRow, StoreError, StoredInput, Transaction};

use crate::core::Core;
use crate::error::{RuntimeError, check_new_id};
use crate::json::json_bytes;

pub(crate) use self::attachments::{Attached, Reading, is_text};
pub(crate) use self::promotion::{Promotion, attaching, promote};

/// Bytes of a prompt's JSON text at most. Clients read a prompt back as an event, and theirs is the
/// bound on one event; half of it leaves room for whatever a transport puts around the text.
const MAX_PROMPT_BYTES: usize = 8 * 1024 * 1024;

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

/// A prompt in its admitted form, on its way to the writer.
struct Admission {
    session_id: SessionID,
    id: Option<MessageID>,
    prompt: Prompt,
    delivery: Delivery,
    time: Millis,
    /// Inputs of one session that may wait.
    limit: u64,
}

type Decided<T> = Result<Result<T, RuntimeError>, StoreError>;

impl Core {
    /// Admits a prompt, or returns the receipt of the same prompt admitted before. The session is
    /// looked up inside the one command, so that admissions keep the order of the calls.
    pub(crate) async fn admit(
        &self,
        request: PromptRequest,
    ) -> Result<SessionInputAdmitted, RuntimeError> {
        let prompt = request.prompt.admit();
        let bytes = json_bytes(&prompt);
        if bytes > MAX_PROMPT_BYTES {
            return Err(RuntimeError::PromptTooLarge {
                bytes,
                limit: MAX_PROMPT_BYTES,
            });
        }
        let admission = Admission {
            session_id: request.session_id,
            id: request.id,
            prompt,
            delivery: request.delivery,
            time: self.now(),
            limit: self.limits.inbox,
        };
        self.store
            .write(move |transaction| admit(transaction, admission))
            .await?
    }
}

fn admit(transaction: &mut Transaction<'_>, admission: Admission) -> Decided<SessionInputAdmitted> {
    let Some(session) = transaction.reader().session(&admission.session_id)? else {
        return Ok(Err(RuntimeError::SessionNotFound(admission.session_id)));
    };
    let id = match &admission.id {
        None => transaction.message_id(),
        Some(id) => match transaction.reader().input(id)? {
            Some(stored) => return Ok(receipt_again(stored, &admission, id)),
            None => match check_new_id(id.as_str()) {
                Ok(()) => id.clone(),
                Err(error) => return Ok(Err(error)),
            },
        },
    };
    let pending = transaction.reader().pending_count(session.key)?;
    if pending >= admission.limit {
        return Ok(Err(RuntimeError::Backlog {
            session_id: admission.session_id,
            pending,
            limit: admission.limit,
        }));
    }
    append_admission(transaction, session, admission, id)
}

/// What a caller gets who brings the id of a stored input: the first receipt if everything else is
/// the same, too. The id of a withdrawn input stays used.
fn receipt_again(
    stored: StoredInput,
    admission: &Admission,
    id: &MessageID,
) -> Result<SessionInputAdmitted, RuntimeError> {
    let receipt = stored.receipt;
    let same = receipt.session_id == admission.session_id
        && receipt.delivery == admission.delivery
        && receipt.prompt == admission.prompt;
    if same && !stored.withdrawn {
        Ok(receipt)
    } else {
        Err(RuntimeError::PromptConflict(id.clone()))
    }
}

fn append_admission(
    transaction: &mut Transaction<'_>,
    session: SessionRow,
    admission: Admission,
    id: MessageID,
) -> Decided<SessionInputAdmitted> {
    let Admission {
        session_id,
        prompt,
        delivery,
        time,
        ..
    } = admission;
    let payload = PromptAdmitted {
        message_id: id.clone(),
        prompt: prompt.clone(),
        delivery,
    };
    let location = session.info.location;
    let draft = Draft::new(time, payload);
    let appended = transaction.append(&session_id, Some(&location), draft)?;
    Ok(match appended {
        Ok(admitted_seq) => Ok(SessionInputAdmitted {
            admitted_seq,
            id,
            session_id,
            prompt,
            delivery,
            time_created: time,
            promoted_seq: None,
        }),
        Err(_) => Err(RuntimeError::PromptConflict(id)),
    })
}

#[cfg(test)]
mod tests;
