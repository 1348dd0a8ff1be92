//! The failures: their members, and the guards that recognise them.

use opencode_protocol::contract::{Contract, Field, Type};

use super::HEADER;
use super::source::{doc, expression, member};

/// Failures with a second name. The guards of both names accept both names as tags.
const ALIASES: &[(&str, &str)] = &[("SessionMessageNotFoundError", "MessageNotFoundError")];

pub(super) fn emit(contract: &Contract) -> Vec<String> {
    let tags = contract.failures.keys().map(String::as_str);
    let mut sections: Vec<String> = tags.clone().map(|tag| failure(contract, tag)).collect();
    sections.extend(ALIASES.iter().map(|(alias, tag)| {
        format!("/** Another name of `{tag}`. */\nexport type {alias} = {tag};\n")
    }));
    let names: String = tags.clone().map(|tag| format!("\n  | {tag}")).collect();
    sections.push(format!(
        "/** Every failure that has a tag, to be told apart by `_tag`. */\nexport type OpenCodeError ={names};\n"
    ));
    let aliases = ALIASES.iter().map(|(alias, _)| *alias);
    sections.extend(tags.chain(aliases).map(guard));
    sections
}

/// The exports of the guards, for module systems with static export names.
pub(super) fn emit_exports(contract: &Contract) -> String {
    let tags = contract.failures.keys().map(String::as_str);
    let names = tags.chain(ALIASES.iter().map(|(alias, _)| *alias));
    let names: String = names.map(|name| format!("  is{name},\n")).collect();
    format!("{HEADER}import client from \"../index.js\";\n\nexport const {{\n{names}}} = client;\n")
}

fn failure(contract: &Contract, tag: &str) -> String {
    let definition = &contract.types[tag];
    let fields: &[Field] = match &definition.r#type {
        Type::Object { fields } => fields,
        _ => &[],
    };
    let lines: String = fields
        .iter()
        .map(|field| {
            let optional = if field.required { "" } else { "?" };
            let value = expression(&field.r#type, "  ");
            member(&field.name, optional, &value, &field.doc, "  ")
        })
        .collect();
    format!(
        "{}export interface {tag} extends Error {{\n{lines}}}\n",
        doc(&definition.doc, "")
    )
}

fn guard(name: &str) -> String {
    format!(
        "/** Returns true if a value is the failure `{name}`. It compares `_tag` alone. */\n\
         export declare function is{name}(value: unknown): value is {name};\n"
    )
}
