//! Provider-executed calls.

use opencode_llm::canonical::event::ToolOutput;
use serde_json::{Map, Value, json};

use crate::generated_file::{self, Content};
use crate::published::Form;

/// The type of calls whose result is an image.
const IMAGE: &str = "image_generation_call";

const STATUS: Form = Form::OneOf(&[
    "in_progress",
    "searching",
    "interpreting",
    "generating",
    "calling",
    "completed",
    "incomplete",
    "failed",
]);

const SOURCE: Form = Form::Object("url", &[("url", Form::Text)]);

const ACTION: Form = Form::Either(&[
    Form::Object(
        "search",
        &[
            ("query", Form::Optional(&Form::Text)),
            ("queries", Form::Optional(&Form::List(&Form::Text))),
            ("sources", Form::Optional(&Form::List(&SOURCE))),
        ],
    ),
    Form::Object("open_page", &[("url", Form::Optional(&Form::Text))]),
    Form::Object(
        "find_in_page",
        &[("url", Form::Text), ("pattern", Form::Text)],
    ),
]);

const OUTPUT: Form = Form::Either(&[
    Form::Object("logs", &[("logs", Form::Text)]),
    Form::Object("image", &[("url", Form::Text)]),
]);

/// The published forms of the calls that a request may repeat.
const ITEMS: [(&str, Form); 5] = [
    (
        "web_search_call",
        Form::Object(
            "web_search_call",
            &[("id", Form::Text), ("action", ACTION), ("status", STATUS)],
        ),
    ),
    (
        "file_search_call",
        Form::Object(
            "file_search_call",
            &[
                ("id", Form::Text),
                ("queries", Form::List(&Form::Text)),
                ("status", STATUS),
                ("results", Form::Optional(&Form::List(&Form::Members))),
            ],
        ),
    ),
    (
        "code_interpreter_call",
        Form::Object(
            "code_interpreter_call",
            &[
                ("id", Form::Text),
                ("code", Form::Nullable(&Form::Text)),
                ("container_id", Form::Text),
                ("outputs", Form::Nullable(&Form::List(&OUTPUT))),
                ("status", STATUS),
            ],
        ),
    ),
    (
        "mcp_call",
        Form::Object(
            "mcp_call",
            &[
                ("id", Form::Text),
                ("arguments", Form::Text),
                ("name", Form::Text),
                ("server_label", Form::Text),
                ("approval_request_id", Form::Optional(&Form::Text)),
                ("error", Form::Optional(&Form::Text)),
                ("output", Form::Optional(&Form::Text)),
                ("status", Form::Optional(&STATUS)),
            ],
        ),
    ),
    (
        IMAGE,
        Form::Object(
            IMAGE,
            &[
                ("id", Form::Text),
                ("result", Form::Nullable(&Form::Text)),
                ("status", STATUS),
            ],
        ),
    ),
];

/// Returns the form in which a request repeats an item. `None` for an item that the server would refuse. Items of
/// other servers, whose forms are unknown, need an identifier.
pub(super) fn repeated(item: &Value) -> Option<Value> {
    let kind = item.get("type")?.as_str()?;
    match ITEMS.iter().find(|(known, _)| *known == kind) {
        Some((_, form)) => form.kept(item),
        None => item.get("id")?.is_string().then(|| item.clone()),
    }
}

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
