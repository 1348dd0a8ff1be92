//! The shape of a stream chunk, tolerant of the variations of servers.
//!
//! Every member may be missing or null, and unknown members are skipped. Text of events is deserialized
//! directly into the string that the event owns. Rarely needed parts are kept as slices of the input.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::canonical::cited_source::is_web_address;
use crate::protocol::generated_file::Content;
use crate::protocol::loose::Loose;

#[derive(serde::Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(default)]
    pub(super) choices: First<Choice>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    /// The addresses that the answer cites by their positions, of Perplexity and xAI.
    #[serde(borrow, default)]
    pub(super) citations: Option<&'a RawValue>,
    /// The same sources with their titles, of Perplexity.
    #[serde(borrow, default)]
    pub(super) search_results: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    pub(super) delta: Option<Delta>,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
}

#[derive(serde::Deserialize)]
pub(super) struct Delta {
    #[serde(default)]
    pub(super) content: Option<String>,
    /// The model says in place of an answer that it refuses.
    #[serde(default)]
    pub(super) refusal: Loose,
    #[serde(default)]
    pub(super) reasoning_content: Loose,
    #[serde(default)]
    pub(super) reasoning: Loose,
    #[serde(default)]
    pub(super) reasoning_text: Loose,
    #[serde(default)]
    pub(super) thinking: Loose,
    #[serde(default)]
    pub(super) reasoning_details: Option<Vec<Value>>,
    #[serde(default)]
    pub(super) reasoning_opaque: Loose,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<ToolDelta>>,
    /// The places of the text that cite a source.
    #[serde(default)]
    annotations: Value,
    /// Images of OpenRouter, as a list.
    #[serde(default)]
    images: Value,
}

#[derive(serde::Deserialize)]
pub(super) struct ToolDelta {
    #[serde(default)]
    pub(super) index: Option<i64>,
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) function: Option<FunctionDelta>,
}

#[derive(Default, serde::Deserialize)]
pub(super) struct FunctionDelta {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) arguments: Arguments,
}

impl Delta {
    /// Takes the text of the answer. A refusal is one too: otherwise the user would see an empty answer.
    pub(super) fn take_text(&mut self) -> Option<String> {
        let is_given = |text: &String| !text.is_empty();
        let content = self.content.take().filter(is_given);
        content.or_else(|| self.refusal.take().filter(is_given))
    }

    /// Takes the annotations of the text.
    pub(super) fn take_annotations(&mut self) -> Vec<Value> {
        match self.annotations.take() {
            Value::Array(annotations) => annotations,
            _ => Vec::new(),
        }
    }

    /// Returns the images as their types and contents. The type of an image with an address is unknown.
    pub(super) fn images(&self) -> impl Iterator<Item = (&str, Content<'_>)> {
        let images = self.images.as_array().into_iter().flatten();
        images.filter_map(|image| {
            let url = image.pointer("/image_url/url")?.as_str()?;
            match url.strip_prefix("data:") {
                Some(data) => {
                    let (mime, base64) = data.split_once(";base64,")?;
                    Some((mime, Content::Base64(base64)))
                }
                None => is_web_address(url).then_some(("image/*", Content::Address(url))),
            }
        })
    }

    /// Returns the reasoning of this delta. Servers that send several members repeat the same text,
    /// so the first text found is complete.
    pub(super) fn take_reasoning(&mut self) -> Option<String> {
        let plain = [
            &mut self.reasoning_content,
            &mut self.reasoning,
            &mut self.reasoning_text,
            &mut self.thinking,
        ];
        if let Some(text) = plain.into_iter().find_map(Loose::take) {
            return Some(text);
        }
        let details = self.reasoning_details.as_deref()?;
        let text = |detail: &Value, name| {
            let text = detail.get(name)?.as_str()?;
            (!text.is_empty()).then(|| text.to_owned())
        };
        let texts = details.iter();
        let text: String = texts
            .filter_map(|detail| text(detail, "text").or_else(|| text(detail, "summary")))
            .collect();
        (!text.is_empty()).then_some(text)
    }
}

/// Tool input as text. Some servers send the complete object instead.
#[derive(Default)]
pub(super) struct Arguments(pub(super) String);

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Value::deserialize(deserializer)? {
            Value::Null => String::new(),
            Value::String(text) => text,
            other => other.to_string(),
        }))
    }
}

/// The first element of a list that may be missing, null or longer.
pub(super) struct First<T>(pub(super) Option<T>);

impl<T> Default for First<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for First<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(FirstVisitor(std::marker::PhantomData))
            .map(Self)
    }
}

struct FirstVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FirstVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list or null")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let first = seq.next_element::<Option<T>>()?.flatten();
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(first)
    }
}
