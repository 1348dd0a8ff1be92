//! The answers of operations.

use serde_json::Value;

use super::types::Compiler;
use super::{
    ContractError, FAILURE_EVENT, Framing, InputField, OperationInput, Page, Success, Type, error,
};
use crate::operation::{self, Channel, Spec};

type Result<T> = std::result::Result<T, ContractError>;

pub(super) fn success<'a>(
    spec: &Spec,
    schema: Option<&'a Value>,
    input: &OperationInput,
    types: &mut Compiler<'a>,
) -> Result<Success> {
    let Some(schema) = schema else {
        return Ok(match spec.success {
            operation::Success::Lines => Success::Lines { status: 200 },
            operation::Success::Bytes => Success::Bytes { status: 200 },
            _ => Success::Void { status: 204 },
        });
    };
    let r#type = types.schema(spec.id, schema)?;
    match spec.success {
        operation::Success::Page(_) => page(spec, r#type, input, types),
        operation::Success::Stream { ends, .. } => Ok(Success::Stream {
            status: 200,
            framing: Framing::Sse,
            element: r#type,
            failure_event: FAILURE_EVENT.to_owned(),
            ends,
        }),
        _ => Ok(Success::Value {
            status: 200,
            unwrap: matches!(spec.success, operation::Success::Value(_)),
            r#type,
        }),
    }
}

/// Compiles a page: `{data, cursor: {previous, next}}`, with `cursor` as a field of its query.
fn page(
    spec: &Spec,
    r#type: Type,
    input: &OperationInput,
    types: &Compiler<'_>,
) -> Result<Success> {
    let member = |r#type: &Type, name: &str| match types.resolve(r#type) {
        Type::Object { fields } => fields
            .iter()
            .find(|field| field.name == name && field.required)
            .map(|field| field.r#type.clone()),
        _ => None,
    };
    let cursor_of = |side| match member(&member(&r#type, "cursor")?, side)? {
        Type::Union { variants, .. } => match &variants[..] {
            [cursor, null] if null.r#type == Type::Null => Some(cursor.r#type.clone()),
            _ => None,
        },
        _ => None,
    };
    let is_cursor = |field: &&InputField| field.channel == Channel::Query && field.name == "cursor";
    let (Some(Type::Array { items }), Some(cursor), next, Some(field)) = (
        member(&r#type, "data"),
        cursor_of("previous"),
        cursor_of("next"),
        input.fields.iter().find(is_cursor),
    ) else {
        return Err(error(
            spec,
            "is no page: {data, cursor} out, and a cursor in",
        ));
    };
    if next.as_ref() != Some(&cursor) || field.r#type != cursor {
        return Err(error(spec, "is a page with cursors of different types"));
    }
    let names = |keep: &dyn Fn(&&InputField) -> bool| {
        let fields = input.fields.iter().filter(keep);
        fields.map(|field| field.name.clone()).collect()
    };
    Ok(Success::Page(Box::new(Page {
        status: 200,
        items: "data".to_owned(),
        item: *items,
        cursors: "cursor".to_owned(),
        cursor,
        initial: names(&|field| field.channel == Channel::Query && !is_cursor(field)),
        continuation: names(&|field| field.channel == Channel::Params || is_cursor(field)),
        r#type,
    })))
}
