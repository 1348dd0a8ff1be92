//! `operations.js`: the data with which the core of the client sends a request and reads its answer.

use opencode_protocol::contract::{Contract, InputMode, Operation, Payload, Segment, Success};
use opencode_protocol::operation::Channel;
use serde_json::Value;

use super::HEADER;
use super::declarations::takes_text;
use super::shapes::Shapes;

pub(super) fn emit(contract: &Contract) -> String {
    let mut shapes = Shapes::new(contract);
    let operations = contract.operations.iter();
    let operations: String = operations.map(|it| operation(it, &mut shapes)).collect();
    let shapes = shapes.declarations();
    let tags: Vec<&str> = contract.failures.keys().map(String::as_str).collect();
    let tags = block(&tags);
    // The assertion keeps the literal types for type checks of the core.
    format!(
        "{HEADER}\"use strict\";\n\n{shapes}\n\
         exports.operations = /** @type {{const}} */ ([\n{operations}]);\n\n\
         exports.tags = /** @type {{const}} */ ({tags});\n"
    )
}

fn operation<'a>(operation: &'a Operation, shapes: &mut Shapes<'a>) -> String {
    let lines = [
        ("group", json(&operation.group.public)),
        ("name", json(&operation.name)),
        ("method", json(operation.method.as_str())),
        ("path", path(&operation.path)),
        ("headers", headers(operation)),
        ("query", names(operation, Channel::Query)),
        ("payload", payload(operation)),
        ("texts", texts(operation)),
        ("shapes", shapes.of_fields(&operation.input.fields)),
        ("input", json(mode(operation.input.mode))),
        ("success", success(&operation.success)),
        ("errors", errors(operation)),
    ];
    let lines: String = lines
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| format!("    {key}: {value},\n"))
        .collect();
    format!("  {{\n{lines}  }},\n")
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

fn payload(operation: &Operation) -> String {
    match operation.input.payload {
        Payload::None => "null".to_owned(),
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

fn mode(mode: InputMode) -> &'static str {
    match mode {
        InputMode::None => "none",
        InputMode::Optional => "optional",
        InputMode::Required => "required",
    }
}

fn success(success: &Success) -> String {
    match success {
        Success::Value { unwrap, .. } => format!("{{ kind: \"value\", unwrap: {unwrap} }}"),
        Success::Void { .. } => "{ kind: \"void\" }".to_owned(),
        Success::Stream { .. } => "{ kind: \"stream\" }".to_owned(),
        Success::Lines { .. } => "{ kind: \"lines\" }".to_owned(),
        Success::Bytes { .. } => "{ kind: \"bytes\" }".to_owned(),
        Success::Page(page) => {
            let names = |names: &[String]| list(names.iter().map(|name| json(name)));
            format!(
                "{{ kind: \"page\", initial: {}, continuation: {} }}",
                names(&page.initial),
                names(&page.continuation)
            )
        }
    }
}

fn errors(operation: &Operation) -> String {
    let mut statuses: Vec<u16> = operation.errors.iter().map(|error| error.status).collect();
    statuses.dedup();
    list(statuses.iter().map(u16::to_string))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn block(items: &[&str]) -> String {
    let lines: String = items
        .iter()
        .map(|item| format!("  {},\n", json(item)))
        .collect();
    format!("[\n{lines}]")
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}
