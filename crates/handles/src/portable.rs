//! Directories by path, for systems without operations relative to a descriptor.

use std::{
    ffi::OsStr,
    fs::{self, File, Metadata, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use crate::child::Child;
use crate::names::{names, single};
use crate::stamp::{Kind, Stamp, nanoseconds};

/// A directory. Its path contained no links when it was opened.
#[derive(Debug)]
pub struct Directory(PathBuf);

impl Directory {
    pub(crate) fn root(root: &Path) -> io::Result<Self> {
        let root = Self(root.to_owned());
        root.stamp()?;
        Ok(root)
    }

    /// Opens a directory below this one without following links. An empty path opens this directory
    /// itself.
    pub fn below(&self, relative: impl AsRef<Path>) -> io::Result<Self> {
        let mut here = Self(self.0.clone());
        for name in names(relative.as_ref()) {
            here.0.push(name?);
            here.stamp()?;
        }
        Ok(here)
    }

    /// Opens a directory in this one and creates it if it does not exist.
    pub(crate) fn directory(&self, name: &OsStr) -> io::Result<Self> {
        match self.below(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Without permission to create directories, the system also refuses to create an
            // existing one.
            opened => return opened,
        }
        match fs::create_dir(self.0.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.below(name),
        }
    }

    /// Fails if a component of the path was replaced with a link.
    fn unlinked(&self) -> io::Result<()> {
        Self::open(&self.0).map(drop)
    }

    /// Returns the stamp of the directory itself.
    pub fn stamp(&self) -> io::Result<Stamp> {
        let stamp = stamp(&fs::symlink_metadata(&self.0)?);
        if stamp.kind == Kind::Directory {
            Ok(stamp)
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Returns the stamp of an entry, or `None` if it does not exist.
    pub fn stat(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Stamp>> {
        match fs::symlink_metadata(self.0.join(single(name.as_ref())?)) {
            Ok(found) => Ok(Some(stamp(&found))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns all entries of the directory, in no particular order.
    pub fn children(&self) -> io::Result<impl Iterator<Item = io::Result<Child>>> {
        let entries = fs::read_dir(&self.0)?;
        self.unlinked()?;
        Ok(entries.map(|entry| {
            let entry = entry?;
            Ok(Child {
                name: entry.file_name(),
                kind: kind(entry.file_type()?),
            })
        }))
    }

    /// Returns the stamp of a regular file. Fails for any other kind.
    fn require_file(&self, name: &OsStr) -> io::Result<Stamp> {
        let stamp = self.stat(name)?.ok_or(io::ErrorKind::NotFound)?;
        stamp.kind.require_file()?;
        Ok(stamp)
    }

    /// Opens a regular file for reading and returns it with its stamp. Fails for any other kind.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<(File, Stamp)> {
        self.require_file(name.as_ref())?;
        self.open_seen_file(name, None)
    }

    /// Opens a file for reading that a stamp or a listing just showed as a regular file. Fails if
    /// it was replaced by another kind.
    pub fn open_seen_file(
        &self,
        name: impl AsRef<OsStr>,
        _inode: Option<u64>,
    ) -> io::Result<(File, Stamp)> {
        let name = single(name.as_ref())?;
        let file = File::open(self.0.join(name))?;
        self.unlinked()?;
        Ok((file, self.require_file(name)?))
    }

    /// Opens a regular file for reading. Its metadata shows if it is writable.
    pub fn open_file_to_change(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.open_file(name).map(|(file, _)| file)
    }

    /// Returns the target of a link.
    pub fn read_link(&self, name: impl AsRef<OsStr>) -> io::Result<Vec<u8>> {
        let target = fs::read_link(self.0.join(single(name.as_ref())?))?;
        let target = target.into_os_string().into_string();
        let invalid = |_| io::Error::other("a link leads to a path that is not Unicode");
        Ok(target.map_err(invalid)?.replace('\\', "/").into_bytes())
    }

    /// Removes a file or a link.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        fs::remove_file(self.0.join(single(name.as_ref())?))
    }

    /// Removes an empty directory.
    pub fn remove_directory(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        fs::remove_dir(self.0.join(single(name.as_ref())?))
    }

    /// Creates a new file. Fails if the name exists.
    pub(crate) fn new_file(&self, name: &str, _mode: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).open(self.0.join(name))
    }

    /// Fails: links need a privilege on this system that few users have.
    pub(crate) fn new_link(&self, _name: &str, _target: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Gives a file another name. Fails if the name exists. The old name may remain.
    pub(crate) fn name_new(&self, from: &str, to: &OsStr) -> io::Result<()> {
        let (from, to) = (self.0.join(from), self.0.join(to));
        match fs::hard_link(&from, &to) {
            // The file system has no hard links.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !to.try_exists()? => {
                fs::rename(from, to)
            }
            linked => linked,
        }
    }

    /// Renames a file and replaces an existing one.
    pub(crate) fn rename(&self, from: &str, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    /// Returns the permissions of a regular file, or `None` if the name is not a regular file.
    pub(crate) fn attributes(&self, name: &OsStr) -> Option<Attributes> {
        let found = fs::symlink_metadata(self.0.join(name)).ok()?;
        found.is_file().then_some(found)
    }
}

/// The permissions of a file.
pub(crate) type Attributes = Metadata;

/// Returns the permissions of an open file.
pub(crate) fn attributes(file: &File) -> io::Result<Attributes> {
    file.metadata()
}

/// Gives `file` the permissions of the replaced file.
pub(crate) fn adopt(
    file: &File,
    replaced: &Attributes,
    _executable: Option<bool>,
) -> io::Result<()> {
    file.set_permissions(replaced.permissions())
}

fn kind(found: fs::FileType) -> Kind {
    if found.is_file() {
        Kind::File
    } else if found.is_dir() {
        Kind::Directory
    } else if found.is_symlink() {
        Kind::Link
    } else {
        Kind::Other
    }
}

/// Every timestamp of this system can be set by users, and no attribute marks a file as executable.
fn stamp(metadata: &Metadata) -> Stamp {
    let time = |time: io::Result<std::time::SystemTime>| time.map_or(0, nanoseconds);
    let modified = time(metadata.modified());
    Stamp {
        kind: kind(metadata.file_type()),
        size: metadata.len(),
        modified,
        changed: modified,
        inode: u64::try_from(time(metadata.created())).unwrap_or(0),
        has_other_names: false,
    }
}
