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
    /// Connections at once, half of them from one address of another machine. One that comes then
    /// gets the place of the one that rests longest, or waits until one does.
    pub connections: usize,
    /// Bytes of the head of a request.
    pub head: usize,
    /// For the whole head of a request, from the end of the one before. So it is also how long a
    /// connection may rest.
    pub head_patience: Duration,
    /// For the next piece of a request's body.
    pub body_patience: Duration,
    /// For a client to take something of its answer.
    pub answer_patience: Duration,
    /// For requests that are under way when the listener is closed.
    pub close_patience: Duration,
    /// Between two questions to the client of a WebSocket, the first of which it must have answered
    /// by then.
    pub ping: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 512,
            head: 64 * 1024,
            head_patience: Duration::from_secs(30),
            body_patience: Duration::from_secs(30),
            answer_patience: Duration::from_secs(120),
            close_patience: Duration::from_secs(10),
            ping: Duration::from_secs(30),
        }
    }
}

/// Time between two attempts to take connections, when there is no memory or no descriptor for one.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// A socket that answers requests until it is closed. All clones are the same listener; it goes on
/// when they are dropped.
#[derive(Debug, Clone)]
pub struct Listener {
    address: SocketAddr,
    login: Option<Login>,
    close_patience: Duration,
    phases: Phases,
    tasks: TaskTracker,
}

/// The phases of closing a listener.
#[derive(Debug, Clone, Default)]
struct Phases {
    /// Nothing new is taken.
    stop: CancellationToken,
    /// Streams of events break, and WebSockets close.
    part: CancellationToken,
    /// Connections are cut.
    cut: CancellationToken,
}

impl Listener {
    /// Binds a socket and answers requests on it with these routes, behind what the network needs.
    ///
    /// # Errors
    ///
    /// `InvalidOption` names the option that cannot be used, `AddressUnavailable` says why the
    /// address cannot be had, `ServiceUnavailable` that the system gives no random password.
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
            close_patience: bounds.close_patience,
            phases: Phases::default(),
            tasks: TaskTracker::new(),
        };
        let routes = options
            .into_network(login, bounds.body_patience)
            .around(routes);
        let accepting = listener.clone().accept(socket, routes, bounds);
        opencode_log::spawn_tracked(&listener.tasks, accepting);
        listener.tasks.close();
        Ok(listener)
    }

    /// Where clients on this machine find it.
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

    /// Takes no further connection or request. What is under way goes on.
    pub fn stop(&self) {
        self.phases.stop.cancel();
    }

    /// Stops, breaks the streams of events, closes WebSockets, waits some time for other requests that are under way,
    /// and cuts what is left. Closing twice is harmless.
    pub async fn close(&self) {
        self.phases.part.cancel();
        self.finish(self.close_patience).await;
    }

    /// Stops, waits that long for what is under way, and cuts what is left.
    pub async fn finish(&self, patience: Duration) {
        self.stop();
        // Whatever was in time is gone already.
        let _ = tokio::time::timeout(patience, self.tasks.wait()).await;
        self.cut();
        self.closed().await;
    }

    /// Ends at once.
    pub fn cut(&self) {
        self.stop();
        self.phases.cut.cancel();
    }

    /// Done when the last connection has ended.
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
                // A connection of an address that has its share is closed.
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

/// The next connection. One that failed before it was taken is its client's affair.
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
