//! Operations on requests that wait for users: permissions and questions.

use std::sync::Arc;

use futures::Stream;
use opencode_schema::id::{PermissionID, QuestionID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::permission::{PermissionReply, PermissionRequest, SavedPermissionInfo};
use opencode_schema::question::{QuestionAnswer, QuestionRequest};

use crate::asks::notice::RequestNotice;
use crate::asks::permissions::{AskPermission, PermissionDecided, SavedScope};
use crate::error::RuntimeError;
use crate::runtime::Runtime;

impl Runtime {
    /// Returns the waiting permission requests of a session, oldest first.
    pub async fn permissions(
        &self,
        id: &SessionID,
    ) -> Result<Vec<PermissionRequest>, RuntimeError> {
        self.journal.session(id).await?;
        Ok(self.permissions.of_session(id))
    }

    /// Returns one waiting permission request.
    pub async fn permission(
        &self,
        session: &SessionID,
        id: &PermissionID,
    ) -> Result<PermissionRequest, RuntimeError> {
        self.permissions.permission(session, id).await
    }

    /// Returns the waiting permission requests of all sessions that came from a Location. Its directory is in normal
    /// form.
    pub fn permission_requests(&self, location: &LocationRef) -> Vec<PermissionRequest> {
        self.permissions.of_location(location)
    }

    /// Decides at once if an action is allowed, or announces a waiting request. The caller does not wait for the
    /// answer.
    ///
    /// # Errors
    ///
    /// `PermissionConflict` if a request with the caller's id already waits.
    pub async fn ask_permission(
        &self,
        request: AskPermission,
    ) -> Result<PermissionDecided, RuntimeError> {
        self.permissions.ask_permission(request).await
    }

    /// Answers a permission request. An `always` is saved when this returns. The message of a `reject` goes to the
    /// model, which continues; without a message, the activity ends.
    ///
    /// # Errors
    ///
    /// `PermissionNotFound` if the request does not wait in that session.
    pub async fn reply_permission(
        &self,
        session: &SessionID,
        id: &PermissionID,
        reply: PermissionReply,
        message: Option<String>,
    ) -> Result<(), RuntimeError> {
        let permissions = Arc::clone(&self.permissions);
        let (session, id) = (session.clone(), id.clone());
        self.uninterruptible(async move {
            permissions
                .reply_permission(&session, &id, reply, message)
                .await
        })
        .await
    }

    /// Lists permissions that answers of `always` granted, in the order of saving.
    pub async fn saved_permissions(
        &self,
        scope: SavedScope,
    ) -> Result<Vec<SavedPermissionInfo>, RuntimeError> {
        self.permissions.list_saved(scope).await
    }

    /// Removes a permission that an answer of `always` granted. With `place`, the name of the approvals of a Location,
    /// only one that counts there. Does nothing for an unknown id.
    pub async fn remove_permission(
        &self,
        id: String,
        place: Option<String>,
    ) -> Result<(), RuntimeError> {
        self.permissions.remove_permission(id, place).await
    }

    /// Returns the permission requests of all sessions: the waiting ones, then new ones, each once, and the end of each
    /// of them. Omits a request that ends before the caller reads it. The stream ends when the host closes.
    pub fn asked_permissions(
        &self,
    ) -> impl Stream<Item = RequestNotice<PermissionRequest, PermissionID>> + Send + use<> {
        self.permissions.attend()
    }

    /// Returns the questions of all sessions in the same way.
    pub fn asked_questions(
        &self,
    ) -> impl Stream<Item = RequestNotice<QuestionRequest, QuestionID>> + Send + use<> {
        self.questions.attend()
    }

    /// Returns the waiting questions of a session, oldest first.
    pub async fn questions(&self, id: &SessionID) -> Result<Vec<QuestionRequest>, RuntimeError> {
        self.journal.session(id).await?;
        Ok(self.questions.of_session(id))
    }

    /// Returns the waiting questions of all sessions that came from a Location. Its directory is in normal form.
    pub fn question_requests(&self, location: &LocationRef) -> Vec<QuestionRequest> {
        self.questions.of_location(location)
    }

    /// Answers questions, in their order.
    ///
    /// # Errors
    ///
    /// `QuestionNotFound` if the questions do not wait in that session.
    pub async fn reply_question(
        &self,
        session: &SessionID,
        id: &QuestionID,
        answers: Vec<QuestionAnswer>,
    ) -> Result<(), RuntimeError> {
        self.questions.reply_question(session, id, answers).await
    }

    /// Refuses to answer questions. This ends the activity that asked them.
    ///
    /// # Errors
    ///
    /// The same as for [`reply_question`](Self::reply_question).
    pub async fn reject_question(
        &self,
        session: &SessionID,
        id: &QuestionID,
    ) -> Result<(), RuntimeError> {
        self.questions.reject_question(session, id).await
    }
}
