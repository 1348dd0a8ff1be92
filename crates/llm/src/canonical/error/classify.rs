//! The classification of failures by status, body or in-stream error code.

use serde_json::Value;

use super::http::HttpFailure;
use super::overflow::is_overflow_text;
use super::rate_limit::retry_after_ms;
use super::{AuthenticationKind, ErrorKind, LlmErrorReason};

/// The statuses with which providers refuse a request as invalid.
const INVALID_REQUEST: [u16; 5] = [400, 404, 409, 413, 422];

/// Returns the reason of a failed response.
pub(super) fn status_reason(failure: &HttpFailure<'_>) -> LlmErrorReason {
    let body = failure.body.to_lowercase();
    let retry_after_ms = || retry_after_ms(failure.response_headers, failure.now);
    // Providers refuse content with any status, even one that otherwise permits a retry.
    if names_content_policy(&body) {
        return LlmErrorReason::ContentPolicy;
    }
    match failure.status {
        401 => LlmErrorReason::Authentication {
            kind: AuthenticationKind::Invalid,
        },
        403 => LlmErrorReason::Authentication {
            kind: AuthenticationKind::InsufficientPermissions,
        },
        429 if names_exhausted_quota(&body) => LlmErrorReason::QuotaExceeded,
        429 => LlmErrorReason::RateLimit {
            retry_after_ms: retry_after_ms(),
        },
        status if INVALID_REQUEST.contains(&status) => LlmErrorReason::InvalidRequest {
            parameter: parameter(failure.body),
            context_overflow: is_overflow_body(status, failure.body),
        },
        status if status >= 500 => LlmErrorReason::ProviderInternal {
            status,
            retry_after_ms: retry_after_ms(),
        },
        status => LlmErrorReason::UnknownProvider {
            status: Some(status),
        },
    }
}

/// Classifies an error that arrived inside a stream. `code` and `type` come from the provider and
/// may be empty. `code` may be an HTTP status in digits.
#[must_use]
pub fn in_stream_kind(code: &str, error_type: &str, message: &str) -> ErrorKind {
    let label = format!("{code} {error_type}").to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| label.contains(word));
    let everything = format!("{label} {}", message.to_lowercase());
    let status = code.parse::<u16>().ok();
    // Code, type and message may each indicate an overflow. These statuses already exclude it.
    let is_told = matches!(status, Some(401..=403 | 429));
    if !is_told && is_overflow_text(&everything) {
        return ErrorKind::ContextOverflow;
    }
    if names_content_policy(&everything) {
        return ErrorKind::ContentPolicy;
    }
    if names_exhausted_quota(&everything) {
        return ErrorKind::Quota;
    }
    if let Some(status) = status {
        return status_kind(status);
    }
    if has(&["rate_limit", "too_many_requests", "throttl"]) {
        ErrorKind::RateLimit
    } else if has(&["authentication", "api_key", "permission", "unauthorized"]) {
        ErrorKind::Auth
    } else if has(&[
        "overloaded",
        "server_error",
        "internal",
        "unavailable",
        "api_error",
        "timeout_error",
    ]) {
        ErrorKind::Overloaded
    } else if has(&["invalid_request", "not_found", "badrequest", "bad_request"]) {
        ErrorKind::InvalidRequest
    } else {
        ErrorKind::Unknown
    }
}

fn status_kind(status: u16) -> ErrorKind {
    match status {
        401 | 403 => ErrorKind::Auth,
        429 => ErrorKind::RateLimit,
        status if INVALID_REQUEST.contains(&status) => ErrorKind::InvalidRequest,
        status if status >= 500 => ErrorKind::Overloaded,
        _ => ErrorKind::Unknown,
    }
}

/// Some servers refuse an oversized request with a status and an empty body.
fn is_overflow_body(status: u16, body: &str) -> bool {
    let bare = matches!(status, 400 | 413) && body.trim().is_empty();
    bare || is_overflow_text(body)
}

fn names_content_policy(lower: &str) -> bool {
    contains_words(lower, "content", "policy")
        || contains_words(lower, "content", "filter")
        || lower.contains("safety")
}

fn names_exhausted_quota(lower: &str) -> bool {
    contains_words(lower, "insufficient", "quota") || contains_words(lower, "quota", "exceeded")
}

/// True if the two words follow each other, joined directly or by one space, hyphen or underscore.
fn contains_words(lower: &str, first: &str, second: &str) -> bool {
    lower.match_indices(first).any(|(at, _)| {
        let rest = &lower[at + first.len()..];
        rest.strip_prefix(['-', '_', ' '])
            .unwrap_or(rest)
            .starts_with(second)
    })
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
            (402, ErrorKind::Unknown, false),
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
            (500, "prompt is too long", ErrorKind::Overloaded),
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
            ("402", "", "Token limit exceeded", ErrorKind::Unknown),
            ("400", "", "input is too long", ErrorKind::ContextOverflow),
            ("500", "", "prompt is too long", ErrorKind::ContextOverflow),
            ("502", "", "bad gateway", ErrorKind::Overloaded),
            ("", "overloaded_error", "", ErrorKind::Overloaded),
            ("", "timeout_error", "", ErrorKind::Overloaded),
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
