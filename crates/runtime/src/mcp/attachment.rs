//! Resources of servers as files of a prompt: `mcp://<server>/<URI of the resource>`, both percent-encoded.

use std::time::Duration;

use opencode_location::config::ImageLimits;
use opencode_mcp::{ResourceContent, ResourceData};
use opencode_tools::{Media, MediaError, attached_media, decode_base64};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::resource_tools::resource;
use super::servers::LocationServers;

/// The beginning of the URI of a resource in the files of a prompt.
const SCHEME: &str = "mcp://";

/// Maximum time to read all resources at one Safe Provider-Turn Boundary.
pub(crate) const RESOURCES_WAIT: Duration = Duration::from_secs(10);

/// The characters that stand for themselves.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Returns the URI of a resource in the files of a prompt.
pub(crate) fn attachment_uri(server: &str, uri: &str) -> String {
    let encode = |text| utf8_percent_encode(text, ENCODED);
    format!("{SCHEME}{}/{}", encode(server), encode(uri))
}

/// True if a file of a prompt is a resource of a server.
pub(crate) fn is_resource(uri: &str) -> bool {
    uri.starts_with(SCHEME)
}

/// A resource that a prompt names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedResource {
    server: String,
    uri: String,
}

impl NamedResource {
    /// Reads the URI of a file of a prompt. `None` if it does not name a resource.
    pub(crate) fn of(uri: &str) -> Option<Self> {
        let (server, resource) = uri.strip_prefix(SCHEME)?.split_once('/')?;
        let decode = |text| {
            let text = percent_decode_str(text).decode_utf8().ok()?;
            (!text.is_empty()).then(|| text.into_owned())
        };
        Some(Self {
            server: decode(server)?,
            uri: decode(resource)?,
        })
    }

    /// Returns the resource of its permission request.
    pub(crate) fn permission_resource(&self) -> String {
        resource(&self.server, &self.uri)
    }
}

/// Reads a resource as text and media. Other content is named by its media type.
///
/// # Errors
///
/// Returns the reason, as the end of a sentence.
pub(crate) async fn read_attachment(
    servers: &LocationServers,
    named: &NamedResource,
    image_limits: ImageLimits,
    deadline: Instant,
) -> Result<(String, Vec<Media>), String> {
    let cancel = CancellationToken::new();
    let _stop = cancel.clone().drop_guard();
    let reading = servers
        .servers
        .read_resource(&named.server, &named.uri, &cancel);
    let read = timeout_at(deadline, reading).await;
    let content = read.map_err(|_| "the server did not answer in time".to_owned())?;
    let content = content.map_err(|error| {
        let mut message = error.to_string();
        servers.secrets().clean(&mut message);
        message
    })?;
    let (mut texts, mut media) = (Vec::new(), Vec::new());
    for ResourceContent { data, mime, .. } in content {
        match data {
            ResourceData::Text(text) => texts.push(text),
            ResourceData::Blob(encoded) => match as_media(encoded, image_limits).await {
                Some(Ok(read)) => media.push(read),
                Some(Err(reason)) => {
                    texts.push(format!(
                        "[content of the type {mime} was not read: {reason}]"
                    ));
                }
                None => texts.push(format!("[content of the type {mime} that is not text]")),
            },
        }
    }
    let mut text = texts.join("\n");
    servers.secrets().clean(&mut text);
    Ok((text, media))
}

async fn as_media(encoded: String, image_limits: ImageLimits) -> Option<Result<Media, MediaError>> {
    let decoding = opencode_log::spawn_blocking(move || decode_base64(&encoded));
    let bytes = decoding.await.ok()??;
    attached_media(bytes, image_limits, CancellationToken::new()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_has_the_same_name_after_encoding() {
        for (server, uri) in [
            ("everything", "demo://resource/1?a=b#c"),
            ("my server/ä", "file:///tmp/x y%20z"),
        ] {
            let named = NamedResource {
                server: server.to_owned(),
                uri: uri.to_owned(),
            };
            assert_eq!(NamedResource::of(&attachment_uri(server, uri)), Some(named));
        }
    }

    #[test]
    fn other_uris_name_no_resource() {
        for uri in [
            "file:///a",
            "mcp://",
            "mcp://a",
            "mcp://a/",
            "mcp:///b",
            "mcp://%FF/b",
        ] {
            assert_eq!(NamedResource::of(uri), None, "{uri}");
        }
    }
}
