//! The contents of results, prompts and resources.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use opencode_schema::message::ToolContent;
use serde_json::Value;

use crate::call::CallOutput;
use crate::limits::{MAX_FAILURE, MAX_URI, cut};

/// Reads the result of `tools/call`.
///
/// # Errors
///
/// Fails with the message of a tool that failed, or with the description of a result that cannot be read.
pub(crate) fn output(mut result: Value) -> Result<CallOutput, String> {
    let structured = result.get_mut("structuredContent").map(Value::take);
    let structured = structured.filter(|value| !value.is_null());
    let items = match result.get_mut("content").map(Value::take) {
        Some(Value::Array(items)) => items,
        None | Some(Value::Null) if result.is_object() => Vec::new(),
        _ => return Err("The result of the tool has no list of contents.".to_owned()),
    };
    let content: Result<Vec<_>, _> = items.into_iter().map(content).collect();
    let mut content = content?;
    if result.get("isError") == Some(&Value::Bool(true)) {
        return Err(failure(&content, structured.as_ref()));
    }
    if content.is_empty()
        && let Some(structured) = &structured
    {
        let text = structured.to_string();
        content.push(ToolContent::Text { text });
    }
    Ok(CallOutput {
        structured,
        content,
    })
}

/// Returns the message of a tool that failed.
fn failure(content: &[ToolContent], structured: Option<&Value>) -> String {
    let texts = content.iter().filter_map(|part| match part {
        ToolContent::Text { text } => Some(text.as_str()),
        ToolContent::File { .. } => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    let text = match (text.trim().is_empty(), structured) {
        (false, _) => text,
        (true, Some(structured)) => structured.to_string(),
        (true, None) => "The tool failed without a message.".to_owned(),
    };
    cut(text, MAX_FAILURE)
}

/// Reads one content.
///
/// # Errors
///
/// Fails with a description of a content that cannot be read.
pub(crate) fn content(mut content: Value) -> Result<ToolContent, String> {
    let kind = content.get("type").and_then(Value::as_str).unwrap_or("");
    match kind {
        "text" => text(&mut content, "text"),
        "image" | "audio" => file(&mut content, "data", None),
        "resource" => resource(content.get_mut("resource").map(Value::take)),
        "resource_link" => link(&mut content),
        "" => Err("A content of the server has no type.".to_owned()),
        other => Err(format!(
            "The server sent a content of the unknown type {}.",
            cut(Value::from(other).to_string(), 100)
        )),
    }
}

fn resource(resource: Option<Value>) -> Result<ToolContent, String> {
    let mut resource = resource.ok_or("A content of the server has no resource.")?;
    if resource.get("text").is_some_and(Value::is_string) {
        return text(&mut resource, "text");
    }
    let name = take(&mut resource, "uri").map(|uri| cut(uri, MAX_URI));
    file(&mut resource, "blob", name)
}

fn link(link: &mut Value) -> Result<ToolContent, String> {
    let uri = take(link, "uri").ok_or("A link of the server has no address.")?;
    let name = take(link, "title").or_else(|| take(link, "name"));
    let description = take(link, "description");
    let mut text = match name {
        Some(name) => format!("{name}: {uri}"),
        None => uri,
    };
    if let Some(description) = description {
        text.push('\n');
        text.push_str(&description);
    }
    Ok(ToolContent::Text { text })
}

fn text(content: &mut Value, key: &str) -> Result<ToolContent, String> {
    let text = take(content, key).ok_or("A text of the server is missing.")?;
    Ok(ToolContent::Text { text })
}

fn file(content: &mut Value, key: &str, name: Option<String>) -> Result<ToolContent, String> {
    let data = take(content, key).ok_or("A file of the server has no data.")?;
    let mime = media_type(content);
    let uri = data_url(&mime, &data)?;
    Ok(ToolContent::File { uri, mime, name })
}

/// Returns a `data:` URL of Base64 data.
fn data_url(mime: &str, data: &str) -> Result<String, String> {
    STANDARD
        .decode(data)
        .map_err(|_| "A file of the server is not valid Base64.".to_owned())?;
    Ok(format!("data:{mime};base64,{data}"))
}

/// Returns the media type of a content without its parameters.
pub(crate) fn media_type(content: &Value) -> String {
    let given = content.get("mimeType").and_then(Value::as_str);
    let essence = given.unwrap_or("").split(';').next().unwrap_or("").trim();
    let is_token = |part: &str| {
        !part.is_empty()
            && part.len() <= 127
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    match essence.split_once('/') {
        Some((kind, sub)) if is_token(kind) && is_token(sub) => essence.to_ascii_lowercase(),
        _ => "application/octet-stream".to_owned(),
    }
}

/// Takes a string member.
pub(crate) fn take(value: &mut Value, key: &str) -> Option<String> {
    match value.get_mut(key)?.take() {
        Value::String(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::any_json;

    proptest! {
        #[test]
        fn every_value_is_a_content_or_a_failure(value in any_json()) {
            if let Ok(ToolContent::File { uri, mime, .. }) = content(value) {
                let start = format!("data:{mime};base64,");
                prop_assert!(uri.starts_with(&start), "{uri}");
            }
        }

        #[test]
        fn every_value_is_an_output_or_a_failure(value in any_json()) {
            if let Ok(output) = output(value.clone()) {
                prop_assert!(value.is_object());
                prop_assert!(output.structured.is_none() || !output.content.is_empty());
            }
        }
    }
}
