//! The router on a socket.
//!
//! Every connection is a task of its own. Nothing a client does, or leaves undone, keeps one for
//! ever, and none outlives its listener.

mod authorization;
mod bodies;
mod compression;
mod connection;
mod network;
mod options;
mod pages;
mod password;
mod slots;
mod sockets;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use opencode_protocol::failure::Failure;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::options::ListenOptions;
pub use self::password::{Login, Password};
use self::slots::ConnectionSlots;
pub(crate) use self::sockets::{OpenSocket, Sockets};

/// Limits of a listener.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Maximum number of connections, half of them from one address of another machine. A further connection gets
    /// the slot of the connection that has been idle longest, or waits until one is idle.
    pub connections: usize,
    /// Maximum number of bytes of the head of a request.
    pub head: usize,
    /// Maximum time for the whole head of a request, from the end of the request before. So it is also the maximum
    /// time that a connection may be idle.
    pub head_timeout: Duration,
    /// Maximum time for the next piece of the body of a request.
    pub body_timeout: Duration,
    /// Maximum time for a client to take the next part of its answer.
    pub answer_timeout: Duration,
    /// Maximum time for requests in progress when the listener is closed.
    pub close_timeout: Duration,
    /// Time between two pings to the client of a WebSocket. The client must have answered the first by the second.
    pub ping: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 512,
            head: 64 * 1024,
            head_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            answer_timeout: Duration::from_secs(120),
            close_timeout: Duration::from_secs(10),
            ping: Duration::from_secs(30),
        }
    }
}

/// Time between two attempts to accept connections if the system has no memory or descriptor for one.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// A socket that answers requests until it is closed. All clones are the same listener. Dropping them does not stop
/// it.
#[derive(Debug, Clone)]
pub struct Listener {
    address: SocketAddr,
    login: Option<Login>,
    close_timeout: Duration,
    phases: Phases,
    tasks: TaskTracker,
}

/// The phases of closing a listener.
#[derive(Debug, Clone, Default)]
struct Phases {
    /// Accepts no further connections and requests.
    stop: CancellationToken,
    /// Breaks streams of events and closes WebSockets.
    part: CancellationToken,
    /// Cuts all connections.
    cut: CancellationToken,
}

impl Listener {
    /// Binds a socket and answers requests on it with these routes, inside the layers for network clients.
    ///
    /// # Errors
    ///
    /// `InvalidOption` names an invalid option. `AddressUnavailable` has the reason why the address cannot be bound.
    /// `ServiceUnavailable`: the system provides no random bytes for a password.
    pub async fn bind(
        routes: Router,
        options: ListenOptions,
        bounds: Bounds,
    ) -> Result<Self, Failure> {
        let addresses = options.check().await?;
        let login = options.login()?;
        let socket = TcpListener::bind(&*addresses).await;
        let bound = socket.and_then(|socket| Ok((socket.local_addr()?, socket)));
        let (address, socket) = bound.map_err(|error| options.unavailable(&error))?;
        let listener = Self {
            address,
            login: login.clone(),
            close_timeout: bounds.close_timeout,
            phases: Phases::default(),
            tasks: TaskTracker::new(),
        };
        let routes = options
            .into_network(login, bounds.body_timeout)
            .around(routes);
        let accepting = listener.clone().accept(socket, routes, bounds);
        opencode_log::spawn_tracked(&listener.tasks, accepting);
        listener.tasks.close();
        Ok(listener)
    }

    /// Returns the address for clients on this machine.
    pub fn url(&self) -> String {
        let mut address = self.address;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        format!("http://{address}")
    }

    /// Returns the credentials of clients. `None` if the password is off.
    pub fn login(&self) -> Option<&Login> {
        self.login.as_ref()
    }

    /// Accepts no further connection or request. Requests in progress continue.
    pub fn stop(&self) {
        self.phases.stop.cancel();
    }

    /// Stops, breaks the streams of events, closes WebSockets, waits a limited time for other requests in progress, and
    /// cuts the rest. Closing twice is harmless.
    pub async fn close(&self) {
        self.phases.part.cancel();
        self.finish(self.close_timeout).await;
    }

    /// Stops, waits at most this time for requests in progress, and cuts the rest.
    pub async fn finish(&self, timeout: Duration) {
        self.stop();
        // After the limit the rest is cut.
        let _ = tokio::time::timeout(timeout, self.tasks.wait()).await;
        self.cut();
        self.closed().await;
    }

    /// Cuts all connections at once.
    pub fn cut(&self) {
        self.stop();
        self.phases.cut.cancel();
    }

    /// Completes when the last connection has ended.
    pub fn closed(&self) -> impl Future<Output = ()> + Send + use<> {
        let tasks = self.tasks.clone();
        async move { tasks.wait().await }
    }

    /// Returns true if the last connection has ended.
    pub fn is_closed(&self) -> bool {
        self.tasks.is_empty()
    }

    async fn accept(self, socket: TcpListener, routes: Router, bounds: Bounds) {
        let places = ConnectionSlots::new(bounds.connections);
        let phases = self.phases;
        let taken = async {
            loop {
                let (stream, address) = take(&socket).await;
                // The address has its maximum, so its connection is closed.
                let Some(place) = places.take(address.ip()).await else {
                    continue;
                };
                let sockets = Sockets {
                    phases: phases.clone(),
                    tasks: self.tasks.clone(),
                    ping: bounds.ping,
                    place: Arc::new(place),
                };
                let served = connection::serve(stream, routes.clone(), bounds, sockets);
                opencode_log::spawn_tracked(&self.tasks, served);
            }
        };
        phases.stop.run_until_cancelled(taken).await;
    }
}

/// Returns the next connection. Ignores connections that failed before they were accepted.
async fn take(socket: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match socket.accept().await {
            Ok(taken) => return taken,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}
