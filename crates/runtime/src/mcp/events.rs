//! Announces changes of servers to clients.

use std::sync::{Arc, OnceLock, Weak};

use opencode_mcp::{Change, Listener};
use opencode_schema::event::Notice;
use opencode_schema::location::LocationRef;
use opencode_schema::mcp::{McpRemoved, McpToolsChanged, McpUpdated};

use super::servers::LocationServers;
use crate::live::Announcer;

/// Announces the changes of the servers of one Location.
pub(super) struct Announcements {
    announcer: Arc<Announcer>,
    place: LocationRef,
    /// Set after the servers exist.
    servers: OnceLock<Weak<LocationServers>>,
}

impl Announcements {
    pub(super) fn new(announcer: Arc<Announcer>, directory: &str) -> Self {
        Self {
            announcer,
            place: LocationRef {
                directory: directory.to_owned(),
                workspace_id: None,
            },
            servers: OnceLock::new(),
        }
    }

    /// Sets the servers whose changes are announced.
    pub(super) fn follow(&self, servers: &Arc<LocationServers>) {
        let _ = self.servers.set(Arc::downgrade(servers));
    }

    pub(super) fn removed(&self, server: &str) {
        let server = server.to_owned();
        self.notify(&Notice::McpRemoved(McpRemoved { server }));
    }

    fn notify(&self, notice: &Notice) {
        self.announcer.notify(Some(&self.place), notice);
    }
}

impl Listener for Announcements {
    fn changed(&self, server: &str, change: Change) {
        let followed = self.servers.get().and_then(Weak::upgrade);
        if let Some(server) = followed.and_then(|servers| servers.info(server)) {
            self.notify(&Notice::McpUpdated(McpUpdated { server }));
        }
        if change == Change::Tools {
            let server = server.to_owned();
            self.notify(&Notice::McpToolsChanged(McpToolsChanged { server }));
        }
    }
}
