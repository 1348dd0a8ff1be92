//! What configuration says about compaction.

use serde_json::Value;

use super::decode::{Decoded, count, object, optional};

/// Tokens of the newest Session History that stay as they are, where no document says otherwise.
pub(super) const KEEP_TOKENS: u64 = 8_000;

/// Reads `compaction.keep.tokens`, which the older generation of the format calls
/// `compaction.preserve_recent_tokens`.
pub(super) fn decode(value: &Value) -> Decoded<Option<u64>> {
    let compaction = object(value)?;
    let older = optional(compaction, "preserve_recent_tokens", count)?;
    let newer = optional(compaction, "keep", |keep| {
        optional(object(keep)?, "tokens", count)
    })?;
    Ok(newer.flatten().or(older))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_generations_say_how_much_stays() {
        for (value, expected) in [
            (json!({}), Ok(None)),
            (json!({ "keep": {} }), Ok(None)),
            (json!({ "keep": { "tokens": 12.9 } }), Ok(Some(12))),
            (json!({ "preserve_recent_tokens": 7 }), Ok(Some(7))),
            (
                json!({ "preserve_recent_tokens": 7, "keep": { "tokens": 8 } }),
                Ok(Some(8)),
            ),
            (
                json!({ "keep": { "tokens": "8" } }),
                Err("keep.tokens must be a number, found a string".to_owned()),
            ),
        ] {
            assert_eq!(
                decode(&value).map_err(|it| it.to_string()),
                expected,
                "{value}"
            );
        }
    }
}
