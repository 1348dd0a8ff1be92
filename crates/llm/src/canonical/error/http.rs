//! Failures that arrive as an HTTP response.

use std::time::SystemTime;

use url::Url;

use super::rate_limit::RateLimits;
use super::report::Report;
use super::{CONTEXT_CHARS, LlmError, bounded, classify, is_page, page_message, place};
use opencode_secrets::{Redactor, Secrets};

/// Maximum length, in characters, of a body that the message shows. Longer bodies are usually HTML pages.
const SHOWN_CHARS: usize = 500;

/// Headers in which providers send the identifier of a request, in order of preference.
const REQUEST_ID_HEADERS: [&str; 6] = [
    "x-request-id",
    "request-id",
    "x-amzn-requestid",
    "x-amz-request-id",
    "x-goog-request-id",
    "cf-ray",
];

/// The raw data of a failed exchange. [`HttpFailure::into_error`] classifies it.
#[derive(Clone, Debug)]
pub struct HttpFailure<'a> {
    /// Provider and model in the catalogue, as `provider/model`.
    pub model: &'a str,
    /// The method.
    pub method: &'a str,
    /// The address with its query.
    pub url: &'a str,
    /// Request headers as sent.
    pub request_headers: &'a [(String, String)],
    /// The status.
    pub status: u16,
    /// Response headers as received, with names in lower case.
    pub response_headers: &'a [(String, String)],
    /// The part of the body that was read.
    pub body: &'a str,
    /// True if the body was longer.
    pub body_truncated: bool,
    /// The current time, for a `retry-after` that is a date.
    pub now: SystemTime,
}

/// The stored data of a failed exchange. Secrets are redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpContext {
    /// The method.
    pub method: String,
    /// The address.
    pub url: String,
    /// Request headers as sent.
    pub request_headers: Vec<(String, String)>,
    /// The status.
    pub status: u16,
    /// Response headers as received.
    pub response_headers: Vec<(String, String)>,
    /// The beginning of the body.
    pub body: String,
    /// True if the body was longer.
    pub body_truncated: bool,
    /// The identifier that the provider assigned to the request.
    pub request_id: Option<String>,
    /// The rate limits that the provider announced.
    pub rate_limits: RateLimits,
}

impl HttpFailure<'_> {
    /// Classifies the response and keeps the data that the user needs.
    #[must_use]
    pub fn into_error(self) -> LlmError {
        let mut secrets = Secrets::default();
        for (name, value) in self.request_headers {
            secrets.learn_header(name, value);
        }
        secrets.learn_url(self.url);
        secrets.learn_path(self.url, self.model);
        let redactor = secrets.of_failures();
        let body = redactor.text(self.body);
        let report = Report::of_body(self.body);
        let reason = classify::status_reason(&self, &report);
        let error = LlmError::new(reason, "");
        // A proxy sends a page for a request that is too large. Its address is right.
        let page = self.page().filter(|_| !error.is_context_overflow());
        let told = report.message.filter(|_| is_structured(self.body));
        let message = page.unwrap_or_else(|| {
            status_message(self.status, &body, told.as_deref(), self.body_truncated)
        });
        error
            .with_message(redactor.text(&message))
            .with_http(self.context(&redactor, &body))
    }

    /// Returns the message about an HTML page if the body is one. The message does not contain the page.
    fn page(&self) -> Option<String> {
        let url = Url::parse(self.url).ok()?;
        let page = is_page(self.header("content-type"), self.body.as_bytes());
        page.then(|| page_message(&place(self.model, &url), self.status))
    }

    fn context(&self, redactor: &Redactor, body: &str) -> HttpContext {
        let longer = body.chars().nth(CONTEXT_CHARS).is_some();
        HttpContext {
            method: self.method.to_owned(),
            url: redactor.url(self.url),
            request_headers: redactor.headers(self.request_headers),
            status: self.status,
            response_headers: redactor.headers(self.response_headers),
            body: bounded(body),
            body_truncated: self.body_truncated || longer,
            request_id: REQUEST_ID_HEADERS
                .iter()
                .find_map(|name| self.header(name))
                .map(|id| redactor.text(id)),
            rate_limits: RateLimits::from_headers(&redactor.headers(self.response_headers)),
        }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        find_header(self.response_headers, name)
    }
}

/// Returns a message with the status and the whole body, if that is short. Otherwise it contains the text of the body
/// for a user, `told`.
fn status_message(status: u16, body: &str, told: Option<&str>, truncated: bool) -> String {
    let body = body.trim();
    let is_short = !truncated && body.chars().nth(SHOWN_CHARS).is_none();
    let shown = if is_short && !body.starts_with('<') {
        body
    } else {
        told.unwrap_or_default()
    };
    let shown: String = shown.chars().take(SHOWN_CHARS).collect();
    if shown.is_empty() {
        return format!("Provider request failed with HTTP {status}");
    }
    format!("Provider request failed with HTTP {status}: {shown}")
}

/// True if a body separates its text for a user from the rest.
fn is_structured(body: &str) -> bool {
    body.trim_start().starts_with(['{', '[', '<'])
}

/// Returns the first header with this name, ignoring case.
pub(super) fn find_header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}
