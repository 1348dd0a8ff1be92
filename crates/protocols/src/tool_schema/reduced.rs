//! The reduced form of a schema, in which each schema has one type.
//!
//! It has no references, no conditions and no combinations but `anyOf`, and a schema with `anyOf` has only annotations
//! and `nullable` besides. The forms for providers with small subsets are made from it, and the arguments of calls
//! are changed back by it. `enum` holds only texts, numbers or booleans, those of the type. `items` admits the items at
//! all positions, and `prefixItems` says besides which ones come first.

use opencode_llm::canonical::request::JsonMap;
use opencode_llm::normal_schema::keywords::{has_type, type_of};
use opencode_llm::normal_schema::unique;
use serde_json::{Value, json};

use super::combine::{both, joined};
use super::flat::{self, Copies, Definitions, is_never, list};

/// Maximum number of schemas. References multiply.
const MAX_NODES: usize = 4_000;

/// Maximum number of uses of a definition within itself.
const MAX_RECURSION: usize = 2;

/// Maximum number of references and parts that one schema consists of.
const MAX_PARTS: usize = 64;

/// Returns the reduced form of a normal schema, to a maximum depth.
pub(super) fn reduced(normal: &Value, depth: usize) -> JsonMap {
    reduced_within(normal, depth, &Copies::default())
}

fn reduced_within(normal: &Value, depth: usize, copies: &Copies) -> JsonMap {
    let mut reducer = Reducer {
        definitions: Definitions::of(normal, copies),
        stack: Vec::new(),
        nodes: 0,
    };
    match reducer.node(normal, depth) {
        Some(Value::Object(root)) if root.get("type").is_some_and(|kind| kind == "object") => root,
        _ => JsonMap::from_iter([("type".to_owned(), "object".into())]),
    }
}

/// Returns the reduced forms of the alternatives of a normal schema, each with what it says about all of them. None if
/// they are too large together.
pub(super) fn alternatives(normal: &Value, depth: usize) -> Vec<Value> {
    let Value::Object(own) = normal else {
        return Vec::new();
    };
    let keyword = ["anyOf", "oneOf"]
        .into_iter()
        .find(|it| own.contains_key(*it));
    let Some(keyword) = keyword else {
        return Vec::new();
    };
    let mut shared = own.clone();
    shared.shift_remove(keyword);
    let copies = Copies::default();
    let mut alternatives = Vec::new();
    for branch in list(own, keyword).iter().filter_map(Value::as_object) {
        if !copies.may_copy(shared.values()) {
            return Vec::new();
        }
        let mut alternative = branch.clone();
        if both(&mut alternative, shared.clone()).is_some() {
            let reduced = reduced_within(&Value::Object(alternative), depth, &copies);
            alternatives.push(Value::Object(reduced));
        }
    }
    alternatives
}

struct Reducer<'a> {
    definitions: Definitions<'a>,
    /// The definitions that contain the current schema.
    stack: Vec<&'a str>,
    nodes: usize,
}

