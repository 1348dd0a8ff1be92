//! Access of tools to the todo list of a session. The implementation of the trait stores it.

use futures::future::BoxFuture;
use opencode_schema::{id::SessionID, todo::Todo};

/// Stores one todo list for each session.
pub trait Todos: Send + Sync + 'static {
    /// Replaces the whole list of the session with `todos` atomically and notifies all subscribers.
    fn replace<'a>(
        &'a self,
        session: &'a SessionID,
        todos: Vec<Todo>,
    ) -> BoxFuture<'a, Result<(), TodosError>>;
}

/// Reason why a list was not stored, as a part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TodosError(pub String);
