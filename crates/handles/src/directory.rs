//! The operations of a directory that are the same on all systems.

use std::io;
use std::path::Path;

use crate::names::names;
#[cfg(not(unix))]
use crate::portable::Directory;
#[cfg(unix)]
use crate::unix::Directory;

impl Directory {
    /// Opens the directory at an absolute path, which must lead through no link.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (root, below) = root(path)?;
        root.below(below)
    }

    /// Opens the directory at an absolute path, which must lead through no link. What is missing of
    /// it is created.
    pub fn prepare(path: &Path) -> io::Result<Self> {
        let (root, below) = root(path)?;
        root.prepare_below(below)
    }

    /// Opens a directory below this one, through no link. What is missing of it is created.
    pub fn prepare_below(&self, relative: impl AsRef<Path>) -> io::Result<Self> {
        // A path that is refused creates nothing.
        let names: Vec<_> = names(relative.as_ref()).collect::<io::Result<_>>()?;
        let mut here = self.below("")?;
        for name in names {
            here = here.directory(name)?;
        }
        Ok(here)
    }
}

/// Whether an error says that nothing is there, or something else than what was looked for.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// The root of an absolute path, and the rest of it.
fn root(path: &Path) -> io::Result<(Directory, &Path)> {
    let root = path.ancestors().last().filter(|root| root.is_absolute());
    let root = root.ok_or(io::ErrorKind::InvalidInput)?;
    let below = path.strip_prefix(root).map_err(io::Error::other)?;
    Ok((Directory::root(root)?, below))
}
