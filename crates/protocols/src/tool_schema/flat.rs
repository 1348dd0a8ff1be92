//! One object schema for a schema that says with alternatives and conditions what an object may have.
//!
//! Providers refuse these keywords at the root. The flat schema has the properties of all alternatives. It
//! requires what each alternative requires, and it is closed if each alternative is. A property has the
//! meaning of its declaration, even if another alternative does not declare it.

use std::cell::Cell;

use opencode_llm::canonical::request::JsonMap;
use opencode_llm::normal_schema::{TOLD, unique};
use serde_json::{Value, json};

/// Maximum number of schemas within each other that are made flat.
const MAX_DEPTH: usize = 32;

/// Maximum number of schemas that one flat schema consists of.
const MAX_PARTS: usize = 2_000;

/// Maximum length of a schema in a description, in characters.
const MAX_TEXT: usize = 400;

/// Maximum number of alternatives in a description.
const MAX_ALTERNATIVES: usize = 24;

/// Maximum size of the schemas that a form copies: their values, and 64 bytes of text count as one.
const MAX_COPIED: usize = 100_000;

/// The size that a form may still copy. References and alternatives multiply what a schema says.
pub(super) struct Copies(Cell<usize>);

impl Default for Copies {
    fn default() -> Self {
        Self(Cell::new(MAX_COPIED))
    }
}

impl Copies {
    /// Counts a copy. False if it is too large, and after that for each copy.
    pub(super) fn may_copy<'a>(&self, values: impl IntoIterator<Item = &'a Value>) -> bool {
        let mut left = self.0.get();
        let is_within = values.into_iter().all(|value| count(value, &mut left));
        self.0.set(if is_within { left } else { 0 });
        is_within
    }
}

/// Takes the size of a value from what is left. False if it is larger.
fn count(value: &Value, left: &mut usize) -> bool {
    let own = match value {
        Value::String(text) => 1 + text.len() / 64,
        _ => 1,
    };
    let Some(rest) = left.checked_sub(own) else {
        return false;
    };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| count(item, left)),
        Value::Object(members) => members.values().all(|member| count(member, left)),
        _ => true,
    }
}

/// The definitions of a normal schema.
#[derive(Clone, Copy)]
pub(super) struct Definitions<'a> {
    named: Option<&'a JsonMap>,
    copies: &'a Copies,
}

impl<'a> Definitions<'a> {
    pub(super) fn of(root: &'a Value, copies: &'a Copies) -> Self {
        Self {
            named: root.get("$defs").and_then(Value::as_object),
            copies,
        }
    }

    /// Counts a copy of a schema. False if the form must do without it.
    pub(super) fn may_copy(self, schema: &JsonMap) -> bool {
        self.copies.may_copy(schema.values())
    }

    /// Returns the definition that a schema refers to, and its name.
    pub(super) fn target(self, schema: &JsonMap) -> Option<(&'a str, &'a Value)> {
        let name = schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
        let (name, target) = self.named?.get_key_value(name)?;
        Some((name, target))
    }
}

/// True if a schema has a keyword that [`object`] replaces.
pub(super) fn is_flat(schema: &JsonMap) -> bool {
    !schema.contains_key("$ref") && !TOLD.iter().any(|keyword| schema.contains_key(*keyword))
}

/// Returns the flat form of a schema. `None` if it admits no object. The description tells the alternatives.
pub(super) fn object(schema: &JsonMap, definitions: Definitions<'_>) -> Option<JsonMap> {
    let mut parts = 0;
    flat(schema, definitions, MAX_DEPTH, &mut parts)
}

fn flat(
    schema: &JsonMap,
    definitions: Definitions<'_>,
    depth: usize,
    parts: &mut usize,
) -> Option<JsonMap> {
    *parts += 1;
    let is_kept =
        |keyword: &str| keyword != "$ref" && !TOLD.contains(&keyword) && !is_condition(keyword);
    let kept = || schema.iter().filter(|(keyword, _)| is_kept(keyword));
    if !definitions.copies.may_copy(kept().map(|(_, value)| value)) {
        return Some(JsonMap::new());
    }
    let mut own: JsonMap = kept()
        .map(|(keyword, value)| (keyword.clone(), value.clone()))
        .collect();
    let Some(depth) = depth.checked_sub(1).filter(|_| *parts < MAX_PARTS) else {
        return Some(own);
    };
    if !admits_objects(schema) {
        return None;
    }
    let fixed = schema.get("const").map(std::slice::from_ref);
    let fixed = fixed.or_else(|| schema.get("enum")?.as_array().map(Vec::as_slice));
    if fixed.is_some_and(|values| !values.iter().any(Value::is_object)) {
        return None;
    }
    let mut told = Vec::new();
    if let Some((_, target)) = definitions.target(schema) {
        add(&mut own, flat_value(target, definitions, depth, parts)?);
    }
    for part in list(schema, "allOf") {
        add(&mut own, flat_value(part, definitions, depth, parts)?);
    }
    for keyword in ["anyOf", "oneOf"] {
        let branches = list(schema, keyword).iter();
        let branches = branches.filter_map(|branch| flat_value(branch, definitions, depth, parts));
        let branches: Vec<JsonMap> = branches.collect();
        told.extend(alternatives(keyword, &branches));
        if !branches.is_empty() {
            let declared = own.get("properties").and_then(Value::as_object).cloned();
            add(&mut own, either(branches, &declared.unwrap_or_default()));
        }
    }
    for keyword in ["then", "else"] {
        if let Some(part) = schema.get(keyword) {
            let part = flat_value(part, definitions, depth, parts);
            add_missing(&mut own, part.unwrap_or_default());
        }
    }
    if let Some(Value::Object(dependent)) = schema.get("dependentSchemas") {
        for part in dependent.values() {
            let part = flat_value(part, definitions, depth, parts);
            add_missing(&mut own, part.unwrap_or_default());
        }
    }
    let said: JsonMap = schema
        .iter()
        .filter(|(keyword, _)| is_said(keyword))
        .map(|(keyword, value)| (keyword.clone(), value.clone()))
        .collect();
    if !said.is_empty() {
        told.push(format!("Also: {}", cut(&Value::Object(said).to_string())));
    }
    for text in told {
        describe(&mut own, &text);
    }
    Some(own)
}

