//! Sessions that move between hosts.

use std::fmt::Display;
use std::sync::Arc;

use futures::Stream;
use opencode_schema::id::SessionID;

use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::transfer::{ImportChoices, Imported, ImportedDocument, SessionDocument, SessionExport};

impl Runtime {
    /// Returns the session as lines of text, which another host can [import](Self::import).
    pub async fn export(&self, id: &SessionID) -> Result<SessionExport, RuntimeError> {
        SessionExport::begin(Arc::clone(&self.journal), id).await
    }

    /// Replays the lines of an export in one transaction. Events that are already stored must be identical and are
    /// skipped; later events are applied. Streams of the session's durable events deliver the new events. Live
    /// subscribers do not receive them, because they did not happen in this host.
    ///
    /// The new events are marked as imported. Their rules can only restrict, and the work that they leave open ends:
    /// waiting prompts are withdrawn, open calls and steps fail. The session does not work in a directory, with an
    /// agent or with a model that only the import names, until `choices` or a later call confirms them.
    ///
    /// # Errors
    ///
    /// `Import` names the faulty line; `SessionBusy` if a Session Drain works on the session. On failure nothing is
    /// stored.
    pub async fn import<E: Display>(
        &self,
        lines: impl Stream<Item = Result<String, E>>,
        choices: ImportChoices,
    ) -> Result<Imported, RuntimeError> {
        // The ids of a removed session are free when its rows are deleted.
        self.lifecycle.purge().await?;
        let chosen = self.imports.chosen(choices).await?;
        let coordinator = self.coordinator.clone();
        self.imports.import(coordinator, lines, chosen).await
    }

    /// Replays the events that would have led to a session in the older form, in one transaction. Reports the values
    /// that no event carries. The rest is as in [`import`](Self::import).
    ///
    /// # Errors
    ///
    /// `Import` if the document is not a session, or contradicts the session that an earlier import stored;
    /// `SessionBusy` if a Session Drain works on the session. On failure nothing is stored.
    pub async fn import_document(
        &self,
        document: SessionDocument,
        choices: ImportChoices,
    ) -> Result<ImportedDocument, RuntimeError> {
        self.lifecycle.purge().await?;
        let chosen = self.imports.chosen(choices).await?;
        let (imports, coordinator) = (&self.imports, self.coordinator.clone());
        imports.import_document(coordinator, document, chosen).await
    }
}
