//! Folders in which every Markdown file defines something, named by its path.

use std::path::Path;

use super::{Allowance, Found, Listings, Markdown, Wanted, find};
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

/// Reads definitions, as many as a Location may have.
#[derive(Default)]
pub(crate) struct Reader {
    allowance: Allowance,
    /// What cannot be read or has no effect.
    pub diagnostics: Vec<Diagnostic>,
}

impl Reader {
    /// Gives `define` the definitions of a folder in the order of their names, each under its path
    /// without `.md`.
    pub(crate) fn read(
        &mut self,
        directory: &Path,
        folder: Folder,
        mut define: impl FnMut(&str, &Markdown, &mut Vec<Diagnostic>),
    ) {
        for file in self.find(&directory.join(folder.name), folder.below) {
            let name = file.name.strip_suffix(".md").unwrap_or(&file.name);
            match self.allowance.read(&file.path) {
                Ok(Some(bytes)) => {
                    let parsed = Markdown::parse(&file.path, &bytes, &mut self.diagnostics);
                    if let Some(markdown) = parsed {
                        define(name, &markdown, &mut self.diagnostics);
                    }
                }
                // It was there a moment ago.
                Ok(None) => {}
                Err(error) => {
                    let (origin, kind) = (file.path.display().to_string(), DiagnosticKind::Io);
                    let message = format!("The file cannot be read: {error}");
                    self.diagnostics
                        .push(Diagnostic::new(&origin, kind, message, None));
                }
            }
        }
    }

    fn find(&mut self, root: &Path, below: bool) -> Vec<Found> {
        let wanted = Wanted {
            below,
            name: |name| name.ends_with(".md"),
        };
        let (mut listings, mut obstacles) = (Listings::default(), Vec::new());
        let found = find(
            root,
            wanted,
            &mut listings,
            &mut self.allowance,
            &mut obstacles,
        );
        for obstacle in obstacles {
            let diagnostic = obstacle.diagnostic();
            diagnostic.log();
            self.diagnostics.push(diagnostic);
        }
        found.unwrap_or_default()
    }
}
