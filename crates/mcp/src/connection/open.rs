//! The beginning of a connection.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use opencode_net::HttpClients;
use parking_lot::Mutex;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, RoleClient, RunningService, serve_client};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use super::{Connection, Parts};
use crate::client::Client;
use crate::config::{self, LocalServer, RemoteServer, ServerConfig};
use crate::limits::{MAX_ERROR, MAX_IN_FLIGHT, cut};
use crate::link::{End, Link};
use crate::process::{self, Child, Exit};
use crate::tokens::Tokens;
use crate::transport::{Stdio, Watched, http_transport, log_lines};

/// The time between the end of a server and the end of its output, which a descendant can keep open.
const END_OF_OUTPUT: Duration = Duration::from_secs(1);

/// The part of the host that all servers of a Location share.
pub(crate) struct ConnectionServices {
    pub(crate) directory: PathBuf,
    pub(crate) http: HttpClients,
    pub(crate) tokens: Arc<dyn Tokens>,
}

/// The reason why there is no connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OpenError {
    /// Another attempt would fail in the same way.
    Final(End),
    /// Another attempt can succeed.
    Temporary(End),
    /// The caller stopped the attempt.
    Stopped,
}

type Running = RunningService<RoleClient, Client>;

/// Connects to a server before the deadline.
pub(crate) async fn open(
    name: &str,
    config: &ServerConfig,
    services: &ConnectionServices,
    deadline: Instant,
    stop: &CancellationToken,
) -> Result<Connection, OpenError> {
    let link = Arc::new(Link::new(name));
    let client = Client::new(&link, &services.directory);
    let (service, child) = match &config.connection {
        config::Connection::Local(server) => {
            let handshake = local(server, &link, client, deadline, stop);
            let (service, child) = Box::pin(handshake).await?;
            (service, Some(child))
        }
        config::Connection::Remote(server) => {
            let handshake = remote(server, services, &link, client, deadline, stop);
            (Box::pin(handshake).await?, None)
        }
    };
    let info = service.peer().peer_info();
    let connection = Connection {
        peer: service.peer().clone(),
        info: info.ok_or_else(|| broken("The server did not introduce itself.".to_owned()))?,
        link,
        request_timeout: config.timeouts.request,
        slots: Semaphore::new(MAX_IN_FLIGHT),
        parts: Mutex::new(Some(Parts { service, child })),
    };
    let version = &connection.info.protocol_version;
    if !(ProtocolVersion::KNOWN_VERSIONS.contains(version) && version.has_initialize()) {
        let version = cut(version.to_string(), 100);
        connection.close().await;
        return Err(broken(format!(
            "The server speaks version {version} of the protocol, which the host does not know."
        )));
    }
    Ok(connection)
}

/// Starts a local server and shakes hands. If that fails, no process of the server is left.
async fn local(
    server: &LocalServer,
    link: &Arc<Link>,
    client: Client,
    deadline: Instant,
    stop: &CancellationToken,
) -> Result<(Running, Child), OpenError> {
    let program = server.command.first().map_or("", String::as_str);
    let started = process::start(server).await.map_err(|error| {
        let reason = format!("The program {program:?} cannot be started: {error}");
        OpenError::Final(End::Broken(cut(reason, MAX_ERROR)))
    })?;
    opencode_log::spawn(log_lines(started.errors, Arc::clone(link)));
    let exit = Arc::clone(&started.child.exit);
    opencode_log::spawn(end_with(Arc::clone(&exit), Arc::clone(link)));
    let transport = Watched {
        transport: Stdio::start(started.input, started.output, link),
        link: Arc::clone(link),
    };
    match handshake(client, transport, link, deadline, stop).await {
        Ok(service) => Ok((service, started.child)),
        Err(error) => {
            link.finish(End::Closed);
            let code = code_of(&exit).await;
            started.child.close().await;
            Err(match (error, code) {
                (OpenError::Temporary(End::Closed), Some(code)) => ended_early(program, code),
                (error, _) => error,
            })
        }
    }
}

/// Returns the exit code of a server that has ended, or is about to.
async fn code_of(exit: &Exit) -> Option<Option<i32>> {
    let soon = Instant::now() + Duration::from_millis(100);
    timeout_at(soon, exit.code()).await.ok()
}

