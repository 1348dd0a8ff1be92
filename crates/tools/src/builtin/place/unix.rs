//! Directories by descriptor, on systems that can name files relative to one.

use std::{
    ffi::OsStr,
    fs::{File, Metadata},
    io,
    os::{
        fd::OwnedFd,
        unix::fs::{MetadataExt, PermissionsExt},
    },
    path::{Component, Path},
};

use rustix::{
    fs::{
        AtFlags, CWD, FileType, Mode, OFlags, fchmod, fchown, linkat, mkdirat, openat, renameat,
        statat, unlinkat,
    },
    io::Errno,
    process::{Gid, Uid},
};

/// To pass through a directory takes no permission to list it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PASS: OFlags = OFlags::RDONLY;

/// A directory held open.
pub(super) struct Directory(OwnedFd);

impl Directory {
    /// Walks to an absolute path without following a link.
    pub(super) fn open(path: &Path, create: bool) -> io::Result<Self> {
        let flags = PASS | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut here = openat(CWD, "/", flags, Mode::empty())?;
        for component in path.components() {
            let Component::Normal(name) = component else {
                continue;
            };
            here = match openat(&here, name, flags, Mode::empty()) {
                Err(Errno::NOENT) if create => {
                    match mkdirat(&here, name, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    openat(&here, name, flags, Mode::empty())?
                }
                opened => opened?,
            };
        }
        Ok(Self(here))
    }

    /// Opens a file to read it and to see that it may be written, if there is one. What is not a
    /// regular file is not opened: that alone can do something, or wait for ever.
    pub(super) fn open_file(&self, name: &OsStr) -> io::Result<Option<File>> {
        let stat = match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            stat => stat?,
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is not a regular file"));
        }
        let flags =
            OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = openat(&self.0, name, flags, Mode::empty())?;
        Ok(Some(File::from(file)))
    }

    /// Creates a file nobody else can have, readable for its owner alone if it is `private`.
    pub(super) fn create_file(&self, name: &OsStr, private: bool) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(if private { 0o600 } else { 0o666 });
        Ok(File::from(openat(&self.0, name, flags, mode)?))
    }

    /// Gives a file another name; fails if that is taken. The old name may remain.
    pub(super) fn name_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match linkat(&self.0, from, &self.0, to, AtFlags::empty()) {
            // File systems without hard links.
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS | Errno::MLINK) => {
                match statat(&self.0, to, AtFlags::SYMLINK_NOFOLLOW) {
                    Err(Errno::NOENT) => self.replace(from, to),
                    Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                    Err(error) => Err(error.into()),
                }
            }
            linked => Ok(linked?),
        }
    }

    /// Moves a file to a name, over what is there.
    pub(super) fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    /// Removes a file or a link.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }
}

/// Makes `file` belong to whom the replaced one belonged, for those who could use that one.
pub(super) fn adopt(file: &File, replaced: &Metadata) -> io::Result<()> {
    let mine = file.metadata()?;
    if (mine.uid(), mine.gid()) != (replaced.uid(), replaced.gid()) {
        let (owner, group) = (Uid::from_raw(replaced.uid()), Gid::from_raw(replaced.gid()));
        // Only the superuser can give files away. For others the file is theirs from now on.
        if let Err(error) = fchown(file, Some(owner), Some(group)) {
            tracing::debug!(%error, "a file has another owner now");
        }
    }
    // What runs as its owner does not any more once it was written, as the system has it, too.
    let mode = Mode::from_raw_mode((replaced.permissions().mode() & 0o777) as _);
    Ok(fchmod(file, mode)?)
}
