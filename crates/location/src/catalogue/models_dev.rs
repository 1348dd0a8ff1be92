//! A local copy of the list of providers and models that models.dev publishes.
//!
//! This module reads the list. The host replaces its file if the program allows that ([`list_file`](super::list_file)).

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use opencode_handles::read_file;
use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::list_file::{PATH_VARIABLE, path};
use super::platform::listed_kind;
use super::shipped;
use crate::config::{
    ApiPatch, Decoded, Diagnostic, DiagnosticKind, ModelPatch, ProviderPatch, entries, listed_cost,
    listed_model, object, optional, request_settings, text, texts,
};
use crate::environment::Environment;
use crate::secret::BaseUrl;

/// Maximum size of the list in bytes. The current list has a fifteenth of this size.
pub(super) const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// The list that all Locations share. It is read again after its file has changed.
#[derive(Default)]
pub(crate) struct ModelsDevFile {
    /// Locked while the first caller reads the file.
    read: Mutex<Option<(Stamp, Arc<ModelsDev>)>>,
    /// Number of replacements of the file by this host.
    replaced: AtomicU64,
}

/// The providers of the list.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelsDev {
    /// The providers, in the order of the list.
    providers: Vec<(String, ListedProvider)>,
    places: HashMap<String, usize>,
    /// True for the list that the addon contains. A user has not asked for its models.
    pub is_shipped: bool,
    /// Diagnostics of the unusable parts of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// A provider of the list.
#[derive(Debug, Clone)]
struct ListedProvider {
    /// Its description. Lacks the models if they are packed.
    patch: ProviderPatch,
    packed: Option<Packed>,
}

/// The compressed models of a provider.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packed {
    /// The compressed bytes.
    pub(super) blob: &'static [u8],
    /// Their size without compression.
    pub(super) size: u64,
}

/// Identifies a version of the file.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    path: PathBuf,
    /// Length and modification time. `None` if the file does not exist.
    state: Option<(u64, Option<SystemTime>)>,
}

impl ModelsDevFile {
    /// Notes that this host has replaced the file.
    pub(crate) fn note_replacement(&self) {
        self.replaced.fetch_add(1, Ordering::Release);
    }

    /// Returns the number of replacements so far.
    pub(crate) fn generation(&self) -> u64 {
        self.replaced.load(Ordering::Acquire)
    }

    /// Returns the current list. If the file cannot be read, the previous list stays in effect, at first that of the
    /// addon. Blocks on disk access.
    pub(crate) fn get(&self, environment: &Environment) -> Arc<ModelsDev> {
        let Some(path) = path(environment) else {
            return ModelsDev::shipped();
        };
        let stamp = Stamp::of(path);
        let mut read = self.read.lock();
        if let Some((known, list)) = &*read
            && *known == stamp
        {
            return Arc::clone(list);
        }
        let list = match load(&stamp.path) {
            Ok(list) => list,
            Err(diagnostic) => {
                let previous = read.take().filter(|(known, _)| known.path == stamp.path);
                let kept = previous.map_or_else(ModelsDev::shipped, |(_, list)| list);
                let mut kept = Arc::unwrap_or_clone(kept);
                kept.diagnostics = vec![diagnostic];
                Arc::new(kept)
            }
        };
        *read = Some((stamp, Arc::clone(&list)));
        list
    }
}

impl Stamp {
    fn of(path: PathBuf) -> Self {
        let metadata = fs::metadata(&path).ok();
        let state = metadata.map(|it| (it.len(), it.modified().ok()));
        Self { path, state }
    }
}

impl ModelsDev {
    /// The list that the addon contains. All hosts of the process share it.
    fn shipped() -> Arc<Self> {
        static SHIPPED: LazyLock<Arc<ModelsDev>> = LazyLock::new(|| {
            let mut list = ModelsDev {
                is_shipped: true,
                ..ModelsDev::default()
            };
            for (id, patch, packed) in shipped::providers() {
                list.add(id, patch, Some(packed));
            }
            Arc::new(list)
        });
        Arc::clone(&SHIPPED)
    }

    fn add(&mut self, id: String, patch: ProviderPatch, packed: Option<Packed>) {
        self.places.insert(id.clone(), self.providers.len());
        self.providers.push((id, ListedProvider { patch, packed }));
    }

    /// Returns the providers without their models.
    pub(crate) fn heads(&self) -> impl Iterator<Item = (&str, &ProviderPatch)> {
        let providers = self.providers.iter();
        providers.map(|(id, provider)| (id.as_str(), &provider.patch))
    }

    /// Returns the description of a provider without its models.
    pub(crate) fn head(&self, id: &str) -> Option<&ProviderPatch> {
        let place = *self.places.get(id)?;
        Some(&self.providers[place].1.patch)
    }