impl Reducer<'_> {
    /// Returns the reduced form. `None` if the schema admits nothing.
    fn node(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        let Value::Object(schema) = schema else {
            return Some(json!({}));
        };
        if is_never(schema) {
            return None;
        }
        self.nodes += 1;
        let Some(depth) = depth.checked_sub(1).filter(|_| self.nodes < MAX_NODES) else {
            return Some(cut(schema));
        };
        let outer = self.stack.len();
        let mut parts = 0;
        let whole = self.whole(schema, &mut parts);
        let node = whole.and_then(|whole| self.choice(whole, depth));
        self.stack.truncate(outer);
        node
    }

    /// Returns the schema with what it refers to, and with the parts of `allOf`.
    fn whole(&mut self, schema: &JsonMap, parts: &mut usize) -> Option<JsonMap> {
        let mut own = schema.clone();
        while let Some((name, target)) = self.definitions.target(&own) {
            own.shift_remove("$ref");
            *parts += 1;
            let Value::Object(target) = target else {
                continue;
            };
            if *parts > MAX_PARTS
                || self.stack.iter().filter(|it| **it == name).count() >= MAX_RECURSION
                || !self.definitions.may_copy(target)
            {
                if let Value::Object(cut) = cut(target) {
                    both(&mut own, cut)?;
                }
                continue;
            }
            if is_never(target) {
                return None;
            }
            self.stack.push(name);
            both(&mut own, target.clone())?;
        }
        if self.is_object(&own, MAX_PARTS.saturating_sub(*parts)) {
            if !flat::is_flat(&own) {
                let names = list(&own, "allOf").iter().filter_map(Value::as_object);
                let names = names.filter_map(|part| self.definitions.target(part));
                let names: Vec<_> = names.map(|(name, _)| name).collect();
                let is_over = |name: &&str| {
                    self.stack.iter().filter(|it| *it == name).count() >= MAX_RECURSION
                };
                if names.iter().any(is_over) {
                    own.shift_remove("allOf");
                }
                self.stack.extend(names);
                own = flat::object(&own, self.definitions)?;
            }
            own.insert("type".to_owned(), kinds_with_object(&own));
            return Some(own);
        }
        for part in list(schema, "allOf") {
            *parts += 1;
            if let Value::Object(part) = part
                && *parts <= MAX_PARTS
            {
                let part = self.whole(part, parts)?;
                both(&mut own, part)?;
            }
        }
        own.shift_remove("allOf");
        Some(own)
    }

    /// True if a schema describes objects by properties.
    fn is_object(&self, schema: &JsonMap, parts: usize) -> bool {
        let Some(parts) = parts.checked_sub(1) else {
            return false;
        };
        if let Some(kind) = schema.get("type") {
            return kind == "object";
        }
        let target = self.definitions.target(schema).map(|(_, target)| target);
        let mut below = list(schema, "allOf")
            .iter()
            .chain(target)
            .filter_map(Value::as_object);
        schema.contains_key("properties")
            || schema.contains_key("required")
            || below.any(|part| self.is_object(part, parts / 2))
    }

    /// Returns the reduced form of a schema without references, which may have alternatives.
    fn choice(&mut self, mut own: JsonMap, depth: usize) -> Option<Value> {
        let lists = ["anyOf", "oneOf"].map(|keyword| own.shift_remove(keyword));
        let branches = lists.into_iter().flatten().find_map(|list| match list {
            Value::Array(list) => Some(list),
            _ => None,
        });
        let Some(branches) = branches else {
            return self.leaves(own, depth);
        };
        let mut annotations = own.clone();
        annotations.retain(|keyword, _| is_annotation(keyword));
        own.retain(|keyword, _| !is_annotation(keyword));
        let mut nodes = Vec::new();
        let mut is_nullable = false;
        for branch in branches {
            let mut branch = match branch {
                Value::Object(branch) => branch,
                _ => JsonMap::new(),
            };
            if self.definitions.may_copy(&own) && both(&mut branch, own.clone()).is_none() {
                continue;
            }
            match self.node(&Value::Object(branch), depth) {
                Some(Value::Object(mut node)) => {
                    let is_plain = node.keys().all(|it| it == "anyOf" || it == "nullable");
                    if node.get("type").is_some_and(|kind| kind == "null") {
                        is_nullable = true;
                    } else if is_plain && let Some(Value::Array(inner)) = node.shift_remove("anyOf")
                    {
                        is_nullable |= node.contains_key("nullable");
                        nodes.extend(inner);
                    } else {
                        nodes.push(Value::Object(node));
                    }
                }
                Some(other) => nodes.push(other),
                None => {}
            }
        }
        joined(nodes, is_nullable, annotations)
    }

    /// Returns one schema for each type.
    fn leaves(&mut self, own: JsonMap, depth: usize) -> Option<Value> {
        let values = match (own.get("const"), own.get("enum")) {
            (Some(value), _) => Some(vec![value.clone()]),
            (None, Some(Value::Array(values))) => Some(values.clone()),
            _ => None,
        };
        let given = given_kinds(&own);
        let fits =
            |value: &Value| given.is_empty() || given.iter().any(|kind| has_type(value, kind));
        let values: Option<Vec<Value>> = values.map(|it| it.into_iter().filter(fits).collect());
        let kinds: Vec<String> = match &values {
            Some(values) => {
                let mut kinds: Vec<String> = Vec::new();
                for value in values {
                    // The type that the schema gives is kept: the integer 1 may be a number.
                    let own = type_of(value);
                    let named = given.iter().find(|kind| has_type(value, kind));
                    kinds.push(named.map_or_else(|| own.to_owned(), Clone::clone));
                }
                unique(kinds)
            }
            None => given,
        };
        if values.as_ref().is_some_and(Vec::is_empty) {
            return None;
        }
        let mut annotations = own.clone();
        annotations.retain(|keyword, _| is_annotation(keyword));
        if kinds.is_empty() {
            return Some(Value::Object(annotations));
        }
        let is_nullable = kinds.len() > 1 && kinds.iter().any(|kind| kind == "null");
        let others: Vec<&String> = kinds
            .iter()
            .filter(|kind| !(is_nullable && *kind == "null"))
            .filter(|kind| !(*kind == "integer" && kinds.iter().any(|it| it == "number")))
            .collect();
        let mut nodes = Vec::new();
        for kind in others {
            let mut leaf = JsonMap::from_iter([("type".to_owned(), json!(kind))]);
            match &values {
                Some(values) if matches!(kind.as_str(), "object" | "array") => {
                    let text = format!("One of: {}", short(&json!(values).to_string()));
                    flat::describe(&mut leaf, &text);
                }
                Some(values) if kind != "null" => {
                    let values = values.iter().filter(|value| has_type(value, kind));
                    leaf.insert("enum".to_owned(), values.cloned().collect());
                }
                _ => {}
            }
            self.leaf(&mut leaf, kind, &own, depth);
            nodes.push(Value::Object(leaf));
        }
        joined(nodes, is_nullable, annotations)
    }

    /// Adds the keywords of a type.
    fn leaf(&mut self, leaf: &mut JsonMap, kind: &str, own: &JsonMap, depth: usize) {
        let keywords: &[&str] = match kind {
            "string" => &["format", "pattern", "minLength", "maxLength"],
            "number" | "integer" => &[
                "format",
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "multipleOf",
            ],
            "array" => &["minItems", "maxItems", "uniqueItems"],
            "object" => &["minProperties", "maxProperties"],
            _ => &[],
        };
        for keyword in keywords {
            if let Some(value) = own.get(*keyword) {
                leaf.insert((*keyword).to_owned(), value.clone());
            }
        }
        match kind {
            "array" => {
                if let Some(items) = self.items(own, depth) {
                    leaf.insert("items".to_owned(), items);
                }
                let first = list(own, "prefixItems").iter();
                let first = first.map(|item| self.node(item, depth).unwrap_or_else(|| json!({})));
                let first: Vec<Value> = first.collect();
                if !first.is_empty() {
                    leaf.insert("prefixItems".to_owned(), first.into());
                }
            }
            "object" => self.object(leaf, own, depth),
            _ => {}
        }
    }

    /// Returns the schema of the items. `None` if it admits anything.
    fn items(&mut self, own: &JsonMap, depth: usize) -> Option<Value> {
        let mut all = list(own, "prefixItems").to_vec();
        all.extend(own.get("items").cloned());
        let items = match all.as_slice() {
            [] => return None,
            [one] => self.node(one, depth),
            _ => self.node(&json!({"anyOf": all}), depth),
        };
        items.filter(|items| items.as_object().is_some_and(|it| !it.is_empty()))
    }

    fn object(&mut self, leaf: &mut JsonMap, own: &JsonMap, depth: usize) {
        let mut properties = JsonMap::new();
        for (name, schema) in own
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            if let Some(node) = self.node(schema, depth) {
                properties.insert(name.clone(), node);
            }
        }
        let required = list(own, "required").iter();
        let required =
            required.filter(|name| name.as_str().is_some_and(|it| properties.contains_key(it)));
        let required: Vec<Value> = required.cloned().collect();
        if !properties.is_empty() {
            leaf.insert("properties".to_owned(), Value::Object(properties));
        }
        if !required.is_empty() {
            leaf.insert("required".to_owned(), required.into());
        }
        if own
            .get("patternProperties")
            .and_then(Value::as_object)
            .is_some_and(|it| !it.is_empty())
        {
            let text = json!({"patternProperties": own.get("patternProperties")}).to_string();
            flat::describe(leaf, &format!("Also: {}", short(&text)));
            return;
        }
        match own.get("additionalProperties") {
            Some(Value::Bool(false)) => {
                leaf.insert("additionalProperties".to_owned(), false.into());
            }
            Some(schema @ Value::Object(_)) => match self.node(schema, depth) {
                Some(Value::Object(node)) if node.is_empty() => {
                    leaf.insert("additionalProperties".to_owned(), true.into());
                }
                Some(node) => {
                    leaf.insert("additionalProperties".to_owned(), node);
                }
                None => {
                    leaf.insert("additionalProperties".to_owned(), false.into());
                }
            },
            Some(Value::Bool(true)) => {
                leaf.insert("additionalProperties".to_owned(), true.into());
            }
            _ => {}
        }
    }
}

