//! The present connection of a server.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::call::CallError;
use crate::connection::Connection;

/// The present connection of a server.
pub(crate) struct Slot {
    /// The name of the server.
    pub(crate) server: String,
    connection: Mutex<Option<Arc<Connection>>>,
}

impl Slot {
    pub(crate) fn new(server: String) -> Self {
        Self {
            server,
            connection: Mutex::new(None),
        }
    }

    pub(crate) fn set(&self, connection: Option<Arc<Connection>>) {
        *self.connection.lock() = connection;
    }

    pub(crate) fn get(&self) -> Option<Arc<Connection>> {
        self.connection.lock().clone()
    }

    /// Returns the connection for a call.
    pub(crate) fn connected(&self) -> Result<Arc<Connection>, CallError> {
        self.get().ok_or_else(|| {
            let message = format!("The server {:?} is not connected.", self.server);
            CallError::Failed(message)
        })
    }
}
