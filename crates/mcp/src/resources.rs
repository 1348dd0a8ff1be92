//! The resources of a server.

use std::ops::ControlFlow;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::call::CallError;
use crate::connection::Connection;
use crate::content::{media_type, take};
use crate::limits::{MAX_DESCRIPTION, MAX_ITEMS, MAX_NAME, MAX_URI, cut};
use crate::listing::{ListError, list};

/// A resource of a connected server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerResource {
    /// The name of the server.
    pub server: String,
    /// The address, by which the server knows it.
    pub uri: String,
    /// The name for users.
    pub name: String,
    /// The description.
    pub description: Option<String>,
    /// The media type, if the server tells it.
    pub mime: Option<String>,
}

/// A template of addresses of resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerResourceTemplate {
    /// The name of the server.
    pub server: String,
    /// The template (RFC 6570).
    pub uri_template: String,
    /// The name for users.
    pub name: String,
    /// The description.
    pub description: Option<String>,
    /// The media type of all its resources, if the server tells it.
    pub mime: Option<String>,
}

/// A part of the content of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceContent {
    /// The address of the part.
    pub uri: String,
    /// The media type. If the server does not tell it, `text/plain` or `application/octet-stream`.
    pub mime: String,
    /// The data.
    pub data: ResourceData,
}

/// The data of a part of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceData {
    /// Text.
    Text(String),
    /// Bytes in Base64, as the server gave them.
    Blob(String),
}

/// Lists the resources of a server.
pub(crate) async fn list_resources(
    connection: &Connection,
    server: &str,
    cancel: &CancellationToken,
) -> Result<Vec<ServerResource>, ListError> {
    let mut resources = Vec::new();
    let each = |mut item| {
        let read = common(&mut item, "uri").map(|(uri, name, description, mime)| ServerResource {
            server: server.to_owned(),
            uri,
            name,
            description,
            mime,
        });
        resources.extend(read);
        until_full(resources.len())
    };
    list(connection, "resources/list", "resources", cancel, each).await?;
    Ok(resources)
}

/// Lists the templates of a server.
pub(crate) async fn list_templates(
    connection: &Connection,
    server: &str,
    cancel: &CancellationToken,
) -> Result<Vec<ServerResourceTemplate>, ListError> {
    let mut templates = Vec::new();
    let each = |mut item| {
        let read = common(&mut item, "uriTemplate");
        let read = read.map(
            |(uri_template, name, description, mime)| ServerResourceTemplate {
                server: server.to_owned(),
                uri_template,
                name,
                description,
                mime,
            },
        );
        templates.extend(read);
        until_full(templates.len())
    };
    let (method, key) = ("resources/templates/list", "resourceTemplates");
    list(connection, method, key, cancel, each).await?;
    Ok(templates)
}

fn until_full(count: usize) -> ControlFlow<()> {
    match count {
        MAX_ITEMS => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
}

type Common = (String, String, Option<String>, Option<String>);

/// Reads address, name, description and media type.
fn common(item: &mut Value, address: &str) -> Option<Common> {
    let uri = take(item, address).filter(|uri| !uri.is_empty() && uri.len() <= MAX_URI)?;
    let name = take(item, "name").map_or_else(|| uri.clone(), |name| cut(name, MAX_NAME));
    let description = take(item, "description").map(|text| cut(text, MAX_DESCRIPTION));
    let has_mime = item.get("mimeType").is_some_and(Value::is_string);
    let mime = has_mime.then(|| media_type(item));
    Some((uri, name, description, mime))
}

/// Reads a resource.
pub(crate) async fn read_resource(
    connection: &Connection,
    uri: &str,
    cancel: &CancellationToken,
) -> Result<Vec<ResourceContent>, CallError> {
    let params = json!({ "uri": uri });
    let mut result = connection
        .request("resources/read", params, None, cancel)
        .await?;
    let contents = match result.get_mut("contents").map(Value::take) {
        Some(Value::Array(contents)) => contents,
        Some(content @ Value::Object(_)) => vec![content],
        _ => {
            let reason = "The resource has no contents.".to_owned();
            return Err(CallError::Failed(reason));
        }
    };
    let contents = contents.into_iter().map(|content| read(content, uri));
    contents
        .collect::<Result<_, _>>()
        .map_err(CallError::Failed)
}

fn read(mut content: Value, asked: &str) -> Result<ResourceContent, String> {
    let uri = take(&mut content, "uri").filter(|uri| uri.len() <= MAX_URI);
    let mut mime = media_type(&content);
    let data = if let Some(text) = take(&mut content, "text") {
        if content.get("mimeType").is_none() {
            mime = "text/plain".to_owned();
        }
        ResourceData::Text(text)
    } else {
        let blob = take(&mut content, "blob").ok_or("A content of the resource has no data.")?;
        ResourceData::Blob(blob)
    };
    Ok(ResourceContent {
        uri: uri.unwrap_or_else(|| asked.to_owned()),
        mime,
        data,
    })
}
