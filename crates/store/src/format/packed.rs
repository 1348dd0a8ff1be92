//! Identifiers in the database: 20 bytes for those made here, the text for any other.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, Value, ValueRef};

/// An identifier `<prefix>_…` as it is stored. The column knows the prefix.
pub(crate) struct Packed<'a> {
    prefix: &'static str,
    text: &'a str,
}

impl<'a> Packed<'a> {
    pub(crate) fn message(id: &'a opencode_schema::id::MessageID) -> Self {
        Self {
            prefix: "msg_",
            text: id.as_str(),
        }
    }

    pub(crate) fn event(id: &'a opencode_schema::id::EventID) -> Self {
        Self {
            prefix: "evt_",
            text: id.as_str(),
        }
    }
}

impl rusqlite::ToSql for Packed<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match pack(self.prefix, self.text) {
            Some(bytes) => ToSqlOutput::Owned(Value::Blob(bytes.to_vec())),
            None => ToSqlOutput::Borrowed(ValueRef::Text(self.text.as_bytes())),
        })
    }
}

/// Twelve lower-case hex digits become six bytes, the fourteen characters stay.
fn pack(prefix: &str, text: &str) -> Option<[u8; 20]> {
    let rest = text.strip_prefix(prefix)?.as_bytes();
    let (time, tail) = (rest.get(..12)?, rest.get(12..)?);
    let mut packed = [0; 20];
    for (byte, pair) in packed.iter_mut().zip(time.chunks_exact(2)) {
        *byte = hex(pair[0])? << 4 | hex(pair[1])?;
    }
    if tail.len() != 14 || !tail.iter().all(u8::is_ascii_alphanumeric) {
        return None;
    }
    packed[6..].copy_from_slice(tail);
    Some(packed)
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// The text of a stored identifier; `prefix` with its underscore.
pub(crate) fn unpack(prefix: &str, value: ValueRef<'_>) -> FromSqlResult<String> {
    match value {
        ValueRef::Blob(bytes) if bytes.len() == 20 && bytes[6..].is_ascii() => {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            let mut text = String::with_capacity(prefix.len() + 26);
            text.push_str(prefix);
            for byte in &bytes[..6] {
                text.push(DIGITS[usize::from(byte >> 4)] as char);
                text.push(DIGITS[usize::from(byte & 15)] as char);
            }
            text.extend(bytes[6..].iter().map(|byte| *byte as char));
            Ok(text)
        }
        ValueRef::Blob(_) => Err(FromSqlError::InvalidType),
        other => String::column_result(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_canonical_form_is_packed_and_both_come_back() {
        for (text, is_packed) in [
            ("msg_0123456789abAZaz09AZaz09AZ", true),
            ("msg_0123456789ABAZaz09AZaz09AZ", false),
            ("msg_0123456789abAZaz09AZaz09A", false),
            ("msg_0123456789abAZaz09AZaz09A_", false),
            ("msg_", false),
            ("msg_äöüäöüäöüäöüäöüä", false),
        ] {
            match pack("msg_", text) {
                Some(bytes) => {
                    assert!(is_packed, "{text}");
                    assert_eq!(unpack("msg_", ValueRef::Blob(&bytes)).unwrap(), text);
                }
                None => {
                    assert!(!is_packed, "{text}");
                    assert_eq!(
                        unpack("msg_", ValueRef::Text(text.as_bytes())).unwrap(),
                        text
                    );
                }
            }
        }
    }
}
