//! The stored form of earlier versions, which is only read.
//!
//! A control character stands for each of some phrases; JSON text contains none itself. Values that another entry
//! contains are absent: the message id at the beginning of an assistant event, which the entry that created the message
//! contains; the input of a call that equals its argument text; and the bytes of a file that a result contains twice. A
//! NUL is at the position of an absent input or file.

use std::borrow::Cow;

/// The phrases of payloads, for the characters from U+0001 on.
const PAYLOAD: &[&str] = &[
    r#"{"messageID":"msg_"#,
    r#"","prompt":{"text":""#,
    r#""},"delivery":"steer"}"#,
    r#""},"delivery":"queue"}"#,
    r#"{"assistantMessageID":"msg_"#,
    r#"","agent":""#,
    r#"","model":{"id":""#,
    r#"","providerID":""#,
    r#"","variant":""#,
    r#""textID":"text-0""#,
    r#","text":""#,
    r#""reasoningID":"reasoning-0""#,
    r#""finish":"stop","cost":"#,
    r#""finish":"tool-calls","cost":"#,
    r#","tokens":{"input":"#,
    r#","output":"#,
    r#","reasoning":"#,
    r#","cache":{"read":"#,
    r#","write":"#,
    r#""callID":"call_"#,
    r#"","name":""#,
    r#"","tool":""#,
    r#","provider":{"executed":false}}"#,
    r#","structured":{"#,
    r#","content":[{"type":"text","text":""#,
    r#","content":[],"outputPaths":[]"#,
    r#","outputPaths":[]"#,
    r#","error":{"type":"unknown","message":""#,
    r#","cause":{"kind":""#,
    r#","retryable":false"#,
    r#","input":{"#,
];

/// The phrases of metadata.
const METADATA: &[&str] = &[
    r#"{"prefix":{"sha256":""#,
    r#"","bytes":"#,
    r#","reused":"#,
    r#","reason":""#,
    r#"","agent":""#,
    r#","agent":""#,
    r#"","baseline":""#,
    r#"","tools":""#,
];

/// The member with the id of the message, at the beginning of an assistant event.
const OWNER: &str = r#"{"assistantMessageID":""#;

/// Returns a payload with its phrases.
pub(crate) fn payload(text: &str) -> Cow<'_, str> {
    expand(PAYLOAD, text)
}

/// Returns metadata with their phrases.
pub(crate) fn metadata(text: &str) -> Cow<'_, str> {
    expand(METADATA, text)
}

fn expand<'a>(phrases: &[&str], text: &'a str) -> Cow<'a, str> {
    let phrase = |byte: u8| phrases.get(usize::from(byte).checked_sub(1)?);
    let mut rest = text;
    let mut whole = String::new();
    while let Some((at, phrase)) = rest
        .bytes()
        .enumerate()
        .find_map(|(at, byte)| Some((at, phrase(byte)?)))
    {
        whole.push_str(&rest[..at]);
        whole.push_str(phrase);
        rest = &rest[at + 1..];
    }
    if whole.is_empty() {
        return Cow::Borrowed(text);
    }
    whole.push_str(rest);
    Cow::Owned(whole)
}

/// Returns the whole payload. `source` is the payload of the entry with the value that it repeats, `creator` that of the
/// entry that created its message. `None` if an absent value is in neither.
pub(crate) fn restore(
    data: Option<Cow<'_, str>>,
    source: Option<&str>,
    creator: Option<&str>,
) -> Option<String> {
    let mut text = match (data, source) {
        (Some(data), source) if data.contains('\0') => {
            let absent = match source {
                Some(source) => argument_text(source)?,
                None => file(&data)?.to_owned(),
            };
            data.replacen('\0', &absent, 1)
        }
        (Some(data), _) => data.into_owned(),
        (None, source) => source?.to_owned(),
    };
    if let Some(creator) = creator
        && !text.starts_with('{')
    {
        text.insert_str(0, owner(creator)?);
    }
    Some(text)
}

