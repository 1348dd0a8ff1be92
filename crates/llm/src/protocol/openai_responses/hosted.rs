//! Provider-executed calls.

use serde_json::{Map, Value, json};

use crate::canonical::event::ToolOutput;
use crate::protocol::generated_file::{self, Content};

/// The type of calls whose result is an image.
const IMAGE: &str = "image_generation_call";

/// Returns the tool of an item and its input, or `None` if the item is not a provider-executed call.
pub(super) fn call(kind: &str, item: &Value) -> Option<(String, Value)> {
    let name = kind
        .strip_suffix("_call")
        .filter(|_| kind != "function_call")?;
    let member = |name: &str| item.get(name).filter(|value| !value.is_null()).cloned();
    let members = |names: &[&str]| {
        let found = names
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), member(name)?)));
        Value::Object(found.collect::<Map<_, _>>())
    };
    let input = match name {
        "file_search" => members(&["queries"]),
        "code_interpreter" => members(&["code", "container_id"]),
        "mcp" => members(&["server_label", "name", "arguments"]),
        _ => member("action").unwrap_or_else(|| json!({})),
    };
    Some((name.to_owned(), input))
}

/// Takes the image out of an item. Its bytes are stored as a file, not with the item.
pub(super) fn take_image(item: &mut Value) -> Option<Box<ToolOutput>> {
    if item.get("type").and_then(Value::as_str) != Some(IMAGE) {
        return None;
    }
    let Value::String(base64) = item.get_mut("result").map(Value::take)? else {
        return None;
    };
    let format = item.get("output_format").and_then(Value::as_str);
    let mime = format!("image/{}", format.unwrap_or("png"));
    Some(generated_file::output(
        item.clone(),
        &mime,
        Content::Base64(&base64),
    ))
}
