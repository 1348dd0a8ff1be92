//! Refusals. The client sends one request each; the runtime decides on retries.

use opencode_llm::ErrorKind;

use super::server::{Server, refuse};
use super::*;

#[tokio::test]
async fn a_refusal_contains_the_time_of_the_retry() {
    let date = "retry-after: Thu, 01 Jan 1970 00:00:03 GMT\r\n";
    let rows = [
        ("", None),
        ("retry-after: 3600\r\n", Some(3_600_000)),
        ("retry-after-ms: 120\r\nretry-after: 9\r\n", Some(120)),
        (date, Some(3000)),
    ];
    for (headers, millis) in rows {
        for status in [429, 503, 529] {
            let server = Server::start(vec![refuse(status, headers, "")]).await;
            let error = failure(request(&server.base_url, |_| {})).await;
            assert!(error.retryable());
            assert_eq!(error.retry_after_ms(), millis, "{status} {headers}");
        }
    }
}

#[tokio::test]
async fn a_refused_request_is_sent_once() {
    let policy = r#"{"error":{"message":"content policy"}}"#;
    let rows = [
        (429, "slow down", ErrorKind::RateLimit),
        (500, "boom", ErrorKind::Overloaded),
        (429, "insufficient_quota", ErrorKind::Quota),
        (500, policy, ErrorKind::ContentPolicy),
        (302, "", ErrorKind::Unknown),
        (400, "no", ErrorKind::InvalidRequest),
        (401, "no", ErrorKind::Auth),
        (403, "no", ErrorKind::Auth),
        (404, "no", ErrorKind::InvalidRequest),
        (409, "no", ErrorKind::InvalidRequest),
        (413, "", ErrorKind::ContextOverflow),
        (422, "no", ErrorKind::InvalidRequest),
    ];
    for (status, body, kind) in rows {
        let location = "location: http://127.0.0.1:9/\r\n";
        let server = Server::start(vec![refuse(status, location, body)]).await;
        let error = failure(request(&server.base_url, |_| {})).await;
        assert_eq!((error.kind(), error.status()), (kind, Some(status)));
        assert_eq!(server.requests(), 1, "{status} {body}");
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
