//! Compares two OpenAPI documents, except their descriptions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// Members without meaning for the wire.
const PROSE: &[&str] = &["description", "summary", "tags", "security"];

/// Members of a schema that are compared.
const INNER: &[&str] = &[
    "properties",
    "required",
    "enum",
    "items",
    "anyOf",
    "oneOf",
    "patternProperties",
    "additionalProperties",
];

type Named<'a> = BTreeMap<String, &'a Value>;

/// Two documents and their differences.
pub(crate) struct Comparison<'a> {
    theirs: &'a Value,
    ours: &'a Value,
    /// Components that both documents refer to at the same place.
    pairs: BTreeSet<(&'a str, &'a str)>,
    /// Components of either document that the other one contains inline.
    in_place: BTreeSet<&'a str>,
    found: Vec<String>,
}

impl<'a> Comparison<'a> {
    /// Every difference as a line with its place.
    pub(crate) fn of(theirs: &'a Value, ours: &'a Value) -> Vec<String> {
        let mut comparison = Self {
            theirs,
            ours,
            pairs: BTreeSet::new(),
            in_place: BTreeSet::new(),
            found: Vec::new(),
        };
        comparison.plain("document", theirs, ours, &["paths", "components"]);
        comparison.operations();
        comparison.components();
        comparison.found
    }

    fn note(&mut self, at: &str, what: &str) {
        self.found.push(format!("{at}: {what}"));
    }

