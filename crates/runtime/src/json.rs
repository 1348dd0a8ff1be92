//! Sizes of values as JSON text.

use std::io;

use serde::Serialize;

/// The size of a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct JsonSize {
    pub(crate) bytes: usize,
    /// In UTF-16 units, as JavaScript counts them.
    pub(crate) units: u64,
}

/// Returns the size of the JSON text of a value, without building the text.
pub(crate) fn json_size(value: &(impl Serialize + ?Sized)) -> JsonSize {
    struct Counter(JsonSize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.bytes += bytes.len();
            // A character is one unit, or two if it has four bytes in UTF-8. Its first byte counts all its units.
            let units = bytes.iter().map(|byte| match byte {
                0x80..=0xbf => 0,
                0xf0.. => 2,
                _ => 1,
            });
            self.0.units += units.sum::<u64>();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(JsonSize::default());
    serde_json::to_writer(&mut counter, value).expect("values of the vocabulary are plain data");
    counter.0
}

/// Returns the size in bytes of the JSON text of a value, without building the text.
pub(crate) fn json_bytes(value: &impl Serialize) -> usize {
    json_size(value).bytes
}

/// Returns the size in bytes of a text as the log writes it between its quotes.
pub(crate) fn escaped_bytes(text: &str) -> usize {
    json_size(text).bytes - 2
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_size_of_json_is_counted_in_bytes_and_units() {
        for value in [json!(null), json!({ "a": ["ü", "\"", "😀\u{7}€", 1.5] })] {
            let text = value.to_string();
            let expected = JsonSize {
                bytes: text.len(),
                units: text.encode_utf16().count() as u64,
            };
            assert_eq!(json_size(&value), expected, "{value}");
        }
    }
}
