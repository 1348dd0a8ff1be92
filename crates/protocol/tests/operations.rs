//! The operations agree with the wire contract we implement in what clients depend on.

use opencode_protocol::contract::{Contract, Operation, Payload, Segment, Success, compile};
use opencode_protocol::operation::Channel;
use opencode_protocol::operations::OPERATIONS;

/// Id, method and path, fields (`?` marks optional ones) by channel, success, statuses beside those
/// that all share.
type Row = (
    &'static str,
    &'static str,
    [&'static str; 3],
    &'static str,
    &'static [u16],
);

const TABLE: &[Row] = &[
    (
        "v2.health.get",
        "GET /api/health",
        ["", "", "-"],
        "whole",
        &[],
    ),
    (
        "v2.location.get",
        "GET /api/location",
        ["", "location?", "-"],
        "whole",
        &[],
    ),
    (
        "v2.session.create",
        "POST /api/session",
        ["", "", "id? agent? model? location?"],
        "data",
        &[],
    ),
    (
        "v2.session.list",
        "GET /api/session",
        [
            "",
            "workspace? limit? order? search? directory? project? subpath? cursor?",
            "-",
        ],
        "page",
        &[],
    ),
    (
        "v2.session.get",
        "GET /api/session/{sessionID}",
        ["sessionID", "", "-"],
        "data",
        &[404],
    ),
    (
        "v2.session.active",
        "GET /api/session/active",
        ["", "", "-"],
        "data",
        &[],
    ),
    (
        "v2.session.prompt",
        "POST /api/session/{sessionID}/prompt",
        ["sessionID", "", "id? prompt delivery? resume?"],
        "data",
        &[404, 409, 429],
    ),
    (
        "v2.session.interrupt",
        "POST /api/session/{sessionID}/interrupt",
        ["sessionID", "", "-"],
        "void",
        &[404],
    ),
    (
        "v2.session.wait",
        "POST /api/session/{sessionID}/wait",
        ["sessionID", "", "-"],
        "void",
        &[404],
    ),
    (
        "v2.session.compact",
        "POST /api/session/{sessionID}/compact",
        ["sessionID", "", "-"],
        "void",
        &[404],
    ),
    (
        "v2.session.switchAgent",
        "POST /api/session/{sessionID}/agent",
        ["sessionID", "", "agent"],
        "void",
        &[404],
    ),
    (
        "v2.session.switchModel",
        "POST /api/session/{sessionID}/model",
        ["sessionID", "", "model"],
        "void",
        &[404],
    ),
    (
        "v2.session.messages",
        "GET /api/session/{sessionID}/message",
        ["sessionID", "limit? order? cursor?", "-"],
        "page",
        &[404],
    ),
    (
        "v2.session.message",
        "GET /api/session/{sessionID}/message/{messageID}",
        ["sessionID messageID", "", "-"],
        "data",
        &[404],
    ),
    (
        "v2.session.context",
        "GET /api/session/{sessionID}/context",
        ["sessionID", "", "-"],
        "data",
        &[404],
    ),
    (
        "v2.session.history",
        "GET /api/session/{sessionID}/history",
        ["sessionID", "limit? after?", "-"],
        "whole",
        &[404],
    ),
    (
        "v2.session.events",
        "GET /api/session/{sessionID}/event",
        ["sessionID", "after?", "-"],
        "stream",
        &[404],
    ),
    (
        "v2.session.inbox.list",
        "GET /api/session/{sessionID}/inbox",
        ["sessionID", "", "-"],
        "data",
        &[404],
    ),
    (
        "v2.session.inbox.withdraw",
        "DELETE /api/session/{sessionID}/inbox/{messageID}",
        ["sessionID messageID", "", "-"],
        "void",
        &[404, 409],
    ),
    (
        "v2.session.inbox.setDelivery",
        "PUT /api/session/{sessionID}/inbox/{messageID}",
        ["sessionID messageID", "", "delivery"],
        "data",
        &[404, 409],
    ),
    (
        "v2.session.resume",
        "POST /api/session/{sessionID}/resume",
        ["sessionID", "", "-"],
        "void",
        &[404],
    ),
    (
        "v2.session.interrupted",
        "GET /api/session/interrupted",
        ["", "", "-"],
        "data",
        &[],
    ),
    (
        "v2.session.move",
        "POST /api/session/{sessionID}/move",
        ["sessionID", "", "location"],
        "data",
        &[404],
    ),
    (
        "v2.session.export",
        "GET /api/session/{sessionID}/export",
        ["sessionID", "", "-"],
        "lines",
        &[404],
    ),
    (
        "v2.session.import",
        "POST /api/session/import",
        ["", "", "lines"],
        "data",
        &[409],
    ),
    (
        "v2.event.subscribe",
        "GET /api/event",
        ["", "", "-"],
        "stream",
        &[],
    ),
];

fn contract() -> Contract {
    compile(OPERATIONS).expect("the operations compile")
}

fn route(operation: &Operation) -> String {
    let path: String = operation
        .path
        .iter()
        .map(|segment| match segment {
            Segment::Literal(text) => text.clone(),
            Segment::Parameter(name) => format!("{{{name}}}"),
        })
        .collect();
    format!("{} {path}", operation.method.as_str())
}

fn fields(operation: &Operation, channel: Channel) -> String {
    let names: Vec<String> = operation
        .input
        .fields
        .iter()
        .filter(|field| field.channel == channel)
        .map(|field| format!("{}{}", field.name, if field.required { "" } else { "?" }))
        .collect();
    match operation.input.payload {
        Payload::None if channel == Channel::Payload => "-".into(),
        Payload::Lines if channel == Channel::Payload => "lines".into(),
        _ => names.join(" "),
    }
}

fn success(operation: &Operation) -> &'static str {
    match operation.success {
        Success::Value { unwrap: true, .. } => "data",
        Success::Value { .. } => "whole",
        Success::Page(_) => "page",
        Success::Void { .. } => "void",
        Success::Stream { .. } => "stream",
        Success::Lines { .. } => "lines",
    }
}

