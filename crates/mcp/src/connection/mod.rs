//! One connection to a server: its beginning, its requests and its end.

mod open;
mod request;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::model::{ServerCapabilities, ServerPeerInfo};
use rmcp::service::{Peer, RoleClient, RunningService};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::client::Client;
use crate::limits::{MAX_INSTRUCTIONS, cut};
use crate::link::{End, Link};
use crate::process::Child;

pub(crate) use open::{ConnectionServices, OpenError, open};
pub(crate) use request::RequestError;

/// Maximum time to end a session over HTTP.
const CLOSE: Duration = Duration::from_secs(2);

/// A connection to a server after the handshake.
pub(crate) struct Connection {
    pub(crate) link: Arc<Link>,
    peer: Peer<RoleClient>,
    info: Arc<ServerPeerInfo>,
    request_timeout: Duration,
    /// One permit for each request that waits for an answer.
    slots: Semaphore,
    /// The parts that the close needs.
    parts: Mutex<Option<Parts>>,
}

struct Parts {
    service: RunningService<RoleClient, Client>,
    child: Option<Child>,
}

impl Connection {
    /// Returns the capabilities of the server.
    pub(crate) fn capabilities(&self) -> &ServerCapabilities {
        &self.info.capabilities
    }

    /// Returns the instructions of the server for models.
    pub(crate) fn instructions(&self) -> Option<String> {
        let instructions = self.info.instructions.as_deref()?.trim();
        (!instructions.is_empty()).then(|| cut(instructions.to_owned(), MAX_INSTRUCTIONS))
    }

    /// Ends the connection. Its requests fail at once. Returns when no process of the server is left.
    pub(crate) async fn close(&self) {
        self.link.finish(End::Closed);
        let parts = self.parts.lock().take();
        let Some(Parts { mut service, child }) = parts else {
            return;
        };
        // Closes the input of a local server, or ends the session of a remote one.
        let _ = timeout(CLOSE, service.close()).await;
        drop(service);
        if let Some(child) = child {
            child.close().await;
        }
    }
}
