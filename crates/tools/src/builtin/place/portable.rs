//! Directories by path, on systems without names relative to a descriptor. A link that is put in
//! place is noticed when the directory is opened, not afterwards.

use std::{
    ffi::OsStr,
    fs::{self, File, Metadata, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use opencode_location::containment::Target;

/// A directory that led where its path says when it was opened.
pub(super) struct Directory(PathBuf);

impl Directory {
    /// Opens an absolute path that must lead through no link.
    pub(super) fn open(path: &Path, create: bool) -> io::Result<Self> {
        if create {
            fs::create_dir_all(path)?;
        }
        let directory = Target {
            canonical: path.to_owned(),
            resource: String::new(),
            external_directory: None,
        };
        if !directory.still_resolves() {
            return Err(io::Error::other("the directory is gone or leads elsewhere"));
        }
        Ok(Self(directory.canonical))
    }

    /// Opens a file to read it and to see that it may be written, if there is one.
    pub(super) fn open_file(&self, name: &OsStr) -> io::Result<Option<File>> {
        let path = self.0.join(name);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            Ok(metadata) if !metadata.is_file() => {
                Err(io::Error::other("it is not a regular file"))
            }
            // It is opened for reading alone, because one that is read-only has its own error.
            Ok(_) => Ok(Some(File::open(path)?)),
        }
    }

    /// Creates a file nobody else can have.
    pub(super) fn create_file(&self, name: &OsStr, _private: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).open(self.0.join(name))
    }

    /// Gives a file another name; fails if that is taken. The old name may remain.
    pub(super) fn name_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let (from, to) = (self.0.join(from), self.0.join(to));
        match fs::hard_link(&from, &to) {
            // File systems without hard links.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !to.try_exists()? => {
                fs::rename(from, to)
            }
            linked => linked,
        }
    }

    /// Moves a file to a name, over what is there.
    pub(super) fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    /// Removes a file or a link.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }
}

/// Makes `file` usable for those who could use the replaced one.
pub(super) fn adopt(file: &File, replaced: &Metadata) -> io::Result<()> {
    file.set_permissions(replaced.permissions())
}
