//! The normal form of the input schema of a tool.
//!
//! Servers write schemas in several drafts of JSON Schema, with forms of OpenAPI, and with mistakes. The
//! normal form is an object schema of draft 2020-12 that admits the same objects: each reference points to
//! `$defs` of the root, and each keyword has a value of its type. A keyword with another value is dropped.
//! The normal form of a normal form is the same.

mod free_names;
pub mod keywords;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

pub use self::free_names::FreeNames;
use self::keywords::{Form, TYPES, form, types};
use crate::canonical::request::JsonMap;

/// Maximum nesting depth. Deeper schemas are dropped.
const MAX_DEPTH: usize = 64;

/// Maximum number of schemas. Others are dropped.
const MAX_NODES: usize = 20_000;

/// Maximum number of texts about what was dropped.
const MAX_NOTES: usize = 8;

/// Keywords at the root that providers refuse. The forms for providers tell them in words.
pub const TOLD: [&str; 9] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "enum",
    "const",
    "dependentSchemas",
    "dependentRequired",
];

/// The normal form of an input schema.
#[derive(Clone, Debug, PartialEq)]
pub struct NormalSchema {
    /// The schema.
    pub schema: Value,
    /// All that was dropped, and all that providers get in words only, each as a sentence without its full stop.
    pub simplified: Vec<String>,
}

impl NormalSchema {
    /// Makes the normal form of a schema. A value that is no schema becomes a schema of any object.
    #[must_use]
    pub fn of(schema: &Value) -> Self {
        let mut normaliser = Normaliser {
            root: schema,
            targets: Vec::new(),
            known: HashMap::new(),
            names: FreeNames::default(),
            nodes: 0,
            notes: Vec::new(),
        };
        let mut root = match normaliser.schema(schema, "", MAX_DEPTH) {
            Value::Object(root) => root,
            _ => JsonMap::new(),
        };
        let given = types(&Value::Object(root.clone())).join(", ");
        if !given.is_empty() && !given.split(", ").any(|name| name == "object") {
            normaliser.note(format!("the type {given} of the arguments"));
        }
        root.insert("type".to_owned(), "object".into());
        let definitions = normaliser.definitions();
        if !definitions.is_empty() {
            root.insert("$defs".to_owned(), Value::Object(definitions));
        }
        let told = TOLD.iter().filter(|keyword| root.contains_key(**keyword));
        let told = told.map(|keyword| format!("`{keyword}` at its root is told in words"));
        let dropped = normaliser
            .notes
            .into_iter()
            .map(|note| format!("{note} is dropped"));
        let simplified = dropped.chain(told).take(MAX_NOTES).collect();
        Self {
            schema: Value::Object(root),
            simplified,
        }
    }
}

struct Normaliser<'a> {
    root: &'a Value,
    /// The schemas that references point to, with their names in `$defs`, in the order in which they were found.
    targets: Vec<(&'a Value, String)>,
    /// The positions of the targets.
    known: HashMap<*const Value, usize>,
    /// The names of the targets.
    names: FreeNames,
    nodes: usize,
    notes: Vec<String>,
}

impl<'a> Normaliser<'a> {
    fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns the normal forms of all schemas that references point to. Those of the root keep their order.
    fn definitions(&mut self) -> JsonMap {
        let mut made = JsonMap::new();
        let mut next = 0;
        while let Some((target, name)) = self.targets.get(next).cloned() {
            let schema = self.schema(target, &name, MAX_DEPTH);
            made.insert(name, schema);
            next += 1;
        }
        let given = ["$defs", "definitions"].into_iter();
        let given = given.filter_map(|key| self.root.get(key)?.as_object());
        let mut sorted = JsonMap::new();
        for name in given.flat_map(JsonMap::keys) {
            if let Some(schema) = made.shift_remove(name) {
                sorted.insert(name.clone(), schema);
            }
        }
        sorted.extend(made);
        sorted
    }

