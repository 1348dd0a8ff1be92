//! JSON objects of any shape.

/// A JSON object. The runtime does not interpret its members.
pub type Record = serde_json::Map<String, serde_json::Value>;
