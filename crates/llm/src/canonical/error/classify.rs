//! The classification of failures by status, body or in-stream error code.

use serde_json::Value;

use super::http::HttpFailure;
use super::rate_limit::retry_after_ms;
use super::report::Report;
use super::{AuthenticationKind, ErrorKind, LlmErrorReason, cause, overflow};

/// The statuses with which providers refuse a request as invalid.
const INVALID_REQUEST: [u16; 5] = [400, 404, 409, 413, 422];

/// The statuses that some servers send for a request that is too large, or for any other invalid request.
const MAY_BE_OVERFLOW: [u16; 3] = [400, 413, 422];

/// Returns the reason of a failed response.
pub(super) fn status_reason(failure: &HttpFailure<'_>, report: &Report) -> LlmErrorReason {
    let status = failure.status;
    let asked = retry_after_ms(failure.response_headers, failure.now);
    if let Some(kind) = told_cause(report, Some(status), asked.is_some()) {
        return match kind {
            ErrorKind::ContextOverflow => refused(failure, true),
            ErrorKind::Quota => LlmErrorReason::QuotaExceeded,
            ErrorKind::ContentPolicy => LlmErrorReason::ContentPolicy,
            _ => LlmErrorReason::Authentication {
                kind: AuthenticationKind::Invalid,
            },
        };
    }
    let retry_after_ms = asked.or(report.wait_ms);
    match status {
        401 => LlmErrorReason::Authentication {
            kind: AuthenticationKind::Invalid,
        },
        403 => LlmErrorReason::Authentication {
            kind: AuthenticationKind::InsufficientPermissions,
        },
        429 => LlmErrorReason::RateLimit { retry_after_ms },
        status if INVALID_REQUEST.contains(&status) => refused(failure, false),
        status if status >= 500 => LlmErrorReason::ProviderInternal {
            status,
            retry_after_ms,
        },
        status => LlmErrorReason::UnknownProvider {
            status: Some(status),
        },
    }
}

fn refused(failure: &HttpFailure<'_>, is_overflow: bool) -> LlmErrorReason {
    // Some servers refuse an oversized request with a status and an empty body.
    let is_bare = matches!(failure.status, 400 | 413) && failure.body.trim().is_empty();
    LlmErrorReason::InvalidRequest {
        parameter: parameter(failure.body),
        context_overflow: is_overflow || is_bare,
    }
}

/// Returns the cause that a report names with its codes and words, whatever the status.
fn told_cause(report: &Report, status: Option<u16>, asks_to_wait: bool) -> Option<ErrorKind> {
    // These statuses exclude an overflow that is told in other words than a code.
    let is_told = matches!(status, Some(401..=403 | 429));
    if overflow::is_labelled(report) {
        Some(ErrorKind::ContextOverflow)
    } else if status == Some(402) || cause::is_quota(report, asks_to_wait) {
        Some(ErrorKind::Quota)
    } else if cause::is_refused_content(report) {
        Some(ErrorKind::ContentPolicy)
    } else if !is_told && overflow::is_told(report) {
        Some(ErrorKind::ContextOverflow)
    } else if status.is_none_or(|status| INVALID_REQUEST.contains(&status))
        && cause::is_wrong_key(report)
    {
        Some(ErrorKind::Auth)
    } else {
        None
    }
}

/// Classifies an error that arrived inside a stream. `code` and `type` come from the provider and
/// may be empty. `code` may be an HTTP status in digits.
#[must_use]
pub fn in_stream_kind(code: &str, error_type: &str, message: &str) -> ErrorKind {
    report_kind(&Report::of_parts(code, error_type, message))
}

/// The report of an error value that arrived inside a stream.
pub struct InStreamReport {
    /// Its kind.
    pub kind: ErrorKind,
    /// The first text for a user.
    pub message: Option<String>,
    /// The window of the model in tokens, if the error names it outside of its text.
    pub window: Option<u64>,
}

impl InStreamReport {
    /// Reads the report of a server.
    pub fn of(error: &Value) -> Self {
        let report = Report::of_value(error);
        Self {
            kind: report_kind(&report),
            message: report.message,
            window: report.window,
        }
    }
}

