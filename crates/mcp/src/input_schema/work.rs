//! The work that a schema causes for those who check a value against it.

use std::collections::HashMap;

use serde_json::Value;

/// Maximum number of schemas that apply to one value.
const MAX_SCHEMAS: u64 = 10_000;

/// Maximum number of references and alternatives within each other.
const MAX_LEVELS: usize = 64;

/// The schemas that apply to a value together with one schema.
#[derive(Clone, Copy)]
struct Applied {
    number: u64,
    /// The levels of references and alternatives.
    levels: usize,
}

/// True if a bounded number of schemas applies to each value. References and alternatives can multiply this
/// number, or refer to each other without an end. A schema may contain itself for a part of the value.
pub(super) fn is_bounded(root: &Value) -> bool {
    let mut known = HashMap::new();
    let mut rest = vec![root];
    while let Some(value) = rest.pop() {
        let applied = applied(root, value, MAX_LEVELS, &mut known);
        if applied.is_none_or(|applied| applied.number > MAX_SCHEMAS) {
            return false;
        }
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(members) => rest.extend(members.values()),
            _ => {}
        }
    }
    true
}

/// Returns the schemas that apply to a value together with this one. `None` if there are more than this number
/// of levels, or no end. `known` has the results by address, and `None` for a schema that is not ready.
fn applied(
    root: &Value,
    schema: &Value,
    levels: usize,
    known: &mut HashMap<usize, Option<Applied>>,
) -> Option<Applied> {
    let mut total = Applied {
        number: 1,
        levels: 0,
    };
    let Value::Object(keywords) = schema else {
        return Some(total);
    };
    let address = std::ptr::from_ref(schema).addr();
    if let Some(found) = known.get(&address) {
        return found.filter(|found| found.levels <= levels);
    }
    known.insert(address, None);
    let reference = keywords.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|it| root.pointer(it.strip_prefix('#')?));
    let lists = ["allOf", "anyOf", "oneOf"].into_iter();
    let parts = lists.filter_map(|key| keywords.get(key)?.as_array());
    for part in target.into_iter().chain(parts.flatten()) {
        let part = applied(root, part, levels.checked_sub(1)?, known)?;
        total.number = total.number.saturating_add(part.number);
        total.levels = total.levels.max(part.levels + 1);
    }
    known.insert(address, Some(total));
    Some(total)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_for_parts_of_a_value_may_contain_themselves() {
        assert!(is_bounded(&json!({"type": "object", "properties": {
            "children": {"type": "array", "items": {"$ref": "#"}},
            "kind": {"anyOf": [{"$ref": "#/$defs/kind"}, {"type": "null"}]},
        }, "$defs": {"kind": {"oneOf": [{"const": 1}, {"const": 2}]}}})));
        assert!(is_bounded(
            &json!({"$ref": "#/no/such", "anyOf": 5, "allOf": [true, 7]})
        ));
        assert!(is_bounded(&json!({"$ref": "https://a.example/schema"})));
    }

    #[test]
    fn schemas_without_an_end_are_found() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
            json!({"properties": {"x": {"$ref": "#/$defs/a"}},
                "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}),
        ] {
            assert!(!is_bounded(&schema), "{schema}");
        }
        let chain: Value = (0..1000)
            .map(|number| {
                (
                    number.to_string(),
                    json!({"$ref": format!("#/{}", number + 1)}),
                )
            })
            .collect();
        assert!(!is_bounded(&chain));
    }

    #[test]
    fn schemas_that_multiply_are_found() {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let level = |number: u32| {
                let next = json!({"$ref": format!("#/$defs/{}", number + 1)});
                (number.to_string(), json!({ keyword: [next, next] }))
            };
            let multiplied = |levels: u32| {
                let defs: Value = (0..levels).map(level).collect();
                json!({"$ref": "#/$defs/0", "$defs": defs})
            };
            assert!(is_bounded(&multiplied(8)), "{keyword}");
            assert!(!is_bounded(&multiplied(30)), "{keyword}");
        }
        let wide: Vec<_> = (0..20_000).map(|_| json!({"$ref": "#/$defs/a"})).collect();
        assert!(!is_bounded(&json!({"anyOf": wide, "$defs": {"a": {}}})));
    }
}