    fn schema(&mut self, schema: &'a Value, path: &str, depth: usize) -> Value {
        self.nodes += 1;
        let Some(depth) = depth.checked_sub(1).filter(|_| self.nodes < MAX_NODES) else {
            self.note("a part that is nested too deeply, or one of too many,".to_owned());
            return json!({});
        };
        match schema {
            Value::Object(keywords) => Value::Object(self.keywords(keywords, path, depth)),
            Value::Bool(true) => json!({}),
            Value::Bool(false) => json!({"not": {}}),
            _ => {
                self.note(format!(
                    "{} instead of a schema{}",
                    shown(schema),
                    place(path)
                ));
                json!({})
            }
        }
    }

    fn keywords(&mut self, keywords: &'a JsonMap, path: &str, depth: usize) -> JsonMap {
        let mut out = JsonMap::new();
        for (keyword, value) in keywords {
            match keyword.as_str() {
                "type" => self.types(value, path, &mut out),
                "$ref" | "$dynamicRef" | "$recursiveRef" => self.reference(value, path, &mut out),
                "properties" => self.properties(value, path, depth, &mut out),
                // A mark of a property, which its object lists instead.
                "required" if value.is_boolean() => {}
                "items" if value.is_array() => {
                    self.value("prefixItems", Form::Schemas, value, path, depth, &mut out);
                    if let Some(rest) = keywords.get("additionalItems") {
                        let rest = self.schema(rest, path, depth);
                        out.insert("items".to_owned(), rest);
                    }
                }
                "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => {
                    let bound = keyword.replace("exclusiveM", "m");
                    if let (true, Some(bound)) = (value == true, keywords.get(&bound)) {
                        self.value(keyword, Form::Number, bound, path, depth, &mut out);
                    }
                }
                "minimum" | "maximum" if is_exclusive(keywords, keyword) => {}
                "dependencies" => self.dependencies(value, path, depth, &mut out),
                other => {
                    if let Some(form) = form(other) {
                        self.value(other, form, value, path, depth, &mut out);
                    }
                }
            }
        }
        if keywords.get("nullable") == Some(&Value::Bool(true)) {
            admit_null(&mut out);
        }
        out
    }

    /// Adds a keyword if its value has its form.
    fn value(
        &mut self,
        keyword: &str,
        form: Form,
        value: &'a Value,
        path: &str,
        depth: usize,
        out: &mut JsonMap,
    ) {
        let normal = match (form, value) {
            (Form::SchemaOrBoolean, Value::Bool(_)) => Some(value.clone()),
            (Form::Schema, Value::Object(_) | Value::Bool(_))
            | (Form::SchemaOrBoolean, Value::Object(_)) => Some(self.schema(value, path, depth)),
            (Form::Schemas, Value::Array(list)) if !list.is_empty() => {
                let list = list.iter().map(|item| self.schema(item, path, depth));
                Some(list.collect())
            }
            (Form::NamedSchemas, Value::Object(named)) => Some(self.named(named, path, depth)),
            (Form::NamedNames, Value::Object(named)) => {
                let lists = named.iter().filter(|(_, list)| list.is_array());
                let lists = lists.map(|(name, list)| (name.clone(), json!(names(list))));
                Some(Value::Object(lists.collect()))
            }
            (Form::Names, Value::Array(_)) => {
                let mut all = names(value);
                // Names of properties that carry the mark themselves may be there already.
                if let Some(Value::Array(marked)) = out.get("required") {
                    all.extend(names_of(marked));
                }
                Some(json!(unique(all)))
            }
            (Form::Text, Value::String(_))
            | (Form::Boolean, Value::Bool(_))
            | (Form::Number, Value::Number(_))
            | (Form::Value, _) => Some(value.clone()),
            (Form::Positive, Value::Number(number)) => number
                .as_f64()
                .is_some_and(|it| it > 0.0)
                .then(|| value.clone()),
            (Form::Count, Value::Number(number)) => count(number).map(Value::from),
            (Form::Values, Value::Array(list)) if !list.is_empty() => {
                Some(json!(unique(list.clone())))
            }
            _ => None,
        };
        match normal {
            Some(normal) => {
                out.insert(keyword.to_owned(), normal);
            }
            None if form == Form::Names && value.is_null() => {}
            None => self.note(format!("`{keyword}`: {}{}", shown(value), place(path))),
        }
    }

    fn named(&mut self, named: &'a JsonMap, path: &str, depth: usize) -> Value {
        let mut out = JsonMap::new();
        for (name, schema) in named {
            let path = below(path, name);
            if schema.is_object() || schema.is_boolean() {
                out.insert(name.clone(), self.schema(schema, &path, depth));
            } else {
                self.note(format!(
                    "{} instead of a schema{}",
                    shown(schema),
                    place(&path)
                ));
            }
        }
        Value::Object(out)
    }

    fn properties(&mut self, value: &'a Value, path: &str, depth: usize, out: &mut JsonMap) {
        self.value("properties", Form::NamedSchemas, value, path, depth, out);
        let marked = value.as_object().into_iter().flatten();
        let marked =
            marked.filter(|(_, schema)| schema.get("required") == Some(&Value::Bool(true)));
        let marked: Vec<String> = marked.map(|(name, _)| name.clone()).collect();
        if !marked.is_empty() {
            let mut all = out.get("required").map(names).unwrap_or_default();
            all.extend(marked);
            out.insert("required".to_owned(), json!(unique(all)));
        }
    }

    fn types(&mut self, value: &Value, path: &str, out: &mut JsonMap) {
        let list = match value {
            Value::Array(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        let known = |name: &Value| {
            let name = name.as_str()?.to_ascii_lowercase();
            TYPES.contains(&name.as_str()).then_some(name)
        };
        let known: Option<Vec<String>> = list.iter().map(known).collect();
        match known.map(unique).as_deref() {
            None | Some([]) => {
                self.note(format!("`type`: {}{}", shown(value), place(path)));
            }
            Some([one]) => {
                out.insert("type".to_owned(), json!(one));
            }
            Some(many) => {
                out.insert("type".to_owned(), json!(many));
            }
        }
    }

    /// Splits the keyword of earlier drafts.
    fn dependencies(&mut self, value: &'a Value, path: &str, depth: usize, out: &mut JsonMap) {
        for (name, needed) in value.as_object().into_iter().flatten() {
            let (keyword, normal) = match needed {
                Value::Array(_) => ("dependentRequired", json!(names(needed))),
                schema => ("dependentSchemas", self.schema(schema, path, depth)),
            };
            let all = out.entry(keyword).or_insert_with(|| json!({}));
            if let Value::Object(all) = all {
                all.insert(name.clone(), normal);
            }
        }
    }

    fn reference(&mut self, value: &Value, path: &str, out: &mut JsonMap) {
        let found = value
            .as_str()
            .and_then(|text| Some((text, target(self.root, text)?)));
        let Some((text, found)) = found else {
            self.note(format!("the reference {}{}", shown(value), place(path)));
            return;
        };
        let known = self.known.get(&std::ptr::from_ref(found));
        let name = match known.and_then(|at| self.targets.get(*at)) {
            Some((_, name)) => name.clone(),
            None => {
                let name = self.free_name(text);
                self.known
                    .insert(std::ptr::from_ref(found), self.targets.len());
                self.targets.push((found, name.clone()));
                name
            }
        };
        out.insert("$ref".to_owned(), format!("#/$defs/{name}").into());
    }

    /// Returns a name in `$defs` for the target of a reference. It needs no escapes.
    fn free_name(&mut self, reference: &str) -> String {
        let last = reference.rsplit(['/', '#']).next().unwrap_or_default();
        let mut name: String = last
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "._-".contains(c) {
                    c
                } else {
                    '_'
                }
            })
            .take(64)
            .collect();
        if name.is_empty() {
            name.push_str("root");
        }
        self.names.take(name)
    }
}

