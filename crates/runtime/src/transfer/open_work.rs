//! The end of the work that was open in an imported log, so that no run and no recovery continues it.

use opencode_schema::clock::Millis;
use opencode_schema::event::{
    EventProvider, Interrupted, PromptWithdrawn, ShellEnded, StepFailed, ToolFailed,
};
use opencode_schema::message::{ErrorKind, SessionErrorUnknown};
use opencode_store::{OpenCall, SessionRow, StoreError, Transaction};
use opencode_tools::INTERRUPTED;

use crate::journal::append;

/// The failure of a step that was open.
const OPEN_STEP: &str =
    "The step was not complete when the session was exported, and an import continues no work";

/// Withdraws the waiting prompts of the import, fails open calls and steps, and records that nothing continues.
pub(super) fn end_open_work(
    transaction: &mut Transaction<'_>,
    session: &SessionRow,
    now: Millis,
) -> Result<(), StoreError> {
    let (reader, key) = (transaction.reader(), session.key);
    for input in reader.pending_inputs(session)? {
        // A prompt that this host admitted still waits.
        if reader.is_imported(key, input.admitted_seq.into())? {
            let message_id = input.id;
            append(transaction, session, now, PromptWithdrawn { message_id })?;
        }
    }
    for call in reader.open_calls(key)? {
        append(transaction, session, now, failed(call))?;
    }
    for call_id in reader.open_shells(key)? {
        let output = String::new();
        append(transaction, session, now, ShellEnded { call_id, output })?;
    }
    if let Some(assistant_message_id) = reader.open_step(key)? {
        let failed = StepFailed {
            assistant_message_id,
            error: SessionErrorUnknown::of(ErrorKind::Interrupted, OPEN_STEP),
        };
        append(transaction, session, now, failed)?;
    }
    if let Some(unfinished) = reader.unfinished_work(key)? {
        let message_id = Some(unfinished.message_id);
        append(transaction, session, now, Interrupted { message_id })?;
    }
    Ok(())
}

fn failed(call: OpenCall) -> ToolFailed {
    ToolFailed {
        assistant_message_id: call.message_id,
        call_id: call.call_id,
        error: SessionErrorUnknown::of(ErrorKind::Interrupted, INTERRUPTED),
        result: None,
        provider: EventProvider {
            executed: call.provider_executed,
            metadata: None,
        },
    }
}
