//! The shape of a stream event.
//!
//! Every member may be missing, null or of another type, and the content of unknown events is never parsed.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::loose::{Id, Loose, Piece, Whole, listed, object, prose, write_texts};

#[derive(serde::Deserialize)]
pub(super) struct Event<'a> {
    #[serde(rename = "type", default)]
    pub(super) kind: Loose,
    #[serde(default)]
    pub(super) item_id: Id,
    #[serde(default)]
    pub(super) delta: Piece,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) output_index: Whole,
    #[serde(default)]
    summary_index: Whole,
    #[serde(borrow, default)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) annotation: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) response: Option<&'a RawValue>,
    /// The items of a document in place of a stream.
    #[serde(borrow, default)]
    pub(super) output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

impl Event<'_> {
    /// Returns the index of the summary part of the event.
    pub(super) fn part(&self) -> u32 {
        let index = self.summary_index.0;
        index
            .and_then(|index| index.try_into().ok())
            .unwrap_or_default()
    }
}

/// Returns the text of a complete message, or its refusal.
pub(super) fn message(item: &Value) -> String {
    match item.get("content") {
        Some(text @ Value::String(_)) => prose(text),
        content => {
            let texts = listed(content).iter();
            let texts = texts.map(|part| match part {
                Value::Object(members) => {
                    let mut found = ["text", "refusal"]
                        .iter()
                        .filter_map(|name| members.get(*name));
                    found
                        .find(|it| !it.is_null())
                        .map(prose)
                        .unwrap_or_default()
                }
                other => prose(other),
            });
            texts.collect()
        }
    }
}

/// Returns an item with its texts as texts.
pub(super) fn item(item: Value) -> Value {
    let mut item = object(item).unwrap_or_default();
    write_texts(
        &mut item,
        &["type", "id", "call_id", "name", "phase"],
        &["arguments"],
    );
    item
}

/// Returns a text member of an object, unless it is empty.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str().filter(|text| !text.is_empty())
}
