//! TypeScript syntax for the types of the IR.

use std::fmt::Write;

use opencode_protocol::contract::{Definition, Field, Type, Variant};
use serde_json::Value;

/// Indentation of the members of an object.
pub(crate) const INDENT: &str = "  ";

/// The declaration of a named type.
pub(super) fn definition(name: &str, definition: &Definition) -> String {
    let doc = doc(&definition.doc, "");
    match &definition.r#type {
        Type::Object { fields } => {
            format!("{doc}export interface {name} {}\n", object(fields, ""))
        }
        // A named string is branded, so that callers cannot create one.
        Type::String { .. } => {
            format!("{doc}export type {name} = string & {{ readonly [brand]: \"{name}\" }};\n")
        }
        Type::Union { variants, .. } => {
            format!("{doc}export type {name} ={};\n", cases(variants))
        }
        other => format!("{doc}export type {name} = {};\n", expression(other, "")),
    }
}

/// A type expression at this indentation.
pub(super) fn expression(r#type: &Type, indent: &str) -> String {
    match r#type {
        Type::Unknown => "unknown".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::String { .. } => "string".to_owned(),
        Type::Number { .. } => "number".to_owned(),
        Type::Literal { value } => value.to_string(),
        Type::Array { items } => {
            let item = expression(items, indent);
            match **items {
                Type::Union { .. } => format!("({item})[]"),
                _ => format!("{item}[]"),
            }
        }
        Type::Record { values, .. } => format!("Record<string, {}>", expression(values, indent)),
        Type::Object { fields } if fields.is_empty() => "Record<string, never>".to_owned(),
        Type::Object { fields } => object(fields, indent),
        Type::Union { variants, .. } => {
            let variants = variants.iter();
            let variants: Vec<String> = variants
                .map(|variant| expression(&variant.r#type, indent))
                .collect();
            variants.join(" | ")
        }
        Type::Ref { name } => name.clone(),
    }
}

/// The body of an object type.
pub(super) fn object(fields: &[Field], indent: &str) -> String {
    let inner = format!("{indent}{INDENT}");
    let lines: String = fields
        .iter()
        .map(|field| {
            let optional = if field.required { "" } else { "?" };
            let value = expression(&field.r#type, &inner);
            member(&field.name, optional, &value, &field.doc, &inner)
        })
        .collect();
    format!("{{\n{lines}{indent}}}")
}

/// One member of an object type, with its description above it.
pub(super) fn member(name: &str, optional: &str, value: &str, text: &str, indent: &str) -> String {
    format!(
        "{}{indent}readonly {name}{optional}: {value};\n",
        doc(text, indent)
    )
}

/// The name of a member in an object literal.
pub(crate) fn key(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_plain) {
        return name.to_owned();
    }
    Value::from(name).to_string()
}

/// A description as a comment. Empty for an empty description.
pub(crate) fn doc(text: &str, indent: &str) -> String {
    let text = text.replace("*/", "*\\/");
    let lines: Vec<&str> = text.lines().collect();
    match lines[..] {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        _ => {
            let mut comment = format!("{indent}/**\n");
            for line in lines {
                let _ = writeln!(comment, "{}", format!("{indent} * {line}").trim_end());
            }
            comment + indent + " */\n"
        }
    }
}

/// The variants of a union, each on its own line.
fn cases(variants: &[Variant]) -> String {
    let cases = variants.iter().map(|variant| {
        let value = expression(&variant.r#type, INDENT);
        format!("\n{}{INDENT}| {value}", doc(&variant.doc, INDENT))
    });
    cases.collect()
}
