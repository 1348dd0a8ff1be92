//! JSON objects of unknown shape.

/// A JSON object whose members the runtime does not interpret.
pub type Record = serde_json::Map<String, serde_json::Value>;
