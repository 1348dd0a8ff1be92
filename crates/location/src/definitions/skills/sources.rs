//! The directories that are searched for skills.

use std::path::{Path, PathBuf};

use crate::config::{Configuration, Diagnostic, DiagnosticKind, Entry, untrusted};
use crate::directory::lexical;
use crate::environment::Environment;

/// The folders of skills in a directory of definitions.
const FOLDERS: [&str; 2] = ["skill", "skills"];

/// A directory that may contain skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    pub directory: PathBuf,
    /// The document that names it. `None` if no document does. A named directory is expected to exist.
    pub named_by: Option<String>,
    /// The directory that its files must not lead out of. `None` if there is no such limit.
    pub bound: Option<PathBuf>,
}

/// Returns the directories in order: folders of the directories of definitions, then the directories
/// that documents name. Relative paths start at the directory of the Location.
pub(super) fn of(
    configuration: &Configuration,
    environment: &Environment,
    directory: &Path,
    worktree: &Path,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Source> {
    let mut sources = Vec::new();
    for entry in &configuration.entries {
        if let Entry::Directory(definitions) = entry {
            sources.extend(FOLDERS.map(|folder| Source {
                directory: definitions.path.join(folder),
                named_by: None,
                bound: definitions.bound.clone(),
            }));
        }
    }
    for document in configuration.documents() {
        let bound = document.source.is_untrusted().then_some(worktree);
        for place in &document.skills {
            let path = lexical(&environment.expand(directory, &place.value));
            let leads_out = is_address(&place.value)
                || bound.is_some_and(|worktree| !path.starts_with(worktree));
            if bound.is_some() && leads_out {
                let message =
                    untrusted("This place of skills leads out of the project and has no effect");
                let (origin, kind) = (&document.origin, DiagnosticKind::Ignored);
                diagnostics.push(Diagnostic::new(origin, kind, message, place.position));
                continue;
            }
            let reason = if is_address(&place.value) {
                "skills are not read from addresses yet; put them into a directory"
            } else if place.value.is_empty() || place.value.contains(char::is_control) {
                "it is empty or has a control character"
            } else {
                sources.push(Source {
                    directory: path,
                    named_by: Some(document.origin.clone()),
                    bound: bound.map(Path::to_owned),
                });
                continue;
            };
            let message = format!("This place of skills has no effect: {reason}");
            let (origin, kind) = (&document.origin, DiagnosticKind::Ignored);
            diagnostics.push(Diagnostic::new(origin, kind, message, place.position));
        }
    }
    sources
}

fn is_address(place: &str) -> bool {
    let scheme = place.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|it| it.eq_ignore_ascii_case("http") || it.eq_ignore_ascii_case("https"))
}
