//! The Contract IR: the operations and their types in a form that generators can use without interpretation.
//!
//! It is compiled from the declarations, committed as `contract.json`, and independent of runtimes: a type is described
//! once, in its encoded (JSON) form, and a string with a special meaning has a `brand`. A generator for encoded values
//! ignores brands, and a generator for decoded values turns them into types. A declaration that the IR cannot express
//! exactly is an error during compilation.

mod compile;
mod forms;
mod input;
mod ir;
mod names;
mod success;
#[cfg(test)]
mod tests;
mod types;

use std::collections::BTreeSet;

pub use compile::compile;
pub use ir::*;

use crate::operation::Spec;

/// Version of the format of the IR.
pub const FORMAT: u32 = 3;

/// The member that distinguishes failures.
pub const TAG_KEY: &str = "_tag";

/// The name of the frame with which a stream reports its own failure.
pub const FAILURE_EVENT: &str = "effect/httpapi/stream/failure";

/// The error for declarations that are not a valid contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {problem}")]
pub struct ContractError {
    /// The operation, type or field.
    pub at: String,
    /// The problem.
    pub problem: String,
}

impl Contract {
    /// The tags of the failures that every operation declares.
    pub fn common_errors(&self) -> BTreeSet<&str> {
        let declares = |operation: &Operation, tag: &str| {
            let mut errors = operation.errors.iter();
            errors.any(|error| error.tag == tag)
        };
        let mut operations = self.operations.iter();
        let first = operations.next().map(|first| first.errors.as_slice());
        let tags = first.unwrap_or_default().iter();
        tags.map(|error| error.tag.as_str())
            .filter(|tag| operations.clone().all(|other| declares(other, tag)))
            .collect()
    }

    /// Returns the names of the types that these types refer to, directly or indirectly.
    pub fn reachable<'a>(&'a self, roots: impl IntoIterator<Item = &'a Type>) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        let mut pending: Vec<&Type> = roots.into_iter().collect();
        while let Some(next) = pending.pop() {
            next.each_reference(&mut |name| {
                if found.insert(name) {
                    pending.extend(self.types.get(name).map(|definition| &definition.r#type));
                }
            });
        }
        found
    }
}

impl Type {
    /// Calls `visit` with the name of every type that this type contains.
    fn each_reference<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
        match self {
            Self::Ref { name } => visit(name),
            Self::Array { items } => items.each_reference(visit),
            Self::Record { keys, values } => {
                keys.each_reference(visit);
                values.each_reference(visit);
            }
            Self::Object { fields } => {
                for field in fields {
                    field.r#type.each_reference(visit);
                }
            }
            Self::Union { variants, .. } => {
                for variant in variants {
                    variant.r#type.each_reference(visit);
                }
            }
            Self::Unknown
            | Self::Null
            | Self::Boolean
            | Self::String { .. }
            | Self::Number { .. }
            | Self::Literal { .. } => {}
        }
    }
}

/// Returns Rust documentation as plain text, without the indentation of its lines and without the
/// brackets of links.
fn plain_text(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines
        .join("\n")
        .trim()
        .replace("[`", "`")
        .replace("`]", "`")
}

fn error(spec: &Spec, problem: &str) -> ContractError {
    ContractError {
        at: spec.id.to_owned(),
        problem: problem.to_owned(),
    }
}
