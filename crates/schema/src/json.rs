//! Encoding of values as JSON text.

use serde::Serialize;

/// Returns a value of this crate's types as JSON text.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("values of the vocabulary are plain data")
}
