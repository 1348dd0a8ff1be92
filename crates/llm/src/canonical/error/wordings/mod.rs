//! Wordings of providers: what each means with any status, in any form of the body, and inside of a stream.

mod causes;
mod sizes;

use std::time::SystemTime;

use serde_json::{Value, json};

use self::causes::{rate_limited, refused_content, used_up};
use self::sizes::{OTHERS, OVERFLOWS, PARAMETERS};
use super::{ErrorKind, HttpFailure, InStreamReport, LlmError, is_overflow_text, window_in};

fn failure(status: u16, body: &str) -> LlmError {
    HttpFailure {
        model: "mock/m",
        method: "POST",
        url: "http://model.test/v1/chat/completions",
        request_headers: &[],
        status,
        response_headers: &[],
        body,
        body_truncated: false,
        now: SystemTime::UNIX_EPOCH,
    }
    .into_error()
}

/// The forms in which servers send a text.
fn bodies(text: &str) -> Vec<String> {
    let error = json!({"error": {"message": text, "type": "invalid_request_error", "code": 400}});
    [
        error.clone(),
        json!({"error": text}),
        json!({"message": text, "object": "error", "type": "BadRequestError"}),
        json!({"detail": text}),
        json!({"detail": [{"msg": text}]}),
        json!([error]),
        json!({"errors": [{"message": text}], "success": false}),
        json!({"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": error.to_string()}}}),
        json!({"error": {"message": format!("litellm.BadRequestError: {error}")}}),
    ]
    .iter()
    .map(Value::to_string)
    .chain([
        text.to_owned(),
        format!("<html><head><title>{}</title></head></html>", text.replace('<', "&lt;").replace('>', "&gt;")),
    ])
    .collect()
}

#[test]
fn a_request_that_is_too_large_is_recognised_in_every_form() {
    for (text, _) in OVERFLOWS {
        for body in bodies(text) {
            let kind = failure(400, &body).kind();
            assert_eq!(kind, ErrorKind::ContextOverflow, "{body}");
            if let Ok(value) = serde_json::from_str(&body) {
                let kind = InStreamReport::of(&value).kind;
                assert_eq!(kind, ErrorKind::ContextOverflow, "{body}");
            }
        }
        let error = json!({"error": {"message": text}}).to_string();
        for status in [404, 413, 422, 500] {
            let kind = failure(status, &error).kind();
            assert_eq!(kind, ErrorKind::ContextOverflow, "{status} {text}");
        }
    }
}

