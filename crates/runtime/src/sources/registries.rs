//! The contributions to the System Context of each Location.

use std::collections::HashMap;

use opencode_context::{RegisterError, Registration, Registry, SystemContext};
use opencode_location::directory::DirectoryError;
use parking_lot::{Mutex, MutexGuard};

/// The reason that a contribution to the System Context is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContributionError {
    /// The directory of its Location is invalid.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// Its key, or the key of one of its sources, cannot be used.
    #[error(transparent)]
    Key(#[from] RegisterError),
}

/// The registries of a host, by directory in normal form. They exist independently of open Locations:
/// a contribution stays when its Location is evicted or reloaded.
#[derive(Default)]
pub(super) struct Registries {
    registries: Mutex<HashMap<String, Registry>>,
}

impl Registries {
    pub(super) fn register(
        &self,
        directory: String,
        key: &str,
        contribution: SystemContext,
    ) -> Result<Registration, RegisterError> {
        let mut registries = self.lock();
        // Drop the registries whose contributions have all ended.
        registries.retain(|_, registry| !registry.is_empty());
        let registry = registries.entry(directory).or_default();
        registry.register(key, contribution)
    }

    /// Returns the contributions at a directory in normal form.
    pub(super) fn of(&self, directory: &str) -> Registry {
        self.lock().get(directory).cloned().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Registry>> {
        self.registries.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_without_contributions_are_not_kept() {
        let registries = Registries::default();
        let register = |directory: &str| {
            let nothing = SystemContext::default();
            registries.register(directory.to_owned(), "acme/rules", nothing)
        };
        let here = register("/here").unwrap();
        let there = register("/there").unwrap();
        assert_eq!(
            register("/here").err(),
            Some(RegisterError::Duplicate("acme/rules".to_owned()))
        );
        drop(here);
        let _again = register("/here").unwrap();
        drop(there);
        let _elsewhere = register("/elsewhere").unwrap();
        let mut kept: Vec<_> = registries.lock().keys().cloned().collect();
        kept.sort_unstable();
        assert_eq!(kept, ["/elsewhere", "/here"]);
    }
}
