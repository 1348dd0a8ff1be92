//! Documents of a project that a tool changed.

use std::path::{Path, PathBuf};

use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::discovery::{Layer, layers};
use super::source::Source;
use crate::changed_documents::ChangedDocuments;
use crate::directory::reached_paths;
use crate::environment::Environment;
use crate::project::Project;

/// Returns the files and directories of all documents for a directory. They may be missing.
pub(crate) fn document_places(
    environment: &Environment,
    project: &Project,
    directory: &str,
) -> Vec<PathBuf> {
    let layers = layers(environment, project, directory, true, &[]);
    let paths = layers.iter().filter_map(|layer| layer.place.path());
    paths.map(Path::to_owned).collect()
}

/// Removes the trust in documents of a project that a tool changed. Returns a diagnostic for each. Blocks on disk access.
pub(crate) fn distrust_changed(
    layers: &mut [Layer<'_>],
    environment: &Environment,
) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let changed = ChangedDocuments::of(environment).read();
    if changed.as_ref().is_ok_and(Vec::is_empty) {
        return diagnostics;
    }
    for layer in layers
        .iter_mut()
        .filter(|layer| layer.source == Source::Project)
    {
        let Some(path) = layer.place.path() else {
            continue;
        };
        let origin = match &changed {
            Ok(changed) => {
                let reached = reached_paths(path);
                let is_reached = |it: &&PathBuf| reached.iter().any(|place| it.starts_with(place));
                changed.iter().find(is_reached)
            }
            Err(_) => Some(path)
                .filter(|path| path.exists())
                .map(|_| &environment.data),
        };
        let Some(origin) = origin else { continue };
        let reason = match &changed {
            Ok(_) => "A tool of this host changed this file".to_owned(),
            Err(error) => format!("The host cannot read which files its tools changed: {error}"),
        };
        let message = format!(
            "{reason}, so {} counts as untrusted. Check it, then call location.trust for the directory with trusted: true",
            path.display()
        );
        let origin = origin.display().to_string();
        diagnostics.push(Diagnostic::new(
            &origin,
            DiagnosticKind::Ignored,
            message,
            None,
        ));
        layer.source = Source::UntrustedProject;
    }
    diagnostics
}
