//! Schemas of the events on streams: unions of envelopes, one for each event of the catalogue.
//!
//! These types have no values. [`opencode_schema::envelope`] writes the texts.

use std::borrow::Cow;

use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::event::{
    DURABLE_EVENTS, DurablePosition, EventSpec, LIVE_EVENTS, LiveEvent, NOTICES, Notice,
    NoticeSpec, SessionEvent, is_streamed,
};
use opencode_schema::id::{EventID, SessionID};
use opencode_schema::location::LocationRef;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// An element of one session's durable stream and of its history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum SessionDurableEvent {}

/// An element of the live stream.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum OpenCodeEvent {}

/// Events that only this implementation has.
const EXTENSIONS: &[&str] = &[
    "session.next.prompt.withdrawn",
    "session.next.tool.reported",
    "session.next.prompt.redelivered",
    "session.next.pruned",
    "session.next.interrupted",
    "session.next.output.produced",
    "session.next.output.failed",
    "session.next.output.rejected",
    "session.next.paused",
    "session.next.model.fallback",
    "session.next.todos.updated",
    "server.heartbeat",
    "mcp.updated",
    "mcp.removed",
];

impl JsonSchema for SessionDurableEvent {
    fn schema_name() -> Cow<'static, str> {
        "SessionDurableEvent".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let variants: Vec<Value> = DURABLE_EVENTS
            .iter()
            .filter(|spec| is_streamed(spec.number))
            .map(|spec| durable(generator, spec))
            .collect();
        json_schema!({
            "oneOf": variants,
            "description": "A durable event of a session: what happened, in the order of `durable.seq`.",
        })
    }
}

impl JsonSchema for OpenCodeEvent {
    fn schema_name() -> Cow<'static, str> {
        "OpenCodeEvent".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut variants = vec![
            event_without_data(
                generator,
                "ServerConnected",
                "server.connected",
                "The subscription is open. All later events arrive.",
            ),
            event_without_data(
                generator,
                "ServerHeartbeat",
                "server.heartbeat",
                "The host is alive. It sends this event at intervals.",
            ),
            event_without_data(
                generator,
                "GlobalDisposed",
                "global.disposed",
                "The host closes. No event follows.",
            ),
        ];
        variants.extend(NOTICES.iter().map(|spec| notice(generator, spec)));
        variants.extend(DURABLE_EVENTS.iter().map(|spec| durable(generator, spec)));
        variants.extend(LIVE_EVENTS.iter().map(|spec| fragment(generator, spec)));
        json_schema!({
            "oneOf": variants,
            "description": "An event of a host: a durable event of any session, a fragment of incomplete output, or an event of the host itself.",
        })
    }
}

fn durable(generator: &mut SchemaGenerator, spec: &EventSpec) -> Value {
    let position = generator.subschema_for::<DurablePosition>();
    let mut envelope = envelope(generator, spec.name);
    let position = described(position, "Its position in the log.");
    if spec.name == "session.updated" {
        // Most are derived from another event of the session and are no entry of its log.
        envelope.allow("durable", position);
    } else {
        envelope.require("durable", position);
    }
    envelope.allow(
        "location",
        described(
            generator.subschema_for::<LocationRef>(),
            "The Location of the session. Only the live stream has it.",
        ),
    );
    let (data, doc) = session_data(generator, spec, is_streamed(spec.number));
    envelope.require("data", payload(data.into_schema()));
    let metadata = generator.subschema_for::<Record>();
    envelope.allow(
        "metadata",
        described(metadata, "Additional values of the runtime."),
    );
    define(generator, spec, envelope, doc)
}

fn fragment(generator: &mut SchemaGenerator, spec: &EventSpec) -> Value {
    let mut envelope = live(generator, spec.name);
    let (data, doc) = session_data(generator, spec, true);
    envelope.require("data", payload(data.into_schema()));
    define(generator, spec, envelope, doc)
}