fn report_kind(report: &Report) -> ErrorKind {
    let status = report.status();
    if let Some(kind) = told_cause(report, status, false) {
        return kind;
    }
    if let Some(status) = status {
        return status_kind(status);
    }
    let has = |words: &[&str]| report.label_words.iter().any(|label| label.has_any(words));
    if has(&["rate limit", "too many requests", "throttl"]) {
        ErrorKind::RateLimit
    } else if has(&["authentication", "api key", "permission", "unauthorized"]) {
        ErrorKind::Auth
    } else if has(&[
        "overloaded",
        "server error",
        "servererror",
        "internal",
        "unavailable",
        "api error",
        "timeout error",
        "deadline",
    ]) {
        ErrorKind::Overloaded
    } else if has(&[
        "invalid request",
        "invalidrequest",
        "not found",
        "badrequest",
        "bad request",
    ]) {
        ErrorKind::InvalidRequest
    } else {
        ErrorKind::Unknown
    }
}

fn status_kind(status: u16) -> ErrorKind {
    match status {
        401 | 403 => ErrorKind::Auth,
        402 => ErrorKind::Quota,
        429 => ErrorKind::RateLimit,
        status if INVALID_REQUEST.contains(&status) => ErrorKind::InvalidRequest,
        status if status >= 500 => ErrorKind::Overloaded,
        _ => ErrorKind::Unknown,
    }
}

/// True if a refusal with this status and kind, whose words are not known, may be one because of the request's size.
/// A failure inside a stream has no status.
pub(super) fn may_be_overflow(kind: ErrorKind, status: Option<u16>) -> bool {
    match (kind, status) {
        (ErrorKind::InvalidRequest, Some(status)) => MAY_BE_OVERFLOW.contains(&status),
        (ErrorKind::InvalidRequest | ErrorKind::Unknown, None) => true,
        _ => false,
    }
}

