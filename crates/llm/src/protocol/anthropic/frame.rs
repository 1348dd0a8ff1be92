//! The shape of a stream event.
//!
//! Every member may be missing or null, and the content of unknown events is never parsed. Parts
//! are kept as slices of the input until their type is known.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::protocol::loose::Loose;

#[derive(serde::Deserialize)]
pub(super) struct Event<'a> {
    #[serde(rename = "type", default)]
    pub(super) kind: Loose,
    #[serde(borrow, default)]
    pub(super) index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) delta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// The start of a block.
#[derive(Default, serde::Deserialize)]
pub(super) struct Start {
    #[serde(rename = "type", default)]
    pub(super) kind: Loose,
    #[serde(default)]
    pub(super) id: Loose,
    #[serde(default)]
    pub(super) name: Loose,
    #[serde(default)]
    pub(super) input: Value,
    #[serde(default)]
    pub(super) text: Loose,
    #[serde(default)]
    pub(super) thinking: Loose,
    #[serde(default)]
    pub(super) signature: Loose,
    /// The content of redacted thinking.
    #[serde(default)]
    pub(super) data: Loose,
    /// The call of a result.
    #[serde(default)]
    pub(super) tool_use_id: Loose,
    #[serde(default)]
    pub(super) content: Value,
}

/// A further piece of a block.
#[derive(Default, serde::Deserialize)]
pub(super) struct Delta {
    #[serde(rename = "type", default)]
    pub(super) kind: Loose,
    #[serde(default)]
    pub(super) text: Loose,
    #[serde(default)]
    pub(super) thinking: Loose,
    #[serde(default)]
    pub(super) signature: Loose,
    #[serde(default)]
    pub(super) partial_json: Loose,
    #[serde(default)]
    pub(super) citation: Value,
}

/// The data of a message at its end.
#[derive(Default, serde::Deserialize)]
pub(super) struct End {
    #[serde(default)]
    pub(super) stop_reason: Loose,
    #[serde(default)]
    pub(super) stop_sequence: Loose,
    /// Explains a refusal.
    #[serde(default)]
    pub(super) stop_details: Value,
}
