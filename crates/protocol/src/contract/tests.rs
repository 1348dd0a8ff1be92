use std::collections::BTreeMap;

use opencode_schema::message::SessionMessage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;
use crate::failure::Tag;
use crate::input::{LocationSelection, Nothing, PromptPayload, SessionParams, SessionsQuery};
use crate::operation::{self, Method, Middleware, SchemaOf, schema_of};
use crate::output::{Health, SessionsResponse};

/// An operation that compiles, to be changed by the tests.
const SPEC: Spec = Spec {
    id: "v2.thing.do",
    name: "things.do",
    doc: " Does it.\n",
    method: Method::Post,
    path: "/api/thing",
    headers: &[],
    params: None,
    query: None,
    payload: operation::Payload::None,
    success: operation::Success::Whole(schema_of::<Health>),
    errors: &[],
    middleware: &[Middleware::Authorization],
    extension: false,
    omitted: false,
};

#[derive(Serialize, Deserialize, JsonSchema)]
struct OtherSessionID {
    #[serde(rename = "sessionID")]
    session_id: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Deep {
    query: Vec<BTreeMap<String, u32>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema matters")]
enum Untagged {
    One { a: u32 },
    Two { b: u32 },
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Health")]
struct NotHealth {
    well: bool,
}

#[derive(Serialize, JsonSchema)]
struct Pair {
    one: Health,
    two: NotHealth,
}

#[derive(Serialize, JsonSchema)]
struct Tuple(u32, u32);

#[derive(Serialize, JsonSchema)]
struct Mixed {
    shared: u32,
    #[serde(flatten)]
    rest: Untagged,
}

#[derive(Serialize, JsonSchema)]
struct Pattern(#[schemars(regex(pattern = "^abc"))] String);

/// Nullable when sent, but received as an optional field.
#[derive(Serialize, Deserialize, JsonSchema)]
struct TwoFaced {
    face: Option<u32>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct HoldsTwoFaced {
    value: TwoFaced,
}

fn value(schema: SchemaOf) -> operation::Success {
    operation::Success::Value(schema)
}

#[test]
fn contradictions_are_refused() {
    let session = Some(schema_of::<SessionParams> as SchemaOf);
    let table: Vec<(&[Spec], &str)> = vec![
        (&[SPEC, SPEC], "v2.thing.do: is declared twice"),
        (
            &[
                SPEC,
                Spec {
                    id: "v2.thing.other",
                    path: "/api/other",
                    ..SPEC
                },
            ],
            "v2.thing.other: has the name of another operation: things.do",
        ),
        (
            &[
                SPEC,
                Spec {
                    id: "v2.thing.other",
                    name: "things.other",
                    ..SPEC
                },
            ],
            "v2.thing.other: has the method and path of another operation",
        ),
        (
            &[
                SPEC,
                Spec {
                    id: "v2.thing.other",
                    name: "things.do.more",
                    path: "/api/other",
                    ..SPEC
                },
            ],
            "v2.thing.do: has the name of a group of operations",
        ),
        (
            &[Spec {
                name: "things",
                ..SPEC
            }],
            "v2.thing.do: has a name that is not <group>.<name>: things",
        ),
        (
            &[Spec {
                id: "thing.do",
                ..SPEC
            }],
            "thing.do: has an id that is not v2.<group>.<name>",
        ),
    ];
    for (specs, message) in table {
        assert_eq!(compile(specs).unwrap_err().to_string(), message);
    }
    for (spec, problem) in [
        (
            Spec {
                path: "/api/{sessionID}",
                ..SPEC
            },
            "has other path parameters than fields in its params",
        ),
        (
            Spec {
                params: session,
                ..SPEC
            },
            "has other path parameters than fields in its params",
        ),
        (
            Spec {
                path: "/api/{sessionID",
                ..SPEC
            },
            "has an unclosed path parameter",
        ),
        (
            Spec {
                path: "/{*sessionID}/more",
                params: session,
                ..SPEC
            },
            "has a path that goes on behind its rest",
        ),
        (
            Spec {
                path: "/{sessionID}",
                params: session,
                payload: operation::Payload::Json(schema_of::<OtherSessionID>),
                ..SPEC
            },
            "has two fields called sessionID",
        ),
        (
            Spec {
                method: Method::Get,
                payload: operation::Payload::Json(schema_of::<PromptPayload>),
                ..SPEC
            },
            "has a payload although its method has none",
        ),
        (
            Spec {
                path: "/{sessionID}",
                params: session,
                payload: operation::Payload::Lines,
                ..SPEC
            },
            "has fields beside lines that are not optional fields of the query",
        ),
        (
            Spec {
                query: Some(schema_of::<Deep>),
                ..SPEC
            },
            "has the field query, which cannot be written as text",
        ),
        (
            Spec {
                query: Some(schema_of::<String>),
                ..SPEC
            },
            "must be an object with declared members",
        ),
        (
            Spec {
                success: operation::Success::Page(schema_of::<Health>),
                ..SPEC
            },
            "is no page: {data, cursor} out, and a cursor in",
        ),
        (
            Spec {
                success: operation::Success::Page(schema_of::<SessionsResponse>),
                ..SPEC
            },
            "is no page: {data, cursor} out, and a cursor in",
        ),
        (
            Spec {
                query: Some(schema_of::<crate::input::MessagesQuery>),
                success: operation::Success::Page(schema_of::<SessionsResponse>),
                ..SPEC
            },
            "is a page with cursors of different types",
        ),
        (
            Spec {
                errors: &[Tag::InvalidOption],
                ..SPEC
            },
            "declares InvalidOptionError, which has no status",
        ),
        (
            Spec {
                middleware: &[Middleware::Session],
                ..SPEC
            },
            "looks a session up without declaring that there may be none",
        ),
    ] {
        let expected = ContractError {
            at: SPEC.id.to_owned(),
            problem: problem.to_owned(),
        };
        assert_eq!(compile(&[spec]), Err(expected));
    }
}

#[test]
fn types_without_an_exact_schema_are_refused() {
    for (schema, message) in [
        (
            schema_of::<Untagged> as SchemaOf,
            "Untagged: is a union whose variants nothing tells apart",
        ),
        (
            schema_of::<Pair>,
            "Health2: is another type of the same name",
        ),
        (
            schema_of::<Mixed>,
            "Mixed: mixes alternatives with what they share",
        ),
        (
            schema_of::<Tuple>,
            "Tuple: has a keyword without meaning here: prefixItems",
        ),
        (
            schema_of::<Pattern>,
            "Pattern: has a pattern without a brand: ^abc",
        ),
    ] {
        let spec = Spec {
            success: value(schema),
            ..SPEC
        };
        assert_eq!(compile(&[spec]).unwrap_err().to_string(), message);
    }
    let spec = Spec {
        payload: operation::Payload::Json(schema_of::<HoldsTwoFaced>),
        success: value(schema_of::<HoldsTwoFaced>),
        ..SPEC
    };
    assert_eq!(
        compile(&[spec]).unwrap_err().to_string(),
        "TwoFaced: is not the same when it is sent and when it is received"
    );
}

#[test]
fn an_operation_is_compiled_completely() {
    let spec = Spec {
        name: "things.part.do",
        path: "/api/thing/{sessionID}/do",
        params: Some(schema_of::<SessionParams>),
        query: Some(schema_of::<LocationSelection>),
        payload: operation::Payload::Json(schema_of::<PromptPayload>),
        success: value(schema_of::<Vec<SessionMessage>>),
        errors: &[Tag::Conflict],
        extension: true,
        ..SPEC
    };
    let contract = compile(&[spec]).unwrap();
    let mut operation = serde_json::to_value(&contract.operations[0]).unwrap();
    let fields = operation["input"]["fields"].take();
    let names: Vec<[&Value; 4]> = fields
        .as_array()
        .unwrap()
        .iter()
        .map(|field| ["name", "channel", "encoding", "required"].map(|key| &field[key]))
        .collect();
    assert_eq!(
        json!(names),
        json!([
            ["sessionID", "Params", "text", true],
            ["location", "Query", "deepObject", false],
            ["id", "Payload", "json", false],
            ["prompt", "Payload", "json", true],
            ["delivery", "Payload", "json", false],
            ["resume", "Payload", "json", false],
            ["system", "Payload", "json", false],
            ["tools", "Payload", "json", false],
            ["agent", "Payload", "json", false],
            ["model", "Payload", "json", false],
            ["variant", "Payload", "json", false],
            ["output", "Payload", "json", false],
            ["mentions", "Payload", "json", false],
        ])
    );
    assert_eq!(
        operation,
        json!({
            "id": "v2.thing.do",
            "group": { "wire": "thing", "public": "things" },
            "name": "part.do",
            "doc": "Does it.",
            "extension": true,
            "method": "POST",
            "path": [{ "literal": "/api/thing/" }, { "parameter": "sessionID" }, { "literal": "/do" }],
            "input": { "mode": "required", "fields": null, "payload": "json" },
            "success": {
                "kind": "value",
                "status": 200,
                "unwrap": true,
                "type": { "kind": "array", "items": { "kind": "ref", "name": "SessionMessage" } },
            },
            "errors": [
                { "status": 400, "tag": "InvalidRequestError" },
                { "status": 401, "tag": "UnauthorizedError" },
                { "status": 408, "tag": "InvalidRequestError" },
                { "status": 409, "tag": "ConflictError" },
                { "status": 413, "tag": "InvalidRequestError" },
                { "status": 500, "tag": "SessionUnreadableError" },
                { "status": 500, "tag": "UnknownError" },
                { "status": 503, "tag": "ServiceUnavailableError" },
                { "status": 503, "tag": "StorePoisonedError" },
            ],
            "middleware": ["authorization"],
        })
    );
}

#[test]
fn input_modes_follow_from_the_fields() {
    let (none, json) = (operation::Payload::None, operation::Payload::Json);
    for (query, payload, mode) in [
        (None, none, InputMode::None),
        (
            Some(schema_of::<Nothing> as SchemaOf),
            none,
            InputMode::None,
        ),
        (Some(schema_of::<SessionsQuery>), none, InputMode::Optional),
        (None, json(schema_of::<PromptPayload>), InputMode::Required),
        (None, operation::Payload::Lines, InputMode::Required),
        (
            Some(schema_of::<SessionsQuery>),
            operation::Payload::Lines,
            InputMode::Required,
        ),
    ] {
        let contract = compile(&[Spec {
            query,
            payload,
            ..SPEC
        }])
        .unwrap();
        assert_eq!(contract.operations[0].input.mode, mode);
    }
}

#[test]
fn lines_are_sent_and_received_unchanged() {
    let contract = compile(&[Spec {
        payload: operation::Payload::Lines,
        success: operation::Success::Lines,
        ..SPEC
    }])
    .unwrap();
    let operation = serde_json::to_value(&contract.operations[0]).unwrap();
    assert_eq!(
        (&operation["input"], &operation["success"]),
        (
            &json!({ "mode": "required", "fields": [], "payload": "lines" }),
            &json!({ "kind": "lines", "status": 200 }),
        )
    );
}

#[test]
fn bytes_headers_and_omitted_clients_are_declared() {
    let contract = compile(&[Spec {
        path: "/api/thing/{*path}",
        headers: &[("x-thing", "1")],
        params: Some(schema_of::<crate::input::FilesReadParams>),
        success: operation::Success::Bytes,
        omitted: true,
        ..SPEC
    }])
    .unwrap();
    let operation = serde_json::to_value(&contract.operations[0]).unwrap();
    assert_eq!(
        ["omitted", "path", "headers", "success"].map(|key| &operation[key]),
        [
            &json!(true),
            &json!([{ "literal": "/api/thing/" }, { "rest": "path" }]),
            &json!({ "x-thing": "1" }),
            &json!({ "kind": "bytes", "status": 200 }),
        ]
    );
}
