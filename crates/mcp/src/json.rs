//! Values that a hostile server could send.

use proptest::prelude::*;
use serde_json::Value;

/// Words with a meaning in messages, and others.
fn word() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] = &[
        "type",
        "text",
        "image",
        "data",
        "resource",
        "uri",
        "blob",
        "mimeType",
        "content",
        "isError",
        "structuredContent",
        "properties",
        "required",
        "enum",
        "oneOf",
        "const",
        "title",
        "default",
        "string",
        "array",
        "items",
        "object",
        "format",
        "integer",
        "boolean",
        "$ref",
    ];
    prop_oneof![
        proptest::sample::select(KNOWN).prop_map(str::to_owned),
        ".{0,8}"
    ]
}

/// Returns values with words that have a meaning in messages.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..6)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}
