//! The input of an operation: the fields of all parts of a request as one object.

use serde_json::Value;

use super::types::Compiler;
use super::{
    ContractError, Encoding, InputField, InputMode, OperationInput, Payload, Segment, Type, error,
};
use crate::operation::{self, Channel, Method, Spec};

type Result<T> = std::result::Result<T, ContractError>;

pub(super) fn input<'a>(
    spec: &Spec,
    schemas: &'a [(Channel, Value)],
    types: &mut Compiler<'a>,
) -> Result<OperationInput> {
    let payload = payload(spec);
    if payload != Payload::None && spec.method == Method::Get {
        return Err(error(spec, "has a payload although its method has none"));
    }
    let mut fields: Vec<InputField> = Vec::new();
    for (channel, schema) in schemas {
        for field in types.fields(spec.id, schema)? {
            if fields.iter().any(|other| other.name == field.name) {
                return Err(error(
                    spec,
                    &format!("has two fields called {}", field.name),
                ));
            }
            fields.push(InputField {
                encoding: encoding(spec, *channel, &field.name, &field.r#type, types)?,
                name: field.name,
                channel: *channel,
                required: field.required,
                doc: field.doc,
                r#type: field.r#type,
            });
        }
    }
    let mode = match &fields[..] {
        fields if payload == Payload::Lines => {
            let is_option = |it: &InputField| it.channel == Channel::Query && !it.required;
            if !fields.iter().all(is_option) {
                return Err(error(
                    spec,
                    "has fields beside lines that are not optional fields of the query",
                ));
            }
            InputMode::Required
        }
        [] => InputMode::None,
        fields if fields.iter().any(|field| field.required) => InputMode::Required,
        _ => InputMode::Optional,
    };
    Ok(OperationInput {
        mode,
        fields,
        payload,
    })
}

fn payload(spec: &Spec) -> Payload {
    match spec.payload {
        operation::Payload::None => Payload::None,
        operation::Payload::Json(_) => Payload::Json,
        operation::Payload::Lines => Payload::Lines,
    }
}

fn encoding(
    spec: &Spec,
    channel: Channel,
    name: &str,
    r#type: &Type,
    types: &Compiler<'_>,
) -> Result<Encoding> {
    if channel == Channel::Payload {
        return Ok(Encoding::Json);
    }
    let is_text = |r#type: &Type| matches!(r#type, Type::String { .. } | Type::Literal { .. });
    match types.resolve(r#type) {
        Type::Number { .. } => Ok(Encoding::TextNumber),
        Type::Boolean => Ok(Encoding::TextBoolean),
        Type::Union { variants, .. } if variants.iter().all(|one| is_text(&one.r#type)) => {
            Ok(Encoding::Text)
        }
        Type::Object { fields }
            if channel == Channel::Query
                && fields
                    .iter()
                    .all(|field| is_text(types.resolve(&field.r#type))) =>
        {
            Ok(Encoding::DeepObject)
        }
        Type::Array { items } if channel == Channel::Query && is_text(types.resolve(items)) => {
            Ok(Encoding::RepeatedText)
        }
        r#type if is_text(r#type) => Ok(Encoding::Text),
        _ => Err(error(
            spec,
            &format!("has the field {name}, which cannot be written as text"),
        )),
    }
}

/// Splits the path into pieces. Its parameters must be the fields of the path.
pub(super) fn path(spec: &Spec, input: &OperationInput) -> Result<Vec<Segment>> {
    let mut segments = Vec::new();
    let mut rest = spec.path;
    while let Some((literal, tail)) = rest.split_once('{') {
        let parameter = tail.split_once('}');
        let (name, tail) =
            parameter.ok_or_else(|| error(spec, "has an unclosed path parameter"))?;
        segments.push(Segment::Literal(literal.to_owned()));
        segments.push(match name.strip_prefix('*') {
            Some(name) if tail.is_empty() => Segment::Rest(name.to_owned()),
            Some(_) => return Err(error(spec, "has a path that goes on behind its rest")),
            None => Segment::Parameter(name.to_owned()),
        });
        rest = tail;
    }
    if !rest.is_empty() {
        segments.push(Segment::Literal(rest.to_owned()));
    }
    let in_path = segments.iter().filter_map(|segment| match segment {
        Segment::Parameter(name) | Segment::Rest(name) => Some(name),
        Segment::Literal(_) => None,
    });
    let declared = input
        .fields
        .iter()
        .filter(|field| field.channel == Channel::Params);
    let same = in_path.eq(declared.clone().map(|field| &field.name));
    if !same || declared.clone().any(|field| !field.required) {
        return Err(error(
            spec,
            "has other path parameters than fields in its params",
        ));
    }
    Ok(segments)
}
