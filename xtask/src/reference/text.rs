//! Pieces of Markdown, and types in readable form.

use opencode_protocol::contract::{Contract, Type, Variant};
use serde_json::Number;

/// Maximum number of literals in a choice that is written out at its use.
const SHORT_CHOICE: usize = 6;

/// The anchor of a heading in the page.
pub(super) fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    kept.collect()
}

/// A link to a heading of the page.
pub(super) fn link(text: &str, heading: &str) -> String {
    format!("[{text}](#{})", anchor(heading))
}

/// A table. Empty if it has no rows.
pub(crate) fn table(columns: &[&str], rows: impl Iterator<Item = String>) -> String {
    let rows: String = rows.collect();
    if rows.is_empty() {
        return rows;
    }
    let columns: Vec<String> = columns.iter().map(|it| (*it).to_owned()).collect();
    format!("{}|{}\n{rows}", row(&columns), "---|".repeat(columns.len()))
}

/// A row of a table.
pub(crate) fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// Text for a table cell.
pub(crate) fn cell(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}

/// A status as a cell. A failure without a status is never sent over HTTP.
pub(super) fn status(status: Option<u16>) -> String {
    status.map_or_else(|| "–".to_owned(), |status| status.to_string())
}

/// A type as a cell.
pub(super) fn type_cell(contract: &Contract, r#type: &Type) -> String {
    expression(contract, r#type).replace('|', "\\|")
}

/// A type in words, with links to named types.
pub(super) fn expression(contract: &Contract, r#type: &Type) -> String {
    match r#type {
        Type::Unknown => "any JSON".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::String {
            prefix, pattern, ..
        } => string(prefix.as_deref(), pattern.as_deref()),
        Type::Number {
            integer,
            minimum,
            exclusive_minimum,
            maximum,
        } => number(
            *integer,
            minimum.as_ref(),
            exclusive_minimum.as_ref(),
            maximum.as_ref(),
        ),
        Type::Literal { value } => format!("`{value}`"),
        Type::Array { items } => format!("list of {}", expression(contract, items)),
        Type::Record { values, .. } => {
            format!("object whose values are {}", expression(contract, values))
        }
        Type::Object { fields } if fields.is_empty() => "empty object".to_owned(),
        Type::Object { .. } => "object".to_owned(),
        Type::Union { variants, .. } => choice(contract, variants),
        Type::Ref { name } => match &contract.types[name].r#type {
            Type::Union { variants, .. } if is_short(variants) => choice(contract, variants),
            _ => link(name, name),
        },
    }
}

/// A choice in words.
pub(super) fn choice(contract: &Contract, variants: &[Variant]) -> String {
    let variants = variants.iter();
    let variants: Vec<String> = variants
        .map(|variant| expression(contract, &variant.r#type))
        .collect();
    variants.join(" | ")
}

fn is_short(variants: &[Variant]) -> bool {
    let is_literal = |variant: &Variant| matches!(variant.r#type, Type::Literal { .. });
    variants.len() <= SHORT_CHOICE && variants.iter().all(is_literal)
}

fn string(prefix: Option<&str>, pattern: Option<&str>) -> String {
    match (prefix, pattern) {
        (Some(prefix), _) => format!("string, begins with `{prefix}`"),
        (None, Some(pattern)) => format!("string, matches `{pattern}`"),
        (None, None) => "string".to_owned(),
    }
}

fn number(
    integer: bool,
    minimum: Option<&Number>,
    exclusive_minimum: Option<&Number>,
    maximum: Option<&Number>,
) -> String {
    let kind = if integer { "integer" } else { "number" };
    let bounds = [
        ("from", minimum),
        ("more than", exclusive_minimum),
        ("up to", maximum),
    ];
    let bounds = bounds
        .into_iter()
        .filter_map(|(word, bound)| Some(format!(" {word} {}", bound?)));
    kind.to_owned() + &bounds.collect::<String>()
}
