//! Folders in which every Markdown file defines something, named by its path.

use super::{Allowance, Found, Listings, Markdown, Wanted, find};
use crate::config::{DefinitionDirectory, Diagnostic, DiagnosticKind};

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
    /// without `.md`, and none for a file that cannot be read. False if not every file could be found.
    pub(crate) fn read(
        &mut self,
        directory: &DefinitionDirectory,
        folder: Folder,
        mut define: impl FnMut(&str, Option<&Markdown>, &mut Vec<Diagnostic>),
    ) -> bool {
        let (found, is_complete) = self.find(directory, folder);
        for file in found {
            let name = file.name.strip_suffix(".md").unwrap_or(&file.name);
            match self
                .allowance
                .read_below(&file.path, directory.bound.as_deref())
            {
                Ok(Some(bytes)) => {
                    let parsed = Markdown::parse(&file.path, &bytes, &mut self.diagnostics);
                    define(name, parsed.as_ref(), &mut self.diagnostics);
                }
                // It was there a moment ago.
                Ok(None) => {}
                Err(error) => {
                    let (origin, kind) = (file.path.display().to_string(), DiagnosticKind::Io);
                    let message = format!("The file cannot be read: {error}");
                    self.diagnostics
                        .push(Diagnostic::new(&origin, kind, message, None));
                    define(name, None, &mut self.diagnostics);
                }
            }
        }
        is_complete
    }

    /// The files of a folder, and whether these are all.
    fn find(&mut self, directory: &DefinitionDirectory, folder: Folder) -> (Vec<Found>, bool) {
        let wanted = Wanted {
            below: folder.below,
            name: |name| name.ends_with(".md"),
        };
        let (mut listings, mut obstacles) = (Listings::default(), Vec::new());
        let found = find(
            &directory.path.join(folder.name),
            wanted,
            directory.bound.as_deref(),
            &mut listings,
            &mut self.allowance,
            &mut obstacles,
        );
        let is_complete = obstacles.is_empty();
        for obstacle in obstacles {
            let diagnostic = obstacle.diagnostic();
            diagnostic.log();
            self.diagnostics.push(diagnostic);
        }
        (found.unwrap_or_default(), is_complete)
    }
}
