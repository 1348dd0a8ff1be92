//! Payloads and metadata as JSON text. The writer refuses values that readers could not read again.

use std::io::{self, Write};

use opencode_schema::Record;
use opencode_schema::event::SessionEvent;
use serde::Serialize;
use serde_json::ser::Formatter;

use crate::error::StoreError;

/// Maximum number of arrays and objects within each other. Parsing refuses more.
const MAX_DEPTH: usize = 127;

/// Returns a payload as JSON text, with members in the order of the catalogue.
pub(crate) fn payload(payload: &SessionEvent) -> Result<String, StoreError> {
    encode(payload).map_err(|reason| {
        let name = payload.name();
        StoreError::Database(format!("a payload of {name} cannot be stored: {reason}"))
    })
}

/// Returns metadata as JSON text.
pub(crate) fn metadata(metadata: &Record) -> Result<String, StoreError> {
    encode(metadata)
        .map_err(|reason| StoreError::Database(format!("metadata cannot be stored: {reason}")))
}

/// The types of payloads refuse numbers that are not finite.
fn encode(value: &impl Serialize) -> Result<String, String> {
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Bounded::default());
    value
        .serialize(&mut serializer)
        .map_err(|error| error.to_string())?;
    String::from_utf8(text).map_err(|error| error.to_string())
}

/// Writes compact JSON and refuses values that are nested too deeply.
#[derive(Default)]
struct Bounded {
    depth: usize,
}

impl Bounded {
    fn enter(&mut self) -> io::Result<()> {
        self.depth += 1;
        match self.depth > MAX_DEPTH {
            true => Err(io::Error::other("a value is nested too deeply")),
            false => Ok(()),
        }
    }
}

impl Formatter for Bounded {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.enter()?;
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(b"]")
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.enter()?;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(b"}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns `levels` arrays or objects within each other, beside others.
    fn nested(levels: usize, wrap: fn(Value) -> Value) -> Value {
        (0..levels).fold(json!(1), |inner, _| wrap(inner))
    }

    #[test]
    fn a_value_is_refused_if_its_text_cannot_be_parsed() {
        let wraps: [fn(Value) -> Value; 4] = [
            |inner| json!([inner]),
            |inner| json!({"a": inner}),
            |inner| json!([[], {}, inner]),
            |inner| json!({"a": [], "b": inner}),
        ];
        for wrap in wraps {
            for levels in 120..135 {
                let value = nested(levels, wrap);
                let text = value.to_string();
                let is_read = serde_json::from_str::<Value>(&text).is_ok();
                assert_eq!(encode(&value).ok(), is_read.then_some(text), "{levels}");
            }
        }
    }
}
