//! Tool calls that an earlier process or a failed turn left open.
//!
//! Their effect is unknown, so they fail and never run again, unless their tool can find out the effect.

use std::sync::Arc;

use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::event::{EventProvider, SessionEvent, ToolFailed};
use opencode_schema::id::SessionID;
use opencode_schema::message::{ErrorKind, SessionErrorUnknown};
use opencode_secrets::REDACTED;
use opencode_store::{Draft, OpenCall, SessionRow, StoreError, Transaction};
use opencode_tools::{CallKind, ToolCall};
use serde_json::Value;

use super::call_context::turn_context;
use super::calls::{Calls, LocalCalls, Open};
use super::sample::Sampled;
use super::{DrainStop, INTERRUPTED_CALL, Runner};
use crate::error::DrainError;
use crate::journal::append;
use crate::sessions::root_of;

/// The open calls of a session.
struct Abandoned {
    session: SessionRow,
    /// The root of its tree.
    root: SessionID,
    calls: Vec<OpenCall>,
}

impl Runner {
    /// Settles the open calls. A call whose tool can find out its effect is recovered, any other fails.
    pub(super) async fn settle_abandoned_calls(&self) -> Result<(), DrainStop> {
        let Some(Abandoned {
            session,
            root,
            calls,
        }) = self.abandoned().await?
        else {
            return Ok(());
        };
        let directory = session.info.location.directory.clone();
        let recovers = |call: &OpenCall| {
            let called = call.called.as_ref().filter(|_| !call.provider_executed);
            let called = called.filter(|(_, input)| !is_redacted(input));
            called.is_some_and(|(tool, _)| self.services.tools.recovers(&directory, tool))
        };
        let (recovered, failed): (Vec<_>, Vec<_>) = calls.into_iter().partition(recovers);
        let failed = failed.iter().map(failed_call).collect();
        self.record(&session, failed, Vec::new()).await?;
        let of_message = |a: &OpenCall, b: &OpenCall| a.message_id == b.message_id;
        for calls in recovered.chunk_by(of_message) {
            self.recover(&session, &root, calls).await?;
        }
        Ok(())
    }

    /// Returns the open calls, or `None` if there are none. A call of a session that moved since belongs to another
    /// Location, so its arguments are left out.
    async fn abandoned(&self) -> Result<Option<Abandoned>, DrainStop> {
        let id = self.session.clone();
        let found = self.services.journal.store.read(move |reader| {
            let Some(session) = reader.session(&id)? else {
                return Ok(None);
            };
            let mut calls = reader.open_calls(session.key)?;
            for call in &mut calls {
                if reader.history_changes(session.key, call.seq)?.moved {
                    call.called = None;
                }
            }
            let root = root_of(reader, &session)?;
            Ok((!calls.is_empty()).then_some(Abandoned {
                session,
                root,
                calls,
            }))
        });
        Ok(found.await?)
    }

    /// Lets the tools recover open calls of one message. The calls have the agent that made them.
    async fn recover(
        &self,
        session: &SessionRow,
        root: &SessionID,
        calls: &[OpenCall],
    ) -> Result<(), DrainStop> {
        let Some(first) = calls.first() else {
            return Ok(());
        };
        let mut session = session.clone();
        session.info.agent = Some(first.agent.clone());
        let directory = &session.info.location.directory;
        let location = self.services.locations.get(directory).await;
        let location = location.map_err(DrainError::Location)?;
        let sampled = Sampled::of(&session, location, true, None).in_tree(root.clone());
        // Also tools that the agent may not call any more, because only they know the effect of their calls.
        let tools = self.services.tools.materialize(directory, |_| true);
        let tools = Arc::new(tools);
        let context = turn_context(
            &self.services,
            &session,
            &sampled,
            &first.model,
            &first.message_id,
            &self.stopper,
        );
        let stopped = context.cancel.clone();
        let local = LocalCalls::Run(tools, self.shared.tasks.clone());
        let mut running = Calls::new(local, context, self.services.tool_calls);
        for call in calls {
            if let Some((name, input)) = &call.called {
                running.reopen(ToolCall {
                    id: call.call_id.clone(),
                    name: name.clone(),
                    input: Value::Object(input.clone()),
                    kind: CallKind::Abandoned,
                    problem: None,
                });
            }
        }
        tracing::info!(
            calls = calls.len(),
            "tools recover calls of an earlier process"
        );
        running.start();
        let mut is_declined = false;
        while running.any_running() {
            let settled = running.next().await;
            is_declined |= settled.declined;
            let event = settled.event.into_iter().collect();
            self.record(&session, event, settled.explored).await?;
        }
        if is_declined {
            self.stopper.decline();
        }
        let interrupted = SessionErrorUnknown::of(ErrorKind::Interrupted, INTERRUPTED_CALL);
        let open = running.fail_unsettled(Open::All, &interrupted);
        self.record(&session, open, Vec::new()).await?;
        match stopped.is_cancelled() {
            true => Err(DrainStop::Interrupted),
            false => Ok(()),
        }
    }

    async fn record(
        &self,
        session: &SessionRow,
        events: Vec<SessionEvent>,
        explored: Vec<String>,
    ) -> Result<(), DrainStop> {
        if events.is_empty() {
            return Ok(());
        }
        let journal = &self.services.journal;
        let draft = |event| Draft::new(journal.now(), event);
        let drafts = events.into_iter().map(draft).collect();
        Ok(journal.commit(session, drafts, explored).await?)
    }
}

/// True if the stored arguments lack a secret, so that the call cannot run again as it was.
fn is_redacted(input: &Record) -> bool {
    let text = serde_json::to_string(input).unwrap_or_default();
    text.is_empty() || text.contains(REDACTED)
}

fn failed_call(call: &OpenCall) -> SessionEvent {
    ToolFailed {
        assistant_message_id: call.message_id.clone(),
        call_id: call.call_id.clone(),
        error: SessionErrorUnknown::of(ErrorKind::Interrupted, INTERRUPTED_CALL),
        result: None,
        provider: EventProvider {
            executed: call.provider_executed,
            metadata: None,
        },
    }
    .into()
}

/// Fails all open calls of a session.
pub(super) fn fail_open_calls(
    transaction: &mut Transaction<'_>,
    session: &SessionRow,
    now: Millis,
) -> Result<(), StoreError> {
    for call in transaction.reader().open_calls(session.key)? {
        append(transaction, session, now, failed_call(&call))?;
    }
    Ok(())
}
