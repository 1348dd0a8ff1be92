//! The stored form of a payload: it omits values that other columns or entries contain.
//!
//! Four kinds of values are omitted. The entry that created a message contains its id. A Prompt
//! Promotion repeats its admission. The input of a tool call repeats the argument text if both have
//! the same JSON text. The result of a tool that returns a file contains the bytes twice, for
//! programs and for the model. A NUL character, which JSON text never contains, marks the position
//! of the repeated value. Reading restores the exact bytes.

use opencode_schema::Record;
use opencode_schema::event::{SessionEvent, ToolCalled};

use crate::error::StoreError;
use crate::integer::Sequence;

/// The first member of an assistant event, which has the id of its message.
const OWNER: &str = r#"{"assistantMessageID":""#;

/// Marks the position of a repeated value.
const HOLE: char = '\0';

/// Text before the bytes of a file in a `data:` URI.
const FILE: &str = ";base64,";

/// Minimum length of an omitted value. A reference to a shorter value would save little.
const SHORTEST: usize = 16;

/// The part of a payload that is stored.
#[derive(Debug, PartialEq)]
pub(crate) struct Compact {
    pub(crate) data: Option<String>,
    pub(crate) source: Option<Sequence>,
}

/// Returns a payload as JSON text, with members in the order of the catalogue.
///
/// Parses the text again. A non-finite number or a value with excessive nesting fails here, because
/// after storing it the session would stay unreadable.
pub(crate) fn write(payload: &SessionEvent) -> Result<String, StoreError> {
    let refused = |reason: String| {
        let name = payload.name();
        StoreError::Database(format!("a payload of {name} cannot be stored: {reason}"))
    };
    let text = serde_json::to_string(payload).map_err(|error| refused(error.to_string()))?;
    SessionEvent::read(payload.number(), &text).map_err(|error| refused(error.to_string()))?;
    Ok(text)
}

/// Returns metadata as JSON text. Fails if the text cannot be parsed again.
pub(crate) fn write_metadata(metadata: &Record) -> Result<String, StoreError> {
    let refused = |error| StoreError::Database(format!("metadata cannot be stored: {error}"));
    let text = serde_json::to_string(metadata).map_err(refused)?;
    serde_json::from_str::<Record>(&text).map_err(refused)?;
    Ok(text)
}

/// Omits the message id, which the entry that created the message contains.
pub(crate) fn without_owner(data: &str) -> &str {
    owner(data).map_or(data, |end| &data[end..])
}

/// Returns the stored form of a promotion with the same payload as its admission at `seq`.
pub(crate) fn same_as(seq: Sequence) -> Compact {
    Compact {
        data: None,
        source: Some(seq),
    }
}

/// Returns the stored form of a call with the same input as the argument text `text` of the entry
/// at `seq`.
pub(crate) fn call_like(
    call: &ToolCalled,
    data: &str,
    text: &str,
    seq: Sequence,
) -> Option<Compact> {
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

/// Omits a value that repeats the file of the same result. Base64 needs no escapes, so both texts
/// are equal.
pub(crate) fn without_repeated_file(data: String) -> String {
    let Some(file) = file(&data).filter(|file| file.len() >= SHORTEST) else {
        return data;
    };
    let Some(at) = data.find(&format!("\"{file}\"")) else {
        return data;
    };
    let compact = format!("{}{HOLE}{}", &data[..=at], &data[at + 1 + file.len()..]);
    // Without the value, another text that looks like a file may come first.
    if self::file(&compact) == Some(file) {
        compact
    } else {
        data
    }
}

/// Returns the bytes of the first file in a payload, as base64.
fn file(data: &str) -> Option<&str> {
    let (_, rest) = data.split_once(FILE)?;
    rest.split_once('"').map(|(file, _)| file)
}

/// Returns the original payload. Inserts the repeated value of `source` and the message id of
/// `creator` into `data`.
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

/// Returns the argument text in an entry of `tool.input.ended`.
pub(crate) fn argument_text(data: &str) -> Option<String> {
    let at = data.rfind(r#""text":"#)?;
    let text = data[at + 7..].strip_suffix('}')?;
    serde_json::from_str(text).ok()
}

/// Returns the end of the member with the message id in an assistant payload, including its comma.
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
    fn the_owner_is_removed_for_storage_and_restored() {
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
    fn a_call_shares_an_equal_argument_text() {
        let data = r#"{"assistantMessageID":"msg_a","callID":"c","tool":"read","input":{"path":"a \"b\" file.txt"},"provider":{"executed":false}}"#;
        let SessionEvent::ToolCalled(call) = SessionEvent::read(ToolCalled::NUMBER, data).unwrap()
        else {
            panic!("not a call")
        };
        let ended = r#"{"assistantMessageID":"msg_a","callID":"c","text":"{\"path\":\"a \\\"b\\\" file.txt\"}"}"#;
        let text = argument_text(ended).unwrap();
        let compact = call_like(&call, data, &text, 7.into()).unwrap();
        assert_eq!(compact.source, Some(7.into()));
        assert_eq!(
            restore(compact.data, Some(ended), None).as_deref(),
            Some(data)
        );
        assert_eq!(call_like(&call, data, r#"{ "path":"a" }"#, 7.into()), None);
    }
}
