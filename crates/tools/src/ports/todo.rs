//! How a tool keeps the list of what is to be done in a session. Where it lies is not known here.

use futures::future::BoxFuture;
use opencode_schema::{id::SessionID, todo::Todo};

/// Keeps a list for each session.
pub trait Todos: Send + Sync + 'static {
    /// Puts `todos` in the place of the list that the session has, at once and as a whole, and tells
    /// whoever listens.
    fn replace<'a>(
        &'a self,
        session: &'a SessionID,
        todos: Vec<Todo>,
    ) -> BoxFuture<'a, Result<(), TodosError>>;
}

/// Why a list was not kept: a part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TodosError(pub String);