/// Returns the failure of a server that ended before the handshake.
fn ended_early(program: &str, code: Option<i32>) -> OpenError {
    let program = cut(format!("{program:?}"), MAX_ERROR / 2);
    match code {
        // The shell that starts the program ends with these codes if it cannot.
        Some(code @ (126 | 127)) => broken(format!(
            "The program {program} cannot be run (exit code {code})."
        )),
        Some(code) => OpenError::Temporary(End::Broken(format!(
            "The server ended with the exit code {code} before it was ready."
        ))),
        None => OpenError::Temporary(End::Broken(
            "The server was killed before it was ready.".to_owned(),
        )),
    }
}

/// Ends the connection after the server has ended, even if a descendant keeps the output open.
async fn end_with(exit: Arc<Exit>, link: Arc<Link>) {
    exit.code().await;
    tokio::select! {
        () = sleep(END_OF_OUTPUT) => link.finish(End::Closed),
        _ = link.ended() => {}
    }
}

async fn remote(
    server: &RemoteServer,
    services: &ConnectionServices,
    link: &Arc<Link>,
    client: Client,
    deadline: Instant,
    stop: &CancellationToken,
) -> Result<Running, OpenError> {
    let http = services.http.get(&server.url).await.map_err(broken)?;
    let tokens = Arc::clone(&services.tokens);
    let transport = Watched {
        transport: http_transport(server, http, tokens, link).map_err(broken)?,
        link: Arc::clone(link),
    };
    let service = handshake(client, transport, link, deadline, stop).await;
    if service.is_err() {
        link.finish(End::Closed);
    }
    service
}

async fn handshake<T>(
    client: Client,
    transport: Watched<T>,
    link: &Link,
    deadline: Instant,
    stop: &CancellationToken,
) -> Result<Running, OpenError>
where
    T: Transport<RoleClient> + 'static,
{
    let result = tokio::select! {
        result = timeout_at(deadline, Box::pin(serve_client(client, transport))) => result,
        () = stop.cancelled() => return Err(OpenError::Stopped),
    };
    match (result, link.end()) {
        (Ok(Ok(service)), _) => Ok(service),
        (_, Some(end @ (End::NeedsAuth | End::NeedsClientRegistration(_)))) => {
            Err(OpenError::Final(end))
        }
        (_, Some(end @ End::Broken(_))) => Err(OpenError::Final(end)),
        (Ok(Err(error)), _) => Err(refused(error)),
        (Err(_), _) => Err(OpenError::Temporary(End::Broken(
            "The server was not ready in time.".to_owned(),
        ))),
    }
}

/// Returns the failure of a handshake.
fn refused(error: ClientInitializeError) -> OpenError {
    match error {
        ClientInitializeError::ConnectionClosed(_) => OpenError::Temporary(End::Closed),
        ClientInitializeError::JsonRpcError(error) => broken(format!(
            "The server refused the connection: {}",
            error.message
        )),
        ClientInitializeError::TransportError { error, .. } => {
            let http = error
                .error
                .downcast_ref::<StreamableHttpError<reqwest::Error>>();
            let reason = End::Broken(cut(text_of(&*error.error), MAX_ERROR));
            match http {
                Some(StreamableHttpError::Client(_) | StreamableHttpError::HttpStatus(_)) => {
                    OpenError::Temporary(reason)
                }
                Some(StreamableHttpError::UnexpectedServerResponse(text)) if is_temporary(text) => {
                    OpenError::Temporary(reason)
                }
                // The output of a local server tells the reason.
                None => OpenError::Temporary(End::Closed),
                Some(_) => OpenError::Final(reason),
            }
        }
        ClientInitializeError::ExpectedInitResult(Some(_)) => broken(
            "The answer of the server to the handshake has no usable member \"protocolVersion\"."
                .to_owned(),
        ),
        ClientInitializeError::ExpectedInitResult(None)
        | ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            broken("The server did not answer the handshake.".to_owned())
        }
        other => broken(other.to_string()),
    }
}

/// True for a failure with a status that another attempt may not have.
fn is_temporary(text: &str) -> bool {
    let status = text.strip_prefix("HTTP ");
    status.is_some_and(|it| it.starts_with("429") || it.starts_with('5'))
}

/// Returns the texts of a failure of a transport and of its causes.
pub(super) fn text_of(error: &(dyn std::error::Error + 'static)) -> String {
    if let Some(StreamableHttpError::UnexpectedServerResponse(text)) =
        error.downcast_ref::<StreamableHttpError<reqwest::Error>>()
    {
        return text.clone().into_owned();
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

fn broken(reason: String) -> OpenError {
    OpenError::Final(End::Broken(cut(reason, MAX_ERROR)))
}
