//! Properties of a refusal: its headers, which may contain a wait, and its body.

use std::time::{Duration, SystemTime};

use opencode_llm::error::HttpFailure;

/// Upper limit for the message of a failure, in characters.
const MAX_MESSAGE: usize = 5_000;

/// Checks an input. Its first line is the status, the lines up to an empty one are headers, and the
/// rest is the body.
pub(crate) fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.parse().ok());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let failure = HttpFailure {
        model: "fuzz/model",
        method: "POST",
        url: "http://127.0.0.1/v1?key=hidden-value",
        request_headers: &[],
        status: status.unwrap_or(429),
        response_headers: &headers,
        body,
        body_truncated: false,
        now: SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000),
    };
    let error = failure.into_error();
    assert!(error.to_string().chars().count() < MAX_MESSAGE, "{error:?}");
    assert!(!format!("{error:?}").contains("hidden-value"), "{error:?}");
}
