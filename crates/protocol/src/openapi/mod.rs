//! The contract as an OpenAPI 3.1 document, for readers and tools that do not use the generated clients.
//!
//! It is generated from the Contract IR alone. Additions to the implemented contract are marked `x-extension`.

mod names;
mod schema;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::LazyLock;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde_json::{Map, Value, json};

use crate::contract::{Contract, Encoding, InputField, Operation, Payload, Segment, Success};
use crate::operation::{Channel, LINES_TYPE};
use names::component;
use schema::{object, reference, schema};

/// The content type of server-sent events.
const EVENTS_TYPE: &str = "text/event-stream";
const JSON_TYPE: &str = "application/json";
const BYTES_TYPE: &str = "application/octet-stream";

/// The document as `cargo xtask codegen` writes it, so that the addon contains no code that generates it.
static COMPRESSED: &[u8] = include_bytes!("../../openapi.json.deflate");

static DOCUMENT: LazyLock<String> =
    LazyLock::new(|| decompress(COMPRESSED).expect("the file is generated"));

/// Returns the document of all operations as JSON text. The first call decompresses it.
pub fn document() -> &'static str {
    &DOCUMENT
}

/// Compresses the document of a contract for [`document`].
///
/// # Errors
///
/// None: the writer is in memory.
pub fn compress(contract: &Contract) -> io::Result<Vec<u8>> {
    let mut writer = DeflateEncoder::new(Vec::new(), Compression::best());
    writer.write_all(emit(contract).to_string().as_bytes())?;
    writer.finish()
}

/// Returns the text of a document that [`compress`] wrote.
///
/// # Errors
///
/// The bytes are no such document.
pub fn decompress(bytes: &[u8]) -> io::Result<String> {
    let mut text = String::new();
    DeflateDecoder::new(bytes).read_to_string(&mut text)?;
    Ok(text)
}