/// Returns a payload as an object, without the message id if that is absent.
pub(crate) fn object(data: Cow<'_, str>) -> Cow<'_, str> {
    match data.starts_with('{') {
        true => data,
        false => Cow::Owned(format!("{{{data}")),
    }
}

/// Returns the bytes of the first file in a result, as base64.
fn file(data: &str) -> Option<&str> {
    let (_, rest) = data.split_once(";base64,")?;
    rest.split_once('"').map(|(file, _)| file)
}

/// Returns the argument text in an entry of `tool.input.ended`.
fn argument_text(data: &str) -> Option<String> {
    let at = data.rfind(r#""text":"#)?;
    let text = data[at + 7..].strip_suffix('}')?;
    serde_json::from_str(text).ok()
}

/// Returns the member with the message id in an assistant event, with its comma.
fn owner(data: &str) -> Option<&str> {
    let rest = data.strip_prefix(OWNER)?;
    let mut escaped = false;
    let end = rest.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })?;
    let end = OWNER.len() + end + 1;
    data[end..].starts_with(',').then_some(&data[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATOR: &str = r#"{"assistantMessageID":"msg_\"a","agent":"build"}"#;

    #[test]
    fn characters_stand_for_phrases() {
        for (stored, whole) in [
            (
                "\u{1}a\u{2}Hi, \\\"you\\\"\u{3}",
                r#"{"messageID":"msg_a","prompt":{"text":"Hi, \"you\""},"delivery":"steer"}"#,
            ),
            (
                "\u{5}a\u{6}build\u{7}m\u{8}p\"}}",
                r#"{"assistantMessageID":"msg_a","agent":"build","model":{"id":"m","providerID":"p"}}"#,
            ),
            (
                "\u{d}0.5\u{f}1\u{10}2\u{11}3\u{12}4\u{13}5}}}",
                r#""finish":"stop","cost":0.5,"tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}"#,
            ),
            (
                "\u{1f}1},\u{a}\u{b}\u{c}\u{1b}",
                r#","input":{1},"textID":"text-0","text":""reasoningID":"reasoning-0","outputPaths":[]"#,
            ),
            (r#""finish":"length"}"#, r#""finish":"length"}"#),
            ("", ""),
        ] {
            assert_eq!(payload(stored), whole);
        }
        for (stored, whole) in [
            (
                "\u{1}0f\u{2}9\u{3}7\u{4}tools\u{5}a\u{7}b\u{8}c\"}}",
                r#"{"prefix":{"sha256":"0f","bytes":9,"reused":7,"reason":"tools","agent":"a","baseline":"b","tools":"c"}}"#,
            ),
            (
                "{\"prefix\":{\"bytes\":9\u{6}a\"}}",
                r#"{"prefix":{"bytes":9,"agent":"a"}}"#,
            ),
        ] {
            assert_eq!(metadata(stored), whole);
        }
    }

    #[test]
    fn absent_values_are_restored() {
        let ended =
            r#"{"assistantMessageID":"msg_a","callID":"c","text":"{\"path\":\"\\\"b\\\"\"}"}"#;
        for (data, source, creator, whole) in [
            (
                Some(r#""textID":"t","text":"x"}"#),
                None,
                Some(CREATOR),
                Some(r#"{"assistantMessageID":"msg_\"a","textID":"t","text":"x"}"#),
            ),
            (
                Some("\"input\":\0,\"provider\":{}}"),
                Some(ended),
                Some(CREATOR),
                Some(r#"{"assistantMessageID":"msg_\"a","input":{"path":"\"b\""},"provider":{}}"#),
            ),
            (
                Some("{\"a\":\"\0\",\"uri\":\"data:;base64,QUJD\"}"),
                None,
                None,
                Some(r#"{"a":"QUJD","uri":"data:;base64,QUJD"}"#),
            ),
            (None, Some("{}"), None, Some("{}")),
            (Some("{}"), Some(ended), Some(CREATOR), Some("{}")),
            // The other entry does not contain the value.
            (Some(r#""textID":"t"}"#), None, Some("{}"), None),
            (
                Some(r#""textID":"t"}"#),
                None,
                Some(r#"{"assistantMessageID":"msg_\"#),
                None,
            ),
            (Some("\"input\":\0}"), Some("{}"), Some(CREATOR), None),
            (Some("{\"a\":\"\0\"}"), None, None, None),
            (None, None, Some(CREATOR), None),
        ] {
            let restored = restore(data.map(Cow::Borrowed), source, creator);
            assert_eq!(restored.as_deref(), whole, "{data:?}");
        }
    }
}
