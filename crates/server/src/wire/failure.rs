//! Every failure of the runtime on the status and body that the protocol declares for it.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use opencode_protocol::failure::Failure;
use opencode_protocol::operation::Channel;
use opencode_runtime::pty::TerminalError;
use opencode_runtime::{ImportError, RuntimeError, StoreError};
use opencode_schema::id::SessionID;
use serde::Serialize;

/// Returns the wire failure of a runtime failure. No other code makes this conversion.
pub fn failure(error: RuntimeError) -> Failure {
    let message = error.to_string();
    match error {
        RuntimeError::SessionNotFound(id) => Failure::session_not_found(id),
        RuntimeError::MessageNotFound {
            session_id,
            message_id,
        } => Failure::message_not_found(session_id, message_id),
        RuntimeError::PartNotFound { .. } => Failure::invalid_field("partID", message),
        RuntimeError::Snapshot(_) => Failure::ServiceUnavailable {
            message,
            service: Some("snapshots".into()),
        },
        RuntimeError::InputNotFound {
            session_id,
            message_id,
        } => Failure::InputNotFound {
            session_id,
            message_id,
            message,
        },
        RuntimeError::PromptConflict(id) | RuntimeError::InputPromoted(id) => Failure::Conflict {
            message,
            resource: Some(id.to_string()),
        },
        RuntimeError::PermissionNotFound(request_id) => Failure::PermissionNotFound {
            request_id,
            message,
        },
        RuntimeError::PermissionConflict(id) => Failure::Conflict {
            message,
            resource: Some(id.to_string()),
        },
        RuntimeError::QuestionNotFound(request_id) => Failure::QuestionNotFound {
            request_id,
            message,
        },
        RuntimeError::RequestTooLarge { .. } => Failure::InvalidRequest {
            message,
            kind: Some(Channel::Payload),
            field: None,
        },
        RuntimeError::Backlog {
            session_id,
            pending,
            limit,
        } => Failure::SessionBacklog {
            session_id,
            pending,
            limit,
            retryable: true,
            message,
        },
        RuntimeError::SessionBusy(session_id) => Failure::SessionBusy {
            session_id,
            message,
        },
        RuntimeError::Import(error) => import_failure(&error),
        RuntimeError::PromptTooLarge { .. } => Failure::invalid_field("prompt", message),
        RuntimeError::CommandNotFound { name, meant } => Failure::CommandNotFound {
            command: name,
            suggestion: meant,
            message,
        },
        RuntimeError::NothingToRun(_)
        | RuntimeError::ImportedPrompt(_)
        | RuntimeError::Unconfirmed { .. } => Failure::invalid_field("sessionID", message),
        RuntimeError::NameTooLong { field, .. } => Failure::invalid_field(field, message),
        RuntimeError::OtherProject { .. } => Failure::invalid_field("location", message),
        RuntimeError::InvalidField { field, .. } => Failure::invalid_field(field, message),
        RuntimeError::InvalidSettings { field, .. } => Failure::invalid_field(field, message),
        RuntimeError::Integration { field, .. } => Failure::invalid_field(field, message),
        RuntimeError::UnfitId(_) => Failure::invalid_field("id", message),
        RuntimeError::InvalidServer(problem) => Failure::invalid_field(&problem.path, message),
        RuntimeError::Location(_) => Failure::invalid_field("location.directory", message),
        RuntimeError::Store(StoreError::Poisoned(_)) => Failure::StorePoisoned { message },
        RuntimeError::Store(StoreError::Busy(_)) => Failure::ServiceUnavailable {
            message,
            service: Some("store".into()),
        },
        RuntimeError::Closed | RuntimeError::Store(StoreError::Closed) => {
            Failure::ServiceUnavailable {
                message,
                service: None,
            }
        }
        RuntimeError::Terminal(error) => terminal_failure(error),
        RuntimeError::Unavailable { service, message } => Failure::ServiceUnavailable {
            message,
            service: Some(service.into()),
        },
        RuntimeError::Panicked => bug(),
        RuntimeError::Store(StoreError::Corrupt { .. }) => Failure::SessionUnreadable {
            message,
            session_id: None,
        },
        RuntimeError::Store(_) => unknown(&message),
    }
}

