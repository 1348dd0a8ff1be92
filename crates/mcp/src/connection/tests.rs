//! Limits of requests, with a clock that jumps and a server within the test.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join;
use opencode_log::{Filter, Level, Log};
use parking_lot::Mutex;
use rmcp::service::serve_client;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, duplex};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{Connection, Parts, RequestError};
use crate::client::Client;
use crate::limits::MAX_IN_FLIGHT;
use crate::link::{End, Link};
use crate::transport::{Stdio, Watched};

/// The limit of requests.
const LIMIT: Duration = Duration::from_secs(10);

/// A server within the test.
struct Server {
    messages: Lines<BufReader<DuplexStream>>,
    out: DuplexStream,
}

impl Server {
    async fn next(&mut self) -> Value {
        let line = self.messages.next_line().await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn send(&mut self, message: Value) {
        self.out
            .write_all(format!("{message}\n").as_bytes())
            .await
            .unwrap();
    }

    async fn answer(&mut self, request: &Value) {
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"content": []}});
        self.send(answer).await;
    }

    /// Reports progress of a request.
    async fn report(&mut self, request: &Value) {
        let token = &request["params"]["_meta"]["progressToken"];
        let params = json!({"progressToken": token, "progress": 1});
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
            .await;
    }
}

/// Returns a connection to a server within the test. The pipe to the server holds this many bytes.
async fn connect(pipe: usize) -> (Arc<Connection>, Server) {
    let link = Arc::new(Link::new("s"));
    let (input, messages) = duplex(pipe);
    let (output, out) = duplex(64 * 1024);
    let transport = Watched {
        transport: Stdio::start(input, output, &link),
        link: Arc::clone(&link),
    };
    let mut server = Server {
        messages: BufReader::new(messages).lines(),
        out,
    };
    let shake = async {
        let request = server.next().await;
        let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"}});
        server
            .send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
            .await;
        assert_eq!(server.next().await["method"], "notifications/initialized");
        request
    };
    let client = Client::new(&link, std::path::Path::new("/project"));
    let (service, request) = join(serve_client(client, transport), shake).await;
    let params = &request["params"];
    assert_eq!(params["protocolVersion"], "2025-11-25");
    assert_eq!(params["clientInfo"]["name"], "opencode");
    assert_eq!(
        params["capabilities"],
        json!({"roots": {}, "elicitation": {"form": {}}})
    );
    let service = service.unwrap();
    let connection = Connection {
        peer: service.peer().clone(),
        info: service.peer().peer_info().unwrap(),
        link,
        request_timeout: LIMIT,
        slots: Semaphore::new(MAX_IN_FLIGHT),
        parts: Mutex::new(Some(Parts {
            service,
            child: None,
        })),
    };
    (Arc::new(connection), server)
}

async fn call(connection: &Connection, input: Value) -> Result<Value, RequestError> {
    let cancel = CancellationToken::new();
    connection.request("tools/call", input, None, &cancel).await
}

#[tokio::test(start_paused = true)]
async fn progress_starts_the_limit_again() {
    let (connection, mut server) = connect(64 * 1024).await;
    let work = async {
        let request = server.next().await;
        for _ in 0..5 {
            sleep(LIMIT - Duration::from_secs(1)).await;
            server.report(&request).await;
        }
        sleep(LIMIT - Duration::from_secs(1)).await;
        server.answer(&request).await;
    };
    let (answer, ()) = join(call(&connection, json!({})), work).await;
    assert_eq!(answer, Ok(json!({"content": []})));
    let start = Instant::now();
    assert_eq!(
        call(&connection, json!({})).await,
        Err(RequestError::Timeout(LIMIT))
    );
    assert_eq!(start.elapsed().as_secs(), LIMIT.as_secs());
}

#[tokio::test(start_paused = true)]
async fn a_request_ends_after_an_hour_in_every_case() {
    let (connection, mut server) = connect(64 * 1024).await;
    let start = Instant::now();
    let work = async {
        let request = server.next().await;
        loop {
            sleep(Duration::from_secs(5)).await;
            server.report(&request).await;
        }
    };
    let answer = tokio::select! {
        answer = call(&connection, json!({})) => answer,
        () = work => unreachable!("it has no end"),
    };
    assert_eq!(answer, Err(RequestError::Timeout(LIMIT)));
    assert_eq!(start.elapsed().as_secs(), 60 * 60);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_loses_its_connection() {
    let (connection, _server) = connect(1024).await;
    let large = json!({"text": "x".repeat(100_000)});
    assert_eq!(
        call(&connection, large).await,
        Err(RequestError::Timeout(LIMIT))
    );
    let end = connection.link.ended().await;
    assert_eq!(
        end,
        End::Broken("The server does not read its input.".to_owned())
    );
    let refused = call(&connection, json!({})).await;
    assert_eq!(refused, Err(RequestError::Ended(end)));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_request_is_cancelled() {
    let (connection, mut server) = connect(64 * 1024).await;
    let request = tokio::select! {
        _ = call(&connection, json!({})) => unreachable!("nothing answers"),
        request = server.next() => request,
    };
    let cancelled = server.next().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
}

#[tokio::test(start_paused = true)]
async fn only_so_many_requests_wait_for_an_answer() {
    let (connection, mut server) = connect(1024 * 1024).await;
    let calls: Vec<_> = (0..=MAX_IN_FLIGHT)
        .map(|_| {
            let connection = Arc::clone(&connection);
            tokio::spawn(async move { call(&connection, json!({})).await })
        })
        .collect();
    let mut requests = Vec::new();
    for _ in 0..MAX_IN_FLIGHT {
        requests.push(server.next().await);
    }
    let early = tokio::time::timeout(Duration::from_secs(1), server.next()).await;
    assert!(early.is_err());
    for request in &requests {
        server.answer(request).await;
    }
    let last = server.next().await;
    server.answer(&last).await;
    for call in calls {
        assert!(call.await.unwrap().is_ok());
    }
}

#[tokio::test]
async fn messages_of_a_server_reach_the_log_of_the_host() {
    let (log, entries) = Log::new(Filter::new(Some(Level::Debug), Default::default()));
    let starting = log.run(|| opencode_log::spawn(connect(64 * 1024)));
    let (_connection, mut server) = starting.await.unwrap();
    for level in ["info", "critical"] {
        let params = json!({"level": level, "data": {"a": 1}});
        server
            .send(json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}))
            .await;
    }
    let mut found = Vec::new();
    while found.len() < 3 {
        if found.len() == 2 {
            // An error that no request waits for, in a form that the library does not read.
            server.send(json!({"error": "lost"})).await;
        }
        let entries = entries.next().await.unwrap().into_iter();
        found.extend(entries.filter(|entry| entry.fields.get("server") == Some(&json!("s"))));
    }
    let found: Vec<_> = found
        .iter()
        .map(|it| {
            (
                it.target.as_str(),
                it.level,
                it.message.as_str(),
                &it.fields["text"],
            )
        })
        .collect();
    let text = json!("{\"a\":1}");
    assert_eq!(
        found,
        [
            (
                "opencode::mcp",
                Level::Debug,
                "a server logs a message",
                &text
            ),
            (
                "opencode::mcp",
                Level::Warn,
                "a server reports a problem",
                &text
            ),
            (
                "opencode::mcp",
                Level::Debug,
                "a server logs a message",
                &json!("{\"error\":\"lost\"}")
            ),
        ]
    );
}
