//! Provider-executed calls.

use serde_json::{Map, Value, json};

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
