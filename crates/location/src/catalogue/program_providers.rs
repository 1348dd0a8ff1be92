//! The providers that the embedding program has registered.

use std::sync::Arc;

use parking_lot::RwLock;
use serde_json::{Value, json};

use crate::config::{ConfigurationProblem, ProviderPatch, problems, program_provider};
use crate::model::ApiKind;

/// The providers of the embedding program. All clones are the same.
#[derive(Clone, Default)]
pub struct ProgramProviders(Arc<RwLock<State>>);

#[derive(Default)]
struct State {
    /// Number of changes.
    generation: u64,
    last: u32,
    providers: Vec<Registered>,
}

struct Registered {
    number: u32,
    /// The only Location of the provider, in normal form. `None` if it is for all Locations.
    directory: Option<String>,
    provider: Arc<ProgramProvider>,
}

/// A provider of the embedding program.
#[derive(Debug)]
pub(crate) struct ProgramProvider {
    pub(crate) id: String,
    /// Its description. The kind of its API is [`ApiKind::Program`].
    pub(crate) patch: ProviderPatch,
}

impl ProgramProvider {
    /// True if the provider has this model.
    pub(crate) fn has(&self, model: &str) -> bool {
        self.patch.models.iter().any(|(id, _)| id == model)
    }
}

/// The providers of a Location.
#[derive(Default)]
pub(crate) struct ProvidersOfLocation {
    /// Number of changes of the registered providers when these were read.
    pub(crate) generation: u64,
    /// At most one for each id, in the order of their registration.
    pub(crate) providers: Vec<Arc<ProgramProvider>>,
}

impl ProgramProviders {
    /// Registers a provider for one Location, or for all, and returns its number. It replaces a provider
    /// with the same id until it is removed. `description` has the members `name` and `models` of a
    /// provider in a configuration document.
    ///
    /// # Errors
    ///
    /// Returns all problems of the description, with their paths.
    pub fn register(
        &self,
        id: &str,
        description: &Value,
        directory: Option<String>,
    ) -> Result<u32, Vec<ConfigurationProblem>> {
        let mut patch = read(id, description)?;
        let mut state = self.0.write();
        let number = state.last + 1;
        patch.api.kind = Some(ApiKind::Program(number));
        let id = id.to_owned();
        state.last = number;
        state.generation += 1;
        state.providers.push(Registered {
            number,
            directory,
            provider: Arc::new(ProgramProvider { id, patch }),
        });
        Ok(number)
    }

    /// Removes a provider and returns its Location, which is `None` if it was for all Locations. Returns
    /// `None` for an unknown number.
    pub fn remove(&self, number: u32) -> Option<Option<String>> {
        let mut state = self.0.write();
        let mut providers = state.providers.iter();
        let at = providers.position(|it| it.number == number)?;
        state.generation += 1;
        Some(state.providers.remove(at).directory)
    }

    /// Returns the number of changes so far.
    pub(crate) fn generation(&self) -> u64 {
        self.0.read().generation
    }

    /// Returns the providers of a directory in normal form.
    pub(crate) fn of(&self, directory: &str) -> ProvidersOfLocation {
        let state = self.0.read();
        let is_here = |it: &&Registered| it.directory.as_deref().is_none_or(|it| it == directory);
        let mut providers: Vec<Arc<ProgramProvider>> = Vec::new();
        for registered in state.providers.iter().filter(is_here) {
            providers.retain(|it| it.id != registered.provider.id);
            providers.push(Arc::clone(&registered.provider));
        }
        ProvidersOfLocation {
            generation: state.generation,
            providers,
        }
    }
}

/// Reads a description as strictly as the configuration of the host.
fn read(id: &str, description: &Value) -> Result<ProviderPatch, Vec<ConfigurationProblem>> {
    let prefix = format!("providers.{id}.");
    let found = problems(&json!({ "providers": { id: description } }));
    if found.is_empty() {
        return program_provider(description).map_err(|problem| vec![problem]);
    }
    let relative = |mut problem: ConfigurationProblem| {
        if let Some(path) = problem.path.strip_prefix(&prefix) {
            problem.path = path.to_owned();
        }
        problem
    };
    Err(found.into_iter().map(relative).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(providers: &ProgramProviders, directory: &str) -> Vec<String> {
        let here = providers.of(directory).providers;
        here.iter()
            .map(|it| it.patch.name.clone().unwrap())
            .collect()
    }

    #[test]
    fn the_last_provider_of_an_id_counts_until_it_is_removed() {
        let providers = ProgramProviders::default();
        let add = |id: &str, name: &str, directory: Option<&str>| {
            let description = json!({ "name": name, "models": { "m": {} } });
            let directory = directory.map(str::to_owned);
            providers.register(id, &description, directory).unwrap()
        };
        let first = add("a", "first", None);
        add("b", "other", None);
        let second = add("a", "second", Some("/one"));
        assert_eq!(ids(&providers, "/one"), ["other", "second"]);
        assert_eq!(ids(&providers, "/two"), ["first", "other"]);
        assert_eq!(providers.generation(), 3);
        assert_eq!(providers.remove(second), Some(Some("/one".to_owned())));
        assert_eq!(ids(&providers, "/one"), ["first", "other"]);
        assert_eq!(providers.remove(first), Some(None));
        assert_eq!(providers.remove(first), None);
        assert_eq!(ids(&providers, "/one"), ["other"]);
    }

    #[test]
    fn a_wrong_description_is_refused_with_its_paths() {
        let providers = ProgramProviders::default();
        let rows = [
            (
                json!({ "models": { "m": { "limit": { "context": "a" } } } }),
                "models.m.limit.context",
            ),
            (json!({ "models": { "m": { "nme": "a" } } }), "models.m.nme"),
            (json!({ "models": [] }), "models"),
            (json!({ "models": {} }), "models"),
            (json!({}), "models"),
        ];
        for (description, path) in rows {
            let problems = providers.register("p", &description, None).unwrap_err();
            assert_eq!(problems[0].path, path, "{description}");
        }
        assert_eq!(providers.generation(), 0);
    }
}
