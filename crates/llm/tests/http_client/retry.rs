//! Refusals, and asking again.

use opencode_llm::ErrorKind;

use super::server::{Server, ok, refuse};
use super::*;

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
