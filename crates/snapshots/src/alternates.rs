//! The directories in which the user's repository has its objects: its own, and those it borrows from.
//!
//! libgit2 opens the files there by itself, and follows links. One that leads to an open database
//! would drop the database's locks when libgit2 closes it, and a FIFO would hold it for ever. So these
//! names are looked at before libgit2 sees them: the packs and the lists when a directory is opened, an
//! object in a file of its own when it is read. A link that is made between the look and the opening
//! is not noticed.

use std::{
    fs,
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
};

use git2::Oid;
use opencode_handles::{open_file, refuse_database};

/// How many borrowings lead from one repository to the next. libgit2 follows no more.
const MAX_DEPTH: usize = 5;

/// How many directories are looked at. One that is borrowed from twice counts twice.
const MAX_DIRECTORIES: usize = 64;

/// The largest list of borrowed directories that is read.
const MAX_LIST_BYTES: u64 = 64 * 1024;

/// Directories of objects whose packs and lists libgit2 may open.
pub(crate) struct Alternates(Vec<PathBuf>);

impl Alternates {
    /// Looks at a directory of objects and at those that it borrows from.
    ///
    /// # Errors
    ///
    /// Names a file that libgit2 must not open.
    pub(crate) fn look(directory: &Path) -> io::Result<Self> {
        let mut found = Self(Vec::new());
        found.add(directory, 0)?;
        Ok(found)
    }

    /// Whether libgit2 may read an object: no directory has a file of it that must not be opened.
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

/// The entries of a directory; none where there is no directory.
fn entries(directory: &Path) -> io::Result<impl Iterator<Item = io::Result<fs::DirEntry>>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if !is_absent(&error) => return Err(error),
        entries => entries.ok(),
    };
    Ok(entries.into_iter().flatten())
}

/// The directories that a list names. libgit2 takes a name that does not begin with a dot as it is.
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

/// Refuses a file that libgit2 must not open. A directory cannot be read, so it is harmless.
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
