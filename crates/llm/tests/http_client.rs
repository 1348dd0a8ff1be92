//! The HTTP client against a server that is scripted byte by byte.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures::StreamExt;
use opencode_llm::{
    Auth, ErrorKind, FinishReason, HttpModelClient, HttpOptions, LlmError, LlmErrorReason,
    LlmEvent, LlmRequest, Message, ModelClient, Part, ProtocolId, ResolvedModel, Secret, Sources,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

const HELLO: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";

/// One request as the server saw it.
struct Seen {
    at: Instant,
    connection: usize,
    head: String,
    body: Value,
}

struct Server {
    base_url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Answers each request with the next script and closes the connection when a script does not say how long it is.
    async fn start(scripts: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1/", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&seen);
        tokio::spawn(async move {
            let mut scripts = scripts.into_iter();
            for connection in 0.. {
                let (mut stream, _) = listener.accept().await.unwrap();
                while let Some((head, body)) = read_request(&mut stream).await {
                    let at = Instant::now();
                    record.lock().unwrap().push(Seen {
                        at,
                        connection,
                        head,
                        body,
                    });
                    let script = scripts.next().expect("no more requests were expected");
                    stream.write_all(script.as_bytes()).await.unwrap();
                    if !script.contains("chunked") {
                        break;
                    }
                }
            }
        });
        Self { base_url, seen }
    }

    fn requests(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let count = stream
            .read(&mut piece)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length: usize = head
            .lines()
            .find_map(|line| {
                line.to_lowercase()
                    .strip_prefix("content-length: ")
                    .map(str::to_owned)
            })?
            .parse()
            .ok()?;
        if body.len() >= length {
            return Some((head.to_owned(), serde_json::from_str(body).unwrap()));
        }
    }
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}")
}

fn chunked(pieces: &[&str]) -> String {
    let body: String = pieces
        .iter()
        .map(|piece| format!("{:x}\r\n{piece}\r\n", piece.len()))
        .collect();
    format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{body}0\r\n\r\n")
}

fn refuse(status: u16, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} No\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn options() -> HttpOptions {
    HttpOptions {
        // The middle of the range, so that waits have no jitter.
        sources: Sources::new(|| 1 << 63, || SystemTime::UNIX_EPOCH),
        // A paused clock jumps to the next timer whenever nothing else can run, so there must be none but those tested.
        connect_timeout: None,
        ..HttpOptions::default()
    }
}

fn request(base_url: &str, change: impl FnOnce(&mut ResolvedModel)) -> LlmRequest {
    let mut model = ResolvedModel::new("mock", "m1", ProtocolId::OpenAiChat, base_url);
    change(&mut model);
    LlmRequest {
        messages: vec![Message::user([Part::text("hi")])],
        ..LlmRequest::new(Arc::new(model))
    }
}

type Item = Result<Vec<LlmEvent>, LlmError>;

async fn items(request: LlmRequest) -> Vec<Item> {
    HttpModelClient::new(options())
        .stream(request)
        .collect()
        .await
}

/// All events, and the failure that ended them.
async fn outcome(request: LlmRequest) -> (Vec<LlmEvent>, Option<LlmError>) {
    let mut events = Vec::new();
    let mut failure = None;
    for item in items(request).await {
        assert_eq!(failure, None, "nothing follows a failure");
        match item {
            Ok(batch) => {
                assert!(!batch.is_empty());
                events.extend(batch);
            }
            Err(error) => failure = Some(error),
        }
    }
    (events, failure)
}

async fn failure(request: LlmRequest) -> LlmError {
    outcome(request).await.1.unwrap()
}

fn says_hi(events: &[LlmEvent]) -> bool {
    let hi = |event: &LlmEvent| matches!(event, LlmEvent::TextDelta { text, .. } if text == "Hi");
    events.iter().any(hi)
        && matches!(
            events.last(),
            Some(LlmEvent::Finish {
                reason: FinishReason::Stop,
                ..
            })
        )
}

