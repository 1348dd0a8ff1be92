//! Servers that accept JSON Schema: the root is an object without alternatives, and below it all keywords are accepted.

use std::collections::HashSet;

use opencode_llm::canonical::request::JsonMap;
use opencode_llm::normal_schema::keywords::{Form, form};
use serde_json::{Value, json};

use super::flat::{self, Copies, Definitions, describe, is_never};
use super::names::Names;
use super::told::tell_name;

/// Maximum nesting depth of the schemas that references are replaced with.
const MAX_DEPTH: usize = 64;

/// Maximum number of schemas that references are replaced with.
const MAX_NODES: usize = 2_000;

/// Maximum number of uses of a definition within itself.
const MAX_RECURSION: usize = 2;

/// Maximum number of alternatives within each other whose names are compared.
const MAX_ALTERNATIVES: usize = 8;

/// Maximum length that a grammar of a server can demand. Larger bounds are told in words.
const MAX_BOUND: u64 = 1_000;

/// The keywords and values that a group of servers accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepted {
    /// The names of properties.
    pub(super) names: Names,
    /// True if references to definitions of the root are accepted.
    pub(super) references: bool,
    /// True if arrays may be without items, and if texts may have any pattern and any length. Some servers compile
    /// schemas to grammars, which cannot express that.
    pub(super) any_bounds: bool,
}

/// Makes the form of a normal schema.
pub(super) fn project(normal: &Value, accepted: Accepted) -> Value {
    let copies = Copies::default();
    let definitions = Definitions::of(normal, &copies);
    let mut root = normal.as_object().cloned().unwrap_or_default();
    if !flat::is_flat(&root) {
        root = flat::object(&root, definitions).unwrap_or_default();
    }
    let named = root
        .shift_remove("$defs")
        .or_else(|| normal.get("$defs").cloned());
    root.insert("type".to_owned(), "object".into());
    let mut writer = Writer {
        definitions,
        accepted,
        stack: Vec::new(),
        nodes: 0,
        refers: false,
    };
    let mut root = writer.keywords(&root, MAX_DEPTH);
    if let (true, Some(Value::Object(named))) = (writer.refers, named) {
        let named = named
            .iter()
            .map(|(name, schema)| (name.clone(), writer.schema(schema, MAX_DEPTH)));
        root.insert("$defs".to_owned(), Value::Object(named.collect()));
    }
    Value::Object(root)
}

struct Writer<'a> {
    definitions: Definitions<'a>,
    accepted: Accepted,
    /// The definitions that contain the current schema.
    stack: Vec<&'a str>,
    nodes: usize,
    /// True if a reference was written.
    refers: bool,
}

