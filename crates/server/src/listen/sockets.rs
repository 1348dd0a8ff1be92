//! Connections that have become WebSockets. They are a listener's as others are: counted, broken when
//! it parts with its clients, and cut when it ends.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::WebSocketUpgrade;
use axum::extract::ws::WebSocket;
use axum::http::Response;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::dispatcher::get_default;
use tracing::instrument::WithSubscriber as _;

use super::Phases;
use super::slots::ConnectionSlot;

/// The data that a connection needs to become a WebSocket.
#[derive(Clone)]
pub(crate) struct Sockets {
    pub(super) phases: Phases,
    pub(super) tasks: TaskTracker,
    /// Time between two pings to the client.
    pub(super) ping: Duration,
    /// The slot of the connection.
    pub(super) place: Arc<ConnectionSlot>,
}

/// An open WebSocket.
pub(crate) struct OpenSocket {
    pub(crate) socket: WebSocket,
    /// Cancelled when the listener disconnects its clients.
    pub(crate) part: CancellationToken,
    /// Time between two pings to the client.
    pub(crate) ping: Duration,
}

impl Sockets {
    /// Answers with the upgrade to a WebSocket, and serves it.
    pub(crate) fn accept<F: Future<Output = ()> + Send + 'static>(
        self,
        upgrade: WebSocketUpgrade,
        serve: impl FnOnce(OpenSocket) -> F + Send + 'static,
    ) -> Response<Body> {
        let Self {
            phases,
            tasks,
            ping,
            place,
        } = self;
        // The tracker counts the connection from now on, so closing always waits for it.
        let counted = tasks.token();
        let working = place.work();
        // The library starts the task, so this code passes the log to it.
        let log = get_default(Clone::clone);
        upgrade.on_upgrade(move |socket| {
            let socket = async move {
                let part = phases.part;
                let served = serve(OpenSocket { socket, part, ping });
                phases.cut.run_until_cancelled(served).await;
                drop((counted, working));
            };
            socket.with_subscriber(log)
        })
    }
}
