//! Where skills are looked for.

use std::path::{Path, PathBuf};

use crate::config::{Configuration, Diagnostic, DiagnosticKind, Entry};
use crate::directory::lexical;
use crate::environment::Environment;

/// The folders of a directory of definitions.
const FOLDERS: [&str; 2] = ["skill", "skills"];

/// A directory that may hold skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    pub directory: PathBuf,
    /// The document that names it; such a directory ought to be there.
    pub named_by: Option<String>,
}

/// The directories in order: folders of the directories of definitions, then what documents name,
/// which starts at the Location's directory where it is relative.
pub(super) fn of(
    configuration: &Configuration,
    environment: &Environment,
    directory: &Path,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Source> {
    let mut sources = Vec::new();
    for entry in &configuration.entries {
        if let Entry::Directory(definitions) = entry {
            sources.extend(FOLDERS.map(|folder| Source {
                directory: definitions.join(folder),
                named_by: None,
            }));
        }
    }
    for document in configuration.documents() {
        for place in &document.skills {
            let reason = if is_address(&place.value) {
                "skills are not read from addresses yet; put them into a directory"
            } else if place.value.is_empty() || place.value.contains(char::is_control) {
                "it is empty or has a control character"
            } else {
                sources.push(Source {
                    directory: lexical(&environment.expand(directory, &place.value)),
                    named_by: Some(document.origin.clone()),
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
