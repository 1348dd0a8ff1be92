//! The shape of a stream event.
//!
//! Every member may be missing, null or of another type, and the content of unknown events is never parsed. Parts
//! are kept as slices of the input until their type is known.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::loose::{Id, JsonText, Loose, Member as _, Prose, Whole};

#[derive(serde::Deserialize)]
pub(super) struct Event<'a> {
    #[serde(rename = "type", default)]
    pub(super) kind: Loose,
    #[serde(default)]
    pub(super) index: Whole,
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

/// A whole answer.
#[derive(serde::Deserialize)]
pub(super) struct Document<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

/// A block of a whole answer. The input of a call is kept as text, as a stream has it.
#[derive(serde::Deserialize)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", default)]
    pub(super) kind: Loose,
    #[serde(default)]
    pub(super) id: Id,
    #[serde(default)]
    pub(super) name: Id,
    #[serde(borrow, default)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) citations: Value,
}

/// The start of a block.
#[derive(Default, serde::Deserialize)]
pub(super) struct Start {
    #[serde(rename = "type", default)]
    pub(super) kind: Loose,
    #[serde(default)]
    pub(super) id: Id,
    #[serde(default)]
    pub(super) name: Id,
    #[serde(default)]
    pub(super) input: Value,
    #[serde(default)]
    pub(super) text: Prose,
    #[serde(default)]
    pub(super) thinking: Prose,
    #[serde(default)]
    pub(super) signature: Loose,
    /// The content of redacted thinking.
    #[serde(default)]
    pub(super) data: Loose,
    /// The call of a result.
    #[serde(default)]
    pub(super) tool_use_id: Id,
    #[serde(default)]
    pub(super) content: Value,
}

/// A further piece of a block.
#[derive(Default, serde::Deserialize)]
pub(super) struct Delta {
    #[serde(rename = "type", default)]
    pub(super) kind: Loose,
    #[serde(default)]
    pub(super) text: Prose,
    #[serde(default)]
    pub(super) thinking: Prose,
    #[serde(default)]
    pub(super) signature: Loose,
    #[serde(default)]
    pub(super) partial_json: JsonText,
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

impl Start {
    /// The start of a call, whose input follows.
    pub(super) fn of_call(kind: String, id: Id, name: Id) -> Self {
        Self {
            kind: Loose::of_text(kind),
            id,
            name,
            ..Self::default()
        }
    }

    pub(super) fn of_plain_text(text: String) -> Self {
        Self {
            kind: Loose::of_text("text".to_owned()),
            text: Prose::of_text(text),
            ..Self::default()
        }
    }

    pub(super) fn of_kind(kind: &str) -> Self {
        Self {
            kind: Loose::of_text(kind.to_owned()),
            ..Self::default()
        }
    }

    /// Takes the type of the block. Without one, the members tell it.
    pub(super) fn take_kind(&mut self) -> String {
        self.kind.take().unwrap_or_else(|| {
            let kind = match self {
                Self { name, .. } if name.is_given() => "tool_use",
                Self { thinking, .. } if thinking.is_given() => "thinking",
                Self { text, .. } if text.is_given() => "text",
                _ => "",
            };
            kind.to_owned()
        })
    }
}

impl Delta {
    pub(super) fn of_input(text: String) -> Self {
        Self {
            kind: Loose::of_text("input_json_delta".to_owned()),
            partial_json: JsonText(text),
            ..Self::default()
        }
    }

    pub(super) fn of_citation(citation: Value) -> Self {
        Self {
            kind: Loose::of_text("citations_delta".to_owned()),
            citation,
            ..Self::default()
        }
    }

    pub(super) fn set_kind(&mut self, kind: String) {
        self.kind = Loose::of_text(kind);
    }

    /// Takes the type of the piece. Without one, the members tell it.
    pub(super) fn take_kind(&mut self) -> String {
        self.kind.take().unwrap_or_else(|| {
            let kind = match self {
                Self { text, .. } if text.is_given() => "text_delta",
                Self { thinking, .. } if thinking.is_given() => "thinking_delta",
                Self { partial_json, .. } if !partial_json.0.is_empty() => "input_json_delta",
                Self { signature, .. } if signature.is_given() => "signature_delta",
                Self { citation, .. } if citation.is_object() => "citations_delta",
                _ => "",
            };
            kind.to_owned()
        })
    }
}