    /// Additions are marked in the document, except those inside an element of the contract.
    fn added(&self, ours: &Value) -> &'static str {
        let component = reference(ours).map(|name| component(self.ours, name));
        if component.unwrap_or(ours)["x-extension"] == true {
            "an extension"
        } else {
            "is added"
        }
    }

    fn operations(&mut self) {
        let (theirs, ours) = (operations(self.theirs), operations(self.ours));
        for (route, their) in &theirs {
            match ours.get(route) {
                Some(our) => self.operation(their, our),
                None => self.note(route, "is not there"),
            }
        }
        for (route, our) in &ours {
            if !theirs.contains_key(route) {
                self.note(route, self.added(our));
            }
        }
    }

    fn operation(&mut self, theirs: &'a Value, ours: &'a Value) {
        let id = theirs["operationId"]
            .as_str()
            .expect("an operation has one");
        self.plain(
            id,
            theirs,
            ours,
            &["parameters", "requestBody", "responses"],
        );
        self.each(
            id,
            " ",
            &parameters(theirs),
            &parameters(ours),
            Self::parameter,
        );
        let body = |operation: &'a Value| {
            let body = operation.get("requestBody");
            Named::from_iter(body.map(|body| ("body".to_owned(), body)))
        };
        self.each(id, " ", &body(theirs), &body(ours), Self::content);
        let responses = |operation: &'a Value| members(&operation["responses"]);
        self.each(id, " ", &responses(theirs), &responses(ours), Self::content);
    }

    fn parameter(&mut self, at: &str, theirs: &'a Value, ours: &'a Value) {
        self.plain(at, theirs, ours, &["schema", "name"]);
        self.schema(at, &theirs["schema"], &ours["schema"]);
    }

    /// Compares the media types of a body and their schemas.
    fn content(&mut self, at: &str, theirs: &'a Value, ours: &'a Value) {
        self.plain(at, theirs, ours, &["content"]);
        let (theirs, ours) = (members(&theirs["content"]), members(&ours["content"]));
        self.each(at, " ", &theirs, &ours, |this, at, theirs, ours| {
            this.plain(at, theirs, ours, &["schema"]);
            this.schema(at, &theirs["schema"], &ours["schema"]);
        });
    }

    /// Checks that each component was compared or is listed as a difference.
    fn components(&mut self) {
        let schemas = |document: &'a Value| members(&document["components"]["schemas"]);
        let (theirs, ours) = (schemas(self.theirs), schemas(self.ours));
        for name in theirs.keys() {
            let met = self.pairs.iter().any(|(their, _)| their == name);
            if !met && !self.in_place.contains(&**name) {
                self.note(name, "is not there");
            }
        }
        for (name, schema) in ours {
            let met = self.pairs.iter().any(|(_, our)| *our == name);
            if !met && theirs.contains_key(&name) {
                self.note(&name, "is the name of something else");
            } else if !met && !self.in_place.contains(&*name) {
                self.note(&name, self.added(schema));
            }
        }
    }

    fn schema(&mut self, at: &str, theirs: &'a Value, ours: &'a Value) {
        let (theirs, ours) = (only(theirs), only(ours));
        match (reference(theirs), reference(ours)) {
            (None, None) => self.inner(at, theirs, ours),
            (Some(their), Some(our)) => {
                if their != our {
                    self.note(at, &format!("refers to {our}, not to {their}"));
                }
                if self.pairs.insert((their, our)) {
                    let theirs = component(self.theirs, their);
                    self.schema(their, theirs, component(self.ours, our));
                }
            }
            // One document contains the schema inline, and the other one refers to it.
            (Some(name), None) if choice(ours).is_none() => {
                self.in_place.insert(name);
                self.schema(at, component(self.theirs, name), ours);
            }
            (None, Some(name)) if choice(theirs).is_none() => {
                self.in_place.insert(name);
                self.schema(at, theirs, component(self.ours, name));
            }
            // Several alternatives, which may include that one.
            (their, our) => {
                let resolved = |document, name: Option<&'a str>, schema| {
                    let component = name.map(|name| component(document, name));
                    component
                        .filter(|it| choice(it).is_some())
                        .unwrap_or(schema)
                };
                let (theirs, ours) = (
                    resolved(self.theirs, their, theirs),
                    resolved(self.ours, our, ours),
                );
                self.in_place.extend(their.into_iter().chain(our));
                self.alternatives(at, theirs, ours);
            }
        }
    }

    fn inner(&mut self, at: &str, theirs: &'a Value, ours: &'a Value) {
        if choice(theirs).is_some() || choice(ours).is_some() {
            return self.alternatives(at, theirs, ours);
        }
        self.plain(at, theirs, ours, INNER);
        let properties = |schema: &'a Value| members(&schema["properties"]);
        self.each(
            at,
            ".",
            &properties(theirs),
            &properties(ours),
            Self::schema,
        );
        self.required(at, theirs, ours);
        let (their, our) = (texts(&theirs["enum"]), texts(&ours["enum"]));
        if their != our {
            self.note(at, &format!("is one of {our:?}, not of {their:?}"));
        }
        for (key, mark) in [("items", "[]"), ("additionalProperties", "{}")] {
            let at = format!("{at}{mark}");
            match (theirs.get(key), ours.get(key)) {
                (Some(theirs @ Value::Object(_)), Some(ours @ Value::Object(_))) => {
                    self.schema(&at, theirs, ours);
                }
                (theirs, ours) => self.same(&at, key, theirs, ours),
            }
        }
        let patterns = |schema: &'a Value| members(&schema["patternProperties"]);
        self.each(at, " ", &patterns(theirs), &patterns(ours), Self::schema);
    }

    fn required(&mut self, at: &str, theirs: &Value, ours: &Value) {
        let (their, our) = (texts(&theirs["required"]), texts(&ours["required"]));
        let has = |schema: &Value, name: &str| schema["properties"].get(name).is_some();
        for name in their.difference(&our).filter(|name| has(ours, name)) {
            self.note(&format!("{at}.{name}"), "is optional");
        }
        for name in our.difference(&their).filter(|name| has(theirs, name)) {
            self.note(&format!("{at}.{name}"), "is required");
        }
    }

    fn alternatives(&mut self, at: &str, theirs: &'a Value, ours: &'a Value) {
        let theirs = alternatives(self.theirs, theirs);
        let ours = alternatives(self.ours, ours);
        self.each(at, " | ", &theirs, &ours, Self::schema);
    }

    fn each(
        &mut self,
        at: &str,
        separator: &str,
        theirs: &Named<'a>,
        ours: &Named<'a>,
        compare: impl Fn(&mut Self, &str, &'a Value, &'a Value),
    ) {
        for (name, their) in theirs {
            let at = format!("{at}{separator}{name}");
            match ours.get(name) {
                Some(our) => compare(self, &at, their, our),
                None => self.note(&at, "is not there"),
            }
        }
        for (name, our) in ours {
            if !theirs.contains_key(name) {
                self.note(&format!("{at}{separator}{name}"), self.added(our));
            }
        }
    }

    /// Compares the values of all members except these.
    fn plain(&mut self, at: &str, theirs: &Value, ours: &Value, but: &[&str]) {
        let others = |value: &Value| {
            let members: Map<String, Value> = value.as_object().cloned().unwrap_or_default();
            let kept = members.into_iter();
            kept.filter(|(name, _)| !but.contains(&&**name) && !PROSE.contains(&&**name))
                .collect::<BTreeMap<_, _>>()
        };
        let (theirs, ours) = (others(theirs), others(ours));
        let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
        for name in names {
            self.same(at, name, theirs.get(name), ours.get(name));
        }
    }

    fn same(&mut self, at: &str, name: &str, theirs: Option<&Value>, ours: Option<&Value>) {
        if theirs != ours {
            let show = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
            let what = format!("{name} is {}, not {}", show(ours), show(theirs));
            self.note(at, &what);
        }
    }
}

