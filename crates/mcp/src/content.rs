//! The contents of results, prompts and resources.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use opencode_schema::message::ToolContent;
use serde_json::Value;

use crate::call::CallOutput;
use crate::limits::{MAX_FAILURE, MAX_URI, cut};

/// Reads the result of `tools/call`. A part that cannot be read becomes a line of text: the call has run, and the other
/// parts may have what the model needs.
///
/// # Errors
///
/// Fails with the message of a tool that failed.
pub(crate) fn output(mut result: Value) -> Result<CallOutput, String> {
    let structured = result.get_mut("structuredContent").map(Value::take);
    let structured = structured.filter(|value| !value.is_null());
    let is_error = matches!(result.get("isError"), Some(Value::Bool(true)))
        || result.get("isError").and_then(Value::as_str) == Some("true");
    let given = result.get_mut("content").map(Value::take);
    let given = match given.filter(|content| !content.is_null()) {
        Some(content) => content,
        None if structured.is_some() => Value::Null,
        None => bare(result),
    };
    let mut content = parts(given);
    if is_error {
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

/// Returns the content of a result without the member `content`: everything that the server sent.
fn bare(mut result: Value) -> Value {
    if let Value::Object(members) = &mut result {
        for known in [
            "_meta",
            "isError",
            "content",
            "structuredContent",
            "resultType",
        ] {
            members.remove(known);
        }
        if members.is_empty() {
            return Value::Null;
        }
        return Value::from(result.to_string());
    }
    result
}

/// Reads contents: a list, or one content without a list.
pub(crate) fn parts(content: Value) -> Vec<ToolContent> {
    let items = match content {
        Value::Null => Vec::new(),
        Value::Array(items) => items,
        other => vec![other],
    };
    items
        .into_iter()
        .filter(|item| !item.is_null())
        .map(part)
        .collect()
}

/// Reads one content. One that cannot be read becomes a line of text.
fn part(item: Value) -> ToolContent {
    let unread = |reason: String| ToolContent::Text {
        text: format!("[A part of the answer of the server cannot be read: {reason}]"),
    };
    match item {
        Value::String(text) => ToolContent::Text { text },
        item @ Value::Object(_) => content(item).unwrap_or_else(unread),
        other => ToolContent::Text {
            text: other.to_string(),
        },
    }
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
fn content(mut content: Value) -> Result<ToolContent, String> {
    let kind = take(&mut content, "type").unwrap_or_default();
    match kind.as_str() {
        "text" => text(&mut content),
        "image" | "audio" | "blob" | "file" => file(&mut content, None),
        "resource" => {
            let resource = content.get_mut("resource").map(Value::take);
            resource_of(resource.filter(Value::is_object).unwrap_or(content))
        }
        "resource_link" => link(&mut content),
        // Another type, or none. A readable member is read.
        _ if content.get("text").is_some_and(Value::is_string) => text(&mut content),
        _ if data(&content).is_some() => file(&mut content, None),
        "" => Err("it has no type.".to_owned()),
        other => Err(format!(
            "its type {} is not known.",
            cut(Value::from(other).to_string(), 100)
        )),
    }
}

fn resource_of(mut resource: Value) -> Result<ToolContent, String> {
    if resource.get("text").is_some_and(|text| !text.is_null()) {
        return text(&mut resource);
    }
    let name = take(&mut resource, "uri").map(|uri| cut(uri, MAX_URI));
    file(&mut resource, name)
}

fn link(link: &mut Value) -> Result<ToolContent, String> {
    let uri = take(link, "uri").ok_or("it is a link without an address.")?;
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

fn text(content: &mut Value) -> Result<ToolContent, String> {
    let text = match content.get_mut("text").map(Value::take) {
        Some(Value::String(text)) => text,
        None | Some(Value::Null) => return Err("it has no text.".to_owned()),
        Some(other) => other.to_string(),
    };
    Ok(ToolContent::Text { text })
}

/// Reads a file. Its bytes are checked later, together with those of all other tools.
fn file(content: &mut Value, name: Option<String>) -> Result<ToolContent, String> {
    let data = data(content).ok_or("it is a file without data.")?;
    let mime = media_type(content);
    if let Some(text) = decoded_text(&mime, data) {
        return Ok(ToolContent::Text { text });
    }
    let uri = match data.get(..5) {
        Some(scheme) if scheme.eq_ignore_ascii_case("data:") => data.to_owned(),
        _ => format!("data:{mime};base64,{data}"),
    };
    Ok(ToolContent::File { uri, mime, name })
}

/// Returns the data of a file, in the members that servers use.
fn data(content: &Value) -> Option<&str> {
    let source = content.get("source").filter(|source| source.is_object());
    let places = [Some(content), source];
    let mut places = places.into_iter().flatten();
    places.find_map(|place| {
        let mut members = ["data", "blob"].iter();
        members.find_map(|name| place.get(*name)?.as_str())
    })
}

/// Returns the text of a file with a type of text.
fn decoded_text(mime: &str, data: &str) -> Option<String> {
    let is_text = mime.starts_with("text/") || mime == "application/json";
    let bytes = is_text.then(|| STANDARD.decode(data).ok())??;
    String::from_utf8(bytes).ok()
}

/// Returns the media type of a content without its parameters.
pub(crate) fn media_type(content: &Value) -> String {
    let names = ["mimeType", "mime_type", "media_type", "mediaType"];
    let mut places = [Some(content), content.get("source")].into_iter().flatten();
    let given = places.find_map(|it| names.iter().find_map(|name| it.get(*name)?.as_str()));
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
        fn every_value_has_contents(value in any_json()) {
            for part in parts(value) {
                if let ToolContent::File { uri, .. } = part {
                    prop_assert!(uri.get(..5).is_some_and(|it| it.eq_ignore_ascii_case("data:")), "{uri}");
                }
            }
        }

        #[test]
        fn every_value_is_an_output_or_a_failure(value in any_json()) {
            if let Ok(output) = output(value) {
                prop_assert!(output.structured.is_none() || !output.content.is_empty());
            }
        }
    }
}