fn notice(generator: &mut SchemaGenerator, spec: &NoticeSpec) -> Value {
    let mut envelope = live(generator, spec.name);
    let data = Notice::schema(spec.type_name, generator).expect("a kind has a payload type");
    envelope.require("data", payload(data.to_value()));
    let doc = spec.doc.trim().into();
    insert(
        generator,
        spec.type_name,
        envelope.documented(spec.name, doc),
    )
}

fn event_without_data(
    generator: &mut SchemaGenerator,
    type_name: &str,
    name: &str,
    doc: &str,
) -> Value {
    let mut envelope = envelope(generator, name);
    envelope.require("data", payload(Object::default().into_schema()));
    insert(generator, type_name, envelope.documented(name, doc.into()))
}

/// Returns the payload after the members that every payload of a session begins with, and its description.
fn session_data(generator: &mut SchemaGenerator, spec: &EventSpec, timed: bool) -> (Object, Value) {
    let mut data = Object::default();
    if timed {
        let millis = generator.subschema_for::<Millis>();
        data.require("timestamp", described(millis, "When, epoch milliseconds."));
    }
    let session = generator.subschema_for::<SessionID>();
    data.require("sessionID", described(session, "The session."));
    let name = spec.type_name;
    let payload =
        SessionEvent::schema(name, generator).or_else(|| LiveEvent::schema(name, generator));
    let mut payload = payload.expect("a kind has a payload type");
    let doc = payload.remove("description").unwrap_or_default();
    data.extend(&payload);
    (data, doc)
}

fn live(generator: &mut SchemaGenerator, name: &str) -> Object {
    let mut envelope = envelope(generator, name);
    let location = generator.subschema_for::<LocationRef>();
    envelope.allow("location", described(location, "Location of the event."));
    envelope
}

fn envelope(generator: &mut SchemaGenerator, name: &str) -> Object {
    let mut envelope = Object::default();
    let id = generator.subschema_for::<EventID>();
    envelope.require(
        "id",
        described(id, "Id of the event, equal on every stream."),
    );
    envelope.require("type", json!({ "type": "string", "const": name }));
    envelope
}

fn define(
    generator: &mut SchemaGenerator,
    spec: &EventSpec,
    envelope: Object,
    doc: Value,
) -> Value {
    let type_name = if spec.name.starts_with("session.next.") {
        format!("SessionNext{}", spec.type_name)
    } else {
        spec.type_name.to_owned()
    };
    insert(generator, &type_name, envelope.documented(spec.name, doc))
}

fn insert(generator: &mut SchemaGenerator, type_name: &str, schema: Value) -> Value {
    let definitions = generator.definitions_mut();
    let former = definitions.insert(type_name.to_owned(), schema.clone());
    debug_assert!(
        former.is_none_or(|former| former == schema),
        "an event is described in one way only: {type_name}"
    );
    json!({ "$ref": format!("#/$defs/{type_name}") })
}

fn described(schema: Schema, doc: &str) -> Value {
    let mut schema = schema;
    schema.insert("description".to_owned(), doc.into());
    schema.to_value()
}

/// Describes the payload as a member of the envelope, without the description of its type.
fn payload(mut schema: Value) -> Value {
    schema["description"] = "The payload of the event.".into();
    schema
}

/// An object schema under construction.
#[derive(Default)]
struct Object {
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl Object {
    fn require(&mut self, name: &str, schema: Value) {
        self.required.push(name.into());
        self.allow(name, schema);
    }

    fn allow(&mut self, name: &str, schema: Value) {
        self.properties.insert(name.to_owned(), schema);
    }

    fn extend(&mut self, object: &Schema) {
        let properties = object.get("properties").and_then(Value::as_object);
        self.properties
            .extend(properties.cloned().unwrap_or_default());
        let required = object.get("required").and_then(Value::as_array);
        self.required.extend(required.cloned().unwrap_or_default());
    }

    fn into_schema(self) -> Value {
        json!({ "type": "object", "properties": self.properties, "required": self.required })
    }

    fn documented(self, name: &str, doc: Value) -> Value {
        let mut schema = self.into_schema();
        schema["description"] = doc;
        if EXTENSIONS.contains(&name) {
            schema["x-extension"] = true.into();
        }
        schema
    }
}
