//! One method: its call, its purpose, its input and its output.

use opencode_protocol::contract::{
    Contract, InputField, InputMode, Operation, Payload, Segment, Success, Type,
};
use opencode_protocol::operation::Channel;

use super::text::{cell, expression, link, row, table, type_cell};
use super::types;

/// The heading of an operation.
pub(super) fn title(operation: &Operation) -> String {
    format!("{}.{}", operation.group.public, operation.name)
}

/// The section of an operation.
pub(super) fn describe(contract: &Contract, operation: &Operation) -> String {
    let mut parts = vec![
        format!("### {}\n", title(operation)),
        format!("{}\n", summary(contract, operation)),
        format!("{}\n", operation.doc),
    ];
    let headers = operation.headers.iter();
    parts.extend(
        headers
            .map(|(name, value)| format!("Every request carries the header `{name}: {value}`.\n")),
    );
    parts.push(input(contract, operation));
    if !operation.omitted {
        parts.push(format!("**Result:** {}\n", result(contract, operation)));
    }
    if let Success::Value {
        r#type: inline @ Type::Object { .. },
        ..
    } = &operation.success
    {
        parts.push(types::body(contract, inline));
    }
    parts.push(failures(contract, operation));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// The call and the request on one line.
fn summary(contract: &Contract, operation: &Operation) -> String {
    let request = format!("`{} {}`", operation.method.as_str(), path(operation));
    let mark = if operation.extension {
        " · *Extension*"
    } else {
        ""
    };
    if operation.omitted {
        return format!("{request} · *HTTP only: clients have no method for it*{mark}");
    }
    let input = match operation.input.mode {
        _ if operation.input.payload == Payload::Lines => "lines, ",
        InputMode::None => "",
        InputMode::Optional => "input?, ",
        InputMode::Required => "input, ",
    };
    let title = title(operation);
    let output = output(contract, &operation.success);
    format!("`{title}({input}options?): {output}` · {request}{mark}")
}

fn path(operation: &Operation) -> String {
    let segments = operation.path.iter().map(|segment| match segment {
        Segment::Literal(text) => text.clone(),
        Segment::Parameter(name) => format!("{{{name}}}"),
        Segment::Rest(name) => format!("{{...{name}}}"),
    });
    segments.collect()
}

/// The return type of the method in TypeScript.
fn output(contract: &Contract, success: &Success) -> String {
    match success {
        Success::Value { r#type, .. } => format!("Promise<{}>", name(contract, r#type)),
        Success::Page(page) => format!("PagePromise<Page<{}>>", name(contract, &page.item)),
        Success::Void { .. } => "Promise<void>".to_owned(),
        Success::Stream { element, .. } => format!("AsyncIterable<{}>", name(contract, element)),
        Success::Lines { .. } => "AsyncIterable<string>".to_owned(),
        Success::Bytes { .. } => "Promise<Uint8Array>".to_owned(),
    }
}

fn name(contract: &Contract, r#type: &Type) -> String {
    match r#type {
        Type::Ref { name } => name.clone(),
        Type::Array { items } => format!("{}[]", name(contract, items)),
        Type::Record { values, .. } => format!("Record<string, {}>", name(contract, values)),
        Type::Object { fields } => {
            let names = fields.iter().map(|field| {
                let optional = if field.required { "" } else { "?" };
                format!("{}{optional}", field.name)
            });
            format!("{{ {} }}", names.collect::<Vec<_>>().join(", "))
        }
        other => expression(contract, other).replace('`', ""),
    }
}

fn input(contract: &Contract, operation: &Operation) -> String {
    if operation.input.payload == Payload::Lines {
        let lines = "**Input:** lines of JSON, each one text, as `application/x-ndjson`.\n";
        if operation.input.fields.is_empty() {
            return lines.to_owned();
        }
        let rows = operation.input.fields.iter();
        let rows = rows.map(|field| field_row(contract, field));
        let options = table(&["option", "type", "in", "meaning"], rows);
        return format!("{lines}\n{options}");
    }
    let rows = operation.input.fields.iter();
    let rows = rows.map(|field| field_row(contract, field));
    let fields = table(&["input", "type", "in", "meaning"], rows);
    match &operation.success {
        Success::Page(page) => {
            let initial: Vec<String> = page.initial.iter().map(|it| format!("`{it}`")).collect();
            format!(
                "{fields}\n`cursor` carries the query it continues and does not go with {}.\n",
                initial.join(", ")
            )
        }
        _ => fields,
    }
}

fn field_row(contract: &Contract, field: &InputField) -> String {
    let optional = if field.required { "" } else { "?" };
    row(&[
        format!("`{}{optional}`", field.name),
        type_cell(contract, &field.r#type),
        channel(field.channel).to_owned(),
        cell(&field.doc),
    ])
}

fn channel(channel: Channel) -> &'static str {
    match channel {
        Channel::Params => "path",
        Channel::Query => "query",
        Channel::Payload => "body",
    }
}

fn result(contract: &Contract, operation: &Operation) -> String {
    match &operation.success {
        Success::Value {
            r#type: Type::Object { .. },
            ..
        } => "an object.".to_owned(),
        Success::Value { r#type, .. } => format!("{}.", expression(contract, r#type)),
        Success::Page(page) => format!(
            "`{{ items, previous?, next? }}`: a part of a list of {}. Both cursors are absent on an empty page.",
            expression(contract, &page.item)
        ),
        Success::Void { .. } => "nothing.".to_owned(),
        Success::Stream { element, ends, .. } => format!(
            "{}, one after the other. {}",
            expression(contract, element),
            if *ends {
                "A stream that is cut fails; one that ends has ended."
            } else {
                "It has no end of its own: one that ends was cut."
            }
        ),
        Success::Lines { .. } => {
            "lines, each one JSON text. They fail when they are cut.".to_owned()
        }
        Success::Bytes { .. } => "bytes. Over HTTP `content-type` says what they are.".to_owned(),
    }
}

/// The failures of the operation that are not common to all operations.
fn failures(contract: &Contract, operation: &Operation) -> String {
    let common = contract.common_errors();
    let own = operation.errors.iter();
    let own: Vec<String> = own
        .filter(|error| !common.contains(error.tag.as_str()))
        .map(|error| format!("{} {}", error.status, link(&error.tag, &error.tag)))
        .collect();
    if own.is_empty() {
        return String::new();
    }
    format!("**Fails with:** {}\n", own.join(" · "))
}
