//! The closed objects in inputs. With them the client finds unknown members for callers without TypeScript.

use std::collections::BTreeSet;
use std::fmt::Write;

use opencode_protocol::contract::{Contract, Field, InputField, Type};

use super::source::key;

/// The shapes in the input of `sessions.run`, which is not an operation.
const EXPORTED: [&str; 3] = ["LocationRef", "ModelRef", "PromptInput"];

/// The structure of one value in an input.
enum Shape {
    /// Neither an object nor a list.
    Value,
    /// Any object or list. The host validates it.
    Open,
    /// A declared shape with this name.
    Named(String),
    /// A list of elements with this shape.
    List(Box<Shape>),
    /// An object with these members and no others.
    Object(Vec<(String, Shape)>),
}

/// The shapes of the inputs of a contract, each declared before its first use.
pub(super) struct Shapes<'a> {
    contract: &'a Contract,
    /// Names and texts. Each text uses only names that are declared before it.
    declared: Vec<(&'a str, String)>,
    /// Open types and the types whose shapes are in progress. A recursive type is open at its recursion.
    open: BTreeSet<&'a str>,
}

impl<'a> Shapes<'a> {
    pub(super) fn new(contract: &'a Contract) -> Self {
        Self {
            contract,
            declared: Vec::new(),
            open: BTreeSet::new(),
        }
    }

    /// The fields with closed objects, as one object literal. Empty if there are none.
    pub(super) fn of_fields(&mut self, fields: &'a [InputField]) -> String {
        let mut members = Vec::new();
        for field in fields {
            let shape = self.of(&field.r#type);
            if shape.is_closed() {
                members.push((field.name.clone(), shape));
            }
        }
        if members.is_empty() {
            return String::new();
        }
        text(&Shape::Object(members))
    }

    /// The declarations of all requested shapes, and the export of those that other modules use.
    pub(super) fn declarations(&self) -> String {
        let mut text = String::new();
        for (name, shape) in &self.declared {
            let _ = writeln!(text, "const {name} = {shape};");
        }
        let names = self.declared.iter().map(|(name, _)| *name);
        let names: Vec<&str> = names.filter(|name| EXPORTED.contains(name)).collect();
        let _ = writeln!(text, "\nexport const shapes = {{ {} }};", names.join(", "));
        text
    }

    fn of(&mut self, r#type: &'a Type) -> Shape {
        match r#type {
            Type::Ref { name } => self.of_name(name),
            Type::Array { items } => match self.of(items) {
                items if items.is_closed() => Shape::List(Box::new(items)),
                _ => Shape::Open,
            },
            Type::Object { fields } => self.of_object(fields),
            Type::Union { variants, .. } => {
                let shapes = variants.iter().map(|variant| self.of(&variant.r#type));
                let mut shapes: Vec<_> = shapes
                    .filter(|shape| !matches!(shape, Shape::Value))
                    .collect();
                match (shapes.pop(), shapes.is_empty()) {
                    (None, _) => Shape::Value,
                    (Some(shape), true) => shape,
                    // Only the host can decide which of several shapes applies.
                    (Some(_), false) => Shape::Open,
                }
            }
            Type::Unknown | Type::Record { .. } => Shape::Open,
            Type::Null
            | Type::Boolean
            | Type::String { .. }
            | Type::Number { .. }
            | Type::Literal { .. } => Shape::Value,
        }
    }

    fn of_name(&mut self, name: &'a str) -> Shape {
        if self.declared.iter().any(|(other, _)| *other == name) {
            return Shape::Named(name.to_owned());
        }
        if !self.open.insert(name) {
            return Shape::Open;
        }
        let contract = self.contract;
        let shape = self.of(&contract.types[name].r#type);
        if !matches!(shape, Shape::Open) {
            self.open.remove(name);
        }
        if !shape.is_closed() {
            return shape;
        }
        self.declared.push((name, text(&shape)));
        Shape::Named(name.to_owned())
    }

    fn of_object(&mut self, fields: &'a [Field]) -> Shape {
        let members = fields.iter();
        let members = members.map(|field| (field.name.clone(), self.of(&field.r#type)));
        Shape::Object(members.collect())
    }
}

impl Shape {
    /// True if the client can find unknown members in it.
    fn is_closed(&self) -> bool {
        !matches!(self, Self::Value | Self::Open)
    }
}

fn text(shape: &Shape) -> String {
    match shape {
        Shape::Value | Shape::Open => "null".to_owned(),
        Shape::Named(name) => name.clone(),
        Shape::List(items) => format!("[{}]", text(items)),
        Shape::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, shape)| format!("{}: {}", key(name), text(shape)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn contract() -> Contract {
        let reference = |name: &str| json!({ "kind": "ref", "name": name });
        let text = json!({ "kind": "string" });
        let field = |name: &str, r#type: serde_json::Value| json!({ "name": name, "required": false, "type": r#type });
        let object = |fields: serde_json::Value| json!({ "doc": "", "type": { "kind": "object", "fields": fields } });
        serde_json::from_value(json!({
            "format": 3, "operations": [], "failures": {},
            "types": {
                "Choice": { "doc": "", "type": { "kind": "union", "variants": [
                    { "type": { "kind": "literal", "value": "a" } }, { "type": { "kind": "null" } },
                ] } },
                "Inner": object(json!([field("x", text.clone()), field("choice", reference("Choice"))])),
                "Outer": object(json!([
                    field("list", json!({ "kind": "array", "items": reference("Inner") })),
                    field("maybe", json!({ "kind": "union", "variants": [
                        { "type": reference("Choice") }, { "type": reference("Inner") },
                    ] })),
                    field("free", json!({ "kind": "union", "variants": [
                        { "type": reference("Inner") },
                        { "type": { "kind": "record", "keys": text, "values": text } },
                    ] })),
                    field("either", json!({ "kind": "union", "variants": [
                        { "type": reference("Inner") }, { "type": reference("Tree") },
                    ] })),
                    field("map", json!({ "kind": "record", "keys": text, "values": reference("Inner") })),
                ])),
                "Tree": object(json!([field("children", json!({ "kind": "array", "items": reference("Tree") }))])),
            },
        }))
        .expect("the contract is well-formed")
    }

    #[test]
    fn closed_objects_are_declared_before_they_are_used() {
        let contract = contract();
        let fields: Vec<InputField> = serde_json::from_value(json!([
            { "name": "outer", "channel": "Payload", "encoding": "json", "required": true, "doc": "",
              "type": { "kind": "ref", "name": "Outer" } },
            { "name": "choice", "channel": "Payload", "encoding": "json", "required": true, "doc": "",
              "type": { "kind": "ref", "name": "Choice" } },
        ]))
        .unwrap();
        let mut shapes = Shapes::new(&contract);
        assert_eq!(shapes.of_fields(&fields), "{ outer: Outer }");
        assert_eq!(shapes.of_fields(&fields[1..]), "");
        assert_eq!(
            shapes.declarations(),
            "const Inner = { x: null, choice: null };\n\
             const Tree = { children: null };\n\
             const Outer = { list: [Inner], maybe: Inner, free: null, either: null, map: null };\n\n\
             export const shapes = {  };\n"
        );
    }
}