/// Returns the parameter that an error body in the format of OpenAI names.
fn parameter(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    Some(body.get("error")?.get("param")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::canonical::error::LlmError;

    fn failure(status: u16, body: &str, headers: &[(String, String)]) -> LlmError {
        HttpFailure {
            model: "mock/m",
            method: "POST",
            url: "http://model.test/v1/chat/completions",
            request_headers: &[],
            status,
            response_headers: headers,
            body,
            body_truncated: false,
            now: SystemTime::UNIX_EPOCH,
        }
        .into_error()
    }

    #[test]
    fn every_status_has_one_kind() {
        let rows = [
            (400, ErrorKind::InvalidRequest, false),
            (401, ErrorKind::Auth, false),
            (402, ErrorKind::Quota, false),
            (403, ErrorKind::Auth, false),
            (404, ErrorKind::InvalidRequest, false),
            (408, ErrorKind::Unknown, false),
            (409, ErrorKind::InvalidRequest, false),
            (413, ErrorKind::InvalidRequest, false),
            (422, ErrorKind::InvalidRequest, false),
            (429, ErrorKind::RateLimit, true),
            (500, ErrorKind::Overloaded, true),
            (503, ErrorKind::Overloaded, true),
            (504, ErrorKind::Overloaded, true),
            (529, ErrorKind::Overloaded, true),
        ];
        for (status, kind, retryable) in rows {
            let error = failure(status, "no", &[]);
            assert_eq!(
                (error.kind(), error.retryable()),
                (kind, retryable),
                "{status}"
            );
            assert_eq!(error.status(), Some(status));
            assert_eq!(
                error.to_string(),
                format!("Provider request failed with HTTP {status}: no")
            );
        }
    }

    #[test]
    fn the_body_refines_the_kind_from_the_status() {
        let rows = [
            (
                429,
                r#"{"error":{"code":"insufficient_quota"}}"#,
                ErrorKind::Quota,
            ),
            (429, "Quota exceeded for this project", ErrorKind::Quota),
            (429, "slow down", ErrorKind::RateLimit),
            (
                500,
                r#"{"error":{"code":"content_filter"}}"#,
                ErrorKind::ContentPolicy,
            ),
            (429, "Violates our content policy", ErrorKind::ContentPolicy),
            (400, "blocked by safety settings", ErrorKind::ContentPolicy),
            (
                400,
                "prompt is too long: 9 tokens",
                ErrorKind::ContextOverflow,
            ),
            (400, "", ErrorKind::ContextOverflow),
            (413, " \n", ErrorKind::ContextOverflow),
            (404, "", ErrorKind::InvalidRequest),
            (500, "prompt is too long", ErrorKind::ContextOverflow),
            (500, "Internal Server Error", ErrorKind::Overloaded),
            (402, "", ErrorKind::Quota),
        ];
        for (status, body, kind) in rows {
            assert_eq!(failure(status, body, &[]).kind(), kind, "{status} {body}");
        }
    }

    #[test]
    fn the_message_shows_short_bodies_only() {
        let short = "x".repeat(500);
        assert_eq!(
            failure(500, &short, &[]).to_string(),
            format!("Provider request failed with HTTP 500: {short}")
        );
        assert_eq!(
            failure(500, &"x".repeat(501), &[]).to_string(),
            "Provider request failed with HTTP 500"
        );
        assert_eq!(
            failure(401, "", &[]).to_string(),
            "Provider request failed with HTTP 401"
        );
    }

    #[test]
    fn the_error_keeps_a_bounded_body_and_the_request_id() {
        let headers = [
            ("cf-ray".to_owned(), "ray".to_owned()),
            ("request-id".to_owned(), "req_1".to_owned()),
            ("retry-after".to_owned(), "3".to_owned()),
        ];
        let error = failure(429, &"ü".repeat(20_000), &headers);
        let http = error.http().unwrap();
        assert_eq!(http.request_id.as_deref(), Some("req_1"));
        assert_eq!(http.body.chars().count(), 16_384);
        assert!(http.body_truncated);
        assert_eq!(error.retry_after_ms(), Some(3000));
    }

    #[test]
    fn an_invalid_request_names_the_rejected_parameter() {
        let error = failure(400, r#"{"error":{"message":"no","param":"tools"}}"#, &[]);
        assert_eq!(
            *error.reason(),
            LlmErrorReason::InvalidRequest {
                parameter: Some("tools".into()),
                context_overflow: false
            }
        );
    }

    #[test]
    fn errors_inside_a_stream_have_kinds() {
        let rows = [
            (
                "context_length_exceeded",
                "",
                "no",
                ErrorKind::ContextOverflow,
            ),
            ("", "", "prompt is too long", ErrorKind::ContextOverflow),
            ("", "request_too_large", "no", ErrorKind::ContextOverflow),
            (
                "rate_limit_exceeded",
                "tokens",
                "Request too large: 40000 tokens per minute",
                ErrorKind::RateLimit,
            ),
            ("insufficient_quota", "", "", ErrorKind::Quota),
            ("rate_limit_exceeded", "", "", ErrorKind::RateLimit),
            ("429", "", "", ErrorKind::RateLimit),
            (
                "429",
                "",
                "Too many tokens, please wait before trying again.",
                ErrorKind::RateLimit,
            ),
            (
                "429",
                "",
                "Quota exceeded: token limit exceeded",
                ErrorKind::Quota,
            ),
            ("402", "", "Token limit exceeded", ErrorKind::Quota),
            ("400", "", "input is too long", ErrorKind::ContextOverflow),
            ("500", "", "prompt is too long", ErrorKind::ContextOverflow),
            ("502", "", "bad gateway", ErrorKind::Overloaded),
            ("", "overloaded_error", "", ErrorKind::Overloaded),
            ("", "timeout_error", "", ErrorKind::Overloaded),
            ("context_deadline_exceeded", "", "", ErrorKind::Overloaded),
            ("", "request_too_large", "", ErrorKind::ContextOverflow),
            ("", "server_error", "boom", ErrorKind::Overloaded),
            ("invalid_api_key", "", "", ErrorKind::Auth),
            ("400", "BadRequestError", "", ErrorKind::InvalidRequest),
            ("", "invalid_request_error", "", ErrorKind::InvalidRequest),
            ("content_filter", "", "", ErrorKind::ContentPolicy),
            ("", "", "boom", ErrorKind::Unknown),
        ];
        for (code, error_type, message, kind) in rows {
            assert_eq!(
                in_stream_kind(code, error_type, message),
                kind,
                "{code} {error_type}"
            );
        }
    }
}
