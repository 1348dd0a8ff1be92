//! Compiles the declarations of operations to the IR.

use std::collections::{BTreeMap, BTreeSet};

use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value};

use super::input::{input, path};
use super::names::{refuse_duplicates, split_name};
use super::success::success;
use super::types::Compiler;
use super::{
    Contract, ContractError, DeclaredError, Definition, FORMAT, FailureStatus, Group, Operation,
    OperationInput, Success, TAG_KEY, Type, error, plain_text,
};
use crate::failure::{Failure, Tag};
use crate::operation::{self, BODY_STATUSES, Channel, Middleware, Spec, schema_of};

type Result<T> = std::result::Result<T, ContractError>;
type Types = BTreeMap<String, Definition>;

/// Compiles declarations. Fails if one contradicts itself or another.
pub fn compile(specs: &[Spec]) -> Result<Contract> {
    refuse_duplicates(specs)?;
    let schemas = Schemas::of(specs);
    let mut received = Compiler::new(&schemas.received);
    let mut sent = Compiler::new(&schemas.sent);
    let mut operations = Vec::with_capacity(specs.len());
    for (spec, schemas) in specs.iter().zip(&schemas.operations) {
        let input = input(spec, &schemas.channels, &mut received)?;
        let success = success(spec, schemas.success.as_ref(), &input, &mut sent)?;
        operations.push(operation(spec, input, success)?);
    }
    sent.schema("failures", &schemas.failures)?;
    let contract = Contract {
        format: FORMAT,
        operations,
        failures: failures(),
        types: merge(received.into_types(), sent.into_types())?,
    };
    Ok(without_unused(contract))
}

/// The schemas of all operations, and of the named types that they refer to.
struct Schemas {
    operations: Vec<OperationSchemas>,
    failures: Value,
    received: Map<String, Value>,
    sent: Map<String, Value>,
}

struct OperationSchemas {
    channels: Vec<(Channel, Value)>,
    success: Option<Value>,
}

impl Schemas {
    fn of(specs: &[Spec]) -> Self {
        let settings = SchemaSettings::draft2020_12;
        let mut received = settings().for_deserialize().into_generator();
        let mut sent = settings().for_serialize().into_generator();
        let operations = specs
            .iter()
            .map(|spec| OperationSchemas {
                channels: channels(spec, &mut received),
                success: match spec.success {
                    operation::Success::Value(schema)
                    | operation::Success::Whole(schema)
                    | operation::Success::Page(schema)
                    | operation::Success::Stream {
                        element: schema, ..
                    } => Some(schema(&mut sent).to_value()),
                    operation::Success::Void
                    | operation::Success::Lines
                    | operation::Success::Bytes => None,
                },
            })
            .collect();
        Self {
            operations,
            failures: schema_of::<Failure>(&mut sent).to_value(),
            received: received.take_definitions(true),
            sent: sent.take_definitions(true),
        }
    }
}

fn channels(spec: &Spec, generator: &mut SchemaGenerator) -> Vec<(Channel, Value)> {
    let payload = match spec.payload {
        operation::Payload::Json(schema) => Some(schema),
        operation::Payload::None | operation::Payload::Lines => None,
    };
    let declared = [
        (Channel::Params, spec.params),
        (Channel::Query, spec.query),
        (Channel::Payload, payload),
    ];
    declared
        .into_iter()
        .filter_map(|(channel, schema)| Some((channel, schema?(generator).to_value())))
        .collect()
}

fn operation(spec: &Spec, input: OperationInput, success: Success) -> Result<Operation> {
    let (group, name) = split_name(spec)?;
    let wire = spec
        .id
        .strip_prefix("v2.")
        .and_then(|id| id.split_once('.'));
    let (wire, _) = wire.ok_or_else(|| error(spec, "has an id that is not v2.<group>.<name>"))?;
    let path = path(spec, &input)?;
    let is_declared = |tag: Tag| spec.errors.contains(&tag);
    if spec.middleware.contains(&Middleware::Session) && !is_declared(Tag::SessionNotFound) {
        return Err(error(
            spec,
            "looks a session up without declaring that there may be none",
        ));
    }
    Ok(Operation {
        id: spec.id.to_owned(),
        group: Group {
            wire: wire.to_owned(),
            public: group.to_owned(),
        },
        name: name.to_owned(),
        doc: plain_text(spec.doc),
        extension: spec.extension,
        omitted: spec.omitted,
        method: spec.method,
        path,
        headers: headers(spec),
        input,
        success,
        errors: errors(spec)?,
        middleware: spec.middleware.to_vec(),
    })
}

/// Returns the failures by status.
fn errors(spec: &Spec) -> Result<Vec<DeclaredError>> {
    let declared = |status: u16, tag: Tag| DeclaredError {
        status,
        tag: tag.to_string(),
    };
    let errors = spec.errors().into_iter().map(|tag| {
        let status = tag.status();
        let status =
            status.ok_or_else(|| error(spec, &format!("declares {tag}, which has no status")))?;
        Ok(declared(status, tag))
    });
    let mut errors = errors.collect::<Result<Vec<_>>>()?;
    if !matches!(spec.payload, operation::Payload::None) {
        errors.extend(BODY_STATUSES.map(|status| declared(status, Tag::InvalidRequest)));
        errors.sort_by_key(|error| error.status);
    }
    Ok(errors)
}

fn headers(spec: &Spec) -> BTreeMap<String, String> {
    let headers = spec.headers.iter();
    headers
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn failures() -> BTreeMap<String, FailureStatus> {
    let failure = |tag: &Tag| {
        let status = FailureStatus {
            key: TAG_KEY.to_owned(),
            status: tag.status(),
        };
        (tag.to_string(), status)
    };
    Tag::ALL.iter().map(failure).collect()
}

fn merge(received: Types, sent: Types) -> Result<Types> {
    let mut types = sent;
    for (name, definition) in received {
        if types.get(&name).is_some_and(|other| *other != definition) {
            return Err(ContractError {
                at: name,
                problem: "is not the same when it is sent and when it is received".to_owned(),
            });
        }
        types.insert(name, definition);
    }
    refuse_numbered(&types)?;
    Ok(types)
}

/// Refuses two Rust types with the same name, which would become `Name` and `Name2` in the contract.
fn refuse_numbered(types: &Types) -> Result<()> {
    let is_second = |name: &&String| {
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
        base != *name && types.contains_key(base)
    };
    match types.keys().find(is_second) {
        Some(name) => Err(ContractError {
            at: name.clone(),
            problem: "is another type of the same name".to_owned(),
        }),
        None => Ok(()),
    }
}

/// Removes the names that only other types use.
fn without_unused(mut contract: Contract) -> Contract {
    let inputs = contract
        .operations
        .iter()
        .flat_map(|operation| &operation.input.fields);
    let outputs = contract
        .operations
        .iter()
        .filter_map(|operation| match &operation.success {
            Success::Value { r#type, .. } => Some(r#type),
            Success::Page(page) => Some(&page.r#type),
            Success::Stream { element, .. } => Some(element),
            Success::Void { .. } | Success::Lines { .. } | Success::Bytes { .. } => None,
        });
    let failures: Vec<Type> = contract
        .failures
        .keys()
        .map(|tag| Type::Ref { name: tag.clone() })
        .collect();
    let roots = inputs
        .map(|field| &field.r#type)
        .chain(outputs)
        .chain(&failures);
    let used: BTreeSet<String> = contract
        .reachable(roots)
        .into_iter()
        .map(str::to_owned)
        .collect();
    contract.types.retain(|name, _| used.contains(name));
    contract
}
