//! The data of server-sent events before a protocol reads them: what servers send around and between JSON objects.

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::deviations::note;

/// The data with which servers of some protocols end a stream.
pub(super) const DONE: &[u8] = b"[DONE]";

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The data of an event.
pub(super) enum Data<'a> {
    /// One JSON object, or data that is not JSON.
    One(&'a [u8]),
    /// Several values in a list.
    Many(Vec<&'a RawValue>),
    /// The marker of the end.
    Done,
    /// No content, such as a sign of life.
    Nothing,
}

/// Classifies the data of an event.
pub(super) fn classify(data: &[u8]) -> Data<'_> {
    if data.first() == Some(&b'{') {
        return Data::One(data);
    }
    let data = trimmed(data);
    match data.first() {
        // Some proxies wrap their comments, too.
        None | Some(b':') => Data::Nothing,
        Some(b'{') => Data::One(data),
        _ if is_done(data) => Data::Done,
        Some(b'[') => match serde_json::from_slice(data) {
            Ok(values) => {
                note("an object", "a list");
                Data::Many(values)
            }
            Err(_) => Data::One(data),
        },
        _ if serde_json::from_slice::<IgnoredAny>(data).is_ok() => {
            if data != b"null" {
                note("an object", "another value");
            }
            Data::Nothing
        }
        _ => Data::One(data),
    }
}

/// Returns the values of data that is several JSON values in a row, from servers that forget what separates events.
pub(super) fn glued(data: &[u8]) -> Option<Vec<&[u8]>> {
    let mut found = Vec::new();
    let mut rest = trimmed(data);
    while !rest.is_empty() {
        rest = rest.strip_prefix(b"data:").map_or(rest, trimmed);
        if let Some(after) = rest.strip_prefix(DONE) {
            found.push(DONE);
            rest = trimmed(after);
            continue;
        }
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<&RawValue>();
        let value = values.next()?.ok()?;
        let after = values.byte_offset();
        if !value.get().starts_with('{') {
            return None;
        }
        found.push(value.get().as_bytes());
        rest = trimmed(&rest[after..]);
    }
    (found.len() > 1).then_some(found)
}

/// True for the marker of the end, as servers write it.
fn is_done(data: &[u8]) -> bool {
    let is_around = |byte: &u8| matches!(byte, b'"' | b'[' | b']');
    let start = data.iter().position(|byte| !is_around(byte));
    let word = start.map_or(data, |start| &data[start..]);
    let end = word.iter().position(is_around).unwrap_or(word.len());
    word[..end].eq_ignore_ascii_case(b"done") && word[end..].iter().all(is_around)
}

fn trimmed(data: &[u8]) -> &[u8] {
    let data = data.trim_ascii();
    data.strip_prefix(BYTE_ORDER_MARK)
        .map_or(data, <[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_classified() {
        let shown = |data: &str| match classify(data.as_bytes()) {
            Data::One(data) => format!("one {}", String::from_utf8_lossy(data)),
            Data::Many(values) => format!("{} values", values.len()),
            Data::Done => "done".to_owned(),
            Data::Nothing => "nothing".to_owned(),
        };
        for (data, expected) in [
            ("{}", "one {}"),
            (" \u{feff} {} ", "one {}"),
            ("[DONE]", "done"),
            (" [DONE]\t", "done"),
            ("[done]", "done"),
            ("DONE", "done"),
            ("\"[DONE]\"", "done"),
            ("[{},{}]", "2 values"),
            ("[]", "0 values"),
            ("[DONE", "done"),
            ("[{}", "one [{}"),
            (" ", "nothing"),
            (": OPENROUTER PROCESSING", "nothing"),
            ("null", "nothing"),
            ("\"ping\"", "nothing"),
            ("5", "nothing"),
            ("ping", "one ping"),
            ("undone", "one undone"),
        ] {
            assert_eq!(shown(data), expected, "{data:?}");
        }
    }

    #[test]
    fn values_in_a_row_are_separated() {
        let shown = |data: &'static str| {
            let found = glued(data.as_bytes())?;
            let found = found.into_iter().map(|it| String::from_utf8_lossy(it));
            Some(found.collect::<Vec<_>>())
        };
        let rows: [(&str, Option<&[&str]>); 8] = [
            ("{\"a\":1}{\"b\":2}", Some(&["{\"a\":1}", "{\"b\":2}"])),
            ("{\"a\":1}\n[DONE]", Some(&["{\"a\":1}", "[DONE]"])),
            (
                "{\"a\":1}data: {\"b\":2}",
                Some(&["{\"a\":1}", "{\"b\":2}"]),
            ),
            ("{\"a\":1}", None),
            ("{\"a\":1}{\"b\":", None),
            ("{\"a\":1} 5", None),
            ("not JSON", None),
            ("", None),
        ];
        for (data, expected) in rows {
            let found = shown(data);
            let found: Option<Vec<&str>> =
                found.as_ref().map(|it| it.iter().map(|it| &**it).collect());
            assert_eq!(found.as_deref(), expected, "{data}");
        }
    }
}
