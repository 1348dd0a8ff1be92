//! An event as the program sends it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use opencode_llm::canonical::cited_source::CitedSource;
use opencode_llm::canonical::request::{JsonMap, ToolResultValue};
use opencode_llm::canonical::usage::Usage;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::loose::{Flag, Id, JsonText};

/// An event. Its type decides which members it has. One flat type is read in one pass, without a
/// copy of the event.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProgramEvent<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) event: Cow<'a, str>,
    #[serde(default, borrow, deserialize_with = "loose")]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(default, borrow, deserialize_with = "loose")]
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) text: Option<String>,
    /// The input of a call. JSON null is a value.
    #[serde(default, deserialize_with = "present")]
    pub(super) input: Option<Value>,
    /// The input of a call as JSON text, instead of `input`.
    pub(super) input_text: Option<JsonText>,
    pub(super) result: Option<ToolResultValue>,
    #[serde(borrow)]
    pub(super) media_type: Option<Cow<'a, str>>,
    /// The content of a file as Base64.
    #[serde(borrow)]
    pub(super) data: Option<Cow<'a, str>>,
    /// The address of a file, instead of `data`.
    #[serde(borrow)]
    pub(super) url: Option<Cow<'a, str>>,
    pub(super) source: Option<CitedSource>,
    #[serde(default)]
    pub(super) provider_executed: Flag,
    pub(super) provider_metadata: Option<Box<JsonMap>>,
    #[serde(borrow)]
    pub(super) reason: Option<Cow<'a, str>>,
    pub(super) usage: Option<ProgramUsage>,
    pub(super) message: Option<String>,
    #[serde(borrow)]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) code: Option<Cow<'a, str>>,
    pub(super) response: Option<ProgramResponse>,
}

/// The token counts of a step.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProgramUsage {
    input_tokens: Option<Value>,
    output_tokens: Option<Value>,
    cache_read_tokens: Option<Value>,
    cache_write_tokens: Option<Value>,
    reasoning_tokens: Option<Value>,
    total_tokens: Option<Value>,
}

/// The HTTP response that refused a request of the program.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProgramResponse {
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) body: String,
    #[serde(default)]
    pub(super) url: String,
}

impl From<ProgramUsage> for Usage {
    fn from(usage: ProgramUsage) -> Self {
        let count = |value: Option<Value>| opencode_llm::canonical::json::count(value.as_ref());
        Self {
            input_tokens: count(usage.input_tokens),
            output_tokens: count(usage.output_tokens),
            non_cached_input_tokens: None,
            cache_read_input_tokens: count(usage.cache_read_tokens),
            cache_write_input_tokens: count(usage.cache_write_tokens),
            reasoning_tokens: count(usage.reasoning_tokens),
            total_tokens: count(usage.total_tokens),
            cost: None,
            provider_metadata: None,
        }
    }
}

/// Reads a text without a copy. A value of another type is used if its meaning is certain, and is otherwise as if missing.
fn loose<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    let value = <&RawValue>::deserialize(deserializer)?.get();
    let read = match value.starts_with('"') {
        true => serde_json::from_str::<Text<'_>>(value).map(|text| Some(text.0)),
        false => serde_json::from_str::<Id>(value).map(|mut id| id.take().map(Cow::Owned)),
    };
    read.map_err(D::Error::custom)
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
