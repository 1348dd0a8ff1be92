//! Reads members that a schema refuses as the only value that they can mean.
//!
//! Models write `null` for an argument that they leave out, numbers and booleans as texts, one value where a list is
//! wanted, and objects and lists as JSON in a text. Such a member is converted only if the schema refuses it as it is
//! and accepts exactly the converted value, so a conversion never changes a value that is correct.

use serde_json::{Map, Number, Value};

use super::budget::Budget;
use super::number::integer;
use super::shape::{list, takes, target};
use super::{Nulls, check_within};

/// Maximum nesting of schemas in which members are converted.
const MAX_DEPTH: usize = 32;

/// Maximum number of schemas and values that are compared. A value that needs more stays as it is.
const MAX_STEPS: usize = 1 << 14;

/// Converts the members of an object that `schema` refuses, at any depth, if their meaning is certain. Other members
/// stay, and so does a value that is not an object.
pub fn convert_meant(schema: &Value, value: &mut Value) {
    if value.is_object() {
        let mut converter = Converter {
            root: schema,
            steps: 0,
            budget: &Budget::of_conversion(),
        };
        converter.members_of(schema, value, 0);
    }
}

/// Replaces each member that is above the largest number of its schema by that number. Returns the names of these
/// members and the numbers. Looks only at the members of the value itself.
pub fn lower_to_maximum(schema: &Value, value: &mut Value) -> Vec<(String, Value)> {
    let declared = schema.get("properties").and_then(Value::as_object);
    let mut lowered = Vec::new();
    for (key, schema) in declared.into_iter().flatten() {
        let Some((most, member)) = maximum(schema).zip(value.get_mut(key)) else {
            continue;
        };
        let given = match &*member {
            Value::String(text) => number(text).and_then(|number| number.as_f64()),
            other => other.as_f64(),
        };
        let largest = most.as_f64();
        if given.zip(largest).is_some_and(|(given, most)| given > most) {
            *member = most.clone();
            lowered.push((key.clone(), most.clone()));
        }
    }
    lowered
}

fn maximum(schema: &Value) -> Option<&Value> {
    let parts = schema.get("allOf").and_then(Value::as_array);
    let mut parts = std::iter::once(schema).chain(parts.into_iter().flatten());
    parts.find_map(|part| part.get("maximum"))
}

struct Converter<'a> {
    root: &'a Value,
    steps: usize,
    /// The steps of all comparisons together.
    budget: &'a Budget,
}

impl<'a> Converter<'a> {
    fn fits(&mut self, schema: &Value, value: &Value) -> bool {
        self.steps += 1;
        check_within(self.root, schema, value, Nulls::Values, self.budget).is_ok()
    }

    fn value(&mut self, schema: &'a Value, value: &mut Value, depth: usize) {
        if depth == MAX_DEPTH || self.steps >= MAX_STEPS || self.fits(schema, value) {
            return;
        }
        self.members_of(schema, value, depth);
        if self.fits(schema, value) {
            return;
        }
        let readings = readings(value).into_iter().filter_map(|mut reading| {
            self.members_of(schema, &mut reading, depth);
            self.fits(schema, &reading).then_some(reading)
        });
        if let [only] = &mut readings.collect::<Vec<_>>()[..] {
            *value = only.take();
        }
    }

    /// Converts the items or members of a value of the right kind.
    fn members_of(&mut self, schema: &'a Value, value: &mut Value, depth: usize) {
        let Some(keywords) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
            return;
        };
        if !self.budget.step() {
            return;
        }
        if let Some(target) = target(self.root, keywords) {
            self.members_of(target, value, depth + 1);
        }
        for part in list(keywords, "allOf") {
            self.members_of(part, value, depth + 1);
        }
        for key in ["anyOf", "oneOf"] {
            self.alternative(list(keywords, key), value, depth);
        }
        match value {
            Value::Array(items) => {
                if let Some(schema) = keywords.get("items") {
                    for item in items {
                        self.value(schema, item, depth + 1);
                    }
                }
            }
            Value::Object(members) => self.members(keywords, members, depth),
            _ => {}
        }
    }

    /// Converts a value for the only alternative that accepts it then.
    fn alternative(&mut self, alternatives: &'a [Value], value: &mut Value, depth: usize) {
        if alternatives.iter().any(|schema| self.fits(schema, value)) {
            return;
        }
        let mut accepted = Vec::new();
        for schema in alternatives {
            if takes(self.root, schema, value, self.budget) && self.steps < MAX_STEPS {
                let mut converted = value.clone();
                self.members_of(schema, &mut converted, depth + 1);
                if self.fits(schema, &converted) && !accepted.contains(&converted) {
                    accepted.push(converted);
                }
            }
        }
        if let [only] = &mut accepted[..] {
            *value = only.take();
        }
    }

    fn members(
        &mut self,
        keywords: &'a Map<String, Value>,
        members: &mut Map<String, Value>,
        depth: usize,
    ) {
        let required = list(keywords, "required");
        let declared = keywords.get("properties").and_then(Value::as_object);
        for (key, schema) in declared.into_iter().flatten() {
            let Some(member) = members.get_mut(key) else {
                continue;
            };
            if !member.is_null() {
                self.value(schema, member, depth + 1);
            } else if !required.iter().any(|name| name == key)
                && !self.fits(schema, &Value::Null)
                && !self.budget.is_exceeded()
            {
                members.shift_remove(key);
            }
        }
        if let Some(schema @ Value::Object(_)) = keywords.get("additionalProperties") {
            let others = members.iter_mut();
            for (key, member) in others {
                if declared.is_none_or(|declared| !declared.contains_key(key)) {
                    self.value(schema, member, depth + 1);
                }
            }
        }
    }
}

