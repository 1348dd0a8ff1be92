//! One entry of the log.

use std::time::{SystemTime, UNIX_EPOCH};

use opencode_schema::display::DisplayText;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Severity of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// An unexpected failure.
    Error,
    /// The host continues with reduced function.
    Warn,
    /// Information for the operator of a healthy host.
    Info,
    /// Details for debugging.
    Debug,
    /// Every single step.
    Trace,
}

impl From<tracing::Level> for Level {
    fn from(level: tracing::Level) -> Self {
        match level {
            tracing::Level::ERROR => Self::Error,
            tracing::Level::WARN => Self::Warn,
            tracing::Level::INFO => Self::Info,
            tracing::Level::DEBUG => Self::Debug,
            tracing::Level::TRACE => Self::Trace,
        }
    }
}

/// One entry of the log, in the form that JavaScript receives.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Milliseconds since 1970-01-01 UTC.
    pub time: u64,
    /// Severity.
    pub level: Level,
    /// The part of the host that logs the entry: one of [`TARGETS`](crate::TARGETS).
    pub target: String,
    /// A sentence without variable values.
    pub message: String,
    /// The variable values, by name.
    pub fields: Map<String, Value>,
    /// The session that the entry concerns.
    #[serde(rename = "sessionID", skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The Location that the entry concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<EntryLocation>,
}

/// The Location of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EntryLocation {
    /// Its directory.
    pub directory: String,
}

impl Entry {
    /// Creates an entry with the current time and without fields.
    #[must_use]
    pub fn new(level: Level, target: &str, message: impl Into<String>) -> Self {
        Self {
            time: now(),
            level,
            target: target.to_owned(),
            message: message.into(),
            fields: Map::new(),
            session_id: None,
            location: None,
        }
    }

    /// The entry without characters that could forge another line of a log or change a terminal.
    #[must_use]
    pub(crate) fn displayed(mut self) -> Self {
        displayed(&mut self.message);
        self.fields.values_mut().for_each(displayed_value);
        self.session_id.iter_mut().for_each(displayed);
        if let Some(location) = &mut self.location {
            displayed(&mut location.directory);
        }
        self
    }

    /// Approximate size of the entry in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        const OVERHEAD: usize = 256;
        let fields = self.fields.iter();
        let fields =
            fields.map(|(name, value)| name.len() + 64 + value.as_str().map_or(0, str::len));
        OVERHEAD + self.message.len() + fields.sum::<usize>()
    }
}

fn displayed(text: &mut String) {
    *text = DisplayText::line(std::mem::take(text)).into_string();
}

fn displayed_value(value: &mut Value) {
    match value {
        Value::String(text) => displayed(text),
        Value::Array(elements) => elements.iter_mut().for_each(displayed_value),
        Value::Object(members) => members.values_mut().for_each(displayed_value),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX))
}
