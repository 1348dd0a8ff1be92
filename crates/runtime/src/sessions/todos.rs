//! Todo lists that models note in their sessions.

use opencode_store::Abort;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_schema::event::{Notice, TodosUpdated};
use opencode_schema::id::SessionID;
use opencode_schema::location::LocationRef;
use opencode_schema::todo::{Todo, TodoUpdated};
use opencode_tools::{Todos, TodosError};
use tokio::sync::Semaphore;

use crate::error::RuntimeError;
use crate::journal::{Journal, append};

/// The to-do lists of the sessions of a host.
pub(crate) struct TodoLists {
    journal: Arc<Journal>,
    /// Allows one list at a time to be stored and announced. Tool calls run concurrently: without this, the list that
    /// is announced last may differ from the list that is stored last.
    update: Semaphore,
}

impl TodoLists {
    pub(crate) fn new(journal: Arc<Journal>) -> Self {
        let update = Semaphore::new(1);
        Self { journal, update }
    }

    /// Returns the list of a session, in its order.
    pub(crate) async fn todos(&self, id: &SessionID) -> Result<Vec<Todo>, RuntimeError> {
        self.journal
            .of_session(id, |reader, key| reader.todos(key))
            .await
    }

    /// Replaces the list of a session. Returns the notice about it.
    async fn replace_todos(
        &self,
        id: &SessionID,
        todos: Vec<Todo>,
    ) -> Result<TodoUpdated, RuntimeError> {
        let mut todos = todos;
        self.journal.announcer.redaction().todos(&mut todos);
        let updated = TodoUpdated {
            session_id: id.clone(),
            todos,
        };
        let now = self.journal.now();
        let written = self.journal.store.write(move |transaction| {
            let Some(session) = transaction.reader().session(&updated.session_id)? else {
                return Err(Abort::Refused(RuntimeError::SessionNotFound(
                    updated.session_id,
                )));
            };
            let todos = updated.todos.clone();
            append(transaction, &session, now, TodosUpdated { todos })?;
            Ok(updated)
        });
        Ok(written.await?)
    }
}

/// Stores the lists that the calls of one turn note.
pub(crate) struct TurnTodos {
    pub(crate) lists: Arc<TodoLists>,
    /// The Location of the session.
    pub(crate) place: LocationRef,
}

impl Todos for TurnTodos {
    fn replace<'a>(
        &'a self,
        session: &'a SessionID,
        todos: Vec<Todo>,
    ) -> BoxFuture<'a, Result<(), TodosError>> {
        async move {
            let _turn = self.lists.update.acquire().await;
            let replaced = self.lists.replace_todos(session, todos).await;
            let updated = replaced.map_err(|error| TodosError(error.to_string()))?;
            self.lists
                .journal
                .announcer
                .notify(Some(&self.place), &Notice::TodoUpdated(updated));
            Ok(())
        }
        .boxed()
    }
}
