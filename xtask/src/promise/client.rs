//! The tree of methods of a client, and its interface.

use std::collections::BTreeSet;
use std::fmt::Write;

use opencode_protocol::contract::{Contract, InputMode, Operation, Payload, Success};

use super::declarations::{has_own_options, input_name, options_name, output_name};
use super::source::doc;

/// A method, or a group of methods.
pub(super) enum Node<'a> {
    Method(&'a Operation),
    Group(Tree<'a>),
}

/// Nodes with their names, in the order of the contract.
pub(super) type Tree<'a> = Vec<(&'a str, Node<'a>)>;

/// The methods of a contract as a tree of groups.
pub(super) fn tree(contract: &Contract) -> Tree<'_> {
    let mut groups = Vec::new();
    for operation in &contract.operations {
        let names = operation.name.split('.');
        let path: Vec<&str> = std::iter::once(operation.group.public.as_str())
            .chain(names)
            .collect();
        insert(&mut groups, &path, operation);
    }
    groups
}

pub(super) fn emit(contract: &Contract) -> String {
    let groups = tree(contract);
    let common = contract.common_errors();
    let mut text = doc(
        "The operations of the HTTP contract, each of which is one method of a client.\n\n\
         A method rejects with a failure that its operation declares, or with a `ClientError` when no\n\
         declared answer came back.",
        "",
    );
    text += "export interface OpenCodeOperations ";
    text += &group(&groups, "", &common);
    text + "\n"
}

fn insert<'a>(nodes: &mut Tree<'a>, path: &[&'a str], operation: &'a Operation) {
    let [name, rest @ ..] = path else { return };
    if rest.is_empty() {
        nodes.push((name, Node::Method(operation)));
        return;
    }
    let position = nodes.iter().position(|(other, _)| other == name);
    let position = position.unwrap_or_else(|| {
        nodes.push((name, Node::Group(Vec::new())));
        nodes.len() - 1
    });
    if let Node::Group(nodes) = &mut nodes[position].1 {
        insert(nodes, rest, operation);
    }
}

fn group(nodes: &[(&str, Node<'_>)], indent: &str, common: &BTreeSet<&str>) -> String {
    let inner = format!("{indent}  ");
    let mut lines = String::new();
    for (name, node) in nodes {
        match node {
            Node::Method(operation) => lines += &method(name, operation, &inner, common),
            Node::Group(nodes) => {
                let _ = writeln!(
                    lines,
                    "{inner}readonly {name}: {};",
                    group(nodes, &inner, common)
                );
            }
        }
    }
    format!("{{\n{lines}{indent}}}")
}

/// True if the options of a call may also stand in its input. Streams whose input may be omitted accept both forms,
/// `(options)` and `(input, options)`.
pub(super) fn takes_options(operation: &Operation) -> bool {
    let is_stream = matches!(operation.success, Success::Stream { .. });
    is_stream && operation.input.mode == InputMode::Optional
}

fn method(name: &str, operation: &Operation, indent: &str, common: &BTreeSet<&str>) -> String {
    let input = match operation.input.mode {
        _ if operation.input.payload == Payload::Lines => {
            format!("lines: {}, ", input_name(operation))
        }
        InputMode::None => String::new(),
        InputMode::Optional if takes_options(operation) => {
            format!("input?: {} & RequestOptions, ", input_name(operation))
        }
        InputMode::Optional => format!("input?: {}, ", input_name(operation)),
        InputMode::Required => format!("input: {}, ", input_name(operation)),
    };
    let output = output_name(operation);
    let output = match operation.success {
        Success::Stream { .. } | Success::Lines { .. } => format!("AsyncIterable<{output}>"),
        Success::Page(_) => format!("PagePromise<{output}>"),
        _ => format!("Promise<{output}>"),
    };
    let own = operation.errors.iter().map(|error| error.tag.as_str());
    let own: String = own
        .filter(|tag| !common.contains(tag))
        .map(|tag| format!("\n@throws {{{tag}}}"))
        .collect();
    let separator = if own.is_empty() { "" } else { "\n" };
    let options = match has_own_options(operation) {
        true => options_name(operation),
        false => "RequestOptions".to_owned(),
    };
    format!(
        "{}{indent}{name}({input}options?: {options}): {output};\n",
        doc(&format!("{}{separator}{own}", operation.doc), indent)
    )
}
