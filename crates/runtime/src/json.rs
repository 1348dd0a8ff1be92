//! How long values are as JSON text.

use std::io;

use serde::Serialize;

/// Bytes of the JSON text of a value, without writing it.
pub(crate) fn json_bytes(value: &impl Serialize) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    serde_json::to_writer(&mut counter, value).expect("values of the vocabulary are plain data");
    counter.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_text_is_counted_in_bytes() {
        for value in [json!(null), json!({ "a": ["ü", "\"", 1.5] })] {
            assert_eq!(json_bytes(&value), value.to_string().len(), "{value}");
        }
    }
}
