//! The stored form of payloads and metadata. Each row has the number of its format.

use std::borrow::Cow;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};

use crate::format::dictionary::DICTIONARY;
use crate::format::former;

/// Number of bytes that one compressed byte represents at most.
const MAX_EXPANSION: usize = 255;

/// The format of a row, with its number in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// 0: the form of earlier versions. No new row has it.
    Former,
    /// 1: JSON text, or a blob if its compressed form is shorter.
    Compressed,
}

impl Format {
    /// The number of the format of new rows.
    pub(crate) const NEW: i64 = 1;

    /// Returns the payload of a row. In the former format, values that other entries contain are absent.
    pub(crate) fn payload(self, stored: ValueRef<'_>) -> FromSqlResult<Option<Cow<'_, str>>> {
        self.read(stored, former::payload)
    }

    /// Returns the metadata of a row.
    pub(crate) fn metadata(self, stored: ValueRef<'_>) -> FromSqlResult<Option<Cow<'_, str>>> {
        self.read(stored, former::metadata)
    }

    fn read<'a>(
        self,
        stored: ValueRef<'a>,
        former: fn(&'a str) -> Cow<'a, str>,
    ) -> FromSqlResult<Option<Cow<'a, str>>> {
        match (self, stored) {
            (_, ValueRef::Null) => Ok(None),
            (Self::Former, text) => Ok(Some(former(text.as_str()?))),
            (Self::Compressed, ValueRef::Blob(bytes)) => expand(bytes).map(Cow::Owned).map(Some),
            (Self::Compressed, text) => Ok(Some(Cow::Borrowed(text.as_str()?))),
        }
    }
}

impl FromSql for Format {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_i64()? {
            0 => Ok(Self::Former),
            Self::NEW => Ok(Self::Compressed),
            other => Err(FromSqlError::OutOfRange(other)),
        }
    }
}

/// A payload or metadata in the format of new rows.
#[derive(Debug)]
pub(crate) enum Stored {
    Text(String),
    Blob(Vec<u8>),
}

impl Stored {
    pub(crate) fn new(text: String) -> Self {
        let blob = lz4_flex::block::compress_prepend_size_with_dict(text.as_bytes(), DICTIONARY);
        match blob.len() < text.len() {
            true => Self::Blob(blob),
            false => Self::Text(text),
        }
    }

    /// Returns the number of stored bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Blob(blob) => blob.len(),
        }
    }
}

impl rusqlite::ToSql for Stored {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(blob) => ValueRef::Blob(blob),
        }))
    }
}

/// Returns the text of a blob. The size at its beginning can be damaged, so it is checked before memory is reserved.
fn expand(blob: &[u8]) -> FromSqlResult<String> {
    let damaged = |reason: &str| FromSqlError::Other(reason.into());
    let (size, rest) =
        lz4_flex::block::uncompressed_size(blob).map_err(|_| damaged("its size is missing"))?;
    if size / MAX_EXPANSION > rest.len() {
        return Err(damaged("its size is wrong"));
    }
    let text = lz4_flex::block::decompress_with_dict(rest, size, DICTIONARY)
        .map_err(|error| damaged(&error.to_string()))?;
    if text.len() != size {
        return Err(damaged("its size is wrong"));
    }
    String::from_utf8(text).map_err(|_| damaged("it is not text"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::ToSql;

    use super::*;

    /// Stores and reads a text.
    fn round_trip(text: &str) -> String {
        let stored = Stored::new(text.to_owned());
        assert!(stored.len() <= text.len());
        let ToSqlOutput::Borrowed(value) = stored.to_sql().unwrap() else {
            panic!("a copy")
        };
        let read = Format::Compressed.payload(value).unwrap();
        read.unwrap().into_owned()
    }

    #[test]
    fn members_of_frequent_entries_take_few_bytes() {
        for (text, most) in [
            (
                r#"{"assistantMessageID":"msg_0123456789abAZaz09AZaz09AZ","textID":"text-0"}"#,
                50,
            ),
            (
                r#"{"messageID":"msg_0123456789abAZaz09AZaz09AZ","prompt":{"text":"x"},"delivery":"steer"}"#,
                55,
            ),
            (
                r#"{"finish":"stop","cost":0.5,"tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}"#,
                50,
            ),
            (
                r#"{"prefix":{"sha256":"0f","bytes":9,"reused":7,"agent":"a","baseline":"b","tools":"c"}}"#,
                55,
            ),
        ] {
            let length = Stored::new(text.to_owned()).len();
            assert!(length < most, "{text}: {length}");
            assert_eq!(round_trip(text), text);
        }
        for text in ["", "{}", "[]", "no phrase"] {
            assert!(matches!(Stored::new(text.to_owned()), Stored::Text(_)));
            assert_eq!(round_trip(text), text);
        }
    }

    #[test]
    fn a_blob_with_a_wrong_size_is_damaged() {
        let text = r#"{"messageID":"msg_a","prompt":{"text":"Hi"},"delivery":"steer"}"#;
        let Stored::Blob(blob) = Stored::new(text.to_owned()) else {
            panic!("not compressed")
        };
        let sizes = [0, text.len() - 1, text.len() + 1, u32::MAX as usize];
        for size in sizes.map(|size| size as u32) {
            let damaged = [&size.to_le_bytes()[..], &blob[4..]].concat();
            assert!(expand(&damaged).is_err(), "{size}");
        }
        for cut in 0..blob.len() {
            assert!(expand(&blob[..cut]).is_err(), "{cut}");
        }
    }

    proptest! {
        #[test]
        fn a_text_survives_the_round_trip(
            pieces in prop::collection::vec(
                prop_oneof![
                    any::<String>(),
                    (0..DICTIONARY.len(), 0_usize..90).prop_map(|(at, length)| {
                        let end = DICTIONARY.len().min(at + length);
                        String::from_utf8_lossy(&DICTIONARY[at..end]).into_owned()
                    }),
                    ("[a-c]{1,3}", 0_usize..300).prop_map(|(piece, times)| piece.repeat(times)),
                ],
                0..8,
            )
        ) {
            let text = pieces.concat();
            prop_assert_eq!(round_trip(&text), text);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in any::<Vec<u8>>(), size in 0_u32..3000) {
            let _ = expand(&bytes);
            let _ = expand(&[&size.to_le_bytes()[..], &bytes].concat());
        }
    }
}