fn operations(document: &Value) -> Named<'_> {
    let mut operations = Named::new();
    for (path, methods) in members(&document["paths"]) {
        for (method, operation) in members(methods) {
            operations.insert(format!("{} {path}", method.to_ascii_uppercase()), operation);
        }
    }
    operations
}

fn parameters(operation: &Value) -> Named<'_> {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let named = parameters.map(|parameter| {
        let text = |key: &str| parameter[key].as_str().expect("it is text");
        (format!("{} {}", text("in"), text("name")), parameter)
    });
    named.collect()
}

fn members(value: &Value) -> Named<'_> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, value)| (name.clone(), value)).collect()
}

fn texts(value: &Value) -> BTreeSet<String> {
    let texts = value.as_array().into_iter().flatten();
    texts
        .map(|text| {
            text.as_str()
                .map_or_else(|| text.to_string(), str::to_owned)
        })
        .collect()
}

fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"]
        .as_str()?
        .strip_prefix("#/components/schemas/")
}

fn component<'a>(document: &'a Value, name: &str) -> &'a Value {
    let schema = &document["components"]["schemas"][name];
    assert!(schema.is_object(), "{name} is not defined");
    schema
}

/// Returns the alternatives of `oneOf` or `anyOf`.
fn choice(schema: &Value) -> Option<&Vec<Value>> {
    schema["anyOf"].as_array().or(schema["oneOf"].as_array())
}

/// Replaces a union whose alternatives are equal by that alternative.
fn only(schema: &Value) -> &Value {
    match choice(schema).map(Vec::as_slice) {
        Some([first, others @ ..]) if others.iter().all(|other| other == first) => first,
        _ => schema,
    }
}

/// Returns the alternatives by their tag, their name, or their whole schema. A schema that is not a union is the
/// only alternative.
fn alternatives<'a>(document: &'a Value, schema: &'a Value) -> Named<'a> {
    let all = choice(schema).map_or(std::slice::from_ref(schema), Vec::as_slice);
    let named = all.iter().map(|schema| {
        let inner = reference(schema).map_or(schema, |name| component(document, name));
        let tag = ["type", "status"].iter().find_map(|key| {
            let values = inner["properties"][key]["enum"].as_array()?;
            (values.len() == 1).then(|| values[0].as_str())?
        });
        let name = tag.or(reference(schema)).map(str::to_owned);
        (name.unwrap_or_else(|| sorted(schema)), schema)
    });
    named.collect()
}

/// Returns a schema as text, independent of the order of its members.
fn sorted(schema: &Value) -> String {
    let members = members(schema);
    let members = members
        .iter()
        .filter(|(name, _)| !PROSE.contains(&&***name));
    let members = members.map(|(name, value)| format!("{name}: {value}"));
    members.collect::<Vec<_>>().join(", ")
}
