//! References: other directories and repositories that can be read in addition to the project.

mod repository;

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
pub struct References(Vec<ReferenceInfo>);

impl References {
    /// Builds the references of a Location. If a name is declared repeatedly, the last declaration applies.
    ///
    /// Downloads nothing: a repository is read from the path of its clone, even if the clone does not exist.
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
        Self(declared.into_iter().map(|(info, _)| info).collect())
    }

    /// The references.
    pub fn list(&self) -> &[ReferenceInfo] {
        &self.0
    }
}

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

    /// Returns a diagnostic if the directory of the reference does not exist.
    fn absence(&self, info: &ReferenceInfo) -> Option<Diagnostic> {
        if Path::new(&info.path).is_dir() {
            return None;
        }
        let (name, path) = (&info.name, &info.path);
        Some(self.ignored(match &info.source {
            ReferenceSource::Local { .. } => {
                format!("The reference {name} leads to {path}, which is not a directory")
            }
            ReferenceSource::Git { repository, .. } => format!(
                "The reference {name} is not fetched. Repositories are not cloned by themselves yet: clone {repository} to {path}"
            ),
        }))
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
                .data
                .join("repos")
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
