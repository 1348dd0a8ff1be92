//! The work of a check, counted before it begins.
//!
//! A check of a schema that refers to itself may take exponential time, and it cannot be stopped. The count visits each
//! pair of a schema and a value once, because equal pairs need equal work.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Maximum number of steps of a check. It takes about a second.
const MAX_STEPS: u64 = 20_000_000;
/// Maximum number of pairs of a schema and a value.
const MAX_PAIRS: usize = 500_000;
/// Maximum number of pairs within each other.
const MAX_DEPTH: usize = 800;
/// Steps of a pattern that can look around or back, for one text. The check ends such a search after as many steps.
pub(super) const PATTERN_STEPS: usize = 20_000;

/// The keywords whose schemas apply to the same value.
const ALL: [&str; 1] = ["allOf"];
/// As above. The check compares them once to decide, and once more to report problems.
const CHOICES: [&str; 2] = ["anyOf", "oneOf"];
const CONDITIONS: [&str; 4] = ["not", "if", "then", "else"];
/// The keywords whose members are no schemas.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];

/// Fails with the reason if a check of the value could take too long.
pub(super) fn bound(schema: &Value, value: &Value) -> Result<(), String> {
    let mut effort = Effort::new(schema);
    let steps = effort.of(schema, value, true, 0);
    if steps <= MAX_STEPS && effort.work.len() <= MAX_PAIRS {
        return Ok(());
    }
    Err(format!(
        "the check of the output needs more than {MAX_STEPS} steps; make the output simpler"
    ))
}

/// Fails with the reason if the work of checks cannot be counted.
pub(super) fn countable(schema: &Value) -> Result<(), String> {
    let effort = Effort::new(schema);
    let mut unknown = None;
    visit(schema, &mut |members| {
        for reference in references(members) {
            if effort.targets(reference).is_empty() {
                unknown.get_or_insert_with(|| reference.to_owned());
            }
        }
    });
    match unknown {
        None => Ok(()),
        Some(reference) => Err(format!(
            "its reference {} leads to no part of it",
            Value::from(reference)
        )),
    }
}

struct Effort<'a> {
    root: &'a Value,
    /// The schemas with an id, by that id.
    resources: Vec<(&'a str, &'a Value)>,
    /// The schemas with an anchor, by that name.
    anchors: Vec<(&'a str, &'a Value)>,
    /// The steps of each pair of a schema and a value; `None` while they are counted.
    work: HashMap<Pair, Option<u64>>,
    /// The number of values in each value.
    sizes: HashMap<*const Value, u64>,
    /// The pairs that contain themselves.
    cycles: HashMap<Pair, u32>,
}

/// A schema, a value, and if problems are reported.
type Pair = (*const Value, *const Value, bool);

impl<'a> Effort<'a> {
    fn new(root: &'a Value) -> Self {
        let (mut resources, mut anchors) = (Vec::new(), Vec::new());
        visit_schemas(root, &mut |schema| {
            let text = |key: &str| schema.get(key).and_then(Value::as_str);
            resources.extend(text("$id").map(|id| (id, schema)));
            let names = [text("$anchor"), text("$dynamicAnchor")];
            anchors.extend(names.into_iter().flatten().map(|name| (name, schema)));
        });
        Self {
            root,
            resources,
            anchors,
            work: HashMap::new(),
            sizes: HashMap::new(),
            cycles: HashMap::new(),
        }
    }

    /// The number of steps of a check, at least.
    fn of(&mut self, schema: &'a Value, value: &'a Value, reports: bool, depth: usize) -> u64 {
        let Some(keywords) = schema.as_object() else {
            return 1;
        };
        if depth > MAX_DEPTH || self.work.len() > MAX_PAIRS {
            return u64::MAX;
        }
        let pair = (
            std::ptr::from_ref(schema),
            std::ptr::from_ref(value),
            reports,
        );
        match self.work.get(&pair) {
            Some(Some(known)) => return *known,
            Some(None) => {
                let times = self.cycles.entry(pair).or_default();
                *times += 1;
                // A second way back to the same pair would double the work without an end.
                return if *times > 1 { u64::MAX } else { 1 };
            }
            None => self.work.insert(pair, None),
        };
        let steps = self
            .in_place(keywords, value, reports, depth + 1)
            .saturating_add(self.below(keywords, value, reports, depth + 1));
        self.work.insert(pair, Some(steps));
        steps
    }

