//! `types.ts`: the methods of the client, their inputs, results and failures.

use std::collections::BTreeSet;

use opencode_protocol::contract::{Contract, InputField, Operation, Page, Payload, Success, Type};

use super::source::{definition, doc, expression, member};
use super::{HEADER, client, failures, pascal_case};

/// Names that the handwritten part of the declarations defines.
const IMPORTED: &[&str] = &["Lines", "Page", "PagePromise", "RequestOptions"];

pub(super) fn emit(contract: &Contract) -> Result<String, String> {
    let mut sections = vec![
        format!(
            "{HEADER}\nimport type {{ {} }} from \"../types.js\";\n\n\
             /** Keeps text of one meaning apart from any other text. */\n\
             declare const brand: unique symbol;\n",
            IMPORTED.join(", ")
        ),
        client::emit(contract),
    ];
    sections.extend(contract.operations.iter().map(input_and_output));
    sections.extend(
        types(contract)
            .into_iter()
            .map(|name| definition(name, &contract.types[name])),
    );
    sections.extend(failures::emit(contract));
    // Without this statement TypeScript exports every declaration of the file.
    sections.push("export {};\n".to_owned());
    let text = sections.join("\n");
    refuse_duplicates(&text)?;
    Ok(text)
}

/// The name of the input type of an operation.
pub(super) fn input_name(operation: &Operation) -> String {
    format!("{}Input", name(operation))
}

/// The name of the type of the options of an operation that has its own.
pub(super) fn options_name(operation: &Operation) -> String {
    format!("{}Options", name(operation))
}

/// True if the options of a call contain the query of the operation: its input is lines.
pub(super) fn has_own_options(operation: &Operation) -> bool {
    operation.input.payload == Payload::Lines && !operation.input.fields.is_empty()
}

/// The name of the output type of an operation. For a stream or for lines it is the type of one element.
pub(super) fn output_name(operation: &Operation) -> String {
    format!("{}Output", name(operation))
}

fn name(operation: &Operation) -> String {
    pascal_case(&operation.group.public) + &pascal_case(&operation.name)
}