/// True if the bound of a number is exclusive by a mark of draft 4.
fn is_exclusive(keywords: &JsonMap, bound: &str) -> bool {
    let mark = match bound {
        "minimum" => "exclusiveMinimum",
        _ => "exclusiveMaximum",
    };
    keywords.get(mark) == Some(&Value::Bool(true))
}

/// Lets a schema admit `null`, as `nullable` of OpenAPI demands.
fn admit_null(out: &mut JsonMap) {
    match out.get_mut("type") {
        Some(Value::Array(list)) if !list.contains(&json!("null")) => list.push("null".into()),
        Some(Value::String(one)) if one != "null" => {
            let both = json!([one, "null"]);
            out.insert("type".to_owned(), both);
        }
        _ => {}
    }
    if let Some(value) = out.shift_remove("const") {
        out.insert("enum".to_owned(), json!([value]));
    }
    if let Some(Value::Array(values)) = out.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = out.get_mut(keyword)
            && !branches
                .iter()
                .any(|branch| types(branch).contains(&"null"))
        {
            branches.push(json!({"type": "null"}));
        }
    }
}

/// Returns the schema of the document that a reference points to.
fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let own = ["$id", "id"]
        .into_iter()
        .find_map(|key| root.get(key)?.as_str());
    let own = own.map_or("", |id| id.trim_end_matches('#'));
    let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let start = if document.is_empty() || document == own {
        root
    } else {
        search(root, &|schema| {
            let id = schema.get("$id").or_else(|| schema.get("id"));
            id.and_then(Value::as_str) == Some(document)
        })?
    };
    let found = if fragment.is_empty() || fragment.starts_with('/') {
        start.pointer(&decoded(fragment))?
    } else {
        search(start, &|schema| {
            let anchors = ["$anchor", "$dynamicAnchor"].into_iter();
            let mut anchors = anchors.filter_map(|key| schema.get(key));
            anchors.any(|anchor| anchor == fragment)
        })?
    };
    (found.is_object() || found.is_boolean()).then_some(found)
}