    /// The steps of the keywords that apply to the value itself.
    fn in_place(
        &mut self,
        keywords: &'a Map<String, Value>,
        value: &'a Value,
        reports: bool,
        depth: usize,
    ) -> u64 {
        let mut steps = self.own(keywords, value);
        let mut add = |more: u64| steps = steps.saturating_add(more);
        for reference in references(keywords) {
            for target in self.targets(reference) {
                add(self.of(target, value, reports, depth));
            }
        }
        for schema in ALL.iter().flat_map(|key| list(keywords, key)) {
            add(self.of(schema, value, reports, depth));
        }
        let choices = CHOICES.iter().flat_map(|key| list(keywords, key));
        let conditions = CONDITIONS.iter().filter_map(|key| keywords.get(*key));
        let dependent = ["dependentSchemas", "dependencies"];
        let dependent = dependent.iter().flat_map(|key| members(keywords, key));
        for schema in choices
            .chain(conditions)
            .chain(dependent.map(|(_, schema)| schema))
        {
            add(self.of(schema, value, false, depth));
            if reports {
                add(self.of(schema, value, true, depth));
            }
        }
        steps
    }

    /// The steps of the keywords that apply to members and elements of the value.
    fn below(
        &mut self,
        keywords: &'a Map<String, Value>,
        value: &'a Value,
        reports: bool,
        depth: usize,
    ) -> u64 {
        let mut steps = 0_u64;
        let mut add = |more: u64| steps = steps.saturating_add(more);
        match value {
            Value::Object(given) => {
                for (name, schema) in members(keywords, "properties") {
                    if let Some(member) = given.get(name) {
                        add(self.of(schema, member, reports, depth));
                    }
                }
                let patterns = members(keywords, "patternProperties");
                let others = ["additionalProperties", "unevaluatedProperties"];
                let others = others.iter().filter_map(|key| keywords.get(*key));
                for schema in patterns.map(|(_, schema)| schema).chain(others) {
                    for (name, member) in given {
                        add(pattern_steps(name));
                        add(self.of(schema, member, reports, depth));
                    }
                }
                if let Some(names) = keywords.get("propertyNames") {
                    // A name has no members, so the work is that of the schemas in place.
                    let each = super::Expansion::new(self.root).size(names);
                    let texts: u64 = given.keys().map(|name| pattern_steps(name)).sum();
                    add(each.saturating_mul(texts));
                }
            }
            Value::Array(elements) => {
                let first = list(keywords, "prefixItems").iter().zip(elements);
                for (schema, element) in first {
                    add(self.of(schema, element, reports, depth));
                }
                for key in ["items", "contains", "unevaluatedItems"] {
                    let Some(schema) = keywords.get(key) else {
                        continue;
                    };
                    for element in elements {
                        add(self.of(schema, element, false, depth));
                        if reports {
                            add(self.of(schema, element, true, depth));
                        }
                    }
                }
            }
            _ => {}
        }
        // Each member is compared again with the schemas in place.
        if keywords.contains_key("unevaluatedProperties")
            || keywords.contains_key("unevaluatedItems")
        {
            let again = self.in_place(keywords, value, false, depth);
            let count = match value {
                Value::Object(given) => given.len(),
                Value::Array(elements) => elements.len(),
                _ => 0,
            };
            steps = steps.saturating_add(again.saturating_mul(count as u64));
        }
        steps
    }

    /// The steps of the keywords that contain no schemas.
    fn own(&mut self, keywords: &Map<String, Value>, value: &'a Value) -> u64 {
        let mut steps = 1 + keywords.len() as u64;
        for key in ["required", "enum", "properties", "dependentRequired"] {
            steps += match keywords.get(key) {
                Some(Value::Array(items)) => items.len() as u64,
                Some(Value::Object(items)) => items.len() as u64,
                _ => 0,
            };
        }
        if ["enum", "const", "uniqueItems"]
            .iter()
            .any(|key| keywords.contains_key(*key))
        {
            steps = steps.saturating_add(self.size(value).saturating_mul(4));
        }
        if let (Some(pattern), Value::String(text)) = (keywords.get("pattern"), value) {
            let pattern = pattern.as_str().unwrap_or_default();
            let most = if searches(pattern) {
                PATTERN_STEPS as u64
            } else {
                0
            };
            steps = steps
                .saturating_add(pattern_steps(text))
                .saturating_add(most);
        }
        steps
    }

    /// The number of values in a value.
    fn size(&mut self, value: &'a Value) -> u64 {
        let place = std::ptr::from_ref(value);
        if let Some(known) = self.sizes.get(&place) {
            return *known;
        }
        let size = 1 + match value {
            Value::Array(elements) => elements.iter().map(|it| self.size(it)).sum(),
            Value::Object(members) => members.values().map(|it| self.size(it)).sum(),
            _ => 0,
        };
        self.sizes.insert(place, size);
        size
    }

    /// The schemas to which a reference may lead. All of them count.
    fn targets(&self, reference: &str) -> Vec<&'a Value> {
        let (id, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let known = self.resources.iter();
        let known =
            known.filter(|(known, _)| id.is_empty() || known.trim_end_matches('#').ends_with(id));
        let root = id.is_empty().then_some(self.root);
        let bases = root.into_iter().chain(known.map(|(_, schema)| *schema));
        if fragment.is_empty() || fragment.starts_with('/') {
            let decoded = percent_encoding::percent_decode_str(fragment).decode_utf8_lossy();
            return bases.filter_map(|base| base.pointer(&decoded)).collect();
        }
        let named = self.anchors.iter().filter(|(name, _)| *name == fragment);
        named.map(|(_, schema)| *schema).collect()
    }
}

