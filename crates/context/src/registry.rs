//! Registry of contributions to the System Context of one Location.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::combined::{CombineError, SystemContext};
use crate::source::is_key;

/// The namespace of the runtime's own sources and contributions. Other code must not use it.
pub const RESERVED_NAMESPACE: &str = "core/";

/// Reasons why a contribution is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// Another contribution has this key.
    #[error("there is a System Context contribution {0} here already; end that one first")]
    Duplicate(String),
    /// Another contribution has a source of this key.
    #[error("the Context Source {source_key} is already part of the contribution {contribution}")]
    Source {
        /// The key of the source.
        source_key: String,
        /// The key of that contribution.
        contribution: String,
    },
    /// The key does not have the form `<namespace>/<name>`, or its namespace is the runtime's own.
    #[error(
        "{0:?} cannot be the key of a contribution or of its source: it must look like namespace/name, in lower-case letters, digits and ._-, and not begin with {RESERVED_NAMESPACE}"
    )]
    Key(String),
}

type Contributions = BTreeMap<String, SystemContext>;

/// The contributions to the System Context of one Location.
#[derive(Clone, Default)]
pub struct Registry {
    contributions: Arc<Mutex<Contributions>>,
}

impl Registry {
    /// Adds a contribution, which lasts until the [`Registration`] is dropped. Sessions notice both
    /// changes at their next Safe Provider-Turn Boundary.
    ///
    /// # Errors
    ///
    /// Fails if the key, or the key of one of its sources, is in use, reserved or malformed.
    pub fn register(
        &self,
        key: &str,
        contribution: SystemContext,
    ) -> Result<Registration, RegisterError> {
        let mut contributions = self.lock();
        admissible(&contributions, key, &contribution)?;
        contributions.insert(key.to_owned(), contribution);
        drop(contributions);
        Ok(Registration {
            registry: self.clone(),
            key: key.to_owned(),
        })
    }

    /// True if there are no contributions.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Combines all contributions and `own`, the runtime's contributions, in ascending order of their keys.
    ///
    /// # Errors
    ///
    /// Fails if two sources have the same key and at least one of them belongs to `own`.
    pub fn compose(
        &self,
        own: impl IntoIterator<Item = (String, SystemContext)>,
    ) -> Result<SystemContext, CombineError> {
        let mut all = self.lock().clone();
        all.extend(own);
        SystemContext::combine(all.into_values())
    }

    fn lock(&self) -> MutexGuard<'_, Contributions> {
        self.contributions.lock()
    }
}

fn admissible(
    contributions: &Contributions,
    key: &str,
    contribution: &SystemContext,
) -> Result<(), RegisterError> {
    let mut keys = std::iter::once(key).chain(contribution.keys());
    if let Some(wrong) = keys.find(|key| !is_key(key) || key.starts_with(RESERVED_NAMESPACE)) {
        return Err(RegisterError::Key(wrong.to_owned()));
    }
    if contributions.contains_key(key) {
        return Err(RegisterError::Duplicate(key.to_owned()));
    }
    for (other, registered) in contributions {
        let taken = |key: &&str| registered.keys().any(|taken| taken == *key);
        if let Some(source_key) = contribution.keys().find(taken) {
            return Err(RegisterError::Source {
                source_key: source_key.to_owned(),
                contribution: other.clone(),
            });
        }
    }
    Ok(())
}

/// Handle of a contribution. Dropping it ends the contribution.
#[must_use = "the contribution ends at once if this is dropped"]
pub struct Registration {
    registry: Registry,
    key: String,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let ended = self.registry.lock().remove(&self.key);
        // The destructors of its sources are foreign code, which must not run while the lock is held.
        drop(ended);
    }
}