fn flat_value(
    schema: &Value,
    definitions: Definitions<'_>,
    depth: usize,
    parts: &mut usize,
) -> Option<JsonMap> {
    match schema {
        Value::Object(schema) if is_never(schema) => None,
        Value::Object(schema) => flat(schema, definitions, depth, parts),
        _ => Some(JsonMap::new()),
    }
}

fn is_condition(keyword: &str) -> bool {
    matches!(keyword, "then" | "else" | "unevaluatedProperties" | "$defs")
}

/// True for keywords that a description tells as they are.
fn is_said(keyword: &str) -> bool {
    matches!(
        keyword,
        "not" | "if" | "then" | "else" | "enum" | "const" | "dependentRequired"
    )
}

/// True for the schema that admits nothing.
pub(super) fn is_never(schema: &JsonMap) -> bool {
    schema
        .get("not")
        .and_then(Value::as_object)
        .is_some_and(JsonMap::is_empty)
}

fn admits_objects(schema: &JsonMap) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == "object",
        Some(Value::Array(many)) => many.iter().any(|name| name == "object"),
        _ => true,
    }
}

pub(super) fn list<'a>(schema: &'a JsonMap, keyword: &str) -> &'a [Value] {
    schema
        .get(keyword)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn names(schema: &JsonMap, keyword: &str) -> Vec<String> {
    let names = list(schema, keyword).iter().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

/// Adds what an object must fulfil besides. Of two declarations of a property, the one that says more holds.
fn add(own: &mut JsonMap, more: JsonMap) {
    let required = [names(own, "required"), names(&more, "required")].concat();
    let closed = [&*own, &more].iter().any(|it| is_closed(it));
    for (keyword, value) in more {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties", Value::Object(named)) => {
                let all = own.entry(keyword).or_insert_with(|| json!({}));
                let Value::Object(all) = all else { continue };
                for (name, schema) in named {
                    match all.get_mut(&name) {
                        Some(known) if says_less(known, &schema) => replace(known, schema),
                        Some(_) => {}
                        None => {
                            all.insert(name, schema);
                        }
                    }
                }
            }
            ("description", Value::String(text)) => {
                if own.get("description").is_none_or(|known| *known != text) {
                    describe(own, &text);
                }
            }
            ("required", _) => {}
            (_, value) => {
                own.entry(keyword).or_insert(value);
            }
        }
    }
    if !required.is_empty() {
        own.insert("required".to_owned(), json!(unique(required)));
    }
    if closed {
        own.insert("additionalProperties".to_owned(), false.into());
    }
}

fn is_closed(schema: &JsonMap) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
}

/// Adds the properties of a schema that holds in some cases only.
fn add_missing(own: &mut JsonMap, mut some: JsonMap) {
    let Some(Value::Object(named)) = some.shift_remove("properties") else {
        return;
    };
    let all = own.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(all) = all {
        for (name, schema) in named {
            all.entry(name).or_insert(schema);
        }
    }
}

/// True if a declaration of a property restricts the value less than another one.
fn says_less(known: &Value, other: &Value) -> bool {
    let weight = |schema: &Value| {
        let Value::Object(schema) = schema else {
            return 0;
        };
        let keywords = schema.keys().map(|keyword| match keyword.as_str() {
            "description" | "title" | "default" | "examples" | "deprecated" => 0,
            "type" => 1,
            "enum" | "const" | "anyOf" | "oneOf" | "properties" | "items" => 100,
            _ => 2,
        });
        keywords.sum::<usize>()
    };
    weight(known) < weight(other)
}

/// Replaces a declaration, and keeps its description.
fn replace(known: &mut Value, mut other: Value) {
    if let (Some(text), Value::Object(other)) = (known.get("description"), &mut other) {
        other.entry("description").or_insert_with(|| text.clone());
    }
    *known = other;
}

