//! Directories by path, on systems without names relative to a descriptor.

use std::{
    ffi::OsStr,
    fs::{self, File, Metadata, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use crate::child::Child;
use crate::names::{names, single};
use crate::stamp::{Kind, Stamp, nanoseconds};

/// A directory that led where its path says when it was opened.
#[derive(Debug)]
pub struct Directory(PathBuf);

impl Directory {
    pub(crate) fn root(root: &Path) -> io::Result<Self> {
        let root = Self(root.to_owned());
        root.stamp()?;
        Ok(root)
    }

    /// Opens a directory below this one, through no link; itself for an empty path.
    pub fn below(&self, relative: impl AsRef<Path>) -> io::Result<Self> {
        let mut here = Self(self.0.clone());
        for name in names(relative.as_ref()) {
            here.0.push(name?);
            here.stamp()?;
        }
        Ok(here)
    }

    /// Opens a directory in this one, creating it if there is none.
    pub(crate) fn directory(&self, name: &OsStr) -> io::Result<Self> {
        match self.below(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Where nobody may create one, the system refuses also what is there.
            opened => return opened,
        }
        match fs::create_dir(self.0.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.below(name),
        }
    }

    /// Refuses what was found through a link that took the place of a directory.
    fn unlinked(&self) -> io::Result<()> {
        Self::open(&self.0).map(drop)
    }

    /// The stamp of the directory itself.
    pub fn stamp(&self) -> io::Result<Stamp> {
        let stamp = stamp(&fs::symlink_metadata(&self.0)?);
        if stamp.kind == Kind::Directory {
            Ok(stamp)
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// What stands under a name; nothing if nothing does.
    pub fn stat(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Stamp>> {
        match fs::symlink_metadata(self.0.join(single(name.as_ref())?)) {
            Ok(found) => Ok(Some(stamp(&found))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Everything in the directory, in no order.
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

    /// The stamp of the regular file of a name.
    fn require_file(&self, name: &OsStr) -> io::Result<Stamp> {
        let stamp = self.stat(name)?.ok_or(io::ErrorKind::NotFound)?;
        stamp.kind.require_file()?;
        Ok(stamp)
    }

    /// Opens a regular file to read it, and its stamp. Nothing else is opened.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<(File, Stamp)> {
        self.require_file(name.as_ref())?;
        self.open_seen_file(name, None)
    }

    /// Opens what was just seen to be a regular file, by its stamp or in a list of children, to read
    /// it. What took its place since is refused.
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

    /// Opens a regular file to read it. That it may be written its metadata says.
    pub fn open_file_to_change(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.open_file(name).map(|(file, _)| file)
    }

    /// Where a link leads.
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

    /// Removes a directory that is empty.
    pub fn remove_directory(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        fs::remove_dir(self.0.join(single(name.as_ref())?))
    }

    /// Creates a file nobody else can have.
    pub(crate) fn new_file(&self, name: &str, _mode: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).open(self.0.join(name))
    }

    /// Links need a right here that few have.
    pub(crate) fn new_link(&self, _name: &str, _target: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Gives a file another name; fails if that is taken. The old name may remain.
    pub(crate) fn name_new(&self, from: &str, to: &OsStr) -> io::Result<()> {
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
    pub(crate) fn rename(&self, from: &str, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    /// Who may do what with a regular file; nothing if none has that name.
    pub(crate) fn attributes(&self, name: &OsStr) -> Option<Attributes> {
        let found = fs::symlink_metadata(self.0.join(name)).ok()?;
        found.is_file().then_some(found)
    }
}

/// Who may do what with a file.
pub(crate) type Attributes = Metadata;

/// Who may do what with an open file.
pub(crate) fn attributes(file: &File) -> io::Result<Attributes> {
    file.metadata()
}

/// Makes `file` usable for those who could use the replaced one.
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

/// There is no time here that nobody can set, and nothing says who may execute a file.
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
