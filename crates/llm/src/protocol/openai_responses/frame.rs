//! The shape of a stream event.
//!
//! Every member may be missing or null, and the content of unknown events is never parsed.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::protocol::loose::Loose;

#[derive(serde::Deserialize)]
pub(super) struct Event<'a> {
    #[serde(rename = "type", default)]
    pub(super) kind: Loose,
    #[serde(default)]
    pub(super) item_id: Loose,
    #[serde(default)]
    pub(super) delta: Loose,
    #[serde(borrow, default)]
    pub(super) output_index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) summary_index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) annotation: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

impl Event<'_> {
    /// Returns the index of the summary part of the event.
    pub(super) fn part(&self) -> u32 {
        let index = self.summary_index;
        let index = index.and_then(|raw| serde_json::from_str(raw.get()).ok());
        index.unwrap_or_default()
    }
}

/// Returns the text of a complete message, or its refusal.
pub(super) fn message(item: &Value) -> String {
    let parts = item.get("content").and_then(Value::as_array);
    let texts = parts.into_iter().flatten();
    let texts = texts.filter_map(|part| text(part, "text").or(text(part, "refusal")));
    texts.collect()
}

/// Returns a text member of an object, unless it is empty.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str().filter(|text| !text.is_empty())
}
