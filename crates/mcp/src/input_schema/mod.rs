//! The input schemas of tools.

mod work;

use opencode_llm::NormalSchema;
use serde_json::Value;

use crate::limits::{MAX_SCHEMA, MAX_SCHEMA_DEPTH};

/// Returns the schema of a tool in the form that the host uses, with what differs from the schema of the server.
///
/// # Errors
///
/// Fails with the reason if the schema is not an object, too large or nested too deeply, or if the check of a
/// value could take too much time.
pub(crate) fn normalise(schema: &Value) -> Result<NormalSchema, String> {
    let Value::Object(members) = schema else {
        return Err("its input schema is not an object".to_owned());
    };
    if members
        .values()
        .any(|value| is_deeper(value, MAX_SCHEMA_DEPTH))
    {
        return Err(format!(
            "its input schema has more than {MAX_SCHEMA_DEPTH} levels"
        ));
    }
    let size = schema.to_string().len();
    if size > MAX_SCHEMA {
        return Err(format!("its input schema has {size} bytes"));
    }
    let normal = NormalSchema::of(schema);
    if !work::is_bounded(&normal.schema) {
        return Err("its input schema has endless references or too many alternatives".to_owned());
    }
    Ok(normal)
}

/// True if the value has more than `levels` levels. Uses at most that many stack frames.
fn is_deeper(value: &Value, levels: usize) -> bool {
    let mut below: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => return false,
    };
    levels == 0 || below.any(|value| is_deeper(value, levels - 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::json::any_json;

    proptest! {
        #[test]
        fn every_schema_becomes_an_object_or_is_refused(schema in any_json()) {
            if let Ok(normal) = normalise(&schema) {
                prop_assert_eq!(&normal.schema["type"], "object");
                let again = normalise(&normal.schema);
                prop_assert_eq!(again.map(|it| it.schema), Ok(normal.schema));
            }
        }
    }

    #[test]
    fn a_schema_is_an_object() {
        for (given, normal) in [
            (json!({}), json!({"type": "object"})),
            (
                json!({"type": "string", "properties": {"a": {"type": "string"}}, "required": ["a"],
                    "additionalProperties": true}),
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
                    "additionalProperties": true}),
            ),
            (
                json!({"properties": {"a": {"type": "string", "required": true}}, "$schema": "x"}),
                json!({"properties": {"a": {"type": "string"}}, "required": ["a"], "type": "object"}),
            ),
        ] {
            assert_eq!(normalise(&given).unwrap().schema, normal);
        }
        let normal = normalise(&json!({"properties": 5})).unwrap();
        assert_eq!(normal.schema, json!({"type": "object"}));
        assert_eq!(normal.simplified, ["`properties`: 5 is dropped"]);
    }

    #[test]
    fn a_schema_that_lies_is_refused() {
        for schema in [json!(null), json!("object"), json!([]), json!(true)] {
            let reason = normalise(&schema).unwrap_err();
            assert_eq!(reason, "its input schema is not an object");
        }
        let circular = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}});
        assert_eq!(
            normalise(&circular).unwrap_err(),
            "its input schema has endless references or too many alternatives"
        );
        let large = json!({"description": "x".repeat(MAX_SCHEMA)});
        assert!(normalise(&large).unwrap_err().ends_with(" bytes"));
        let nest = |levels| (0..levels).fold(json!({}), |inner, _| json!({"not": inner}));
        assert!(normalise(&nest(MAX_SCHEMA_DEPTH)).is_ok());
        assert_eq!(
            normalise(&nest(MAX_SCHEMA_DEPTH + 1)).unwrap_err(),
            "its input schema has more than 32 levels"
        );
    }
}
