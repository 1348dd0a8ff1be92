//! The simple forms of types, and their descriptions.

use opencode_schema::id::{
    EventID, MessageID, PermissionID, PtyID, QuestionID, SessionID, WorkspaceID,
};
use serde_json::{Map, Value};

use super::types::{Result, error};
use super::{Type, Variant, plain_text};

/// Prefixes of identifiers, with the kind of the identifiers.
const BRANDS: &[(&str, &str)] = &[
    (SessionID::PREFIX, "SessionID"),
    (MessageID::PREFIX, "MessageID"),
    (EventID::PREFIX, "EventID"),
    (WorkspaceID::PREFIX, "WorkspaceID"),
    (PermissionID::PREFIX, "PermissionID"),
    (QuestionID::PREFIX, "QuestionID"),
    (PtyID::PREFIX, "PtyID"),
];

pub(super) fn string(at: &str, keywords: &Map<String, Value>) -> Result<Type> {
    match keywords.get("pattern").and_then(Value::as_str) {
        None => Ok(text()),
        // A pattern with `^` and `$` is the form of the whole text. A pattern with `^` alone is a prefix.
        Some(pattern) if pattern.starts_with('^') && pattern.ends_with('$') => Ok(Type::String {
            brand: None,
            prefix: None,
            pattern: Some(pattern.to_owned()),
        }),
        Some(pattern) => prefixed(at, pattern),
    }
}

pub(super) fn text() -> Type {
    Type::String {
        brand: None,
        prefix: None,
        pattern: None,
    }
}

pub(super) fn prefixed(at: &str, pattern: &str) -> Result<Type> {
    let brand = BRANDS
        .iter()
        .find(|(prefix, _)| pattern.strip_prefix('^') == Some(prefix));
    let Some((prefix, brand)) = brand else {
        return Err(error(
            at,
            &format!("has a pattern without a brand: {pattern}"),
        ));
    };
    Ok(Type::String {
        brand: Some((*brand).to_owned()),
        prefix: Some((*prefix).to_owned()),
        pattern: None,
    })
}

pub(super) fn number(integer: bool, keywords: &Map<String, Value>) -> Type {
    let bound = |key: &str| keywords.get(key).and_then(Value::as_number).cloned();
    let exclusive_minimum = bound("exclusiveMinimum");
    Type::Number {
        integer,
        // The schema of an unsigned integer has the minimum 0, even if it also has a stricter bound.
        minimum: bound("minimum").filter(|_| exclusive_minimum.is_none()),
        exclusive_minimum,
        maximum: bound("maximum"),
    }
}

pub(super) fn one_of(mut variants: Vec<Variant>) -> Type {
    if variants.len() == 1 {
        return variants.remove(0).r#type;
    }
    Type::Union {
        discriminator: None,
        variants,
    }
}

/// Returns the form without `null`: readers accept null for an optional member, but writers omit the member.
pub(super) fn without_null(r#type: Type) -> Type {
    match r#type {
        Type::Union {
            discriminator,
            mut variants,
        } => {
            variants.retain(|variant| variant.r#type != Type::Null);
            match one_of(variants) {
                Type::Union { variants, .. } => Type::Union {
                    discriminator,
                    variants,
                },
                only => only,
            }
        }
        other => other,
    }
}

pub(super) fn undocumented(r#type: Type) -> Variant {
    Variant {
        doc: String::new(),
        r#type,
    }
}

pub(super) fn is_reference(schema: &Value) -> bool {
    schema.get("$ref").is_some() && schema.get("properties").is_none()
}

/// Returns the description without the brackets of Rust links.
pub(super) fn doc(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str);
    plain_text(text.unwrap_or_default())
}

pub(super) fn pascal_case(tag: &str) -> String {
    let words = tag.split(['-', '.', '_']);
    words
        .flat_map(|word| {
            let mut chars = word.chars();
            let first = chars.next().into_iter().flat_map(char::to_uppercase);
            first.chain(chars).collect::<Vec<_>>()
        })
        .collect()
}
