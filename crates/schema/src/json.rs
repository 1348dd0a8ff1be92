//! Encoding of values as JSON text.

use serde::Serialize;

/// The JSON text of a value of the vocabulary.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("values of the vocabulary are plain data")
}
