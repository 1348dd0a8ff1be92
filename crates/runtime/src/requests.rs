//! The operations on what waits for people: permissions and questions.

use std::sync::Arc;

use futures::Stream;
use opencode_schema::id::{PermissionID, QuestionID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::permission::{PermissionReply, PermissionRequest, SavedPermission};
use opencode_schema::question::{QuestionAnswer, QuestionRequest};

use crate::attended::Attended;
use crate::error::RuntimeError;
use crate::permissions::{AskPermission, PermissionDecided};
use crate::runtime::Runtime;

impl Runtime {
    /// The permission requests of a session that wait, in the order of their coming.
    pub async fn permissions(
        &self,
        id: &SessionID,
    ) -> Result<Vec<PermissionRequest>, RuntimeError> {
        self.core.session(id).await?;
        Ok(self.core.permissions.of_session(id))
    }

    /// One permission request that waits.
    pub async fn permission(
        &self,
        session: &SessionID,
        id: &PermissionID,
    ) -> Result<PermissionRequest, RuntimeError> {
        self.core.permission(session, id).await
    }

    /// The permission requests of all sessions that wait and came from a Location, whose directory
    /// is in normal form.
    pub fn permission_requests(&self, location: &LocationRef) -> Vec<PermissionRequest> {
        self.core.permissions.of_location(location)
    }

    /// Decides at once whether something may be done, or lets the request wait for an answer that is
    /// announced and that nobody waits for.
    ///
    /// # Errors
    ///
    /// `PermissionConflict` when a request of the caller's id waits.
    pub async fn ask_permission(
        &self,
        request: AskPermission,
    ) -> Result<PermissionDecided, RuntimeError> {
        self.core.ask_permission(request).await
    }

    /// Answers a permission request. `always` is saved when this returns. The words of a `reject`
    /// are for the model, which goes on; without them its activity ends.
    ///
    /// # Errors
    ///
    /// `PermissionNotFound` when no such request waits in that session.
    pub async fn reply_permission(
        &self,
        session: &SessionID,
        id: &PermissionID,
        reply: PermissionReply,
        message: Option<String>,
    ) -> Result<(), RuntimeError> {
        let (core, session, id) = (Arc::clone(&self.core), session.clone(), id.clone());
        self.uninterruptible(
            async move { core.reply_permission(&session, &id, reply, message).await },
        )
        .await
    }

    /// What answers of `always` have allowed in a project, in the order of their saving.
    pub async fn saved_permissions(
        &self,
        project: String,
    ) -> Result<Vec<SavedPermission>, RuntimeError> {
        self.core.saved_permissions(project).await
    }

    /// The same for a project and all worktrees of it that the host does not trust.
    pub async fn saved_permissions_of_project(
        &self,
        project: String,
    ) -> Result<Vec<SavedPermission>, RuntimeError> {
        self.core.saved_permissions_of_project(project).await
    }

    /// Takes back what an answer of `always` has allowed. An unknown id is none.
    pub async fn remove_permission(&self, id: String) -> Result<(), RuntimeError> {
        self.core.remove_permission(id).await
    }

    /// The permission requests of all sessions: those that wait, then those that come, each once, and
    /// the end of each of them. A request that ends before the caller reads it is left out. Ends when
    /// the host closes.
    pub fn asked_permissions(
        &self,
    ) -> impl Stream<Item = Attended<PermissionRequest, PermissionID>> + Send + use<> {
        self.core.permissions.attend()
    }

    /// The questions of all sessions, in the same way.
    pub fn asked_questions(
        &self,
    ) -> impl Stream<Item = Attended<QuestionRequest, QuestionID>> + Send + use<> {
        self.core.questions.attend()
    }

    /// The questions of a session that wait, in the order of their coming.
    pub async fn questions(&self, id: &SessionID) -> Result<Vec<QuestionRequest>, RuntimeError> {
        self.core.session(id).await?;
        Ok(self.core.questions.of_session(id))
    }

    /// The questions of all sessions that wait and came from a Location, whose directory is in
    /// normal form.
    pub fn question_requests(&self, location: &LocationRef) -> Vec<QuestionRequest> {
        self.core.questions.of_location(location)
    }

    /// Answers questions, in their order.
    ///
    /// # Errors
    ///
    /// `QuestionNotFound` when no such questions wait in that session.
    pub async fn reply_question(
        &self,
        session: &SessionID,
        id: &QuestionID,
        answers: Vec<QuestionAnswer>,
    ) -> Result<(), RuntimeError> {
        self.core.reply_question(session, id, answers).await
    }

    /// Refuses to answer questions, which ends the activity that asked them.
    ///
    /// # Errors
    ///
    /// As [`reply_question`](Self::reply_question).
    pub async fn reject_question(
        &self,
        session: &SessionID,
        id: &QuestionID,
    ) -> Result<(), RuntimeError> {
        self.core.reject_question(session, id).await
    }
}
