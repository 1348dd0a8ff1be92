//! The object directories of the user's repository: its own, and those of its alternates.
//!
//! libgit2 opens the files in them and follows links. If a link led to an open database, closing it
//! would release the locks of the database. A FIFO would block libgit2 forever. So this module
//! checks the files before libgit2 opens them: packs and lists when a directory is opened, and a
//! loose object when it is read. A link that is created between the check and the opening is not
//! detected.

use std::{
    fs,
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
};

use git2::Oid;
use opencode_handles::{open_file, refuse_database};

/// Maximum length of a chain of alternates. libgit2 has the same limit.
const MAX_DEPTH: usize = 5;

/// Maximum number of directories to check. A directory counts once for each reference to it.
const MAX_DIRECTORIES: usize = 64;

/// Maximum size of an alternates list, in bytes.
const MAX_LIST_BYTES: u64 = 64 * 1024;

/// Object directories with packs and lists that libgit2 may open.
pub(crate) struct Alternates(Vec<PathBuf>);

impl Alternates {
    /// Checks an object directory and its alternates.
    ///
    /// # Errors
    ///
    /// Fails with the path of a file that libgit2 must not open.
    pub(crate) fn read(directory: &Path) -> io::Result<Self> {
        let mut found = Self(Vec::new());
        found.add(directory, 0)?;
        Ok(found)
    }

    /// True if libgit2 may read an object: no directory has a harmful file for it.
    pub(crate) fn may_read(&self, id: Oid) -> bool {
        let id = id.to_string();
        let (folder, name) = id.split_at(2);
        let mut files = self.0.iter().map(|it| it.join(folder).join(name));
        files.all(|file| refuse_harmful(&file).is_ok())
    }

    fn add(&mut self, directory: &Path, depth: usize) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Ok(());
        }
        if self.0.len() == MAX_DIRECTORIES {
            return Err(io::Error::other("it borrows from too many repositories"));
        }
        self.0.push(directory.to_owned());
        for folder in ["pack", "info"] {
            for entry in entries(&directory.join(folder))? {
                refuse_harmful(&entry?.path())?;
            }
        }
        for borrowed in borrowed(directory)? {
            self.add(&borrowed, depth + 1)?;
        }
        Ok(())
    }
}

/// Returns the entries of a directory, or none if the directory does not exist.
fn entries(directory: &Path) -> io::Result<impl Iterator<Item = io::Result<fs::DirEntry>>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if !is_absent(&error) => return Err(error),
        entries => entries.ok(),
    };
    Ok(entries.into_iter().flatten())
}

/// Returns the directories in an alternates list. As libgit2 does, uses a name without a leading
/// dot unchanged.
fn borrowed(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let file = match open_file(&directory.join("info/alternates")) {
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        file => file?,
    };
    let mut list = String::new();
    if file.take(MAX_LIST_BYTES + 1).read_to_string(&mut list)? as u64 > MAX_LIST_BYTES {
        return Err(io::Error::other("its list of borrowed objects is too long"));
    }
    let names = list.split(['\r', '\n']);
    let names = names.filter(|name| !name.is_empty() && !name.starts_with('#'));
    let path = |name: &str| match name.starts_with('.') {
        true => directory.join(name),
        false => PathBuf::from(name),
    };
    Ok(names.map(path).collect())
}

/// Refuses a file that libgit2 must not open. A directory cannot be read as a file, so it is
/// harmless.
fn refuse_harmful(path: &Path) -> io::Result<()> {
    let refused = |error: io::Error| {
        let path = path.display();
        io::Error::new(error.kind(), format!("{path}: {error}"))
    };
    match path.metadata() {
        Ok(found) if found.is_file() => refuse_database(&found).map_err(refused),
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(refused(io::Error::other("it is not a regular file"))),
        // libgit2 cannot open it either.
        Err(_) => Ok(()),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
