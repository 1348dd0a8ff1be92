//! An HTTP server on loopback whose answers a test chooses.

use std::collections::BTreeMap;
use std::sync::Arc;

use opencode_mcp::{Connection, OAuthOptions, RemoteServer, ServerConfig, Timeouts};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use crate::bench::DEADLINE;
use crate::script::tool;

/// A request that the server received.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) verb: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

impl Request {
    /// Returns the method of the message.
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or("")
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// An answer to a request.
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// True if the body does not end.
    is_open: bool,
}

impl Answer {
    pub(crate) fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            is_open: false,
        }
    }

    pub(crate) fn body(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            body: body.into(),
            ..Self::status(status)
        }
        .header("content-type", kind)
    }

    /// Returns a message as JSON.
    pub(crate) fn json(message: &Value) -> Self {
        Self::body(200, "application/json", message.to_string())
    }

    /// Returns messages as events, and keeps the stream open if `is_open`.
    pub(crate) fn events(messages: &[Value], is_open: bool) -> Self {
        let events = messages
            .iter()
            .map(|message| format!("data: {message}\n\n"));
        Self {
            is_open,
            ..Self::body(200, "text/event-stream", events.collect::<String>())
        }
    }

    /// Returns the refusal of a token.
    pub(crate) fn challenge(status: u16, challenge: &str) -> Self {
        Self::status(status).header("www-authenticate", challenge)
    }

    /// Returns the answer with a body that does not end.
    pub(crate) fn open(self) -> Self {
        Self {
            is_open: true,
            ..self
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// An HTTP server on loopback.
pub(crate) struct HttpServer {
    pub(crate) url: Url,
    pub(crate) requests: Arc<Mutex<Vec<Request>>>,
    task: tokio::task::JoinHandle<()>,
}

impl HttpServer {
    /// Starts a server. `answer` can leave a request to [`usual`].
    pub(crate) async fn start(
        answer: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp?key=secret", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                tokio::spawn(async move {
                    let choose = |request: Request| {
                        let chosen = answer(&request);
                        let chosen = chosen.unwrap_or_else(|| usual(&request));
                        seen.lock().push(request);
                        chosen
                    };
                    let _ = one(stream, choose).await;
                });
            }
        });
        Self {
            url: url.parse().unwrap(),
            requests,
            task,
        }
    }

    /// Returns a configuration of this server.
    pub(crate) fn config(&self, headers: &[(&str, &str)], uses_oauth: bool) -> ServerConfig {
        let header = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        ServerConfig {
            connection: Connection::Remote(RemoteServer {
                name: "s".to_owned(),
                url: self.url.clone(),
                headers: headers.iter().map(header).collect(),
                oauth: uses_oauth.then(OAuthOptions::default),
            }),
            enabled: true,
            timeouts: Timeouts {
                startup: DEADLINE,
                request: DEADLINE,
            },
        }
    }

    /// Returns the requests with a method so far.
    pub(crate) fn with_method(&self, method: &str) -> Vec<Request> {
        let requests = self.requests.lock();
        let found = requests.iter().filter(|request| request.method() == method);
        found.cloned().collect()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Answers one request of a connection.
async fn one(stream: TcpStream, choose: impl FnOnce(Request) -> Answer) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let verb = line.split(' ').next().unwrap_or("").to_owned();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|it| it.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await?;
    let answer = choose(Request {
        verb,
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    });
    let mut head = format!("HTTP/1.1 {} x\r\nconnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if !answer.is_open {
        head.push_str(&format!("content-length: {}\r\n", answer.body.len()));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&answer.body).await?;
    stream.flush().await?;
    if answer.is_open {
        // Until the client closes the stream.
        stream.read_u8().await?;
    }
    Ok(())
}

/// Returns the message with a result for a request.
pub(crate) fn result(request: &Request, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result})
}

/// Answers as a server with a session, without an event stream, and with the tool `echo`.
pub(crate) fn usual(request: &Request) -> Answer {
    match (request.verb.as_str(), request.method()) {
        ("POST", "initialize") => {
            let answer = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "scripted", "version": "1"},
            });
            Answer::json(&result(request, answer)).header("mcp-session-id", "session-1")
        }
        ("POST", "tools/list") => Answer::json(&result(request, json!({"tools": [tool("echo")]}))),
        ("POST", "tools/call") => {
            let input = &request.body["params"]["arguments"];
            let content = json!({"content": [{"type": "text", "text": input.to_string()}]});
            Answer::json(&result(request, content))
        }
        ("POST", _) => Answer::status(202),
        ("DELETE", _) => Answer::status(200),
        _ => Answer::status(405),
    }
}