/// Returns the schema that admits the objects of each alternative. A property that the object declares itself has that
/// meaning, unless each alternative says more.
fn either(mut branches: Vec<JsonMap>, declared: &JsonMap) -> JsonMap {
    if branches.len() == 1 {
        return branches.pop().unwrap_or_default();
    }
    let mut common = branches
        .first()
        .map(|it| names(it, "required"))
        .unwrap_or_default();
    let first = branches
        .first()
        .and_then(|it| it.get("additionalProperties"))
        .cloned();
    let rest = first.filter(|rest| {
        branches
            .iter()
            .all(|it| it.get("additionalProperties") == Some(rest))
    });
    let is_open = branches
        .iter()
        .any(|it| it.contains_key("patternProperties"));
    let declares = |branch: &JsonMap, name: &str| {
        let named = branch.get("properties").and_then(Value::as_object);
        named.is_some_and(|named| named.contains_key(name))
    };
    let is_vague = |name: &str| {
        declared.contains_key(name) && !branches.iter().all(|branch| declares(branch, name))
    };
    let mut properties = JsonMap::new();
    for branch in &branches {
        let required = names(branch, "required");
        common.retain(|name| required.contains(name));
        let Some(Value::Object(named)) = branch.get("properties") else {
            continue;
        };
        for (name, schema) in named.iter().filter(|(name, _)| !is_vague(name)) {
            match properties.get_mut(name) {
                Some(known) => any_of(known, schema),
                None => {
                    properties.insert(name.clone(), schema.clone());
                }
            }
        }
    }
    let mut out = JsonMap::new();
    if !properties.is_empty() {
        out.insert("properties".to_owned(), Value::Object(properties));
    }
    if !common.is_empty() {
        out.insert("required".to_owned(), json!(common));
    }
    if let Some(rest) = rest.filter(|_| !is_open) {
        out.insert("additionalProperties".to_owned(), rest);
    }
    out
}

/// Makes a declaration admit the values of another one, too.
fn any_of(known: &mut Value, other: &Value) {
    if known == other {
        return;
    }
    if let (Some(one), Some(two)) = (fixed(known), fixed(other)) {
        let values = unique([one, two].concat());
        *known = json!({ "enum": values });
        return;
    }
    let is_choice = known
        .as_object()
        .is_some_and(|it| it.len() == 1 && it.contains_key("anyOf"));
    if !is_choice {
        *known = json!({"anyOf": [known.take()]});
    }
    if let Some(Value::Array(branches)) = known.get_mut("anyOf")
        && !branches.contains(other)
    {
        branches.push(other.clone());
    }
}

/// Returns the values that a schema lists, if it says nothing else.
fn fixed(schema: &Value) -> Option<Vec<Value>> {
    let schema = schema.as_object()?;
    let is_plain = |keyword: &String| matches!(keyword.as_str(), "const" | "enum" | "type");
    if !schema.keys().all(is_plain) {
        return None;
    }
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), None) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

/// Returns the text about alternatives.
fn alternatives(keyword: &str, branches: &[JsonMap]) -> Option<String> {
    if branches.len() < 2 {
        return None;
    }
    let texts = branches.iter().take(MAX_ALTERNATIVES).enumerate();
    let texts = texts.map(|(index, branch)| {
        let mut parts = Vec::new();
        let text = branch.get("title").or_else(|| branch.get("description"));
        if let Some(text) = text.and_then(Value::as_str) {
            parts.push(cut(text.lines().next().unwrap_or_default()));
        }
        let required = names(branch, "required");
        if !required.is_empty() {
            parts.push(format!("requires {}", quoted(required.iter())));
        }
        let others = branch.get("properties").and_then(Value::as_object);
        let others = others
            .into_iter()
            .flatten()
            .map(|(name, schema)| (name, fixed(schema)));
        let mut plain = Vec::new();
        for (name, values) in others {
            match values {
                Some(values) => parts.push(format!("`{name}` is {}", cut(&texts_of(&values)))),
                None if !required.contains(name) => plain.push(name),
                None => {}
            }
        }
        if !plain.is_empty() {
            parts.push(format!("may have {}", quoted(plain.into_iter())));
        }
        if parts.is_empty() {
            parts.push("anything".to_owned());
        }
        format!("({}) {}", index + 1, parts.join(", "))
    });
    let texts: Vec<String> = texts.collect();
    let number = if keyword == "oneOf" {
        "exactly one"
    } else {
        "at least one"
    };
    Some(format!(
        "The object must fit {number} of these alternatives: {}.",
        texts.join("; ")
    ))
}

fn texts_of(values: &[Value]) -> String {
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    texts.join(" or ")
}

fn quoted<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn cut(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_TEXT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Appends a text to the description of a schema.
pub(super) fn describe(schema: &mut JsonMap, text: &str) {
    let whole = match schema.get("description").and_then(Value::as_str) {
        Some(known) if !known.is_empty() => format!("{known}\n{text}"),
        _ => text.to_owned(),
    };
    schema.insert("description".to_owned(), whole.into());
}