    /// Returns the description of a provider with its models.
    pub(crate) fn provider(&self, id: &str) -> Option<ProviderPatch> {
        let (_, provider) = &self.providers[*self.places.get(id)?];
        let mut patch = provider.patch.clone();
        if let Some(packed) = provider.packed {
            patch.models = packed.models();
        }
        Some(patch)
    }
}

fn load(path: &Path) -> Result<Arc<ModelsDev>, Diagnostic> {
    let origin = path.display().to_string();
    let problem = |kind, message: String| Diagnostic::new(&origin, kind, message, None);
    let unreadable = |message: String| problem(DiagnosticKind::Io, message);
    if !path.is_absolute() {
        return Err(unreadable(format!(
            "The list of models must be named by an absolute path; it is named by {PATH_VARIABLE}"
        )));
    }
    let bytes = read_file(path, MAX_BYTES)
        .map_err(|error| unreadable(format!("The list of models cannot be read: {error}")))?;
    let Some(bytes) = bytes else {
        return Ok(ModelsDev::shipped());
    };
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
        let mut diagnostic = problem(
            DiagnosticKind::Syntax,
            "The list of models is not JSON; it is not used".to_owned(),
        );
        diagnostic.line = u32::try_from(error.line()).ok();
        diagnostic.column = u32::try_from(error.column()).ok();
        diagnostic
    })?;
    drop(bytes);
    let providers = object(&value).map_err(|invalid| {
        problem(
            DiagnosticKind::Invalid,
            format!("{invalid}; the list of models is not used"),
        )
    })?;
    Ok(Arc::new(ingest(&origin, providers)))
}

/// Reads all valid parts. An invalid provider or model is left out; the others stay.
pub(super) fn ingest(origin: &str, source: &Map<String, Value>) -> ModelsDev {
    let mut list = ModelsDev::default();
    let mut rejected: Vec<String> = Vec::new();
    for (id, value) in source {
        match provider(value, &mut rejected) {
            Ok(patch) => {
                list.add(id.clone(), patch, None);
            }
            Err(invalid) => rejected.push(invalid.at(id).to_string()),
        }
    }
    if let Some(first) = rejected.first() {
        let message = format!(
            "{} of the list of models are left out, the first because {first}",
            rejected.len()
        );
        list.diagnostics.push(Diagnostic::new(
            origin,
            DiagnosticKind::Ignored,
            message,
            None,
        ));
    }
    list
}

fn provider(value: &Value, rejected: &mut Vec<String>) -> Decoded<ProviderPatch> {
    let source = object(value)?;
    let id = optional(source, "id", text)?.unwrap_or_default();
    let models = optional(source, "models", object)?;
    let models = models.map(|models| listed_models(models, &id, rejected));
    let address = optional(source, "api", text)?;
    Ok(ProviderPatch {
        name: optional(source, "name", text)?,
        api: ApiPatch {
            kind: listed_kind(optional(source, "npm", text)?, address.as_deref()),
            url: address.map(BaseUrl),
            ..ApiPatch::default()
        },
        env: Some(optional(source, "env", texts)?.unwrap_or_default()),
        models: models.unwrap_or_default(),
        ..ProviderPatch::default()
    })
}

/// Reads the valid models of a provider.
pub(super) fn listed_models(
    source: &Map<String, Value>,
    provider: &str,
    rejected: &mut Vec<String>,
) -> Vec<(String, ModelPatch)> {
    let mut models = Vec::new();
    for (id, value) in source {
        match model(id, value) {
            Ok(described) => models.extend(described),
            Err(invalid) => {
                let invalid = invalid.at(id).at("models").at(provider);
                rejected.push(invalid.to_string());
            }
        }
    }
    models
}

/// Returns the model, followed by one more model for each of its modes.
fn model(id: &str, value: &Value) -> Decoded<Vec<(String, ModelPatch)>> {
    let base = listed_model(value)?;
    let modes = optional(object(value)?, "experimental", |value| {
        optional(object(value)?, "modes", |value| {
            entries(value, |mode, value| self::mode(id, &base, mode, value))
        })
    })?;
    let modes = modes.flatten().unwrap_or_default();
    let base = (id.to_owned(), base);
    Ok(std::iter::once(base).chain(modes).collect())
}

/// The model in one of its modes: with its own id and name, and other prices and request settings.
fn mode(id: &str, base: &ModelPatch, mode: &str, value: &Value) -> Decoded<(String, ModelPatch)> {
    let source = object(value)?;
    let request = optional(source, "provider", request_settings)?.unwrap_or_default();
    let name = base.name.as_deref().unwrap_or(id);
    let patch = ModelPatch {
        name: Some(format!("{name} {}", capitalised(mode))),
        wire_id: Some(base.wire_id.clone().unwrap_or_else(|| id.to_owned())),
        cost: optional(source, "cost", listed_cost)?.or_else(|| base.cost.clone()),
        headers: request.headers,
        body: request.body,
        ..base.clone()
    };
    Ok((format!("{id}-{mode}"), patch))
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