#[tokio::test]
async fn a_reply_is_read_and_the_request_is_complete() {
    let server = Server::start(vec![ok(&format!("{HELLO}{STOP}{DONE}"))]).await;
    let mut request = request(&server.base_url, |model| {
        model.auth = Auth::Bearer(Secret::new("sk-1234"));
        model.endpoint.query = vec![("api-version".into(), "v 1".into())];
        model.headers = vec![
            ("x-title".into(), "model".into()),
            ("x-kept".into(), "yes".into()),
        ];
    });
    request.http.headers = vec![
        ("X-Title".into(), "request".into()),
        ("authorization".into(), "no".into()),
    ];
    request.http.query = vec![("extra".into(), "1".into())];
    let (events, error) = outcome(request).await;
    assert_eq!(error, None);
    assert!(says_hi(&events));

    let seen = server.seen.lock().unwrap();
    let head = seen[0].head.to_lowercase();
    assert!(head.starts_with("post /v1/chat/completions?api-version=v+1&extra=1 http/1.1\r\n"));
    for header in [
        "content-type: application/json",
        "x-title: request",
        "x-kept: yes",
        "authorization: bearer sk-1234",
    ] {
        assert_eq!(head.matches(header).count(), 1, "{header} in {head}");
    }
    assert_eq!(
        seen[0].body,
        json!({"model": "m1", "messages": [{"role": "user", "content": "hi"}],
            "stream": true, "stream_options": {"include_usage": true}})
    );
}

#[tokio::test]
async fn a_header_may_carry_the_credential() {
    let server = Server::start(vec![ok(&format!("{HELLO}{STOP}{DONE}"))]).await;
    let request = request(&server.base_url, |model| {
        model.auth = Auth::Header {
            name: "api-key".into(),
            secret: Secret::new("key-1234"),
        };
    });
    assert!(says_hi(&outcome(request).await.0));
    let head = server.seen.lock().unwrap()[0].head.to_lowercase();
    assert!(head.contains("api-key: key-1234") && !head.contains("authorization"));
}

#[tokio::test]
async fn a_connection_serves_one_turn_after_another() {
    let reply = || chunked(&[HELLO, STOP, DONE]);
    let server = Server::start(vec![reply(), reply(), reply()]).await;
    let client = HttpModelClient::new(options());
    for _ in 0..3 {
        let items: Vec<Item> = client
            .stream(request(&server.base_url, |_| {}))
            .collect()
            .await;
        assert!(says_hi(
            &items
                .into_iter()
                .flat_map(Result::unwrap)
                .collect::<Vec<_>>()
        ));
    }
    let connections: Vec<usize> = server
        .seen
        .lock()
        .unwrap()
        .iter()
        .map(|seen| seen.connection)
        .collect();
    assert_eq!(connections, [0, 0, 0]);
}

