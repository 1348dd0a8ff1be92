//! Files that a provider made. They are stored as Managed Tool Output Files: an event contains only their paths.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use opencode_llm::{LlmEvent, ToolContent};
use opencode_schema::id::SessionID;
use opencode_tools::Registry;
use url::Url;

/// Names of extensions by type. Files of other types have the extension `bin`.
const EXTENSIONS: [(&str, &str); 9] = [
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/webp", "webp"),
    ("image/gif", "gif"),
    ("audio/wav", "wav"),
    ("audio/mpeg", "mp3"),
    ("video/mp4", "mp4"),
    ("application/pdf", "pdf"),
    ("text/plain", "txt"),
];

/// Stores the files in the result of a call that the provider ran, and returns their paths. A file that cannot be
/// stored becomes a text that says so.
/// `root` is the root of the session tree.
pub(super) async fn store_files(
    registry: &Registry,
    root: &SessionID,
    event: &mut LlmEvent,
) -> Vec<String> {
    let LlmEvent::ToolResult {
        output: Some(output),
        provider_executed: true,
        ..
    } = event
    else {
        return Vec::new();
    };
    let mut paths = Vec::new();
    for content in &mut output.content {
        let ToolContent::File { uri, mime, .. } = content else {
            continue;
        };
        let Some(data) = uri.strip_prefix("data:") else {
            continue;
        };
        match store_file(registry, root, data, mime).await {
            Ok((path, address)) => {
                *uri = address;
                paths.push(path);
            }
            Err(problem) => {
                tracing::warn!("a file of a provider is not stored: {problem}");
                let text = format!("A file of the type {mime} could not be stored: {problem}");
                *content = ToolContent::Text { text };
            }
        }
    }
    paths
}

/// Returns the path and the address of the stored file.
async fn store_file(
    registry: &Registry,
    root: &SessionID,
    data: &str,
    mime: &str,
) -> Result<(String, String), String> {
    let encoded = data.split_once(";base64,").map(|(_, encoded)| encoded);
    let decoded = STANDARD.decode(encoded.ok_or("it is not Base64")?);
    let content = decoded.map_err(|_| "it is not Base64")?;
    let known = EXTENSIONS.iter().find(|(known, _)| *known == mime);
    let extension = known.map_or("bin", |(_, extension)| extension);
    let stored = registry.store_file(content, extension, root).await;
    let path = stored.map_err(|error| error.to_string())?;
    let address = Url::from_file_path(&path).map_err(|()| "its path is relative")?;
    Ok((path, address.to_string()))
}
