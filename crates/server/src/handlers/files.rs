//! Operations on the files of a Location.

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::Located;
use opencode_runtime::{FileContent, FileSystemError};
use opencode_schema::file_system::FileSystemEntry;

use crate::router::answer::{Answered, Written};
use crate::router::operation::Call;
use crate::router::selector::Opened;

pub(crate) async fn read(call: Call<op::FsRead>) -> Answered<Written> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let content = opened.location.read_file(&call.params.path).await;
    let content = content.map_err(|error| refused("path", &error))?;
    Ok(Written(bytes(content)))
}

pub(crate) async fn list(call: Call<op::FsList>) -> Answered<Located<Vec<FileSystemEntry>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let path = call.query.path.unwrap_or_default();
    let entries = opened.location.list_files(&path).await;
    let entries = entries.map_err(|error| refused("path", &error))?;
    Ok(opened.with(entries))
}

pub(crate) async fn find(call: Call<op::FsFind>) -> Answered<Located<Vec<FileSystemEntry>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let query = call.query;
    let found = opened
        .location
        .find_files(&query.query, query.r#type, query.limit);
    let found = found.await;
    let found = found.map_err(|error| refused("location.directory", &error))?;
    Ok(opened.with(found))
}

fn refused(field: &str, error: &FileSystemError) -> Failure {
    let message = error.to_string();
    match error {
        FileSystemError::Closing => Failure::ServiceUnavailable {
            message,
            service: None,
        },
        _ => Failure::invalid_field(field, message),
    }
}

/// Returns the response with the bytes of a file. The file must not become a page with the origin of the host, so the
/// browser guesses no type and runs no script in it.
fn bytes(content: FileContent) -> Response<Body> {
    let mut response = Response::new(Body::from(content.bytes));
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, content.media_type),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            header::CONTENT_SECURITY_POLICY,
            "sandbox; default-src 'none'",
        ),
        (header::VARY, "Origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