/// Returns the values that a value of the wrong kind can mean. A text that is a JSON document means that document, so
/// it is not also an item of a list.
fn readings(value: &Value) -> Vec<Value> {
    let in_list = || Value::Array(vec![value.clone()]);
    let Value::String(text) = value else {
        return match value {
            Value::Object(_) => vec![in_list()],
            _ => Vec::new(),
        };
    };
    let document = text.trim();
    if document.starts_with(['{', '[']) {
        let parsed = serde_json::from_str(document).ok();
        if let Some(parsed @ (Value::Array(_) | Value::Object(_))) = parsed {
            return match parsed {
                Value::Object(_) => vec![Value::Array(vec![parsed.clone()]), parsed],
                _ => vec![parsed],
            };
        }
    }
    let mut readings = vec![in_list()];
    readings.extend(number(text).map(Value::Number));
    if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        readings.push(Value::Bool(text.eq_ignore_ascii_case("true")));
    }
    readings
}

/// Returns the number that a text is, unless it cannot be represented exactly.
fn number(text: &str) -> Option<Number> {
    let is_number = text.ends_with(|last: char| last.is_ascii_digit())
        && text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let number: Number = serde_json::from_str(text).ok().filter(|_| is_number)?;
    match number.as_f64().and_then(integer) {
        Some(integer) => Some(integer.into()),
        // A longer whole number would lose its last digits.
        None => Some(number).filter(|_| text.contains(['.', 'e', 'E'])),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::check;
    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "required": ["path"],
            "$defs": { "Todo": {
                "type": "object",
                "required": ["content"],
                "properties": { "content": { "type": "string" }, "order": { "type": "integer" } },
            } },
            "properties": {
                "path": { "type": "string" },
                "limit": { "type": "integer", "allOf": [{ "minimum": 1 }] },
                "ratio": { "type": "number" },
                "all": { "type": "boolean" },
                "maybe": { "type": ["string", "null"] },
                "names": { "type": "array", "items": { "type": "string" } },
                "ids": { "type": "array", "items": { "type": "integer" } },
                "todos": { "type": "array", "items": { "$ref": "#/$defs/Todo" } },
                "todo": { "$ref": "#/$defs/Todo" },
                "nullable": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
                "either": { "anyOf": [{ "type": "integer" }, { "type": "boolean" }] },
                "text": { "type": ["string", "integer"] },
                "level": { "const": 1 },
                "mode": { "enum": [1, 2, true] },
                "env": { "type": "object", "additionalProperties": { "type": "integer" } },
                "any": {},
            },
        })
    }

    fn converted(mut value: Value) -> Value {
        convert_meant(&schema(), &mut value);
        value
    }

    #[test]
    fn a_member_with_one_meaning_is_converted() {
        for (given, meant) in [
            (json!({"limit": null}), json!({})),
            (json!({"limit": "2"}), json!({"limit": 2})),
            (json!({"limit": "2.0"}), json!({"limit": 2})),
            (json!({"limit": "1e3"}), json!({"limit": 1000})),
            (json!({"ratio": "-0.5"}), json!({"ratio": -0.5})),
            (json!({"all": "true"}), json!({"all": true})),
            (json!({"all": "False"}), json!({"all": false})),
            (json!({"names": "a"}), json!({"names": ["a"]})),
            (
                json!({"names": "[\"a\",\"b\"]"}),
                json!({"names": ["a", "b"]}),
            ),
            (json!({"ids": ["1", 2]}), json!({"ids": [1, 2]})),
            (json!({"ids": "[\"1\"]"}), json!({"ids": [1]})),
            (json!({"ids": "5"}), json!({"ids": [5]})),
            (
                json!({"todos": "[{\"content\":\"x\",\"order\":\"1\"}]"}),
                json!({"todos": [{"content": "x", "order": 1}]}),
            ),
            (
                json!({"todos": {"content": "x", "order": null}}),
                json!({"todos": [{"content": "x"}]}),
            ),
            (
                json!({"todo": " {\"content\":\"x\"}\n"}),
                json!({"todo": {"content": "x"}}),
            ),
            (json!({"nullable": "3"}), json!({"nullable": 3})),
            (json!({"either": "3"}), json!({"either": 3})),
            (json!({"either": "true"}), json!({"either": true})),
            (json!({"level": "1"}), json!({"level": 1})),
            (json!({"mode": "2"}), json!({"mode": 2})),
            (json!({"mode": "true"}), json!({"mode": true})),
            (json!({"env": {"a": "1"}}), json!({"env": {"a": 1}})),
        ] {
            assert_eq!(converted(given.clone()), meant, "{given}");
        }
    }

    #[test]
    fn a_member_without_a_certain_meaning_stays() {
        for given in [
            json!(null),
            json!([]),
            json!("{\"path\":\"a\"}"),
            json!({"path": null}),
            json!({"path": 5}),
            json!({"limit": "two"}),
            json!({"limit": ""}),
            json!({"limit": " 2"}),
            json!({"limit": "02"}),
            json!({"limit": "+2"}),
            json!({"limit": "0x10"}),
            json!({"limit": "2.5"}),
            json!({"limit": "0"}),
            json!({"limit": "12345678901234567890"}),
            json!({"ratio": "12345678901234567890"}),
            json!({"ratio": "NaN"}),
            json!({"limit": true}),
            json!({"all": "yes"}),
            json!({"all": 1}),
            json!({"names": [5]}),
            json!({"names": "[1]"}),
            json!({"todo": "{\"content\":"}),
            json!({"todos": {}}),
            json!({"level": "2"}),
            json!({"either": null}),
        ] {
            if given["either"].is_null() && given.get("either").is_some() {
                assert_eq!(converted(given), json!({}));
                continue;
            }
            assert_eq!(converted(given.clone()), given);
        }
    }

    #[test]
    fn a_member_that_the_schema_accepts_stays() {
        for given in [
            json!({"path": "5", "maybe": null, "nullable": null, "text": "5", "any": "5"}),
            json!({"path": "null", "any": null, "more": "1", "names": ["true"]}),
        ] {
            assert_eq!(converted(given.clone()), given);
        }
    }

    #[test]
    fn only_a_number_above_the_largest_is_lowered() {
        let schema = json!({"properties": {
            "a": {"type": "integer", "allOf": [{"minimum": 1}, {"maximum": 10}]},
            "b": {"type": "number", "maximum": 0.5},
            "c": {"type": "integer"},
        }});
        for (given, expected, lowered) in [
            (
                json!({"a": 10, "b": 0.5, "c": 99}),
                json!({"a": 10, "b": 0.5, "c": 99}),
                0,
            ),
            (json!({"a": 11, "b": 0.6}), json!({"a": 10, "b": 0.5}), 2),
            (json!({"a": "11"}), json!({"a": 10}), 1),
            (json!({"a": "9", "b": "x"}), json!({"a": "9", "b": "x"}), 0),
            (json!({"a": null, "b": []}), json!({"a": null, "b": []}), 0),
            (json!([1]), json!([1]), 0),
        ] {
            let mut value = given.clone();
            assert_eq!(
                lower_to_maximum(&schema, &mut value).len(),
                lowered,
                "{given}"
            );
            assert_eq!(value, expected, "{given}");
        }
    }

    fn member() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<i32>().prop_map(|number| Value::from(number.to_string())),
            "[a-z\\[\\]{}\"]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(2, 8, 3, |inner| {
            proptest::collection::vec(inner, 0..3).prop_map(Value::from)
        })
    }

    proptest! {
        #[test]
        fn accepted_values_never_change_and_conversions_are_accepted(
            members in proptest::collection::hash_map(
                proptest::sample::select(vec![
                    "path", "limit", "all", "names", "ids", "nullable", "either", "text", "mode", "any",
                ]),
                member(),
                0..6,
            ),
        ) {
            let given: Value = members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into();
            let meant = converted(given.clone());
            prop_assert_eq!(&converted(meant.clone()), &meant);
            if check(&schema(), &given, Nulls::Values).is_ok() {
                prop_assert_eq!(meant, given);
            }
        }
    }
}
