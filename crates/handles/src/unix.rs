//! Directories by descriptor.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::Path,
};

use rustix::{
    fs::{
        AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fchmod, fchown, fstat, linkat, mkdirat,
        openat, readlinkat, renameat, statat, symlinkat, unlinkat,
    },
    io::Errno,
    process::{Gid, Uid},
};

use crate::child::Child;
use crate::databases::{Identity, keep_database, may_be_database, refuse};
use crate::names::{names, single};
use crate::stamp::{Kind, Stamp};

/// Traversing a directory does not need the permission to list it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PASS: OFlags = OFlags::RDONLY;

const DIRECTORY: OFlags = PASS
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// An open directory.
#[derive(Debug)]
pub struct Directory(OwnedFd);

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Directory {
    pub(crate) fn root(root: &Path) -> io::Result<Self> {
        Ok(Self(openat(CWD, root, DIRECTORY, Mode::empty())?))
    }

    /// Opens a directory below this one without following links. An empty path opens this directory
    /// itself.
    pub fn below(&self, relative: impl AsRef<Path>) -> io::Result<Self> {
        let relative = relative.as_ref();
        if relative.as_os_str().is_empty() {
            return Ok(Self(pass(&self.0, OsStr::new("."))?));
        }
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Some(opened) = self.below_at_once(relative) {
            return opened;
        }
        let mut here: Option<OwnedFd> = None;
        for name in names(relative) {
            let place = here.as_ref().unwrap_or(&self.0);
            here = Some(pass(place, name?)?);
        }
        here.map(Self)
            .ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    /// Opens the whole path with one system call. Returns `None` if the system lacks the call or
    /// the path is too long.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn below_at_once(&self, relative: &Path) -> Option<io::Result<Self>> {
        use rustix::fs::{ResolveFlags, openat2};
        use std::sync::atomic::{AtomicBool, Ordering};

        static MISSING: AtomicBool = AtomicBool::new(false);
        if MISSING.load(Ordering::Relaxed) || !names(relative).all(|name| name.is_ok()) {
            return None;
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match openat2(&self.0, relative, DIRECTORY, Mode::empty(), resolve) {
            Ok(opened) => Some(Ok(Self(opened))),
            Err(Errno::NOSYS | Errno::PERM) => {
                MISSING.store(true, Ordering::Relaxed);
                None
            }
            Err(Errno::INVAL | Errno::NAMETOOLONG | Errno::AGAIN) => None,
            // A link within the path.
            Err(Errno::LOOP) => Some(Err(Errno::NOTDIR.into())),
            Err(error) => Some(Err(error.into())),
        }
    }

    /// Opens a directory in this one and creates it if it does not exist.
    pub(crate) fn directory(&self, name: &OsStr) -> io::Result<Self> {
        match pass(&self.0, name) {
            Err(Errno::NOENT) => {
                match mkdirat(&self.0, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                Ok(Self(pass(&self.0, name)?))
            }
            opened => Ok(Self(opened?)),
        }
    }

    /// Returns the stamp of the directory itself.
    pub fn stamp(&self) -> io::Result<Stamp> {
        Ok(stamp(&fstat(&self.0)?))
    }

    /// Returns the stamp of an entry, or `None` if it does not exist.
    pub fn stat(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Stamp>> {
        match self.stat_entry(single(name.as_ref())?) {
            Ok(found) => Ok(Some(stamp(&found))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn stat_entry(&self, name: &OsStr) -> Result<Stat, Errno> {
        statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Returns all entries of the directory, in no particular order.
    pub fn children(&self) -> io::Result<impl Iterator<Item = io::Result<Child>>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let readable = openat(&self.0, ".", flags, Mode::empty())?;
        Ok(Dir::new(readable)?.filter_map(|entry| {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return Some(Err(error.into())),
            };
            let name = entry.file_name();
            if name == c"." || name == c".." {
                return None;
            }
            let name = OsStr::from_bytes(name.to_bytes());
            let kind = match entry.file_type() {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Directory,
                FileType::Symlink => Kind::Link,
                // Some file systems do not report the kind. An entry that was removed meanwhile is
                // omitted.
                FileType::Unknown => stamp(&self.stat_entry(name).ok()?).kind,
                _ => Kind::Other,
            };
            let name = name.to_owned();
            Some(Ok(Child { name, kind }))
        }))
    }

    /// Opens a regular file for reading and returns it with its stamp. Fails for any other kind,
    /// because opening it can have effects or block forever.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<(File, Stamp)> {
        let name = single(name.as_ref())?;
        let found = self.stat_entry(name)?;
        stamp(&found).kind.require_file()?;
        refuse(identity(&found))?;
        self.open_regular(name, OFlags::RDONLY)
    }

    /// Opens a file for reading that a stamp or a listing just showed as a regular file. Fails
    /// without blocking if it was replaced by another kind.
    ///
    /// `inode` is the inode number from the listing, if the caller has it. It saves a system call
    /// for files that cannot belong to an open database.
    pub fn open_seen_file(
        &self,
        name: impl AsRef<OsStr>,
        inode: Option<u64>,
    ) -> io::Result<(File, Stamp)> {
        let name = single(name.as_ref())?;
        if inode.is_none_or(may_be_database) {
            refuse(identity(&self.stat_entry(name)?))?;
        }
        self.open_regular(name, OFlags::RDONLY)
    }

    /// Opens a regular file for reading and writing, which checks that it is writable. Fails for
    /// any other kind.
    pub fn open_file_to_change(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let name = single(name.as_ref())?;
        let found = self.stat_entry(name)?;
        stamp(&found).kind.require_file()?;
        refuse(identity(&found))?;
        let (file, _) = self.open_regular(name, OFlags::RDWR)?;
        Ok(file)
    }

    fn open_regular(&self, name: &OsStr, access: OFlags) -> io::Result<(File, Stamp)> {
        // Non-blocking, because opening a FIFO that just replaced the file would block until
        // another process opens it.
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(&self.0, name, flags, Mode::empty()) {
            // A link that just replaced the file.
            Err(Errno::LOOP | Errno::MLINK) => return Err(Errno::NOTDIR.into()),
            file => File::from(file?),
        };
        let found = fstat(&file)?;
        let file = keep_database(file, Some(identity(&found)))?;
        let stamp = stamp(&found);
        stamp.kind.require_file()?;
        Ok((file, stamp))
    }

    /// Returns the target of a link.
    pub fn read_link(&self, name: impl AsRef<OsStr>) -> io::Result<Vec<u8>> {
        let target = readlinkat(&self.0, single(name.as_ref())?, Vec::new())?;
        Ok(target.into_bytes())
    }

    /// Removes a file or a link.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = single(name.as_ref())?;
        self.refuse_database(name)?;
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes an empty directory.
    pub fn remove_directory(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = single(name.as_ref())?;
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Creates a new file. Fails if the name exists.
    pub(crate) fn new_file(&self, name: &str, mode: u32) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode as _);
        Ok(File::from(openat(&self.0, name, flags, mode)?))
    }

    pub(crate) fn new_link(&self, name: &str, target: &[u8]) -> io::Result<()> {
        let target = OsString::from_vec(target.to_vec());
        Ok(symlinkat(&target, &self.0, name)?)
    }

    /// Gives a file another name. Fails if the name exists. The old name may remain.
    pub(crate) fn name_new(&self, from: &str, to: &OsStr) -> io::Result<()> {
        match linkat(&self.0, from, &self.0, to, AtFlags::empty()) {
            // The file system has no hard links.
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS | Errno::MLINK) => {
                match self.stat_entry(to) {
                    Err(Errno::NOENT) => self.rename(from, to),
                    Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                    Err(error) => Err(error.into()),
                }
            }
            linked => Ok(linked?),
        }
    }

    /// Renames a file and replaces an existing one.
    pub(crate) fn rename(&self, from: &str, to: &OsStr) -> io::Result<()> {
        self.refuse_database(to)?;
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    /// Fails if a file of an open database has this name.
    fn refuse_database(&self, name: &OsStr) -> io::Result<()> {
        match self.stat_entry(name) {
            Ok(found) => refuse(identity(&found)),
            Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns owner and permissions of a regular file, or `None` if the name is not a regular
    /// file.
    pub(crate) fn attributes(&self, name: &OsStr) -> Option<Attributes> {
        let found = self.stat_entry(name).ok()?;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        is_file.then_some(found)
    }
}

/// The owner and the permissions of a file.
pub(crate) type Attributes = Stat;

/// Returns owner and permissions of an open file.
pub(crate) fn attributes(file: &File) -> io::Result<Attributes> {
    Ok(fstat(file)?)
}

/// Gives a file the owner and the permissions of the file that it replaces. `executable` overrides
/// the right to execute it.
pub(crate) fn adopt(
    file: &File,
    replaced: &Attributes,
    executable: Option<bool>,
) -> io::Result<()> {
    let mine = fstat(file)?;
    if (mine.st_uid, mine.st_gid) != (replaced.st_uid, replaced.st_gid) {
        let (owner, group) = (
            Uid::from_raw(replaced.st_uid),
            Gid::from_raw(replaced.st_gid),
        );
        // Only the superuser can change the owner of a file. Otherwise the file belongs to the user
        // of this process.
        if let Err(error) = fchown(file, Some(owner), Some(group)) {
            tracing::debug!(%error, "a file has another owner now");
        }
    }
    // The set-user-ID and set-group-ID bits are dropped, as the system does after a write.
    let permissions = replaced.st_mode & 0o777;
    let permissions = match executable {
        None => permissions,
        Some(true) => permissions | 0o100 | (permissions & 0o044) >> 2,
        Some(false) => permissions & !0o111,
    };
    Ok(fchmod(file, Mode::from_raw_mode(permissions as _))?)
}

/// Opens a directory for traversal.
fn pass(directory: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    match openat(directory, name, DIRECTORY, Mode::empty()) {
        // Some systems report a link in this way.
        Err(Errno::LOOP) => Err(Errno::NOTDIR),
        opened => opened,
    }
}

#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
#[allow(clippy::cast_sign_loss, reason = "a device is a number without a sign")]
fn identity(stat: &Stat) -> Identity {
    Identity {
        device: stat.st_dev as u64,
        inode: stat.st_ino as u64,
    }
}

#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
fn stamp(stat: &Stat) -> Stamp {
    const SECOND: i64 = 1_000_000_000;
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if stat.st_mode & 0o100 != 0 => Kind::Executable,
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    };
    let time =
        |seconds: i64, nanoseconds: i64| seconds.saturating_mul(SECOND).saturating_add(nanoseconds);
    Stamp {
        kind,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: time(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        changed: time(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        inode: stat.st_ino as u64,
        has_other_names: kind != Kind::Directory && stat.st_nlink > 1,
    }
}
