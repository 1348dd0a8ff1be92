//! The result of a handler, and the response that it becomes.

use axum::body::Body;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use opencode_protocol::failure::Failure;
use opencode_protocol::output::{Data, Located};
use opencode_runtime::RuntimeError;
use opencode_runtime::pty::TerminalError;
use serde::Serialize;

use crate::wire::failure::{failure, json};

/// The result of a handler: a value, or the failure that the client receives.
pub(crate) type Answered<T> = Result<T, Refusal>;

/// The failure of a handler in the form of the protocol. `?` makes it from the errors of the runtime.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) Failure);

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<RuntimeError> for Refusal {
    fn from(error: RuntimeError) -> Self {
        Self(failure(error))
    }
}

impl From<TerminalError> for Refusal {
    fn from(error: TerminalError) -> Self {
        Self(failure(error.into()))
    }
}

/// A value that is the answer of an operation with the declared success `S`.
pub(crate) trait Answer<S> {
    fn into_response(self) -> Response<Body>;
}

/// The value of an operation whose answer has only the member `data`.
impl<T: Serialize> Answer<Data<T>> for T {
    fn into_response(self) -> Response<Body> {
        json(StatusCode::OK, &Data { data: self })
    }
}

impl<T: Serialize> Answer<Located<T>> for Located<T> {
    fn into_response(self) -> Response<Body> {
        json(StatusCode::OK, &self)
    }
}

/// The answer of an operation without content.
impl Answer<()> for () {
    fn into_response(self) -> Response<Body> {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// A value that is the whole body of an answer.
pub(crate) struct Whole<S>(pub(crate) S);

impl<S: Serialize> Answer<S> for Whole<S> {
    fn into_response(self) -> Response<Body> {
        json(StatusCode::OK, &self.0)
    }
}

/// A response that its handler has written: a stream, a file, or stored text.
pub(crate) struct Written(pub(crate) Response<Body>);

impl<S> Answer<S> for Written {
    fn into_response(self) -> Response<Body> {
        self.0
    }
}
