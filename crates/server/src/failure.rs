//! Every failure of the runtime on the status and body that the protocol declares for it.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use opencode_protocol::failure::Failure;
use opencode_runtime::RuntimeError;
use serde::Serialize;

/// The one place where a runtime failure becomes a wire failure.
pub(crate) fn failure(error: RuntimeError) -> Failure {
    let message = error.to_string();
    match error {
        RuntimeError::SessionNotFound(id) => Failure::session_not_found(id),
        RuntimeError::MessageNotFound {
            session_id,
            message_id,
        } => Failure::message_not_found(session_id, message_id),
        RuntimeError::PromptConflict(id) => Failure::Conflict {
            message,
            resource: Some(id.to_string()),
        },
        RuntimeError::UnfitId(_) => Failure::invalid_field("id", message),
        RuntimeError::Location(_) => Failure::invalid_field("location.directory", message),
        RuntimeError::Store(opencode_runtime::StoreError::Poisoned(_)) => {
            Failure::StorePoisoned { message }
        }
        RuntimeError::Closed | RuntimeError::Store(opencode_runtime::StoreError::Closed) => {
            Failure::ServiceUnavailable {
                message,
                service: None,
            }
        }
        RuntimeError::Store(_) => unknown(&message),
    }
}

/// A failure nobody expected: the log has the details under the reference that the caller gets.
pub(crate) fn unknown(details: &str) -> Failure {
    let reference = format!("err_{:08x}", random());
    tracing::error!(reference, details, "unexpected failure");
    let message = format!("Unexpected failure; the log has the details under {reference}");
    Failure::Unknown {
        message,
        reference: Some(reference),
    }
}

/// Hasher keys are random per process and per call, which is all that a log reference needs.
fn random() -> u32 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish() as u32
}

pub(crate) fn refuse(failure: &Failure) -> Response<Body> {
    let status = failure
        .status()
        .and_then(|status| StatusCode::from_u16(status).ok());
    json(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), failure)
}

/// A JSON answer.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    match serde_json::to_string(body) {
        Ok(text) => json_text(status, text),
        Err(error) => refuse(&unknown(&error.to_string())),
    }
}

/// A JSON answer whose text is there already.
pub(crate) fn json_text(status: StatusCode, text: String) -> Response<Body> {
    let mut response = (status, text).into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    response
}