/// How long the client waited between the requests, in milliseconds.
async fn waits(refusals: Vec<String>) -> Vec<u128> {
    let scripts = [refusals, vec![ok(&format!("{HELLO}{STOP}{DONE}"))]].concat();
    let server = Server::start(scripts).await;
    let (events, error) = outcome(request(&server.base_url, |_| {})).await;
    assert_eq!(error, None);
    assert!(says_hi(&events));
    let seen = server.seen.lock().unwrap();
    seen.windows(2)
        .map(|pair| (pair[1].at - pair[0].at).as_millis())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn refusals_are_retried_after_the_right_wait() {
    let date = "retry-after: Thu, 01 Jan 1970 00:00:03 GMT\r\n";
    let rows = [
        (vec![], vec![]),
        (vec![refuse(429, "", "")], vec![500]),
        (
            vec![refuse(500, "", ""), refuse(503, "", "")],
            vec![500, 1000],
        ),
        (
            vec![refuse(429, "retry-after: 1\r\n", ""), refuse(529, "", "")],
            vec![1000, 1000],
        ),
        (
            vec![refuse(429, "retry-after-ms: 120\r\nretry-after: 9\r\n", "")],
            vec![120],
        ),
        (vec![refuse(503, date, "")], vec![3000]),
        (vec![refuse(429, "retry-after: 3600\r\n", "")], vec![10_000]),
    ];
    for (refusals, expected) in rows {
        let measured = waits(refusals).await;
        // The clock counts whole milliseconds and may round a wait up.
        let close = |(took, wait): (&u128, &u128)| took.abs_diff(*wait) <= 1;
        assert_eq!(measured.len(), expected.len());
        assert!(
            measured.iter().zip(&expected).all(close),
            "{measured:?} {expected:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn retries_end_and_hopeless_requests_are_sent_once() {
    let policy = r#"{"error":{"message":"content policy"}}"#;
    let rows = [
        (429, "slow down", 3, ErrorKind::RateLimit),
        (500, "boom", 3, ErrorKind::Overloaded),
        (429, "insufficient_quota", 1, ErrorKind::Quota),
        (500, policy, 1, ErrorKind::ContentPolicy),
        (302, "", 1, ErrorKind::Unknown),
        (400, "no", 1, ErrorKind::InvalidRequest),
        (401, "no", 1, ErrorKind::Auth),
        (403, "no", 1, ErrorKind::Auth),
        (404, "no", 1, ErrorKind::InvalidRequest),
        (409, "no", 1, ErrorKind::InvalidRequest),
        (413, "", 1, ErrorKind::ContextOverflow),
        (422, "no", 1, ErrorKind::InvalidRequest),
    ];
    for (status, body, requests, kind) in rows {
        let server = Server::start(vec![
            refuse(
                status,
                "location: http://127.0.0.1:9/\r\n",
                body
            );
            requests
        ])
        .await;
        let error = failure(request(&server.base_url, |_| {})).await;
        assert_eq!((error.kind(), error.status()), (kind, Some(status)));
        assert_eq!(server.requests(), requests, "{status} {body}");
        let suffix = if body.is_empty() {
            String::new()
        } else {
            format!(": {body}")
        };
        assert_eq!(
            error.to_string(),
            format!("Provider request failed with HTTP {status}{suffix}")
        );
    }
}

#[tokio::test]
async fn a_cut_body_names_the_route_and_keeps_what_came_before() {
    let cut =
        format!("HTTP/1.1 200 OK\r\ncontent-length: 9999\r\nconnection: close\r\n\r\n{HELLO}");
    let server = Server::start(vec![cut]).await;
    let (events, error) = outcome(request(&server.base_url, |_| {})).await;
    assert_eq!(events.len(), 3);
    let error = error.unwrap();
    assert!(
        error
            .to_string()
            .starts_with("Failed to read the mock/openai-chat stream: "),
        "{error}"
    );
    assert_eq!(
        *error.reason(),
        LlmErrorReason::InvalidProviderOutput {
            route: "mock/openai-chat".into(),
            raw: None
        }
    );
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn a_body_that_ends_early_is_a_failure_of_its_own() {
    let server = Server::start(vec![ok(HELLO)]).await;
    let (events, error) = outcome(request(&server.base_url, |_| {})).await;
    assert_eq!(events.len(), 3);
    assert_eq!(
        error.unwrap().to_string(),
        "The mock/openai-chat stream ended before a finish event"
    );
}

#[tokio::test]
async fn events_before_a_broken_frame_come_first() {
    let server = Server::start(vec![ok(&format!("{HELLO}data: oops\n\n"))]).await;
    let items = items(request(&server.base_url, |_| {})).await;
    assert!(matches!(&items[..], [Ok(events), Err(error)]
        if events.len() == 3 && error.kind() == ErrorKind::InvalidOutput));
}

#[tokio::test]
async fn an_unreachable_server_is_a_transport_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!(
        "http://{}/v1?api_key=sk-1234",
        listener.local_addr().unwrap()
    );
    drop(listener);
    let error = failure(request(&base_url, |_| {})).await;
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert!(
        error.to_string().starts_with("HTTP transport failed: "),
        "{error}"
    );
    assert!(!error.retryable());
    assert!(!format!("{error:?}").contains("sk-1234"));
}

#[tokio::test]
async fn unusable_addresses_and_headers_are_refused_before_any_traffic() {
    for base_url in ["", "nonsense", "ftp://host/v1", "file:///etc"] {
        let error = failure(request(base_url, |_| {})).await;
        assert_eq!(
            error.to_string(),
            "The model mock/m1 has no usable base URL"
        );
        assert!(matches!(error.reason(), LlmErrorReason::NoRoute { .. }));
    }
    let error = failure(request("http://127.0.0.1:9", |model| {
        model.auth = Auth::Bearer(Secret::new("sk-\n1234"));
    }))
    .await;
    assert_eq!(
        error.to_string(),
        "The header \"authorization\" cannot be sent"
    );
}

#[tokio::test]
async fn secrets_stay_out_of_failures() {
    let body = r#"{"error":{"message":"Incorrect key sk-12345678 and%20more","api_key":"other"}}"#;
    let headers =
        "x-echo: Bearer sk-12345678\r\nset-cookie: session=abc\r\nx-request-id: req_1\r\n";
    let server = Server::start(vec![refuse(401, headers, body)]).await;
    let error = failure(request(&server.base_url, |model| {
        model.auth = Auth::Bearer(Secret::new("sk-12345678"));
        model.headers = vec![("x-custom-token".into(), "and more".into())];
        model.endpoint.query = vec![("key".into(), "query-secret".into())];
    }))
    .await;
    assert_eq!(
        error.to_string(),
        r#"Provider request failed with HTTP 401: {"error":{"message":"Incorrect key <redacted> <redacted>","api_key":"<redacted>"}}"#
    );
    let http = error.http().unwrap();
    assert_eq!(http.request_id.as_deref(), Some("req_1"));
    assert!(http.url.ends_with("/v1/chat/completions?key=<redacted>"));
    let shown = format!("{error:?}");
    for secret in [
        "sk-12345678",
        "and more",
        "and%20more",
        "query-secret",
        "session=abc",
        "other",
    ] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }

    let echo = ok("data: {\"error\":{\"message\":\"bad key sk-12345678\"}}\n\n");
    let server = Server::start(vec![echo]).await;
    let request = request(&server.base_url, |model| {
        model.auth = Auth::Bearer(Secret::new("sk-12345678"))
    });
    assert!(!format!("{:?}", request.model).contains("sk-12345678"));
    let (events, _) = outcome(request).await;
    assert!(
        matches!(events.last(), Some(LlmEvent::ProviderError { message, .. }) if message == "bad key <redacted>")
    );
}

#[tokio::test]
async fn an_error_body_is_read_as_far_as_it_is_kept() {
    // The server never ends the body; a client that waited for its end would hang.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 400 No\r\n\r\n").await;
        while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
    });
    let error = failure(request(&base_url, |_| {})).await;
    assert_eq!(error.to_string(), "Provider request failed with HTTP 400");
    let http = error.http().unwrap();
    assert_eq!((http.body.len(), http.body_truncated), (16_384, true));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (closed, noticed) = oneshot::channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(ok(HELLO).as_bytes()).await.unwrap();
        let rest = stream.read(&mut [0; 16]).await;
        let _ = closed.send(matches!(rest, Ok(0) | Err(_)));
    });
    let mut stream = HttpModelClient::new(options()).stream(request(&base_url, |_| {}));
    assert_eq!(stream.next().await.unwrap().unwrap().len(), 3);
    drop(stream);
    assert!(noticed.await.unwrap());
}