/// Writes the document of a contract.
pub fn emit(contract: &Contract) -> Value {
    let mut paths = Map::new();
    for written in &contract.operations {
        let path = paths.entry(path(written)).or_insert_with(|| json!({}));
        let method = written.method.as_str().to_ascii_lowercase();
        path[method] = operation(contract, written);
    }
    // Failures without a request are not part of the document.
    let travels = |name: &str| {
        let failure = contract.failures.get(name);
        failure.is_none_or(|failure| failure.status.is_some())
    };
    let schemas: Map<String, Value> = contract
        .types
        .iter()
        .filter(|(name, _)| travels(name))
        .map(|(name, definition)| {
            let mut schema = schema(&definition.r#type);
            describe(&mut schema, &definition.doc);
            mark(&mut schema, definition.extension);
            (component(name).to_owned(), schema)
        })
        .collect();
    json!({
        "openapi": "3.1.0",
        "info": { "title": "opencode", "version": "1.0.0" },
        "security": [],
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

/// Returns the path with its parameters. OpenAPI cannot express the rest of a path.
fn path(operation: &Operation) -> String {
    let segments = operation.path.iter().map(|segment| match segment {
        Segment::Literal(text) => text.clone(),
        Segment::Parameter(name) => format!("{{{name}}}"),
        Segment::Rest(_) => "*".to_owned(),
    });
    segments.collect()
}

fn operation(contract: &Contract, operation: &Operation) -> Value {
    let mut written = json!({
        "operationId": operation.id,
        "tags": [operation.group.public],
        "parameters": parameters(operation),
        "responses": responses(contract, operation),
    });
    describe(&mut written, &operation.doc);
    mark(&mut written, operation.extension);
    if operation.omitted {
        written["x-websocket"] = true.into();
    }
    if let Some(content) = payload(operation) {
        written["requestBody"] = json!({ "required": true, "content": content });
    }
    written
}

fn parameters(operation: &Operation) -> Vec<Value> {
    let is_rest = |field: &InputField| {
        let named =
            |segment: &Segment| matches!(segment, Segment::Rest(name) if *name == field.name);
        operation.path.iter().any(named)
    };
    let fields = operation.input.fields.iter();
    let fields = fields.filter(|field| field.channel != Channel::Payload && !is_rest(field));
    let headers = operation.headers.iter().map(|(name, value)| {
        json!({
            "in": "header",
            "name": name,
            "required": true,
            "schema": { "type": "string", "enum": [value] },
        })
    });
    fields.map(parameter).chain(headers).collect()
}

fn parameter(field: &InputField) -> Value {
    let place = match field.channel {
        Channel::Params => "path",
        Channel::Query | Channel::Payload => "query",
    };
    let mut written = json!({
        "in": place,
        "name": field.name,
        "required": field.required,
        "schema": schema(&field.r#type),
    });
    if field.encoding == Encoding::DeepObject {
        written["style"] = "deepObject".into();
        written["explode"] = true.into();
    }
    describe(&mut written, &field.doc);
    written
}

fn payload(operation: &Operation) -> Option<Value> {
    let fields = operation.input.fields.iter();
    let fields = fields.filter(|field| field.channel == Channel::Payload);
    let fields = fields.map(|field| (&*field.name, field.required, &*field.doc, &field.r#type));
    match operation.input.payload {
        Payload::None => None,
        Payload::Json => Some(content(JSON_TYPE, object(fields))),
        Payload::Lines => Some(content(LINES_TYPE, json!({ "type": "string" }))),
    }
}

fn responses(contract: &Contract, operation: &Operation) -> Value {
    let mut responses = Map::new();
    let (status, body) = success(&operation.success);
    let mut response = json!({ "description": "Success." });
    if let Some(body) = body {
        response["content"] = body;
    }
    responses.insert(status.to_string(), response);
    let mut failures: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for error in &operation.errors {
        failures.entry(error.status).or_default().push(&error.tag);
    }
    for (status, tags) in failures {
        let docs = tags.iter().filter_map(|tag| contract.types.get(*tag));
        let docs: Vec<&str> = docs.map(|definition| &*definition.doc).collect();
        let bodies: Vec<Value> = tags.iter().map(|tag| reference(tag)).collect();
        let body = match &bodies[..] {
            [body] => body.clone(),
            _ => json!({ "anyOf": bodies }),
        };
        let response = json!({
            "description": docs.join(" Or: "),
            "content": content(JSON_TYPE, body),
        });
        responses.insert(status.to_string(), response);
    }
    responses.into()
}

/// Returns the status of a success, and its body if there is one.
fn success(success: &Success) -> (u16, Option<Value>) {
    match success {
        Success::Value {
            status,
            unwrap,
            r#type,
        } => {
            let body = if *unwrap {
                object([("data", true, "", r#type)].into_iter())
            } else {
                schema(r#type)
            };
            (*status, Some(content(JSON_TYPE, body)))
        }
        Success::Page(page) => (page.status, Some(content(JSON_TYPE, schema(&page.r#type)))),
        Success::Void { status } => (*status, None),
        Success::Stream {
            status, element, ..
        } => (*status, Some(content(EVENTS_TYPE, schema(element)))),
        Success::Lines { status } => (
            *status,
            Some(content(LINES_TYPE, json!({ "type": "string" }))),
        ),
        Success::Bytes { status } => {
            let bytes = json!({ "type": "string", "format": "binary" });
            (*status, Some(content(BYTES_TYPE, bytes)))
        }
    }
}

fn content(content_type: &str, schema: Value) -> Value {
    json!({ content_type: { "schema": schema } })
}

/// Adds a description, unless it is empty.
fn describe(written: &mut Value, doc: &str) {
    if !doc.is_empty() {
        written["description"] = doc.into();
    }
}

/// Marks an addition to the implemented contract.
fn mark(written: &mut Value, extension: bool) {
    if extension {
        written["x-extension"] = true.into();
    }
}
