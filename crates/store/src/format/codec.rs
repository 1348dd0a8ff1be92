//! The stored form of a payload: what other columns or entries say already is left out.
//!
//! Four things are left out. The message a payload belongs to is named by the entry that created
//! it. A Prompt Promotion repeats its admission. The input of a tool call repeats the argument text
//! when both read the same. The result of a tool that returns a file holds its bytes for programs
//! and for the model. A NUL character, which no JSON text contains, marks where the repeated value
//! goes. Reading puts everything back, byte for byte.

use opencode_schema::Record;
use opencode_schema::event::{SessionEvent, ToolCalled};

use crate::error::StoreError;

/// The member that names the message of an assistant's event; always the first one.
const OWNER: &str = r#"{"assistantMessageID":""#;

/// Where a repeated value goes.
const HOLE: char = '\0';

/// What stands before the bytes of a file in a `data:` URI.
const FILE: &str = ";base64,";

/// Shorter values are repeated: a reference to them would save little.
const SHORTEST: usize = 16;

/// What of a payload is stored.
#[derive(Debug, PartialEq)]
pub(crate) struct Compact {
    pub(crate) data: Option<String>,
    pub(crate) source: Option<i64>,
}

/// A payload as JSON text, in the order of the catalogue.
///
/// The text is read again: a number that is none or a value nested too deeply is refused here,
/// because stored it would make the session unreadable for good.
pub(crate) fn write(payload: &SessionEvent) -> Result<String, StoreError> {
    let refused = |reason: String| {
        let name = payload.name();
        StoreError::Database(format!("a payload of {name} cannot be stored: {reason}"))
    };
    let text = serde_json::to_string(payload).map_err(|error| refused(error.to_string()))?;
    SessionEvent::read(payload.number(), &text).map_err(|error| refused(error.to_string()))?;
    Ok(text)
}

/// Metadata as JSON text, which can be read again.
pub(crate) fn write_metadata(metadata: &Record) -> Result<String, StoreError> {
    let refused = |error| StoreError::Database(format!("metadata cannot be stored: {error}"));
    let text = serde_json::to_string(metadata).map_err(refused)?;
    serde_json::from_str::<Record>(&text).map_err(refused)?;
    Ok(text)
}

/// Leaves out the message, which the entry at `message` names.
pub(crate) fn without_owner(data: &str) -> &str {
    owner(data).map_or(data, |end| &data[end..])
}

/// A promotion whose payload equals that of its admission at `seq`.
pub(crate) fn same_as(seq: i64) -> Compact {
    Compact {
        data: None,
        source: Some(seq),
    }
}

/// A call whose input reads like the argument text `text` of the entry at `seq`.
pub(crate) fn call_like(call: &ToolCalled, data: &str, text: &str, seq: i64) -> Option<Compact> {
    let input = serde_json::to_string(&call.input).ok()?;
    if input != text || input.len() < SHORTEST {
        return None;
    }
    let member = format!(r#""input":{input},"provider":"#);
    let at = data.rfind(&member)?;
    let data = format!(
        "{}\"input\":{HOLE},\"provider\":{}",
        &data[..at],
        &data[at + member.len()..]
    );
    Some(Compact {
        data: Some(data),
        source: Some(seq),
    })
}

/// A result whose file is also one of its values. Base64 needs no escapes, so both read the same.
pub(crate) fn without_repeated_file(data: String) -> String {
    let Some(file) = file(&data).filter(|file| file.len() >= SHORTEST) else {
        return data;
    };
    let Some(at) = data.find(&format!("\"{file}\"")) else {
        return data;
    };
    let compact = format!("{}{HOLE}{}", &data[..=at], &data[at + 1 + file.len()..]);
    // Something else that looks like a file may come first now that the value is gone.
    if self::file(&compact) == Some(file) {
        compact
    } else {
        data
    }
}

/// The bytes of the first file in a payload, as base64.
fn file(data: &str) -> Option<&str> {
    let (_, rest) = data.split_once(FILE)?;
    rest.split_once('"').map(|(file, _)| file)
}

/// The payload as it was written: `data` with the repeated value of `source` and the message that
/// `creator` names put back.
pub(crate) fn restore(
    data: Option<String>,
    source: Option<&str>,
    creator: Option<&str>,
) -> Option<String> {
    let mut text = match (data, source) {
        (None, Some(source)) => source.to_owned(),
        (Some(data), Some(source)) if data.contains(HOLE) => {
            let arguments = argument_text(source)?;
            data.replacen(HOLE, &arguments, 1)
        }
        (Some(data), None) if data.contains(HOLE) => {
            let file = file(&data)?.to_owned();
            data.replacen(HOLE, &file, 1)
        }
        (Some(data), _) => data,
        (None, None) => return None,
    };
    if let Some(creator) = creator
        && !text.starts_with('{')
    {
        text.insert_str(0, &creator[..owner(creator)?]);
    }
    Some(text)
}

/// The argument text that an entry of `tool.input.ended` holds.
pub(crate) fn argument_text(data: &str) -> Option<String> {
    let at = data.rfind(r#""text":"#)?;
    let text = data[at + 7..].strip_suffix('}')?;
    serde_json::from_str(text).ok()
}

/// Where the naming member of an assistant's payload ends, its comma included.
fn owner(data: &str) -> Option<usize> {
    let rest = data.strip_prefix(OWNER)?;
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => {
                let end = OWNER.len() + at + 1;
                return (data.as_bytes().get(end) == Some(&b',')).then_some(end + 1);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_is_left_out_and_put_back() {
        let creator = r#"{"assistantMessageID":"msg_\"a","agent":"build"}"#;
        for data in [
            r#"{"assistantMessageID":"msg_\"a","textID":"t","text":"x"}"#,
            r#"{"assistantMessageID":"msg_\"a","callID":"{"}"#,
        ] {
            let stored = without_owner(data).to_owned();
            assert!(!stored.contains("msg_"));
            assert_eq!(
                restore(Some(stored), None, Some(creator)).as_deref(),
                Some(data)
            );
        }
    }

    #[test]
    fn a_call_shares_the_argument_text_when_both_read_the_same() {
        let data = r#"{"assistantMessageID":"msg_a","callID":"c","tool":"read","input":{"path":"a \"b\" file.txt"},"provider":{"executed":false}}"#;
        let SessionEvent::ToolCalled(call) = SessionEvent::read(31, data).unwrap() else {
            panic!("not a call")
        };
        let ended = r#"{"assistantMessageID":"msg_a","callID":"c","text":"{\"path\":\"a \\\"b\\\" file.txt\"}"}"#;
        let text = argument_text(ended).unwrap();
        let compact = call_like(&call, data, &text, 7).unwrap();
        assert_eq!(compact.source, Some(7));
        assert_eq!(
            restore(compact.data, Some(ended), None).as_deref(),
            Some(data)
        );
        assert_eq!(call_like(&call, data, r#"{ "path":"a" }"#, 7), None);
    }
}