/// True for a pattern that the check cannot compare in linear time: it looks around or back, or does not give back.
fn searches(pattern: &str) -> bool {
    let marks = [
        "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?(", "\\k", "\\G", "\\K", "*+", "++", "?+", "}+",
    ];
    let refers = |pair: &[u8]| pair[0] == b'\\' && pair[1].is_ascii_digit();
    marks.iter().any(|mark| pattern.contains(mark)) || pattern.as_bytes().windows(2).any(refers)
}

fn pattern_steps(text: &str) -> u64 {
    1 + text.len() as u64 / 8
}

fn references(keywords: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let keys = ["$ref", "$dynamicRef", "$recursiveRef"];
    keys.into_iter()
        .filter_map(move |key| keywords.get(key).and_then(Value::as_str))
}

fn list<'v>(keywords: &'v Map<String, Value>, key: &str) -> &'v [Value] {
    let items = keywords.get(key).and_then(Value::as_array);
    items.map_or(&[], Vec::as_slice)
}

fn members<'v>(
    keywords: &'v Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = (&'v String, &'v Value)> {
    keywords
        .get(key)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

/// Calls back with each object that may be a schema.
fn visit_schemas<'v>(value: &'v Value, found: &mut impl FnMut(&'v Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|it| visit_schemas(it, found)),
        Value::Object(members) => {
            found(value);
            let inner = members
                .iter()
                .filter(|(key, _)| !DATA.contains(&key.as_str()));
            inner.for_each(|(_, it)| visit_schemas(it, found));
        }
        _ => {}
    }
}

fn visit<'v>(value: &'v Value, found: &mut impl FnMut(&'v Map<String, Value>)) {
    visit_schemas(value, &mut |schema| {
        if let Value::Object(members) = schema {
            found(members);
        }
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!({}), |inner, _| json!({"a": inner}))
    }

    #[test]
    fn exponential_work_is_found_in_a_moment() {
        let to = json!({"$ref": "#/$defs/n"});
        let child = json!({"properties": {"a": to}, "required": ["b"]});
        for applied in [
            json!({"anyOf": [child, child]}),
            json!({"oneOf": [child, child]}),
            json!({"allOf": [child, child]}),
            json!({"not": child, "if": child}),
            json!({"properties": {"a": to}, "additionalProperties": to, "patternProperties": {"": to}}),
            json!({"dependentSchemas": {"a": child, "b": child}}),
            json!({"allOf": [to, to]}),
            json!({"unevaluatedProperties": to, "allOf": [child]}),
        ] {
            let schema = json!({"type": "object", "$defs": {"n": applied}, "$ref": "#/$defs/n"});
            let started = std::time::Instant::now();
            assert!(bound(&schema, &nested(100)).is_err(), "{schema}");
            assert!(started.elapsed().as_secs() < 20, "{schema}");
        }
    }

    #[test]
    fn ordinary_work_is_accepted() {
        let tree = json!({
            "type": "object",
            "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "items": {"type": "array", "items": {"$ref": "#"}}},
        });
        let value = (0..60).fold(
            json!({}),
            |inner, _| json!({"left": inner, "right": {}, "items": [{}, {}]}),
        );
        assert_eq!(bound(&tree, &value), Ok(()));
        let list =
            json!({"properties": {"rows": {"items": {"type": "string", "pattern": "^[a-z]+$"}}}});
        assert_eq!(bound(&list, &json!({"rows": vec!["abc"; 10_000]})), Ok(()));
        assert_eq!(bound(&json!({"$ref": "#"}), &nested(3)), Ok(()));
        let union = json!({
            "$defs": {"node": {"anyOf": [
                {"properties": {"kind": {"const": "leaf"}}},
                {"properties": {"kind": {"const": "pair"}, "a": {"$ref": "#/$defs/node"}}},
            ]}},
            "$ref": "#/$defs/node",
        });
        assert_eq!(bound(&union, &nested(10)), Ok(()));
    }

    #[test]
    fn references_lead_to_parts_of_the_schema() {
        for (schema, leads) in [
            (json!({"$defs": {"a b": {}}, "$ref": "#/$defs/a%20b"}), true),
            (
                json!({"$defs": {"a": {"$id": "Node"}}, "properties": {"x": {"$ref": "Node"}}}),
                true,
            ),
            (
                json!({"$defs": {"a": {"$anchor": "here"}}, "$ref": "#here"}),
                true,
            ),
            (json!({"enum": [{"$ref": "nowhere"}]}), true),
            (json!({"$ref": "#/$defs/none"}), false),
            (json!({"$ref": "#nowhere"}), false),
            (json!({"$ref": "other.json"}), false),
        ] {
            assert_eq!(countable(&schema).is_ok(), leads, "{schema}");
        }
    }
}