fn input_and_output(operation: &Operation) -> String {
    let output = match &operation.success {
        Success::Value { r#type, .. } => expression(r#type, ""),
        Success::Void { .. } => "void".to_owned(),
        Success::Stream { element, .. } => expression(element, ""),
        Success::Lines { .. } => "string".to_owned(),
        Success::Bytes { .. } => "Uint8Array".to_owned(),
        Success::Page(page) => format!(
            "Page<{}, {}>",
            expression(&page.item, ""),
            expression(&page.cursor, "")
        ),
    };
    let (group, method) = (&operation.group.public, &operation.name);
    let what = match operation.success {
        Success::Stream { .. } => "One element of",
        Success::Lines { .. } => "One line of",
        _ => "The result of",
    };
    let output = format!(
        "{}export type {} = {output};\n",
        doc(&format!("{what} `{group}.{method}`."), ""),
        output_name(operation)
    );
    match &operation.success {
        _ if operation.input.payload == Payload::Lines => {
            let name = input_name(operation);
            let doc = doc(&format!("The input of `{group}.{method}`."), "");
            let options = match has_own_options(operation) {
                true => {
                    let text = format!("The options of `{group}.{method}`.");
                    let own = options_name(operation);
                    let own = format!("{own} extends RequestOptions");
                    let own = interface(&own, &text, operation, &Presence::of);
                    format!("{own}\n")
                }
                false => String::new(),
            };
            format!("{doc}export type {name} = Lines;\n\n{options}{output}")
        }
        _ if operation.input.fields.is_empty() => output,
        Success::Page(page) => format!("{}\n{output}", page_input(operation, page)),
        _ => {
            let text = format!("The input of `{group}.{method}`.");
            let input = interface(&input_name(operation), &text, operation, &Presence::of);
            format!("{input}\n{output}")
        }
    }
}

/// The input of a paged operation: either the initial query or a cursor, never both.
fn page_input(operation: &Operation, page: &Page) -> String {
    let query = format!("{}Query", name(operation));
    let continuation = format!("{}Continuation", name(operation));
    let (group, method) = (&operation.group.public, &operation.name);
    let beginning = interface(
        &query,
        &format!("Begins a walk with `{group}.{method}`."),
        operation,
        &|field| {
            if page.initial.contains(&field.name) || field.required {
                Presence::of(field)
            } else {
                Presence::Absent
            }
        },
    );
    let going_on = interface(
        &continuation,
        &format!("Continues a walk with `{group}.{method}`: the cursor carries its query."),
        operation,
        &|field| {
            if page.continuation.contains(&field.name) {
                Presence::Required
            } else {
                Presence::Absent
            }
        },
    );
    format!(
        "{beginning}\n{going_on}\n{}export type {} = {query} | {continuation};\n",
        doc(&format!("The input of `{group}.{method}`."), ""),
        input_name(operation),
    )
}

/// True if the client accepts a string in place of an object with `text` as its only required member.
pub(super) fn takes_text(field: &InputField) -> bool {
    matches!(&field.r#type, Type::Ref { name } if name == "PromptInput")
}

/// Presence of a field.
enum Presence {
    Required,
    Optional,
    Absent,
}

impl Presence {
    fn of(field: &InputField) -> Self {
        if field.required {
            Self::Required
        } else {
            Self::Optional
        }
    }
}

fn interface(
    name: &str,
    text: &str,
    operation: &Operation,
    presence: &dyn Fn(&InputField) -> Presence,
) -> String {
    let lines: String = operation
        .input
        .fields
        .iter()
        .map(|field| {
            let mut value = expression(&field.r#type, "  ");
            if takes_text(field) {
                value = format!("string | {value}");
            }
            match presence(field) {
                Presence::Required => member(&field.name, "", &value, &field.doc, "  "),
                Presence::Optional => {
                    let value = format!("{value} | undefined");
                    member(&field.name, "?", &value, &field.doc, "  ")
                }
                Presence::Absent => member(&field.name, "?", "undefined", "", "  "),
            }
        })
        .collect();
    format!("{}export interface {name} {{\n{lines}}}\n", doc(text, ""))
}

/// The named types in inputs, results and failure bodies. Failures and wire envelopes are not among them.
fn types(contract: &Contract) -> BTreeSet<&str> {
    let inputs = contract
        .operations
        .iter()
        .flat_map(|operation| &operation.input.fields);
    let outputs = contract
        .operations
        .iter()
        .flat_map(|operation| match &operation.success {
            Success::Value { r#type, .. } => vec![r#type],
            Success::Page(page) => vec![&page.item, &page.cursor],
            Success::Stream { element, .. } => vec![element],
            Success::Void { .. } | Success::Lines { .. } | Success::Bytes { .. } => vec![],
        });
    let failures = contract
        .failures
        .keys()
        .map(|tag| &contract.types[tag].r#type);
    let roots = inputs
        .map(|field| &field.r#type)
        .chain(outputs)
        .chain(failures);
    contract.reachable(roots)
}

/// TypeScript would merge or reject two declarations with the same name in the project of the user.
fn refuse_duplicates(text: &str) -> Result<(), String> {
    let mut names: BTreeSet<&str> = IMPORTED.iter().copied().collect();
    for line in text.lines() {
        let Some((_, declared)) = line.strip_prefix("export ").and_then(|rest| {
            let rest = rest.strip_prefix("declare ").unwrap_or(rest);
            rest.split_once(' ')
        }) else {
            continue;
        };
        let end = declared.find(|c: char| !c.is_ascii_alphanumeric());
        let name = &declared[..end.unwrap_or(declared.len())];
        if !name.is_empty() && !names.insert(name) {
            return Err(format!("types.ts would declare {name} twice"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::refuse_duplicates;

    #[test]
    fn a_name_is_declared_once() {
        let twice =
            "export interface A {\n}\nexport declare function b(): void;\nexport type A = 1;\n";
        assert_eq!(
            refuse_duplicates(twice),
            Err("types.ts would declare A twice".to_owned())
        );
        assert!(refuse_duplicates("export type Page = 1;\n").is_err());
        assert!(refuse_duplicates("export type A = 1;\nexport {};\n").is_ok());
    }
}
