//! The life of a server: attempts to connect, connections, and waits between them.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::{Instant, sleep, timeout_at};

use super::{Change, Lists, Server};
use crate::backoff::Backoff;
use crate::changes::Seen;
use crate::config;
use crate::connection::{Connection, OpenError, RequestError, open};
use crate::limits::MIN_LISTING_GAP;
use crate::link::End;
use crate::listing::ListError;
use crate::prompts::list_prompts;
use crate::tools::{ServerTool, Tools, list_tools};
use crate::transport::has_unclear_tools;

/// The reason why a connection is not served any more.
enum Served {
    Stopped,
    Again,
    Ended(End),
}

/// Lives until the server is stopped.
pub(super) async fn live(server: Arc<Server>) {
    let mut backoff = Backoff::default();
    // A local server that never worked is not started again by itself.
    let mut is_retried = matches!(server.config.connection, config::Connection::Remote(_));
    loop {
        let _ = server.again.notified().now_or_never();
        server.connecting();
        let mut lasted = Duration::ZERO;
        let (end, is_temporary) = match Box::pin(connect(&server)).await {
            Ok(connection) => {
                is_retried = true;
                let start = Instant::now();
                match Box::pin(serve(&server, &connection)).await {
                    Served::Stopped => return,
                    Served::Again => {
                        backoff.reset();
                        continue;
                    }
                    Served::Ended(end) => {
                        lasted = start.elapsed();
                        (end, true)
                    }
                }
            }
            Err(OpenError::Stopped) => return,
            Err(OpenError::Final(end)) => (end, false),
            Err(OpenError::Temporary(end)) => {
                server.disconnected(end.clone());
                (end, is_retried)
            }
        };
        let needs_user = matches!(end, End::NeedsAuth | End::NeedsClientRegistration(_));
        let wait = match is_temporary && !needs_user {
            true => backoff.next(lasted),
            false => None,
        };
        let seconds = wait.map(|wait| wait.as_secs_f64());
        let (name, reason) = (server.name(), end.message());
        tracing::warn!(
            server = name,
            reason,
            restart = seconds,
            "a server is not connected"
        );
        tokio::select! {
            () = server.stop.cancelled() => return,
            () = server.again.notified() => backoff.reset(),
            () = sleep(wait.unwrap_or_default()), if wait.is_some() => {}
        }
    }
}

/// Connects and reads the lists. If that fails, the server is disconnected and no process of it is left.
async fn connect(server: &Arc<Server>) -> Result<Arc<Connection>, OpenError> {
    let deadline = Instant::now() + server.config.timeouts.startup;
    let services = &server.host.services;
    let opened = open(
        server.name(),
        &server.config,
        services,
        deadline,
        &server.stop,
    )
    .await;
    let connection = match opened {
        Ok(connection) => Arc::new(connection),
        Err(OpenError::Final(end)) => {
            server.disconnected(end.clone());
            return Err(OpenError::Final(end));
        }
        Err(error) => return Err(error),
    };
    let listed = tokio::select! {
        listed = timeout_at(deadline, lists(server, &connection)) => listed,
        () = server.stop.cancelled() => {
            connection.close().await;
            return Err(OpenError::Stopped);
        }
    };
    let error = match listed {
        Ok(Ok(lists)) => {
            server.connected(&connection, lists);
            return Ok(connection);
        }
        Ok(Err(error)) => failure(error),
        Err(_) => {
            let reason = "The server did not list its tools in time.".to_owned();
            OpenError::Temporary(End::Broken(reason))
        }
    };
    if let OpenError::Final(end) = &error {
        server.disconnected(end.clone());
    }
    connection.close().await;
    Err(error)
}

/// Returns the failure of an attempt whose listing failed.
fn failure(error: ListError) -> OpenError {
    match error {
        ListError::Request(RequestError::Ended(end @ (End::Closed | End::Broken(_)))) => {
            OpenError::Temporary(end)
        }
        ListError::Request(RequestError::Ended(end)) => OpenError::Final(end),
        ListError::Request(RequestError::Timeout(_) | RequestError::Transport(_)) => {
            OpenError::Temporary(End::Broken(error.to_string()))
        }
        _ => OpenError::Final(End::Broken(error.to_string())),
    }
}

/// Reads all lists of a connection.
async fn lists(server: &Arc<Server>, connection: &Connection) -> Result<Lists, ListError> {
    let tools = tools(server, connection).await?;
    let has_prompts = connection.capabilities().prompts.is_some();
    let prompts = match has_prompts {
        true => list_prompts(connection, server.name(), &server.stop).await,
        false => Ok(Vec::new()),
    };
    Ok(Lists {
        tools,
        // A server without its prompts is still of use.
        prompts: prompts.unwrap_or_else(|error| {
            connection.link.log.line(&error.to_string());
            Vec::new()
        }),
        instructions: connection.instructions(),
        has_resources: connection.capabilities().resources.is_some(),
    })
}

async fn tools(server: &Arc<Server>, connection: &Connection) -> Result<Tools, ListError> {
    if connection.capabilities().tools.is_none() {
        return Ok(Tools::default());
    }
    let before: Vec<Arc<ServerTool>> = server.now.lock().lists.tools.tools.clone();
    let tools = match list_tools(connection, &server.slot, &before, &server.stop).await {
        Err(ListError::Request(error @ RequestError::Refused(_)))
            if has_unclear_tools(connection.capabilities()) =>
        {
            connection.link.log.line(&error.to_string());
            return Ok(Tools::default());
        }
        listed => listed?,
    };
    for problem in &tools.problems {
        connection.link.log.line(problem);
    }
    Ok(tools)
}

/// Serves a connection until it ends. Then no process of it is left.
async fn serve(server: &Arc<Server>, connection: &Arc<Connection>) -> Served {
    let served = tokio::select! {
        biased;
        () = server.stop.cancelled() => Served::Stopped,
        () = server.again.notified() => Served::Again,
        end = connection.link.ended() => Served::Ended(end),
        () = follow(server, connection) => Served::Ended(End::Closed),
    };
    match &served {
        Served::Stopped => {}
        Served::Again => server.slot.set(None),
        Served::Ended(end) => server.disconnected(end.clone()),
    }
    connection.close().await;
    served
}

/// Reads lists again after the server has announced changes. Never returns.
async fn follow(server: &Arc<Server>, connection: &Connection) {
    loop {
        let seen = connection.link.changes.next().await;
        if let Err(error) = update(server, connection, seen).await {
            connection.link.log.line(&error.to_string());
        }
        sleep(MIN_LISTING_GAP).await;
    }
}

async fn update(
    server: &Arc<Server>,
    connection: &Connection,
    seen: Seen,
) -> Result<(), ListError> {
    if seen.tools {
        let tools = tools(server, connection).await?;
        server.now.lock().lists.tools = tools;
        server.host.announce(server.name(), &[Change::Tools]);
    }
    if seen.prompts && connection.capabilities().prompts.is_some() {
        let prompts = list_prompts(connection, server.name(), &server.stop).await?;
        server.now.lock().lists.prompts = prompts;
        server.host.announce(server.name(), &[Change::Prompts]);
    }
    if seen.resources {
        server.host.announce(server.name(), &[Change::Resources]);
    }
    Ok(())
}