fn is_annotation(keyword: &str) -> bool {
    matches!(keyword, "description" | "title" | "default")
}

/// Returns the types of a schema: the given ones, otherwise those for which it has keywords.
fn given_kinds(own: &JsonMap) -> Vec<String> {
    match own.get("type") {
        Some(Value::String(one)) => return vec![one.clone()],
        Some(Value::Array(many)) => {
            return many
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect();
        }
        _ => {}
    }
    if own.contains_key("enum") || own.contains_key("const") {
        return Vec::new();
    }
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| own.contains_key(*keyword));
    let kind = if has(&["properties", "required", "additionalProperties"]) {
        "object"
    } else if has(&[
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "uniqueItems",
    ]) {
        "array"
    } else if has(&["pattern", "minLength", "maxLength", "format"]) {
        "string"
    } else if has(&[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    ]) {
        "number"
    } else {
        return Vec::new();
    };
    vec![kind.to_owned()]
}

fn kinds_with_object(own: &JsonMap) -> Value {
    own.get("type").cloned().unwrap_or_else(|| "object".into())
}

/// Returns a schema that admits more, without other schemas in it.
fn cut(schema: &JsonMap) -> Value {
    let kept = |keyword: &str, value: &Value| match keyword {
        "description" | "title" => true,
        "type" => value.is_string(),
        _ => false,
    };
    let members = schema
        .iter()
        .filter(|(keyword, value)| kept(keyword, value))
        .map(|(keyword, value)| (keyword.clone(), value.clone()));
    Value::Object(members.collect())
}

fn short(text: &str) -> String {
    text.chars().take(400).collect()
}
