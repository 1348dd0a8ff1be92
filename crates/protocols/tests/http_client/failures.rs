//! Failing exchanges.

use std::time::Duration;

use opencode_llm::{Auth, ErrorKind, LlmErrorReason};
use opencode_secrets::Secret;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use super::server::{Server, ok, read_request, refuse};
use super::*;

#[tokio::test]
async fn a_cut_body_names_the_route_and_keeps_earlier_events() {
    let cut =
        format!("HTTP/1.1 200 OK\r\ncontent-length: 9999\r\nconnection: close\r\n\r\n{HELLO}");
    let server = Server::start(vec![cut]).await;
    let (events, error) = outcome(request(&server.base_url, |_| {})).await;
    assert_eq!(events.len(), 3);
    let error = error.unwrap();
    let place = place(&server.base_url);
    let said = format!("{place} broke its answer off: ");
    assert!(error.to_string().starts_with(&said), "{error}");
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
async fn a_body_that_ends_early_is_a_separate_failure() {
    let server = Server::start(vec![ok(HELLO)]).await;
    let (events, error) = outcome(request(&server.base_url, |_| {})).await;
    assert_eq!(events.len(), 3);
    assert_eq!(
        error.unwrap().to_string(),
        "The mock/openai-chat stream ended before a finish event"
    );
}

/// The model and its address as failures show them.
fn place(base_url: &str) -> String {
    format!(
        "mock/m1 at {}/chat/completions",
        base_url.trim_end_matches('/')
    )
}

#[tokio::test]
async fn a_page_instead_of_a_stream_is_reported_as_a_page() {
    let typed = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\nWelcome";
    let untyped = ok(" <!DOCTYPE html>\n<html><body>Welcome</body></html>");
    let missing = refuse(404, "", "<html><body>Not here</body></html>");
    for (answer, status) in [(typed.to_owned(), 200), (untyped, 200), (missing, 404)] {
        let server = Server::start(vec![answer]).await;
        let error = failure(request(&server.base_url, |model| {
            model.endpoint.query = vec![("key".into(), "query-secret".into())];
        }))
        .await;
        let place = place(&server.base_url);
        assert_eq!(
            error.to_string(),
            format!(
                "{place} answered with an HTML page (status {status}) instead of a stream: is the baseURL right?"
            )
        );
    }
}

#[tokio::test]
async fn a_stream_with_the_content_type_of_a_page_is_read() {
    let typed = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\n\r\n{HELLO}data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\n"
    );
    let server = Server::start(vec![typed]).await;
    let (events, error) = outcome(request(&server.base_url, |_| {})).await;
    assert!(error.is_none(), "{error:?}");
    assert!(matches!(events.last(), Some(LlmEvent::Finish { .. })));
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
    let address = listener.local_addr().unwrap();
    drop(listener);
    let base_url = format!("http://user:sk-1234@{address}/v1");
    let error = failure(request(&base_url, |model| {
        model.endpoint.query = vec![("api_key".into(), "sk-1234".into())];
        model.auth = Auth::Bearer(Secret::new("sk-1234"));
    }))
    .await;
    assert_eq!(error.kind(), ErrorKind::Transport);
    let place = place(&format!("http://{address}/v1"));
    #[cfg(unix)]
    assert_eq!(
        error.to_string(),
        format!("{place} cannot be reached: connection refused")
    );
    assert!(error.to_string().starts_with(&place), "{error}");
    assert!(!error.retryable());
    assert!(!format!("{error:?}").contains("sk-1234"));
}

#[tokio::test]
async fn an_encrypted_address_with_a_plain_answer_fails() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("https://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.write_all(ok(HELLO).as_bytes()).await;
    });
    let error = failure(request(&base_url, |_| {})).await;
    assert_eq!(error.kind(), ErrorKind::Transport, "{error}");
}

#[tokio::test]
async fn invalid_addresses_and_headers_are_refused_before_any_traffic() {
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
async fn failures_contain_no_secrets() {
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
        model.auth = Auth::Bearer(Secret::new("sk-12345678"));
    });
    assert!(!format!("{:?}", request.model).contains("sk-12345678"));
    let (events, _) = outcome(request).await;
    assert!(
        matches!(events.last(), Some(LlmEvent::ProviderError { message, .. }) if message == "bad key <redacted>")
    );
}

#[tokio::test]
async fn an_error_body_is_read_up_to_the_kept_length() {
    // The server never ends the body. A client that waited for its end would hang.
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

#[tokio::test(start_paused = true)]
async fn configured_time_limits_apply() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", silent.local_addr().unwrap());
    let limit = Some(Duration::from_secs(30));
    let error = failure(request(&base_url, |model| model.timeouts.header = limit)).await;
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(
        error.to_string(),
        format!("{} did not answer in time", place(&base_url))
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
