//! The directories that are searched for skills.

use std::fmt;
use std::path::{Path, PathBuf};

use sha1::{Digest, Sha1};
use url::Url;

use crate::config::{Configuration, Diagnostic, DiagnosticKind, Entry, untrusted};
use crate::directory::lexical;
use crate::environment::Environment;
use crate::secret::shown_address;

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

/// Skills behind an address. A copy of them belongs into a directory.
#[derive(Clone)]
pub struct RemoteSkills {
    /// The address of the folder with `index.json`. It may contain a secret.
    pub address: Url,
    /// The directory of the copy.
    pub directory: PathBuf,
    /// The folder for data of all copies. It is beside them.
    pub work: PathBuf,
    /// The place of its declaration, for a diagnostic.
    pub declared: Diagnostic,
}

/// Hides the address, which may contain a secret.
impl fmt::Debug for RemoteSkills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteSkills")
            .field(&self.directory)
            .finish()
    }
}

/// The places that are searched for skills.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// All directories, in order.
    pub directories: Vec<Source>,
    /// The addresses among them.
    pub remote: Vec<RemoteSkills>,
}

/// Returns the directories in order: folders of the directories of definitions, then the directories
/// that documents name. Relative paths start at the directory of the Location.
pub(super) fn of(
    configuration: &Configuration,
    environment: &Environment,
    directory: &Path,
    worktree: &Path,
    diagnostics: &mut Vec<Diagnostic>,
) -> Sources {
    let mut sources = Vec::new();
    let mut remote = Vec::new();
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
            let address = Url::parse(&place.value)
                .ok()
                .filter(|_| is_address(&place.value));
            if let Some(address) = address {
                let shown = shown_address(&address);
                let message = format!("The skills of {shown} are not available");
                let (origin, kind) = (&document.origin, DiagnosticKind::Ignored);
                let declared = Diagnostic::new(origin, kind, message, place.position);
                let skills = RemoteSkills::of(address, environment, declared);
                sources.push(Source {
                    directory: skills.directory.clone(),
                    named_by: None,
                    bound: Some(skills.directory.clone()),
                });
                remote.push(skills);
                continue;
            }
            let reason = if is_address(&place.value) {
                "its address is not valid"
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
    Sources {
        directories: sources,
        remote,
    }
}

impl RemoteSkills {
    fn of(address: Url, environment: &Environment, declared: Diagnostic) -> Self {
        let folder = environment.skill_copies();
        let name = format!("{:x}", Sha1::digest(address.as_str()));
        Self {
            address,
            directory: folder.join(name),
            work: folder.join(".work"),
            declared,
        }
    }
}

fn is_address(place: &str) -> bool {
    let scheme = place.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|it| it.eq_ignore_ascii_case("http") || it.eq_ignore_ascii_case("https"))
}