fn terminal_failure(error: TerminalError) -> Failure {
    let message = error.to_string();
    let field = match error {
        TerminalError::NotFound(pty_id) | TerminalError::Exited(pty_id) => {
            return Failure::PtyNotFound { pty_id, message };
        }
        TerminalError::TooMany { .. } | TerminalError::Unavailable(_) => {
            return Failure::ServiceUnavailable {
                message,
                service: Some("pty.create".into()),
            };
        }
        TerminalError::Closed => {
            return Failure::ServiceUnavailable {
                message,
                service: None,
            };
        }
        TerminalError::Command { .. } => "command",
        TerminalError::Directory { .. } => "cwd",
        TerminalError::Variable { .. } => "env",
    };
    Failure::invalid_field(field, message)
}

fn import_failure(error: &ImportError) -> Failure {
    let message = error.to_string();
    match error {
        ImportError::Unreadable { .. }
        | ImportError::Document(_)
        | ImportError::LineTooLong { .. }
        | ImportError::BrokenOff { .. } => Failure::InvalidRequest {
            message,
            kind: Some(Channel::Payload),
            field: None,
        },
        ImportError::Conflict { .. } => Failure::Conflict {
            message,
            resource: None,
        },
        ImportError::TooLarge => Failure::ServiceUnavailable {
            message,
            service: Some("session.import".into()),
        },
    }
}

/// Adds the session in the path of the request to a failure about unreadable data.
pub(crate) fn of_session(failure: Failure, session: Option<&str>) -> Failure {
    let Failure::SessionUnreadable { message, .. } = failure else {
        return failure;
    };
    match session.and_then(|id| SessionID::parse(id).ok()) {
        Some(session_id) => Failure::SessionUnreadable {
            message: format!(
                "The session {session_id} is damaged: {message}. Other sessions can be used; export what you need of this one, or restore the file from a backup"
            ),
            session_id: Some(session_id),
        },
        None => Failure::Unknown {
            message,
            reference: None,
        },
    }
}

/// Returns an unexpected failure. The log has the details with the reference that the caller receives.
pub(crate) fn unknown(details: &str) -> Failure {
    let reference = reference();
    tracing::error!(reference, details, "unexpected failure");
    let message = format!("Unexpected failure; the log has the details under {reference}");
    Failure::Unknown {
        message,
        reference: Some(reference),
    }
}

/// The page for reports of bugs.
pub const ISSUES: &str = "https://github.com/opencode-embedded/opencode-embedded/issues";

/// Returns the failure of a call that a panic ended. Standard error has the place of the panic.
pub fn bug() -> Failure {
    let reference = reference();
    tracing::error!(reference, "a panic ended a call");
    let message = format!(
        "A bug in opencode-embedded ended this call ({reference}); standard error says where. Please report it at {ISSUES}"
    );
    Failure::Unknown {
        message,
        reference: Some(reference),
    }
}

/// Returns the answer to a request that a panic ended.
pub fn panicked() -> Response<Body> {
    refuse(&bug())
}

/// Logs a panic whose caller gets no reference, because it ended a stream or the closing of the host.
pub fn log_panic(ended: &'static str) {
    tracing::error!("a panic ended {ended}");
}

fn reference() -> String {
    format!("err_{:08x}", random())
}

/// Returns a random number. The keys of a hasher differ per process and per call, and a log reference needs no more.
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

/// Returns a JSON answer.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    match serde_json::to_string(body) {
        Ok(text) => json_text(status, text),
        Err(error) => refuse(&unknown(&error.to_string())),
    }
}

/// Returns a JSON answer with this text.
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
