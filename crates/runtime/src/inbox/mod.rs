//! The inbox of a session: inputs that wait for a Safe Provider-Turn Boundary.
//!
//! This module admits inputs. `attachments` creates the messages that go with them, from the `sources` that the files of a
//! prompt and its text (`mention_scan`) name. `pending` has the operations on
//! waiting inputs, and `promotion` makes inputs visible. Every decision is made inside one command of the writer.

mod attached_text;
mod attachments;
#[cfg(test)]
mod fuzz;
mod hooked;
mod listed;
mod mention_scan;
mod pending;
mod promotion;
mod settings;
mod sources;

use std::sync::Arc;

use opencode_schema::clock::Millis;
use opencode_schema::event::PromptAdmitted;
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::prompt::{
    Delivery, Prompt, PromptCommand, PromptInput, PromptSettings, SessionInputAdmitted,
};
use opencode_store::{Abort, Draft, SessionRow, StoredInput, Transaction};

use crate::error::{RuntimeError, check_new_id};
use crate::hooks::Hooks;
use crate::journal::Journal;
use crate::json::json_bytes;

use self::mention_scan::may_mention;

pub(crate) use self::attachments::{Attached, Reading, is_read_apart};
pub(crate) use self::hooked::PromptOrder;
pub(crate) use self::promotion::{Promotion, attaching, promote, settings_after};
pub(crate) use self::settings::system_message;

/// Maximum size in bytes of the JSON text of a prompt. Clients read a prompt back as an event, and the size of one
/// event is limited. Half of that limit leaves room for the data that a transport adds around the text.
const MAX_PROMPT_BYTES: usize = 8 * 1024 * 1024;

/// A request to admit a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptRequest {
    /// The session.
    pub session_id: SessionID,
    /// The caller's id. It identifies a retry.
    pub id: Option<MessageID>,
    /// The content of the prompt.
    pub prompt: PromptInput,
    /// The way in which the prompt enters the session.
    pub delivery: Delivery,
    /// True if the prompt wakes the session.
    pub resume: bool,
    /// Settings of the activity of the prompt.
    pub settings: PromptSettings,
    /// True if mentions in the text are expanded.
    pub mentions: bool,
    /// The command that made the prompt.
    pub command: Option<Box<PromptCommand>>,
}

/// A prompt in its admitted form, on its way to the writer.
struct Admission {
    session_id: SessionID,
    id: Option<MessageID>,
    prompt: Prompt,
    delivery: Delivery,
    time: Millis,
    /// Maximum number of waiting inputs of one session.
    limit: u64,
}

type Decided<T> = Result<T, Abort<RuntimeError>>;

/// Prompts that wait for their promotion.
pub(crate) struct Inbox {
    pub(crate) journal: Arc<Journal>,
    /// Largest number of waiting prompts of one session.
    pub(crate) limit: u64,
    pub(crate) hooks: Arc<dyn Hooks>,
    pub(crate) order: PromptOrder,
}

impl Inbox {
    /// Returns the receipt of a command that was admitted before with the id of the request. `None` if the id is new.
    ///
    /// # Errors
    ///
    /// `PromptConflict` if the id belongs to something else.
    pub(crate) async fn command_again(
        &self,
        request: &PromptRequest,
    ) -> Result<Option<SessionInputAdmitted>, RuntimeError> {
        let Some(id) = request.id.clone() else {
            return Ok(None);
        };
        let admission = self.admission(request.clone())?;
        let wanted = id.clone();
        let stored = self.journal.store.read(move |reader| reader.input(&wanted));
        let stored = stored.await?;
        stored
            .map(|stored| receipt_again(stored, &admission, &id))
            .transpose()
    }

    /// Admits a prompt, or returns the receipt of the same prompt admitted before. The session is looked up inside the
    /// one command, so that admissions keep the order of the calls.
    pub(crate) async fn admit(
        &self,
        request: PromptRequest,
    ) -> Result<SessionInputAdmitted, RuntimeError> {
        let admission = self.admission(request)?;
        let bytes = json_bytes(&admission.prompt);
        if bytes > MAX_PROMPT_BYTES {
            return Err(RuntimeError::PromptTooLarge {
                bytes,
                limit: MAX_PROMPT_BYTES,
            });
        }
        let admitted = self
            .journal
            .store
            .write(move |transaction| admit(transaction, admission));
        Ok(admitted.await?)
    }

    fn admission(&self, request: PromptRequest) -> Result<Admission, RuntimeError> {
        let mut prompt = request.prompt.admit();
        prompt.settings = settings::admit(request.settings)?;
        let is_literal = !request.mentions && may_mention(&prompt.text);
        prompt.mentions = is_literal.then_some(false);
        prompt.command = request.command;
        Ok(Admission {
            session_id: request.session_id,
            id: request.id,
            prompt,
            delivery: request.delivery,
            time: self.journal.now(),
            limit: self.limit,
        })
    }
}

fn admit(transaction: &mut Transaction<'_>, admission: Admission) -> Decided<SessionInputAdmitted> {
    let Some(session) = transaction.reader().session(&admission.session_id)? else {
        return Err(Abort::Refused(RuntimeError::SessionNotFound(
            admission.session_id,
        )));
    };
    let id = match &admission.id {
        None => transaction.message_id(),
        Some(id) => match transaction.reader().input(id)? {
            Some(stored) => {
                return receipt_again(stored, &admission, id).map_err(Abort::Refused);
            }
            None => {
                check_new_id(id.as_str()).map_err(Abort::Refused)?;
                id.clone()
            }
        },
    };
    let pending = transaction.reader().pending_count(session.key)?;
    if pending >= admission.limit {
        return Err(Abort::Refused(RuntimeError::Backlog {
            session_id: admission.session_id,
            pending,
            limit: admission.limit,
        }));
    }
    append_admission(transaction, session, admission, id)
}

/// Returns the first receipt if the caller repeats a stored input exactly. Fails if anything differs, or if the
/// input was withdrawn: its id stays used.
fn receipt_again(
    stored: StoredInput,
    admission: &Admission,
    id: &MessageID,
) -> Result<SessionInputAdmitted, RuntimeError> {
    let receipt = stored.receipt;
    let same = receipt.session_id == admission.session_id
        && receipt.delivery == admission.delivery
        && is_same(&receipt.prompt, &admission.prompt);
    if same && !stored.withdrawn {
        Ok(receipt)
    } else {
        Err(RuntimeError::PromptConflict(id.clone()))
    }
}

/// True if a prompt repeats a stored one. A command repeats itself with the same name, arguments and settings, although
/// its shell commands may print something else.
fn is_same(stored: &Prompt, again: &Prompt) -> bool {
    let (Some(first), Some(second)) = (&stored.command, &again.command) else {
        return stored == again;
    };
    first.name == second.name && first.arguments == second.arguments
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
    let appended = transaction.append(&session_id, Some(&location), draft);
    let conflict = || RuntimeError::PromptConflict(id.clone());
    let admitted_seq = appended.map_err(|abort| abort.map(|_| conflict()))?;
    Ok(SessionInputAdmitted {
        admitted_seq: admitted_seq.into(),
        id,
        session_id,
        prompt,
        delivery,
        time_created: time,
        promoted_seq: None,
    })
}

#[cfg(test)]
mod tests;
