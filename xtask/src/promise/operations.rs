//! `operations.ts`: the description of each operation, and the method that sends it.

use std::collections::BTreeSet;

use opencode_protocol::contract::{Contract, InputMode, Operation, Payload, Segment, Success};
use opencode_protocol::operation::Channel;
use serde_json::Value;

use super::client::{self, Node};
use super::declarations::{input_name, takes_text};
use super::shapes::Shapes;
use super::{HEADER, pascal_case};

pub(super) fn emit(contract: &Contract) -> String {
    let mut shapes = Shapes::new(contract);
    let operations = contract.operations.iter();
    let operations: String = operations.map(|it| description(it, &mut shapes)).collect();
    let shapes = shapes.declarations();
    let inputs = contract.operations.iter().filter(|it| takes_object(it));
    let mut imports: BTreeSet<String> = inputs.map(input_name).collect();
    imports.insert("OpenCodeOperations".to_owned());
    let imports: String = imports.iter().map(|name| format!("  {name},\n")).collect();
    let methods = group(&client::tree(contract), "  ");
    let separates = contract.operations.iter().any(client::takes_options);
    let separate = match separates {
        true => "import { separate } from \"../separate.js\";\n",
        false => "",
    };
    format!(
        "{HEADER}\nimport type {{ Methods }} from \"../core.js\";\n\
         import type {{ Operation, OperationOf }} from \"../operation.js\";\n\
         {separate}\
         import type {{\n{imports}}} from \"./types.js\";\n\n\
         {shapes}\n{operations}\
         /** The methods of a client, each of which sends one operation. */\n\
         export function createOperations(methods: Methods): OpenCodeOperations {{\n  \
         return {methods};\n}}\n"
    )
}

/// The description of an operation as a constant. The type of its input lets the compiler check the names of fields.
fn description<'a>(operation: &'a Operation, shapes: &mut Shapes<'a>) -> String {
    let lines = [
        ("name", json(&method_name(operation))),
        ("method", http_method(operation)),
        ("path", path(&operation.path)),
        ("headers", headers(operation)),
        ("query", query(operation)),
        ("payload", payload(operation)),
        ("texts", texts(operation)),
        ("shapes", shapes.of_fields(&operation.input.fields)),
        ("unwrap", unwrap(&operation.success)),
        ("continuation", continuation(&operation.success)),
        ("errors", errors(operation)),
    ];
    let lines: String = lines
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| format!("  {key}: {value},\n"))
        .collect();
    let r#type = match operation.input.payload {
        Payload::Lines => "Operation".to_owned(),
        _ if operation.input.fields.is_empty() => "OperationOf<object>".to_owned(),
        _ => format!("OperationOf<{}>", input_name(operation)),
    };
    let name = constant(operation);
    format!("const {name}: {type} = {{\n{lines}}};\n\n")
}

/// The method of the request. Most operations have the default.
fn http_method(operation: &Operation) -> String {
    match operation.method.as_str() {
        "GET" => String::new(),
        other => json(other),
    }
}

fn takes_object(operation: &Operation) -> bool {
    operation.input.payload != Payload::Lines && !operation.input.fields.is_empty()
}

/// `sessions.revert.stage`, as callers write it.
fn method_name(operation: &Operation) -> String {
    format!("{}.{}", operation.group.public, operation.name)
}

/// `sessionsRevertStage` for `sessions.revert.stage`.
fn constant(operation: &Operation) -> String {
    operation.group.public.clone() + &pascal_case(&operation.name)
}

fn group(nodes: &[(&str, Node<'_>)], indent: &str) -> String {
    let inner = format!("{indent}  ");
    let members: String = nodes
        .iter()
        .map(|(name, node)| match node {
            Node::Method(operation) => format!("{inner}{name}: {},\n", method(operation)),
            Node::Group(nodes) => format!("{inner}{name}: {},\n", group(nodes, &inner)),
        })
        .collect();
    format!("{{\n{members}{indent}}}")
}

fn method(operation: &Operation) -> String {
    let send = match &operation.success {
        Success::Value { .. } if operation.input.payload == Payload::Lines => "upload",
        Success::Value { .. } => "value",
        Success::Void { .. } => "nothing",
        Success::Stream { .. } => "events",
        Success::Lines { .. } => "lines",
        Success::Bytes { .. } => "bytes",
        Success::Page(_) => "page",
    };
    let name = constant(operation);
    let has_input =
        operation.input.payload == Payload::Lines || operation.input.mode != InputMode::None;
    if client::takes_options(operation) {
        format!("(input, options) => methods.{send}({name}, ...separate({name}, input, options))")
    } else if has_input {
        format!("(input, options) => methods.{send}({name}, input, options)")
    } else {
        format!("(options) => methods.{send}({name}, {{}}, options)")
    }
}

fn path(segments: &[Segment]) -> String {
    let segments = segments.iter().map(|segment| match segment {
        Segment::Literal(text) => json(text),
        Segment::Parameter(name) => format!("{{ param: {} }}", json(name)),
        Segment::Rest(name) => format!("{{ rest: {} }}", json(name)),
    });
    list(segments)
}

/// The headers of an operation. Empty if it has none, like nearly all operations.
fn headers(operation: &Operation) -> String {
    let pairs = operation.headers.iter();
    let pairs: Vec<String> = pairs
        .map(|(name, value)| format!("{}: {}", json(name), json(value)))
        .collect();
    if pairs.is_empty() {
        return String::new();
    }
    format!("{{ {} }}", pairs.join(", "))
}

/// Empty if there are none.
fn query(operation: &Operation) -> String {
    match names(operation, Channel::Query) {
        none if none == "[]" => String::new(),
        some => some,
    }
}

/// Empty without a body.
fn payload(operation: &Operation) -> String {
    match operation.input.payload {
        Payload::None => String::new(),
        Payload::Json => names(operation, Channel::Payload),
        Payload::Lines => json("lines"),
    }
}

fn names(operation: &Operation, channel: Channel) -> String {
    let fields = operation.input.fields.iter();
    let fields = fields.filter(|field| field.channel == channel);
    list(fields.map(|field| json(&field.name)))
}

/// The fields that also accept a string. Empty if there are none, like in nearly all operations.
fn texts(operation: &Operation) -> String {
    let fields = operation.input.fields.iter();
    let fields: Vec<String> = fields
        .filter(|field| takes_text(field))
        .map(|field| json(&field.name))
        .collect();
    if fields.is_empty() {
        return String::new();
    }
    list(fields.into_iter())
}

/// `true` if the value of the method is the member `data` of the body.
fn unwrap(success: &Success) -> String {
    match success {
        Success::Value { unwrap: true, .. } => "true".to_owned(),
        _ => String::new(),
    }
}

/// The only fields that may be given together with a cursor.
fn continuation(success: &Success) -> String {
    match success {
        Success::Page(page) => list(page.continuation.iter().map(|name| json(name))),
        _ => String::new(),
    }
}

/// The statuses that every operation can have.
const COMMON_STATUSES: [u16; 4] = [400, 401, 500, 503];

/// The further statuses of an operation.
fn errors(operation: &Operation) -> String {
    let mut statuses: Vec<u16> = operation.errors.iter().map(|error| error.status).collect();
    statuses.dedup();
    statuses.retain(|status| !COMMON_STATUSES.contains(status));
    if statuses.is_empty() {
        return String::new();
    }
    list(statuses.iter().map(u16::to_string))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}
