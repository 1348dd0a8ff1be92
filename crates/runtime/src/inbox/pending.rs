//! Operations on waiting inputs: list them, withdraw one, change its delivery.

use opencode_schema::event::{PromptRedelivered, PromptWithdrawn};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};
use opencode_store::{Abort, SessionRow, Transaction};

use super::{Decided, Inbox};
use crate::error::RuntimeError;
use crate::journal::append;

impl Inbox {
    /// Returns all waiting inputs in the order of admission, each with its current delivery.
    pub(crate) async fn list(
        &self,
        id: &SessionID,
    ) -> Result<Vec<SessionInputAdmitted>, RuntimeError> {
        let wanted = id.clone();
        let pending = self.journal.store.read(move |reader| {
            let session = reader.session(&wanted)?;
            session.map(|it| reader.pending_inputs(&it)).transpose()
        });
        let pending = pending.await?;
        pending.ok_or_else(|| RuntimeError::SessionNotFound(id.clone()))
    }

    /// Removes an input from the inbox before it becomes visible.
    pub(crate) async fn withdraw(
        &self,
        session_id: SessionID,
        message_id: MessageID,
    ) -> Result<(), RuntimeError> {
        let now = self.journal.now();
        let withdrawn = self.journal.store.write(move |transaction| {
            let (session, _) = pending(transaction, session_id, &message_id)?;
            append(transaction, &session, now, PromptWithdrawn { message_id })?;
            Ok(())
        });
        Ok(withdrawn.await?)
    }

    /// Changes the delivery of a waiting input. Not recorded if nothing changes.
    pub(crate) async fn set_delivery(
        &self,
        session_id: SessionID,
        message_id: MessageID,
        delivery: Delivery,
    ) -> Result<SessionInputAdmitted, RuntimeError> {
        let now = self.journal.now();
        let changed = self.journal.store.write(move |transaction| {
            let (session, input) = pending(transaction, session_id, &message_id)?;
            if input.delivery != delivery {
                let payload = PromptRedelivered {
                    message_id,
                    delivery,
                };
                append(transaction, &session, now, payload)?;
            }
            Ok(SessionInputAdmitted { delivery, ..input })
        });
        Ok(changed.await?)
    }
}

/// Returns a session and an input that waits in it, with its current delivery.
fn pending(
    transaction: &Transaction<'_>,
    session_id: SessionID,
    message_id: &MessageID,
) -> Decided<(SessionRow, SessionInputAdmitted)> {
    let reader = transaction.reader();
    let Some(session) = reader.session(&session_id)? else {
        return Err(Abort::Refused(RuntimeError::SessionNotFound(session_id)));
    };
    let stored = reader.input(message_id)?;
    let stored = stored.filter(|it| it.receipt.session_id == session_id && !it.withdrawn);
    match stored {
        None => Err(Abort::Refused(RuntimeError::InputNotFound {
            session_id,
            message_id: message_id.clone(),
        })),
        Some(it) if it.receipt.promoted_seq.is_some() => Err(Abort::Refused(
            RuntimeError::InputPromoted(message_id.clone()),
        )),
        Some(it) => Ok((
            session,
            SessionInputAdmitted {
                delivery: it.delivery,
                ..it.receipt
            },
        )),
    }
}
