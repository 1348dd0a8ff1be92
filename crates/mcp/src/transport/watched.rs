//! A transport whose messages the link of the connection sees.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;

use crate::link::{End, Link};

/// A transport whose messages the link of the connection sees. Only answers and requests reach the rest of
/// the client, so a flood of notifications starts no tasks, and their order is kept.
pub(crate) struct Watched<T> {
    pub(crate) transport: T,
    pub(crate) link: Arc<Link>,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Watched<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.link.sends(&message);
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let message = tokio::select! {
                biased;
                _ = self.link.ended() => None,
                message = self.transport.receive() => message,
            };
            let Some(message) = message else {
                self.link.finish(End::Closed);
                return None;
            };
            if let Some(message) = self.link.receives(message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.link.finish(End::Closed);
        self.transport.close().await
    }
}
