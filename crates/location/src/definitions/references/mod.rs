//! References: other directories and repositories that can be read in addition to the project.

mod repository;

use std::fmt;
use std::path::{Path, PathBuf};

use opencode_schema::reference::{ReferenceInfo, ReferenceSource};

use crate::config::{
    Configuration, Diagnostic, DiagnosticKind, Document, Located, ReferenceOrigin, ReferencePatch,
    untrusted,
};
use crate::directory::{lexical, lies_below};
use crate::environment::Environment;

/// The references of one directory, in the order of the first declaration of their names.
#[derive(Debug, Default)]
pub struct References {
    list: Vec<ReferenceInfo>,
    repositories: Vec<ReferencedRepository>,
}

/// A reference to a Git repository. A clone of it belongs into the directory of the reference.
#[derive(Clone)]
pub struct ReferencedRepository {
    /// The address, in a form that Git understands. It may contain a secret.
    pub address: String,
    /// The branch or tag. `None` for the default branch.
    pub branch: Option<String>,
    /// The directory of the clone.
    pub directory: PathBuf,
    /// The folder for data of all clones. It is beside them.
    pub work: PathBuf,
    /// The place of its declaration, for a diagnostic.
    pub declared: Diagnostic,
}

/// Hides the address, which may contain a secret.
impl fmt::Debug for ReferencedRepository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReferencedRepository")
            .field(&self.directory)
            .finish()
    }
}

impl References {
    /// Builds the references of a Location. If a name is declared repeatedly, the last declaration applies.
    ///
    /// Downloads nothing: a repository has the path of its clone, even if the clone does not exist yet.
    pub(crate) fn build(
        configuration: &Configuration,
        environment: &Environment,
        worktree: &Path,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut declared: Vec<(ReferenceInfo, Declaration<'_>)> = Vec::new();
        for document in configuration.documents() {
            for (name, patch) in &document.references {
                let by = Declaration { document, patch };
                match resolve(name, by, environment) {
                    Ok(info) if by.is_outside_project(&info, worktree) => {
                        let message = format!(
                            "The reference {name} leads out of the project and has no effect"
                        );
                        diagnostics.push(by.ignored(untrusted(&message)));
                    }
                    Ok(info) => match declared.iter_mut().find(|(it, _)| it.name == *name) {
                        Some(known) => *known = (info, by),
                        None => declared.push((info, by)),
                    },
                    Err(reason) => diagnostics.push(
                        by.ignored(format!("The reference {name:?} has no effect: {reason}")),
                    ),
                }
            }
        }
        let absent = declared.iter().filter_map(|(info, by)| by.absence(info));
        diagnostics.extend(absent);
        let repositories = declared
            .iter()
            .filter_map(|(info, by)| by.repository(info, environment));
        Self {
            repositories: repositories.collect(),
            list: declared.into_iter().map(|(info, _)| info).collect(),
        }
    }

    /// The references.
    pub fn list(&self) -> &[ReferenceInfo] {
        &self.list
    }

    /// The references to Git repositories.
    pub fn repositories(&self) -> &[ReferencedRepository] {
        &self.repositories
    }
}

/// The folder for data about the clones, beside them. No host has this name.
const WORK: &str = ".work";

/// A reference with the document that declares it.
#[derive(Clone, Copy)]
struct Declaration<'d> {
    document: &'d Document,
    patch: &'d Located<ReferencePatch>,
}

impl Declaration<'_> {
    fn ignored(&self, message: String) -> Diagnostic {
        let origin = &self.document.origin;
        Diagnostic::new(
            origin,
            DiagnosticKind::Ignored,
            message,
            self.patch.position,
        )
    }

    /// True if an untrusted project declares the reference and its target is not a directory of the project.
    fn is_outside_project(&self, info: &ReferenceInfo, worktree: &Path) -> bool {
        let is_repository = matches!(info.source, ReferenceSource::Git { .. });
        let is_outside = || is_repository || !lies_below(Path::new(&info.path), worktree);
        self.document.source.is_untrusted() && is_outside()
    }

    /// Returns a diagnostic if the directory of a local reference does not exist.
    fn absence(&self, info: &ReferenceInfo) -> Option<Diagnostic> {
        let is_local = matches!(info.source, ReferenceSource::Local { .. });
        if !is_local || Path::new(&info.path).is_dir() {
            return None;
        }
        let (name, path) = (&info.name, &info.path);
        let message = format!("The reference {name} leads to {path}, which is not a directory");
        Some(self.ignored(message))
    }

    /// Returns the repository of a reference.
    fn repository(
        &self,
        info: &ReferenceInfo,
        environment: &Environment,
    ) -> Option<ReferencedRepository> {
        let ReferenceOrigin::Repository { name, branch } = &self.patch.value.origin else {
            return None;
        };
        let message = format!("The reference {} has no clone at {}", info.name, info.path);
        Some(ReferencedRepository {
            address: repository::address(name),
            branch: branch.clone(),
            directory: PathBuf::from(&info.path),
            work: environment.clones().join(WORK),
            declared: self.ignored(message),
        })
    }
}

fn resolve(
    name: &str,
    by: Declaration<'_>,
    environment: &Environment,
) -> Result<ReferenceInfo, &'static str> {
    check_name(name)?;
    let patch = &by.patch.value;
    let (description, hidden) = (patch.description.clone(), patch.hidden);
    let (path, source) = match &patch.origin {
        ReferenceOrigin::Path(text) => {
            let path = local(environment, &by.document.base, text)?;
            let source = ReferenceSource::Local {
                path: path.display().to_string(),
                description: description.clone(),
                hidden,
            };
            (path, source)
        }
        ReferenceOrigin::Repository { name, branch } => {
            let path = environment
                .clones()
                .join(repository::directory(name, branch.as_deref())?);
            let source = ReferenceSource::Git {
                repository: repository::shown(name),
                branch: branch.clone(),
                description: description.clone(),
                hidden,
            };
            (path, source)
        }
    };
    Ok(ReferenceInfo {
        name: name.to_owned(),
        path: path.display().to_string(),
        description,
        hidden,
        source,
    })
}

fn local(environment: &Environment, base: &Path, text: &str) -> Result<PathBuf, &'static str> {
    if text.is_empty() || text.contains(char::is_control) {
        return Err("its path is empty or has a control character");
    }
    Ok(lexical(&environment.expand(base, text)))
}

fn check_name(name: &str) -> Result<(), &'static str> {
    let separates = |it: char| it.is_whitespace() || it.is_control() || "/`,".contains(it);
    if name.is_empty() || name.contains(separates) {
        return Err(
            "its name must be something without slashes, commas, backticks, blanks and control characters",
        );
    }
    Ok(())
}
