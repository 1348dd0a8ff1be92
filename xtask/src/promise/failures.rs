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
    let names: String = tags.map(|tag| format!("\n  | {tag}")).collect();
    sections.push(format!(
        "/** Every failure that has a tag, to be told apart by `_tag`. */\nexport type OpenCodeError ={names};\n"
    ));
    sections
}

/// The guards, each a function that recognises one failure by its tag.
pub(super) fn emit_guards(contract: &Contract) -> String {
    let mut names: Vec<&str> = names(contract).collect();
    let guards: String = names
        .iter()
        .map(|name| format!("\n{}", guard(name)))
        .collect();
    names.sort_unstable();
    let imports: String = names.iter().map(|name| format!("  {name},\n")).collect();
    format!(
        "{HEADER}\nimport {{ isTagged }} from \"../errors.js\";\n\
         import type {{\n{imports}}} from \"./types.js\";\n{guards}"
    )
}

/// The exports of the guards for programs that use ECMAScript modules.
pub(super) fn emit_exports(contract: &Contract) -> String {
    let names: String = names(contract)
        .map(|name| format!("  is{name},\n"))
        .collect();
    format!("{HEADER}\nexport {{\n{names}}} from \"./guards.js\";\n")
}

fn names(contract: &Contract) -> impl Iterator<Item = &str> {
    let tags = contract.failures.keys().map(String::as_str);
    tags.chain(ALIASES.iter().map(|(alias, _)| *alias))
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
    let other = ALIASES.iter().find_map(|(alias, tag)| match name {
        name if name == *alias => Some(tag),
        name if name == *tag => Some(alias),
        _ => None,
    });
    let second = other.map_or_else(String::new, |other| {
        format!(" || isTagged(value, {other:?})")
    });
    format!(
        "/** Returns true if a value is the failure `{name}`. It compares `_tag` alone. */\n\
         export function is{name}(value: unknown): value is {name} {{\n  \
         return isTagged(value, {name:?}){second};\n}}\n"
    )
}
