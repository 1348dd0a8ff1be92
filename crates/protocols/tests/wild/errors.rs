//! Responses that refuse a request.

use std::collections::BTreeMap;
use std::time::SystemTime;

use opencode_llm::error::HttpFailure;
use serde_json::Value;

use super::corpus::check_each;

/// A file: a response, and what it must mean.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusal {
    #[expect(dead_code, reason = "checked for every kind of file")]
    about: Value,
    #[expect(dead_code, reason = "checked for every kind of file")]
    reported: Value,
    #[serde(default = "usual_address")]
    url: String,
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// A text is sent as it is.
    body: Value,
    kind: String,
    /// True if the request is repeated.
    repeated: Option<bool>,
    /// The window of the model in tokens that the body names.
    window: Option<u64>,
}

fn usual_address() -> String {
    "http://localhost:1/v1/chat/completions".to_owned()
}

#[test]
fn refusals() {
    check_each("errors", |it: Refusal| {
        let headers: Vec<(String, String)> = it.headers.into_iter().collect();
        let body = match &it.body {
            Value::String(text) => text.clone(),
            body => body.to_string(),
        };
        let failure = HttpFailure {
            model: "mock/m1",
            method: "POST",
            url: &it.url,
            request_headers: &[],
            status: it.status,
            response_headers: &headers,
            body: &body,
            body_truncated: false,
            now: SystemTime::UNIX_EPOCH,
        };
        let error = failure.into_error();
        let kind = error.kind().as_str();
        if kind != it.kind {
            return Err(format!("expected {}, but it is {kind}", it.kind));
        }
        if error.told_window() != it.window {
            return Err(format!("the window is {:?}", error.told_window()));
        }
        match it.repeated {
            Some(expected) if expected != error.retryable() => {
                Err(format!("expected \"repeated\": {expected}"))
            }
            _ => Ok(()),
        }
    });
}