impl Writer<'_> {
    fn schema(&mut self, schema: &Value, depth: usize) -> Value {
        let Value::Object(schema) = schema else {
            return json!({});
        };
        let Some(depth) = depth.checked_sub(1) else {
            return json!({});
        };
        let target = self.definitions.target(schema);
        let Some((name, Value::Object(target))) = target else {
            return self.whole(schema, depth);
        };
        if self.accepted.references {
            return self.whole(schema, depth);
        }
        let mut whole = schema.clone();
        whole.shift_remove("$ref");
        self.nodes += 1;
        let uses = self.stack.iter().filter(|it| **it == name).count();
        let is_over =
            uses >= MAX_RECURSION || self.nodes > MAX_NODES || !self.definitions.may_copy(target);
        for (keyword, value) in target {
            let is_kept = !is_over || matches!(keyword.as_str(), "type" | "description" | "title");
            if is_kept && !whole.contains_key(keyword) {
                whole.insert(keyword.clone(), value.clone());
            }
        }
        self.stack.push(name);
        let out = self.schema(&Value::Object(whole), depth);
        self.stack.pop();
        out
    }

    /// Writes a schema without replacing its reference. Alternatives of an object may require properties that get other
    /// names here, so such an object becomes flat.
    fn whole(&mut self, schema: &JsonMap, depth: usize) -> Value {
        let is_object = schema.get("type").is_some_and(|kind| kind == "object");
        if !is_object || flat::is_flat(schema) || !self.renames(schema, MAX_ALTERNATIVES) {
            return Value::Object(self.keywords(schema, depth));
        }
        match flat::object(schema, self.definitions) {
            Some(flat) => Value::Object(self.keywords(&flat, depth)),
            None => json!({"not": {}}),
        }
    }

    /// True if a property that a schema or one of its alternatives names gets another name.
    fn renames(&self, schema: &JsonMap, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let names = self.accepted.names;
        let declared = schema.get("properties").and_then(Value::as_object);
        let declared = declared.into_iter().flat_map(JsonMap::keys);
        let required = flat::list(schema, "required").iter();
        let mut all = declared
            .map(String::as_str)
            .chain(required.filter_map(Value::as_str));
        let parts = ["allOf", "anyOf", "oneOf"].into_iter();
        let mut parts = parts.flat_map(|keyword| flat::list(schema, keyword));
        all.any(|name| !names.accepts(name))
            || parts.any(|part| part.as_object().is_some_and(|it| self.renames(it, depth)))
    }

    fn keywords(&mut self, schema: &JsonMap, depth: usize) -> JsonMap {
        let mut out = JsonMap::new();
        for (keyword, value) in schema {
            let value = match (form(keyword), value) {
                (Some(Form::Schema | Form::SchemaOrBoolean), Value::Object(_)) => {
                    self.schema(value, depth)
                }
                (Some(Form::Schemas), Value::Array(list)) => self.list(keyword, list, depth),
                (Some(Form::NamedSchemas), Value::Object(named)) if keyword == "properties" => {
                    self.properties(schema, named, depth, &mut out);
                    continue;
                }
                (Some(Form::NamedSchemas), Value::Object(named)) => {
                    let named = named
                        .iter()
                        .map(|(name, child)| (name.clone(), self.schema(child, depth)));
                    Value::Object(named.collect())
                }
                // Written with the properties, whose names it repeats.
                (Some(Form::Names), _) if schema.contains_key("properties") => {
                    out.entry(keyword.clone()).or_insert_with(|| value.clone());
                    continue;
                }
                _ => value.clone(),
            };
            self.refers |= keyword == "$ref";
            out.insert(keyword.clone(), value);
        }
        if !self.accepted.any_bounds {
            fit_grammars(&mut out);
        }
        out
    }

    /// Writes a list of schemas. Alternatives that admit nothing are left out.
    fn list(&mut self, keyword: &str, list: &[Value], depth: usize) -> Value {
        let is_choice = matches!(keyword, "anyOf" | "oneOf");
        let is_left = |child: &&Value| is_choice && child.as_object().is_some_and(is_never);
        let children = list.iter().filter(|child| !is_left(child));
        let children: Vec<Value> = children.map(|child| self.schema(child, depth)).collect();
        if children.is_empty() {
            return json!([{"not": {}}]);
        }
        Value::Array(children)
    }

    /// Writes the properties under names that are accepted, and the list of the required ones. A property that can have no
    /// value is left out.
    fn properties(&mut self, schema: &JsonMap, named: &JsonMap, depth: usize, out: &mut JsonMap) {
        let replaced = self.accepted.names.replaced(named);
        let mut written = JsonMap::new();
        let mut absent = HashSet::new();
        for (name, child) in named {
            if child.as_object().is_some_and(is_never) {
                absent.insert(name.as_str());
                continue;
            }
            let mut child = self.schema(child, depth);
            let new = replaced.wire(name);
            if new != name
                && let Value::Object(child) = &mut child
            {
                tell_name(name, child);
            }
            written.insert(new.to_owned(), child);
        }
        out.insert("properties".to_owned(), Value::Object(written));
        if let Some(Value::Array(required)) = schema.get("required")
            && !(replaced.is_empty() && absent.is_empty())
        {
            let required = required.iter().filter_map(Value::as_str);
            let required = required.filter(|name| !absent.contains(name));
            let required: Vec<&str> = required.map(|name| replaced.wire(name)).collect();
            out.insert("required".to_owned(), required.into());
        }
    }
}

/// Gives arrays items, and tells in words what grammars cannot express.
fn fit_grammars(out: &mut JsonMap) {
    let is_array = match out.get("type") {
        Some(Value::String(one)) => one == "array",
        Some(Value::Array(many)) => many.iter().any(|name| name == "array"),
        _ => false,
    };
    if is_array && !out.contains_key("items") {
        out.insert("items".to_owned(), json!({}));
    }
    let pattern = out.get("pattern").and_then(Value::as_str);
    if let Some(pattern) = pattern.filter(|pattern| !is_portable(pattern)) {
        let text = format!(
            "(pattern: {})",
            pattern.chars().take(400).collect::<String>()
        );
        out.shift_remove("pattern");
        describe(out, &text);
    }
    for bound in ["minLength", "maxLength", "minItems", "maxItems"] {
        let large = out
            .get(bound)
            .and_then(Value::as_u64)
            .filter(|it| *it > MAX_BOUND);
        if let Some(large) = large {
            out.shift_remove(bound);
            describe(out, &format!("({bound}: {large})"));
        }
    }
}

/// True if every server can read a pattern: it covers the whole text, and has no escapes of letters and no groups with
/// a question mark.
fn is_portable(pattern: &str) -> bool {
    let mut escapes = pattern.split('\\').skip(1);
    pattern.starts_with('^')
        && pattern.ends_with('$')
        && !pattern.ends_with("\\$")
        && !pattern.contains("(?")
        && escapes.all(|rest| rest.starts_with(|c: char| c.is_ascii_punctuation()))
}
