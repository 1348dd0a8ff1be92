//! The redirect address on this machine: a listener that receives the answers of browsers.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::answer::BrowserAnswer;
use opencode_secrets::Secret;

/// Maximum number of connections at the same time.
const MAX_CONNECTIONS: usize = 16;

/// Maximum time of a connection.
const CONNECTION_LIMIT: Duration = Duration::from_secs(30);

/// Maximum size of the head of a request.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// Authorizations that wait for a browser.
type Waiting = Arc<Mutex<Vec<Expecting>>>;

/// An authorization that waits for a browser.
struct Expecting {
    path: String,
    state: Secret,
    answered: oneshot::Sender<BrowserAnswer>,
}

/// A listener that may have ended, and its task.
type Started = (Weak<Listener>, JoinHandle<()>);

/// The listeners of a host, by port. Authorizations share the listener of their port.
#[derive(Default)]
pub struct Callbacks {
    /// Held while a listener starts, so that a port is taken once.
    ports: tokio::sync::Mutex<HashMap<u16, Started>>,
}

/// A listener. It ends when no authorization waits.
struct Listener {
    waiting: Waiting,
    end: CancellationToken,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

/// Receives the answer of the browser to one authorization.
pub(crate) struct Arrival {
    answer: oneshot::Receiver<BrowserAnswer>,
    listener: Arc<Listener>,
}

impl Arrival {
    /// Waits for the answer. It has the right state.
    pub(crate) async fn answer(&mut self) -> Option<BrowserAnswer> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        self.answer.close();
        let is_open = |expecting: &Expecting| !expecting.answered.is_closed();
        self.listener.waiting.lock().retain(is_open);
    }
}

impl Callbacks {
    /// Receives the answer with a state at a path; `None` if another program has the port.
    pub(crate) async fn expect(&self, port: u16, path: &str, state: &Secret) -> Option<Arrival> {
        let mut ports = self.ports.lock().await;
        let listener = match ports
            .get(&port)
            .and_then(|(listener, _)| listener.upgrade())
        {
            Some(listener) => listener,
            None => {
                // The last listener of this host on the port is about to end.
                if let Some((_, ending)) = ports.remove(&port) {
                    let _ = ending.await;
                }
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
                let socket = TcpListener::bind(address).await.ok()?;
                let (listener, task) = listen(socket);
                ports.insert(port, (Arc::downgrade(&listener), task));
                listener
            }
        };
        let (answered, answer) = oneshot::channel();
        listener.waiting.lock().push(Expecting {
            path: path.to_owned(),
            state: state.clone(),
            answered,
        });
        Some(Arrival { answer, listener })
    }
}

fn listen(socket: TcpListener) -> (Arc<Listener>, JoinHandle<()>) {
    let listener = Arc::new(Listener {
        waiting: Waiting::default(),
        end: CancellationToken::new(),
    });
    let (waiting, end) = (Arc::clone(&listener.waiting), listener.end.clone());
    let task = opencode_log::spawn(async move {
        let accepting = accept(&socket, &waiting);
        end.run_until_cancelled(accepting).await;
    });
    (listener, task)
}

async fn accept(socket: &TcpListener, waiting: &Waiting) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let connection = match socket.accept().await {
            Ok((connection, _)) => connection,
            Err(error) => {
                tracing::warn!(%error, "the redirect address accepts no connection");
                // Such an error lasts until other parts of the process close files.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let waiting = Arc::clone(waiting);
        opencode_log::spawn(async move {
            let served = tokio::time::timeout(CONNECTION_LIMIT, serve(connection, waiting));
            let _ = served.await;
            drop(place);
        });
    }
}

/// Serves one request.
async fn serve(connection: TcpStream, waiting: Waiting) {
    let service = service_fn(move |request: Request<Incoming>| {
        let response = respond(&request, &waiting);
        async move { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(CONNECTION_LIMIT)
        .keep_alive(false)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(connection), service);
    // An error means that the browser went away.
    let _ = connection.await;
}

/// Gives the answer of a browser to its authorization.
fn respond(request: &Request<Incoming>, waiting: &Waiting) -> Response<Full<Bytes>> {
    if request.method() != Method::GET {
        return page(StatusCode::METHOD_NOT_ALLOWED, UNKNOWN);
    }
    let answer = BrowserAnswer::read(request.uri().query().unwrap_or_default());
    let expecting = {
        let mut waiting = waiting.lock();
        let is_expected = |expecting: &Expecting| {
            let state = answer.state.as_ref();
            expecting.path == request.uri().path()
                && state.is_some_and(|state| expecting.state.is(state.expose()))
        };
        let at = waiting.iter().position(is_expected);
        at.map(|at| waiting.swap_remove(at))
    };
    let Some(expecting) = expecting else {
        return page(StatusCode::BAD_REQUEST, UNKNOWN);
    };
    match expecting.answered.send(answer) {
        Ok(()) => page(StatusCode::OK, ARRIVED),
        Err(_) => page(StatusCode::BAD_REQUEST, UNKNOWN),
    }
}

/// The page for an answer that an authorization expects.
const ARRIVED: &str = "The answer has arrived. You can close this page and return to the program.";

/// The page for other requests.
const UNKNOWN: &str = "No authorization waits for this answer. Start it again in the program.";

/// Returns a page. It repeats nothing of the request.
fn page(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>opencode</title><p>{text}</p></html>\n"
    );
    let mut response = Response::new(Full::new(html.into()));
    *response.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        let headers = response.headers_mut();
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
