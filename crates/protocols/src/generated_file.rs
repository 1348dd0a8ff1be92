//! Files that a model returns. An answer contains their bytes, which the receiver of the events stores, or an address.

use std::sync::Arc;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::{BlockId, LlmEvent, ProviderMetadata, ToolOutput};
use opencode_llm::canonical::request::{ToolContent, ToolResultValue};
use serde_json::{Value, json};

use crate::framed::Sink;

/// The name of the call that stands for a file of an answer.
pub(super) const GENERATED_FILE: &str = "generated_file";

/// The type of a file without a valid type.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// Maximum length of a type.
const MAX_TYPE_BYTES: usize = 100;

/// The content of a file.
#[derive(Clone, Copy)]
pub(super) enum Content<'a> {
    Base64(&'a str),
    /// An address of the web, from which the user can load the file.
    Address(&'a str),
}

/// Announces a file as the result of a call that the provider ran.
pub(super) fn emit(
    id: String,
    mime: &str,
    content: Content<'_>,
    metadata: Option<ProviderMetadata>,
    sink: &mut Sink<'_>,
) -> Result<(), LlmError> {
    let (id, name): (BlockId, BlockId) = (id.into(), GENERATED_FILE.into());
    let about = json!({ "mimeType": valid(mime) });
    sink.emit(LlmEvent::ToolCall {
        id: Arc::clone(&id),
        name: Arc::clone(&name),
        input: about.clone(),
        provider_executed: true,
        provider_metadata: metadata.clone(),
    })?;
    sink.emit(LlmEvent::ToolResult {
        id,
        name,
        result: ToolResultValue::Json(about.clone()),
        output: Some(output(about, mime, content)),
        provider_executed: true,
        provider_metadata: metadata,
    })
}

/// Returns the output of a call with one file.
pub(super) fn output(structured: Value, mime: &str, content: Content<'_>) -> Box<ToolOutput> {
    let mime = valid(mime);
    let file = ToolContent::File {
        uri: match content {
            Content::Base64(data) => format!("data:{mime};base64,{data}"),
            Content::Address(address) => address.to_owned(),
        },
        mime: mime.to_owned(),
        name: None,
    };
    Box::new(ToolOutput {
        structured,
        content: vec![file],
    })
}

/// Returns a type as `type/subtype` without parameters (RFC 6838). The subtype is `*`
/// if it is unknown.
fn valid(mime: &str) -> &str {
    let is_name = |name: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
        !name.is_empty() && name.bytes().all(fits)
    };
    let parts = mime.split_once('/');
    let is_valid =
        parts.is_some_and(|(kind, subtype)| is_name(kind) && (subtype == "*" || is_name(subtype)));
    match is_valid && mime.len() <= MAX_TYPE_BYTES {
        true => mime,
        false => UNKNOWN_TYPE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_has_two_names() {
        for right in ["image/svg+xml", "image/*"] {
            assert_eq!(valid(right), right);
        }
        for wrong in [
            "",
            "image",
            "image/",
            "*/*",
            "image/png;base64,x",
            "a/b/c",
            "a/b\n",
        ] {
            assert_eq!(valid(wrong), UNKNOWN_TYPE, "{wrong}");
        }
        assert_eq!(valid(&format!("a/{}", "b".repeat(100))), UNKNOWN_TYPE);
    }
}