#[test]
fn the_window_is_read_where_a_text_names_it() {
    let read = |(text, _): &(&'static str, _)| (*text, window_in(text));
    let found: Vec<_> = OVERFLOWS.iter().map(read).collect();
    assert_eq!(found, OVERFLOWS);
    for (text, window) in OVERFLOWS {
        let error = json!({"error": {"message": text}}).to_string();
        assert_eq!(failure(400, &error).told_window(), window, "{text}");
    }
}

#[test]
fn other_texts_about_sizes_are_no_overflow() {
    for text in OTHERS {
        assert!(!is_overflow_text(text), "{text}");
        for body in bodies(text).into_iter().filter(|body| !body.is_empty()) {
            for status in [400, 413, 422, 429, 500] {
                let kind = failure(status, &body).kind();
                assert_ne!(kind, ErrorKind::ContextOverflow, "{status} {body}");
            }
        }
    }
    for (text, _) in OVERFLOWS {
        let told = json!({"error": {"message": text, "code": "rate_limit_exceeded"}}).to_string();
        let is_labelled = failure(429, text).kind() == ErrorKind::ContextOverflow;
        let is_sentence = text.contains(' ');
        assert!(!(is_labelled && is_sentence), "{text}");
        assert!(!is_overflow_text(&told) || text.contains("Error"), "{text}");
    }
}

#[test]
fn the_refusal_of_one_parameter_is_no_overflow_and_names_no_window() {
    for text in PARAMETERS {
        assert_eq!(window_in(text), None, "{text}");
        for body in bodies(text) {
            let error = failure(400, &body);
            let found = (error.kind(), error.told_window());
            assert_eq!(found, (ErrorKind::InvalidRequest, None), "{body}");
        }
    }
}

#[test]
fn codes_alone_mean_an_overflow() {
    for (code, error_type) in [
        ("1261", ""),
        ("", "exceed_context_size_error"),
        ("tokens_limit_reached", ""),
        ("", "request_too_large"),
        ("", "context_exceeded"),
        ("", "ContextWindowExceededError"),
    ] {
        let error = json!({"error": {"code": code, "type": error_type, "message": "no"}});
        assert_eq!(InStreamReport::of(&error).kind, ErrorKind::ContextOverflow);
        for status in [400, 413, 422, 500] {
            let kind = failure(status, &error.to_string()).kind();
            assert_eq!(kind, ErrorKind::ContextOverflow, "{status} {error}");
        }
    }
    let told =
        json!({"error": {"type": "exceed_context_size_error", "message": "no", "n_ctx": 8192}});
    assert_eq!(failure(400, &told.to_string()).told_window(), Some(8192));
}

#[test]
fn an_account_without_credit_is_a_quota_with_every_status() {
    for body in used_up() {
        let text = body.to_string();
        for status in [400, 401, 402, 403, 412, 429, 500] {
            let error = failure(status, &text);
            assert_eq!(
                (error.kind(), error.retryable()),
                (ErrorKind::Quota, false),
                "{status} {text}"
            );
        }
        assert_eq!(InStreamReport::of(&body).kind, ErrorKind::Quota, "{text}");
    }
    for body in ["", "no", r#"{"error":{"message":"Token limit exceeded"}}"#] {
        assert_eq!(failure(402, body).kind(), ErrorKind::Quota, "{body}");
    }
}

#[test]
fn a_limit_that_ends_soon_is_repeated() {
    for body in rate_limited() {
        let error = failure(429, &body.to_string());
        assert_eq!(
            (error.kind(), error.retryable()),
            (ErrorKind::RateLimit, true),
            "{body}"
        );
    }
    let body = r#"[{"error":{"code":429,"details":[{"retryDelay":"20.5s"}]}}]"#;
    assert_eq!(failure(429, body).retry_after_ms(), Some(20_500));
}

#[test]
fn refused_content_has_its_kind_with_every_status() {
    for body in refused_content() {
        for status in [400, 403, 422, 429, 500] {
            let kind = failure(status, &body.to_string()).kind();
            assert_eq!(kind, ErrorKind::ContentPolicy, "{status} {body}");
        }
        assert_eq!(
            InStreamReport::of(&body).kind,
            ErrorKind::ContentPolicy,
            "{body}"
        );
    }
    let named = json!({"error": {"message": "Unknown parameter: 'safety_identifier'"}});
    assert_eq!(
        failure(400, &named.to_string()).kind(),
        ErrorKind::InvalidRequest
    );
}

#[test]
fn a_wrong_key_is_told_with_status_400_too() {
    for body in [
        json!({"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}),
        json!({"code": "x", "error": "Incorrect API key provided: xx."}),
        json!({"error": {"type": "authentication_error", "message": "invalid x-api-key"}}),
    ] {
        assert_eq!(
            failure(400, &body.to_string()).kind(),
            ErrorKind::Auth,
            "{body}"
        );
        assert_eq!(InStreamReport::of(&body).kind, ErrorKind::Auth, "{body}");
    }
    let missing =
        r#"{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}"#;
    for status in [400, 404] {
        assert_eq!(failure(status, missing).kind(), ErrorKind::InvalidRequest);
    }
}

#[test]
fn the_name_of_a_thing_decides_about_no_cause() {
    for text in [
        "Invalid schema for function 'get_usage_limit': schema must be a JSON Schema of 'type: \"object\"'.",
        "Invalid schema for function 'list_moderation_rules': In context=(), 'required' is missing.",
        "Invalid schema for tool get_daily_quota: no",
        "Invalid schema for response_format 'usage_limit': 'additionalProperties' is required.",
        "The model `free-daily-quota` does not exist or you do not have access to it.",
        "The guardrail identifier or version provided in the request does not exist.",
    ] {
        for body in bodies(text) {
            let kind = failure(400, &body).kind();
            assert_eq!(kind, ErrorKind::InvalidRequest, "{body}");
        }
    }
    let told = "Invalid schema for function 'read'. The prompt was flagged.";
    assert_eq!(failure(400, told).kind(), ErrorKind::ContentPolicy);
}

#[test]
fn the_message_has_the_words_of_a_long_body() {
    let body = json!({"error": {"message": "The reason", "details": "x".repeat(2_000)}});
    assert_eq!(
        failure(400, &body.to_string()).to_string(),
        "Provider request failed with HTTP 400: The reason"
    );
    let page =
        "<html><head><title>413 Request Entity Too Large</title></head><body>nginx</body></html>";
    let message = failure(413, page).to_string();
    assert!(
        message.starts_with("Provider request failed with HTTP 413: "),
        "{message}"
    );
    assert!(message.contains("Request Entity Too Large"), "{message}");
}
