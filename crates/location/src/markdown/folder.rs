//! Folders in which every Markdown file defines something, named by its path.

use std::path::Path;

use super::{Allowance, Listings, Markdown, Wanted, find};
use crate::config::{Diagnostic, DiagnosticKind};

/// A folder of a directory of definitions.
#[derive(Clone, Copy)]
pub(crate) struct Folder {
    name: &'static str,
    below: bool,
}

impl Folder {
    /// The folder and everything below it.
    pub(crate) const fn with_subfolders(name: &'static str) -> Self {
        Self { name, below: true }
    }

    /// The folder without the ones in it.
    pub(crate) const fn alone(name: &'static str) -> Self {
        Self { name, below: false }
    }
}

/// Gives `define` the definitions of a folder in the order of their names, each under its path
/// without `.md`.
pub(crate) fn read_folder(
    directory: &Path,
    folder: Folder,
    allowance: &mut Allowance,
    diagnostics: &mut Vec<Diagnostic>,
    mut define: impl FnMut(&str, &Markdown, &mut Vec<Diagnostic>),
) {
    let wanted = Wanted {
        below: folder.below,
        name: |name| name.ends_with(".md"),
    };
    let mut obstacles = Vec::new();
    let root = directory.join(folder.name);
    let mut listings = Listings::default();
    let found = find(&root, wanted, &mut listings, allowance, &mut obstacles).unwrap_or_default();
    for obstacle in obstacles {
        let diagnostic = obstacle.diagnostic();
        diagnostic.log();
        diagnostics.push(diagnostic);
    }
    for file in found {
        let name = file.name.strip_suffix(".md").unwrap_or(&file.name);
        match allowance.read(&file.path) {
            Ok(Some(bytes)) => {
                if let Some(markdown) = Markdown::parse(&file.path, &bytes, diagnostics) {
                    define(name, &markdown, diagnostics);
                }
            }
            // It was there a moment ago.
            Ok(None) => {}
            Err(error) => {
                let origin = file.path.display().to_string();
                let message = format!("The file cannot be read: {error}");
                diagnostics.push(Diagnostic::new(&origin, DiagnosticKind::Io, message, None));
            }
        }
    }
}
