//! The named types, and the failures among them.

use opencode_protocol::contract::{Contract, Definition, Field, Type, Variant};

use super::text::{cell, choice, expression, row, status, table, type_cell};

/// The sections of types and failures.
pub(super) fn describe(contract: &Contract) -> String {
    let is_failure = |name: &String| contract.failures.contains_key(name);
    let (failures, types): (Vec<_>, Vec<_>) = contract
        .types
        .iter()
        .partition(|(name, _)| is_failure(name));
    let types = types
        .into_iter()
        .map(|(name, definition)| section(contract, name, definition, ""));
    let failures = failures.into_iter().map(|(name, definition)| {
        let status = match contract.failures[name].status {
            None => "It never travels over HTTP.\n\n".to_owned(),
            some => format!("Status {}.\n\n", status(some)),
        };
        section(contract, name, definition, &status)
    });
    format!(
        "## Types\n\n{}\n## Failures\n\n{}",
        types.collect::<Vec<_>>().join("\n"),
        failures.collect::<Vec<_>>().join("\n")
    )
}

fn section(contract: &Contract, name: &str, definition: &Definition, note: &str) -> String {
    let mark = if definition.extension {
        "*Extension.* "
    } else {
        ""
    };
    let doc = match definition.doc.as_str() {
        "" => String::new(),
        doc => format!("{mark}{doc}\n\n"),
    };
    format!(
        "### {name}\n\n{doc}{note}{}",
        body(contract, &definition.r#type)
    )
}

/// The definition of a type.
pub(super) fn body(contract: &Contract, r#type: &Type) -> String {
    match r#type {
        Type::Object { fields } => {
            let mut rows = Vec::new();
            describe_fields(contract, fields, "", &mut rows);
            match rows.is_empty() {
                true => "An empty object.\n".to_owned(),
                false => table(&["field", "type", "meaning"], rows.into_iter()),
            }
        }
        Type::Union {
            discriminator,
            variants,
        } => choices(contract, discriminator.as_deref(), variants),
        Type::String { .. } => "Text that means nothing to its holder.\n".to_owned(),
        other => format!("{}\n", expression(contract, other)),
    }
}

/// Adds a row for every field. The fields of an unnamed object follow, prefixed with the name of its field.
fn describe_fields(contract: &Contract, fields: &[Field], prefix: &str, rows: &mut Vec<String>) {
    for field in fields {
        let optional = if field.required { "" } else { "?" };
        let name = format!("{prefix}{}", field.name);
        rows.push(row(&[
            format!("`{name}{optional}`"),
            type_cell(contract, &field.r#type),
            cell(&field.doc),
        ]));
        if let Type::Object { fields } = &field.r#type {
            describe_fields(contract, fields, &format!("{name}."), rows);
        }
    }
}

fn choices(contract: &Contract, discriminator: Option<&str>, variants: &[Variant]) -> String {
    if variants.iter().all(|variant| variant.doc.is_empty()) && discriminator.is_none() {
        return format!("{}\n", choice(contract, variants));
    }
    let Some(key) = discriminator else {
        let rows = variants
            .iter()
            .map(|variant| row(&[type_cell(contract, &variant.r#type), cell(&variant.doc)]));
        return table(&["one of", "meaning"], rows);
    };
    let rows = variants.iter().map(|variant| {
        row(&[
            literal(contract, key, &variant.r#type),
            type_cell(contract, &variant.r#type),
            cell(doc(contract, variant)),
        ])
    });
    table(&[&format!("`{key}`"), "is", "meaning"], rows)
}

/// The literal that identifies a variant.
fn literal(contract: &Contract, key: &str, r#type: &Type) -> String {
    let fields = match r#type {
        Type::Ref { name } => return literal(contract, key, &contract.types[name].r#type),
        Type::Object { fields } => fields,
        _ => return String::new(),
    };
    let field = fields.iter().find(|field| field.name == key);
    field.map_or_else(String::new, |field| expression(contract, &field.r#type))
}

fn doc<'a>(contract: &'a Contract, variant: &'a Variant) -> &'a str {
    match &variant.r#type {
        Type::Ref { name } if variant.doc.is_empty() => &contract.types[name].doc,
        _ => &variant.doc,
    }
}
