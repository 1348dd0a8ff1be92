//! The JSON of events fits the schemas from which clients are generated.

use opencode_protocol::event::{OpenCodeEvent, SessionDurableEvent};
use opencode_schema::Record;
use opencode_schema::check::{Nulls, check};
use opencode_schema::envelope::{durable_text, host_text, live_text, notice_text, stored_text};
use opencode_schema::event::{
    DURABLE_EVENTS, DurableEvent, EventSpec, LIVE_EVENTS, LiveEvent, NOTICES, Notice, SessionEvent,
    is_streamed,
};
use opencode_schema::id::{EventID, SessionID};
use opencode_schema::location::LocationRef;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, schema_for};
use serde_json::{Value, json};

/// The members of a sample.
#[derive(Clone, Copy, PartialEq)]
enum Members {
    All,
    Required,
}

const BOTH: [Members; 2] = [Members::All, Members::Required];

/// A value that fits the schema.
fn sample(root: &Value, schema: &Value, members: Members) -> Value {
    let next = |schema: &Value| sample(root, schema, members);
    if let Some(reference) = schema["$ref"].as_str() {
        let target = reference.strip_prefix('#').expect("it is a pointer");
        return next(root.pointer(target).expect("it leads somewhere"));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(first) = schema[key].get(0) {
            return next(first);
        }
    }
    if let Some(literal) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return literal.clone();
    }
    let kind = schema["type"].get(0).unwrap_or(&schema["type"]);
    match kind.as_str() {
        Some("object") => object(root, schema, members),
        Some("array") => json!([next(&schema["items"])]),
        Some("string") => {
            let pattern = schema["pattern"].as_str().unwrap_or("^");
            format!("{}1", &pattern[1..]).into()
        }
        Some("integer" | "number") => 1.into(),
        Some("boolean") => true.into(),
        Some(other) => panic!("no sample of {other}"),
        None => json!({"any": [null]}),
    }
}

fn object(root: &Value, schema: &Value, members: Members) -> Value {
    let required = |name: &str| {
        schema["required"]
            .as_array()
            .is_some_and(|all| all.contains(&name.into()))
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    let chosen = properties.filter(|(name, _)| members == Members::All || required(name));
    let chosen = chosen.map(|(name, schema)| (name.clone(), sample(root, schema, members)));
    Value::Object(chosen.collect())
}

/// The text of a payload of this kind.
fn payload(schema: impl Fn(&mut SchemaGenerator) -> Option<Schema>, members: Members) -> String {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let schema = schema(&mut generator).expect("it has a schema").to_value();
    let root = json!({ "$defs": generator.take_definitions(true) });
    sample(&root, &schema, members).to_string()
}

/// The JSON pointer of a reference.
fn pointer(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix('#')
}

/// The schema of a stream whose events have only declared members.
fn closed<T: JsonSchema>() -> Value {
    let nothing = json!({ "enum": [] });
    let mut schema = schema_for!(T).to_value();
    let events = schema["oneOf"].as_array().expect("a union").clone();
    for event in events {
        let event = pointer(&event).expect("a type").to_owned();
        let data = &schema.pointer(&event).expect("it is defined")["properties"]["data"];
        let data = pointer(data).map_or_else(|| format!("{event}/properties/data"), str::to_owned);
        for place in [event, data] {
            let closed = schema.pointer_mut(&place).expect("it is defined");
            closed["additionalProperties"] = nothing.clone();
        }
    }
    schema
}

#[track_caller]
fn fits(schema: &Value, text: &str) {
    let event: Value = serde_json::from_str(text).expect("it is JSON");
    assert_eq!(check(schema, &event, Nulls::Values), Ok(()), "{text}");
}

fn id() -> EventID {
    EventID::parse("evt_1").expect("it has the prefix")
}

fn session_id() -> SessionID {
    SessionID::parse("ses_1").expect("it has the prefix")
}

fn location() -> LocationRef {
    LocationRef {
        directory: "/w".into(),
        workspace_id: None,
    }
}

fn durable(spec: &EventSpec, members: Members) -> DurableEvent {
    let text = payload(|it| SessionEvent::schema(spec.type_name, it), members);
    DurableEvent {
        id: id(),
        session_id: session_id(),
        seq: 0,
        timestamp: 1,
        payload: SessionEvent::read(spec.number, &text).expect("a sample can be read"),
        metadata: (members == Members::All)
            .then(|| Record::from_iter([("a".to_owned(), json!(1))])),
    }
}

#[test]
fn durable_events_fit_both_streams() {
    let (live, stream) = (closed::<OpenCodeEvent>(), closed::<SessionDurableEvent>());
    for (spec, members) in DURABLE_EVENTS
        .iter()
        .flat_map(|spec| BOTH.map(|it| (spec, it)))
    {
        let event = durable(spec, members);
        fits(&live, &durable_text(&event, None));
        fits(&live, &durable_text(&event, Some(&location())));
        let DurableEvent {
            id,
            session_id,
            seq,
            timestamp,
            payload,
            metadata,
        } = &event;
        let payload = serde_json::to_string(payload).expect("plain data");
        let metadata = metadata.as_ref().map(|it| json!(it).to_string());
        let stored = stored_text(
            spec,
            id,
            session_id,
            *seq,
            *timestamp,
            &payload,
            metadata.as_deref(),
        );
        if is_streamed(spec.number) {
            fits(&stream, &stored);
        } else {
            fits(&live, &stored);
        }
    }
}

#[test]
fn live_events_fit_the_live_stream() {
    let live = closed::<OpenCodeEvent>();
    for (spec, members) in LIVE_EVENTS
        .iter()
        .flat_map(|spec| BOTH.map(|it| (spec, it)))
    {
        let text = payload(|it| LiveEvent::schema(spec.type_name, it), members);
        let payload = LiveEvent::read(spec.number, &text);
        let payload = payload.expect("a sample can be read");
        for location in [None, Some(&location())] {
            fits(
                &live,
                &live_text(&id(), &session_id(), 1, location, &payload),
            );
        }
    }
    for (spec, members) in NOTICES.iter().flat_map(|spec| BOTH.map(|it| (spec, it))) {
        let text = payload(|it| Notice::schema(spec.type_name, it), members);
        let data: Value = serde_json::from_str(&text).expect("JSON");
        let notice: Notice = serde_json::from_value(json!({ "type": spec.name, "data": data }))
            .expect("a sample can be read");
        for location in [None, Some(&location())] {
            fits(&live, &notice_text(&id(), location, &notice));
        }
    }
    for name in ["server.connected", "global.disposed"] {
        fits(&live, &host_text(&id(), name));
    }
}

#[test]
fn invalid_events_do_not_fit() {
    let live = closed::<OpenCodeEvent>();
    for text in [
        r#"{"id":"evt_1","type":"session.unheard","data":{}}"#,
        r#"{"id":"evt_1","type":"server.connected"}"#,
        r#"{"id":"evt_1","type":"server.connected","data":{"more":1}}"#,
        r#"{"id":"evt_1","type":"server.connected","data":{},"location":{"directory":"/w"}}"#,
        r#"{"id":"evt_1","type":"session.next.text.delta","data":{"sessionID":"ses_1","assistantMessageID":"msg_1","textID":"t","delta":""}}"#,
    ] {
        let event: Value = serde_json::from_str(text).expect("it is JSON");
        assert!(check(&live, &event, Nulls::Values).is_err(), "{text}");
    }
}
