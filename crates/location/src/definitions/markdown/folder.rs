//! Folders of Markdown files. Each file defines one item, and its path is the name of the item.

use std::path::Path;

use super::{FileFilter, Found, Listings, Markdown, ReadBudget, find};
use crate::config::{DefinitionDirectory, Diagnostic, DiagnosticKind};

/// A folder of a directory of definitions.
#[derive(Clone, Copy)]
pub(crate) struct Folder {
    name: &'static str,
    below: bool,
}

impl Folder {
    /// The folder with all its subfolders.
    pub(crate) const fn with_subfolders(name: &'static str) -> Self {
        Self { name, below: true }
    }

    /// The folder without its subfolders.
    pub(crate) const fn without_subfolders(name: &'static str) -> Self {
        Self { name, below: false }
    }
}

/// A file of a folder.
#[derive(Clone, Copy)]
pub(crate) struct Definition<'f> {
    /// The path relative to the folder, without `.md`.
    pub name: &'f str,
    /// Its path.
    pub path: &'f Path,
    /// The content. `None` if it cannot be read.
    pub markdown: Option<&'f Markdown>,
}

/// Reads definitions within the limits of a Location.
#[derive(Default)]
pub(crate) struct Reader {
    allowance: ReadBudget,
    /// Diagnostics for files that cannot be read and parts that have no effect.
    pub diagnostics: Vec<Diagnostic>,
}

impl Reader {
    /// Calls `define` with each definition of a folder, in the order of their names. Returns false if
    /// not all files could be found.
    pub(crate) fn read(
        &mut self,
        directory: &DefinitionDirectory,
        folder: Folder,
        mut define: impl FnMut(Definition<'_>, &mut Vec<Diagnostic>),
    ) -> bool {
        let (found, is_complete) = self.find(directory, folder);
        for file in found {
            let definition = |markdown| Definition {
                name: file.name.strip_suffix(".md").unwrap_or(&file.name),
                path: &file.path,
                markdown,
            };
            match self
                .allowance
                .read_below(&file.path, directory.bound.as_deref())
            {
                Ok(Some(bytes)) => {
                    let parsed = Markdown::parse(&file.path, &bytes, &mut self.diagnostics);
                    define(definition(parsed.as_ref()), &mut self.diagnostics);
                }
                // The file was deleted after it was found.
                Ok(None) => {}
                Err(error) => {
                    let (origin, kind) = (file.path.display().to_string(), DiagnosticKind::Io);
                    let message = format!("The file cannot be read: {error}");
                    self.diagnostics
                        .push(Diagnostic::new(&origin, kind, message, None));
                    define(definition(None), &mut self.diagnostics);
                }
            }
        }
        is_complete
    }

    /// Returns the files of a folder, and true if the list is complete.
    fn find(&mut self, directory: &DefinitionDirectory, folder: Folder) -> (Vec<Found>, bool) {
        let wanted = FileFilter {
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
            self.diagnostics.push(diagnostic);
        }
        (found.unwrap_or_default(), is_complete)
    }
}
