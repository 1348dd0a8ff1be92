//! Checks that names and routes are unique.

use std::collections::BTreeSet;

use super::{ContractError, error};
use crate::operation::Spec;

type Result<T> = std::result::Result<T, ContractError>;

pub(super) fn refuse_duplicates(specs: &[Spec]) -> Result<()> {
    let (mut ids, mut routes, mut names) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for spec in specs {
        split_name(spec)?;
        if !ids.insert(spec.id) {
            return Err(error(spec, "is declared twice"));
        }
        if !routes.insert((spec.method, shape(spec.path))) {
            return Err(error(spec, "has the method and path of another operation"));
        }
        if !names.insert(spec.name) {
            return Err(error(
                spec,
                &format!("has the name of another operation: {}", spec.name),
            ));
        }
    }
    let is_group = |name: &str| {
        names
            .iter()
            .any(|other| other.starts_with(&format!("{name}.")))
    };
    match specs.iter().find(|spec| is_group(spec.name)) {
        Some(spec) => Err(error(spec, "has the name of a group of operations")),
        None => Ok(()),
    }
}

/// Returns a path without the names of its parameters, which do not distinguish paths.
fn shape(path: &str) -> String {
    let segments = path.split('/');
    let segments = segments.map(|segment| {
        if segment.starts_with('{') {
            "{}"
        } else {
            segment
        }
    });
    segments.collect::<Vec<_>>().join("/")
}

pub(super) fn split_name(spec: &Spec) -> Result<(&'static str, &'static str)> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_alphanumeric())
    };
    spec.name
        .split_once('.')
        .filter(|_| spec.name.split('.').all(is_name))
        .ok_or_else(|| {
            error(
                spec,
                &format!("has a name that is not <group>.<name>: {}", spec.name),
            )
        })
}
