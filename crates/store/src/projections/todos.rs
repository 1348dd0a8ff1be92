//! To-do lists that models keep for sessions.

use opencode_schema::todo::Todo;
use rusqlite::params;

use crate::error::StoreError;
use crate::integer::SessionKey;
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

impl Reader<'_> {
    /// Returns the to-do list of a session, in order.
    pub fn todos(&self, session: SessionKey) -> Result<Vec<Todo>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT content, status, priority FROM todo WHERE aggregate = ? ORDER BY position",
        )?;
        let rows = statement.query_map([session], |row| {
            Ok(Todo {
                content: row.get(0)?,
                status: row.get(1)?,
                priority: row.get(2)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Transaction<'_> {
    /// Replaces the to-do list of a session.
    pub(crate) fn replace_todos(
        &self,
        session: SessionKey,
        todos: &[Todo],
    ) -> Result<(), StoreError> {
        self.run("DELETE FROM todo WHERE aggregate = ?", [session])?;
        for (position, todo) in todos.iter().enumerate() {
            self.run(
                "INSERT INTO todo (aggregate, position, content, status, priority)
                 VALUES (?, ?, ?, ?, ?)",
                params![
                    session,
                    position as i64,
                    todo.content,
                    todo.status,
                    todo.priority
                ],
            )?;
        }
        Ok(())
    }
}
