//! Prompts that hooks may change before their admission.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use opencode_schema::id::SessionID;
use opencode_schema::prompt::{SessionInputAdmitted, TextRange};
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

use super::{Inbox, PromptRequest};
use crate::error::RuntimeError;
use crate::hooks::OfferedPrompt;

/// Keeps the prompts of each session in the order of their calls while hooks work on them.
#[derive(Default)]
pub(crate) struct PromptOrder(Mutex<HashMap<SessionID, Weak<tokio::sync::Mutex<()>>>>);

impl PromptOrder {
    /// Waits for the earlier prompts of the session.
    async fn turn(&self, session: &SessionID) -> OwnedMutexGuard<()> {
        let turns = {
            let mut sessions = self.0.lock();
            sessions.retain(|_, turns| turns.strong_count() > 0);
            let known = sessions.get(session).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let turns = Arc::default();
                sessions.insert(session.clone(), Arc::downgrade(&turns));
                turns
            })
        };
        turns.lock_owned().await
    }
}

impl Inbox {
    /// Admits a prompt in the form that the hooks give it.
    pub(crate) async fn admit_hooked(
        &self,
        request: PromptRequest,
    ) -> Result<SessionInputAdmitted, RuntimeError> {
        match self.hooks.changes_prompts() {
            true => Box::pin(self.admit_changed(request)).await,
            false => self.admit(request).await,
        }
    }

    async fn admit_changed(
        &self,
        mut request: PromptRequest,
    ) -> Result<SessionInputAdmitted, RuntimeError> {
        let _turn = self.order.turn(&request.session_id).await;
        let session = self.journal.session(&request.session_id).await?;
        let offered = OfferedPrompt {
            session_id: request.session_id.clone(),
            message_id: request.id.clone(),
            directory: session.info.location.directory,
            delivery: request.delivery,
            prompt: request.prompt,
        };
        let text = offered.prompt.text.clone();
        request.prompt = self.hooks.prompt(offered).await;
        if let Some(command) = &mut request.command
            && request.prompt.text != text
        {
            // The ranges belong to the former text. No part of the new one is certainly free of output.
            let text = &request.prompt.text;
            command.outputs = vec![TextRange::of(text, 0..text.len())];
        }
        self.admit(request).await
    }
}