#[tokio::test]
async fn each_piece_of_the_body_is_one_batch() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (send, mut pieces) = mpsc::unbounded_channel::<String>();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        while let Some(piece) = pieces.recv().await {
            stream.write_all(piece.as_bytes()).await.unwrap();
        }
    });
    let mut stream = HttpModelClient::new(options()).stream(request(&base_url, |_| {}));
    let write = |piece: &str| send.send(piece.to_owned()).unwrap();
    write(&ok(HELLO));
    assert_eq!(stream.next().await.unwrap().unwrap().len(), 3);
    write(HELLO);
    assert_eq!(stream.next().await.unwrap().unwrap().len(), 1);
    // A comment and a part of a frame produce nothing, so they are no batch.
    write(": ping\n\n");
    let (half, rest) = STOP.split_at(20);
    write(half);
    write(rest);
    write(DONE);
    drop(send);
    assert_eq!(stream.next().await.unwrap().unwrap().len(), 3);
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn configured_time_limits_hold() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", silent.local_addr().unwrap());
    let limit = Some(Duration::from_secs(30));
    let error = failure(request(&base_url, |model| model.timeouts.header = limit)).await;
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(
        error.to_string(),
        "The request to mock/openai-chat timed out"
    );
    let error = failure(request(&base_url, |model| model.timeouts.total = limit)).await;
    assert_eq!(error.kind(), ErrorKind::Timeout);

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(ok(HELLO).as_bytes()).await.unwrap();
        std::future::pending::<()>().await;
    });
    let (events, error) = outcome(request(&base_url, |model| model.timeouts.chunk = limit)).await;
    assert_eq!(events.len(), 3);
    assert_eq!(error.unwrap().kind(), ErrorKind::Timeout);
}