fn decoded(fragment: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(fragment).decode_utf8_lossy()
}

/// Returns the first object that fits, without recursion and within the bound of a schema.
fn search<'a>(root: &'a Value, fits: &dyn Fn(&Value) -> bool) -> Option<&'a Value> {
    let mut rest = vec![root];
    for _ in 0..MAX_NODES * 8 {
        match rest.pop()? {
            Value::Array(items) => rest.extend(items),
            object @ Value::Object(members) => {
                if fits(object) {
                    return Some(object);
                }
                rest.extend(members.values());
            }
            _ => {}
        }
    }
    None
}

fn names(list: &Value) -> Vec<String> {
    list.as_array()
        .map(|list| names_of(list))
        .unwrap_or_default()
}

fn names_of(list: &[Value]) -> Vec<String> {
    let names = list.iter().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

/// Removes repetitions. Two values are the same if their texts are.
pub fn unique<T: ToString>(list: Vec<T>) -> Vec<T> {
    let mut known = HashSet::with_capacity(list.len());
    let mut list = list;
    list.retain(|item| known.insert(item.to_string()));
    list
}

fn count(number: &serde_json::Number) -> Option<u64> {
    let whole = number.as_u64();
    whole.or_else(|| {
        let number = number
            .as_f64()
            .filter(|it| it.fract() == 0.0 && (0.0..1e15).contains(it));
        number.map(|it| it as u64)
    })
}

fn below(path: &str, name: &str) -> String {
    let name: String = name.chars().take(64).collect();
    match path {
        "" => name,
        path if path.len() > 200 => path.to_owned(),
        path => format!("{path}.{name}"),
    }
}

fn place(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!(" in `{path}`"),
    }
}

/// Returns the beginning of a value as text.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        scalar => scalar.to_string().chars().take(64).collect(),
    }
}
