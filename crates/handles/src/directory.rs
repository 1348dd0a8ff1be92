//! Operations of a directory that are the same on all systems.

use std::io;
use std::path::Path;

use crate::names::names;
#[cfg(not(unix))]
use crate::portable::Directory;
#[cfg(unix)]
use crate::unix::Directory;

impl Directory {
    /// Opens the directory at an absolute path. Fails if a component is a link.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (root, below) = root(path)?;
        root.below(below)
    }

    /// Opens the directory at an absolute path and creates its missing components. Fails if a
    /// component is a link.
    pub fn prepare(path: &Path) -> io::Result<Self> {
        let (root, below) = root(path)?;
        root.prepare_below(below)
    }

    /// Opens a directory below this one and creates its missing components. Fails if a component is
    /// a link.
    pub fn prepare_below(&self, relative: impl AsRef<Path>) -> io::Result<Self> {
        // All names are checked first, so that a refused path creates nothing.
        let names: Vec<_> = names(relative.as_ref()).collect::<io::Result<_>>()?;
        let mut here = self.below("")?;
        for name in names {
            here = here.directory(name)?;
        }
        Ok(here)
    }
}

/// True if the error means that the file does not exist or is of another kind than expected.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Splits an absolute path into its root and the rest.
fn root(path: &Path) -> io::Result<(Directory, &Path)> {
    let root = path.ancestors().last().filter(|root| root.is_absolute());
    let root = root.ok_or(io::ErrorKind::InvalidInput)?;
    let below = path.strip_prefix(root).map_err(io::Error::other)?;
    Ok((Directory::root(root)?, below))
}
