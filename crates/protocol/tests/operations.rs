//! The public names of the operations, and their calls.

use std::collections::BTreeMap;

use opencode_protocol::contract::{Contract, DeclaredError, Payload, Segment, Success, compile};
use opencode_protocol::operations::OPERATIONS;

fn contract() -> Contract {
    compile(OPERATIONS).expect("the operations compile")
}

/// A listener has its own statuses for refused bodies, and clients ignore undeclared failures.
#[test]
fn slow_and_large_bodies_are_declared() {
    for operation in contract().operations {
        let refused = |it: &&DeclaredError| it.tag == "InvalidRequestError";
        let refused = operation.errors.iter().filter(refused);
        let statuses: Vec<_> = refused.map(|error| error.status).collect();
        let expected: &[u16] = match operation.input.payload {
            Payload::None => &[400],
            Payload::Json | Payload::Lines => &[400, 408, 413],
        };
        assert_eq!(statuses, expected, "{}", operation.id);
    }
}

#[test]
fn clients_omit_operations_without_a_call() {
    let contract = contract();
    let omitted = contract.operations.iter().filter(|it| it.omitted);
    let omitted: Vec<_> = omitted.map(|operation| &*operation.id).collect();
    assert_eq!(omitted, ["v2.pty.connect"]);
}

#[test]
fn a_file_is_named_by_the_rest_of_a_path_and_returned_as_bytes() {
    let contract = contract();
    let answered_as_bytes: Vec<_> = contract
        .operations
        .iter()
        .filter(|it| matches!(it.success, Success::Bytes { status: 200 }))
        .map(|it| (&*it.id, &*it.path))
        .collect();
    let path = [
        Segment::Literal("/api/fs/read/".into()),
        Segment::Rest("path".into()),
    ];
    assert_eq!(answered_as_bytes, [("v2.fs.read", &path[..])]);
}

#[test]
fn some_operations_require_a_header() {
    let contract = contract();
    let with_headers: Vec<_> = contract
        .operations
        .iter()
        .filter(|it| !it.headers.is_empty())
        .map(|it| (&*it.id, it.headers.clone()))
        .collect();
    let header = [("x-opencode-ticket".to_owned(), "1".to_owned())];
    assert_eq!(
        with_headers,
        [("v2.pty.connectToken", BTreeMap::from(header))]
    );
}

/// The operations of OpenCode are those of its document. All others are marked.
#[test]
fn operations_beyond_the_original_contract_are_marked() {
    let theirs: serde_json::Value =
        serde_json::from_str(include_str!("data/openapi.json")).expect("it is JSON");
    let paths = theirs["paths"].as_object().expect("there are some");
    let methods = paths.values().filter_map(serde_json::Value::as_object);
    let known: Vec<_> = methods
        .flat_map(|methods| methods.values())
        .filter_map(|operation| operation["operationId"].as_str())
        .collect();
    for operation in contract().operations {
        let is_known = known.contains(&&*operation.id);
        assert_eq!(operation.extension, !is_known, "{}", operation.id);
    }
}

#[test]
fn cursors_exclude_initial_fields() {
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
                "workspace limit order search directory project subpath archived roots parentID"
                    .to_owned(),
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
fn the_committed_contract_equals_the_compiled_one() {
    let committed = include_str!("../contract.json");
    let read = serde_json::from_str::<Contract>(committed).ok();
    assert!(
        read == Some(contract()),
        "contract.json is stale: run `cargo xtask codegen`"
    );
}