#[test]
fn operations_are_those_of_the_wire() {
    let contract = contract();
    assert_eq!(contract.operations.len(), TABLE.len());
    for (operation, (id, wire, channels, answer, own)) in contract.operations.iter().zip(TABLE) {
        assert_eq!(operation.id, *id);
        assert_eq!(route(operation), *wire);
        let given = [Channel::Params, Channel::Query, Channel::Payload]
            .map(|channel| fields(operation, channel));
        assert_eq!(given, *channels, "{id}");
        assert_eq!(success(operation), *answer, "{id}");
        let mut statuses: Vec<u16> = operation.errors.iter().map(|error| error.status).collect();
        statuses.dedup();
        let mut expected = [&[400, 401, 500, 503], *own].concat();
        expected.sort_unstable();
        assert_eq!(statuses, expected, "{id}");
    }
}

#[test]
fn what_the_contract_we_implement_does_not_have_is_marked() {
    let contract = contract();
    let marked: Vec<_> = contract
        .operations
        .iter()
        .filter(|operation| operation.extension)
        .map(|operation| format!("{}.{}", operation.group.public, operation.name))
        .collect();
    assert_eq!(
        marked,
        [
            "sessions.inbox.list",
            "sessions.inbox.withdraw",
            "sessions.inbox.setDelivery",
            "sessions.resume",
            "sessions.interrupted",
            "sessions.move",
            "sessions.export",
            "sessions.import",
        ]
    );
}

#[test]
fn cursors_do_not_go_with_initial_fields() {
    let contract = contract();
    let pages: Vec<_> = contract
        .operations
        .iter()
        .filter_map(|operation| match &operation.success {
            Success::Page(page) => Some((
                operation.name.as_str(),
                page.initial.join(" "),
                page.continuation.join(" "),
            )),
            _ => None,
        })
        .collect();
    assert_eq!(
        pages,
        [
            (
                "list",
                "workspace limit order search directory project subpath".to_owned(),
                "cursor".to_owned()
            ),
            (
                "messages",
                "limit order".to_owned(),
                "sessionID cursor".to_owned()
            ),
        ]
    );
}

#[test]
fn the_committed_contract_is_the_compiled_one() {
    let committed = include_str!("../contract.json");
    let read = serde_json::from_str::<Contract>(committed).ok();
    assert!(
        read == Some(contract()),
        "contract.json is stale: run `cargo xtask codegen`"
    );
}
