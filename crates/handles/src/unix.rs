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

/// To pass through a directory takes no permission to list it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PASS: OFlags = OFlags::RDONLY;

const DIRECTORY: OFlags = PASS
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A directory that is held open.
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

    /// Opens a directory below this one, through no link; itself for an empty path.
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

    /// One system call for the whole way, where the system has it and the path is not too long.
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
            // A link on the way.
            Err(Errno::LOOP) => Some(Err(Errno::NOTDIR.into())),
            Err(error) => Some(Err(error.into())),
        }
    }

    /// Opens a directory in this one, creating it if there is none.
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

    /// The stamp of the directory itself.
    pub fn stamp(&self) -> io::Result<Stamp> {
        Ok(stamp(&fstat(&self.0)?))
    }

    /// What stands under a name; nothing if nothing does.
    pub fn stat(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Stamp>> {
        match self.look(single(name.as_ref())?) {
            Ok(found) => Ok(Some(stamp(&found))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn look(&self, name: &OsStr) -> Result<Stat, Errno> {
        statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Everything in the directory, in no order.
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
                // Some file systems do not tell. What is gone by now is not there.
                FileType::Unknown => stamp(&self.look(name).ok()?).kind,
                _ => Kind::Other,
            };
            let name = name.to_owned();
            Some(Ok(Child { name, kind }))
        }))
    }

    /// Opens a regular file to read it, and its stamp. Nothing else is opened: that alone can do
    /// something, or wait for ever.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<(File, Stamp)> {
        let name = single(name.as_ref())?;
        let found = self.look(name)?;
        stamp(&found).kind.require_file()?;
        refuse(identity(&found))?;
        self.open_regular(name, OFlags::RDONLY)
    }

    /// Opens what was just seen to be a regular file, by its stamp or in a list of children, to read
    /// it. What took its place since is refused, without waiting for it.
    ///
    /// `inode` is the number that the list has for the file, if the caller knows it. It saves a system call for files
    /// that cannot belong to an open database.
    pub fn open_seen_file(
        &self,
        name: impl AsRef<OsStr>,
        inode: Option<u64>,
    ) -> io::Result<(File, Stamp)> {
        let name = single(name.as_ref())?;
        if inode.is_none_or(may_be_database) {
            refuse(identity(&self.look(name)?))?;
        }
        self.open_regular(name, OFlags::RDONLY)
    }

    /// Opens a regular file to read it and to see that it may be written. Nothing else is opened.
    pub fn open_file_to_change(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let name = single(name.as_ref())?;
        let found = self.look(name)?;
        stamp(&found).kind.require_file()?;
        refuse(identity(&found))?;
        let (file, _) = self.open_regular(name, OFlags::RDWR)?;
        Ok(file)
    }

    fn open_regular(&self, name: &OsStr, access: OFlags) -> io::Result<(File, Stamp)> {
        // Without waiting: a FIFO put in its place just now would do so until somebody opens it, too.
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(&self.0, name, flags, Mode::empty()) {
            // A link that was put in its place just now.
            Err(Errno::LOOP | Errno::MLINK) => return Err(Errno::NOTDIR.into()),
            file => File::from(file?),
        };
        let found = fstat(&file)?;
        let file = keep_database(file, Some(identity(&found)))?;
        let stamp = stamp(&found);
        stamp.kind.require_file()?;
        Ok((file, stamp))
    }

    /// Where a link leads.
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

    /// Removes a directory that is empty.
    pub fn remove_directory(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = single(name.as_ref())?;
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Creates a file nobody else can have.
    pub(crate) fn new_file(&self, name: &str, mode: u32) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode as _);
        Ok(File::from(openat(&self.0, name, flags, mode)?))
    }

    pub(crate) fn new_link(&self, name: &str, target: &[u8]) -> io::Result<()> {
        let target = OsString::from_vec(target.to_vec());
        Ok(symlinkat(&target, &self.0, name)?)
    }

    /// Gives a file another name; fails if that is taken. The old name may remain.
    pub(crate) fn name_new(&self, from: &str, to: &OsStr) -> io::Result<()> {
        match linkat(&self.0, from, &self.0, to, AtFlags::empty()) {
            // File systems without hard links.
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS | Errno::MLINK) => match self.look(to) {
                Err(Errno::NOENT) => self.rename(from, to),
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(error) => Err(error.into()),
            },
            linked => Ok(linked?),
        }
    }

    /// Moves a file to a name, over what is there.
    pub(crate) fn rename(&self, from: &str, to: &OsStr) -> io::Result<()> {
        self.refuse_database(to)?;
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    /// Refuses a name under which a file of an open database stands.
    fn refuse_database(&self, name: &OsStr) -> io::Result<()> {
        match self.look(name) {
            Ok(found) => refuse(identity(&found)),
            Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whose a regular file is; nothing if none has that name.
    pub(crate) fn attributes(&self, name: &OsStr) -> Option<Attributes> {
        let found = self.look(name).ok()?;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        is_file.then_some(found)
    }
}

/// Whose a file is, and who may do what with it.
pub(crate) type Attributes = Stat;

/// Whose an open file is.
pub(crate) fn attributes(file: &File) -> io::Result<Attributes> {
    Ok(fstat(file)?)
}

/// Gives a file the owner and the permissions of the one it replaces, with or without the right to
/// execute it where that is said.
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
        // Only the superuser can give files away. For others the file is theirs from now on.
        if let Err(error) = fchown(file, Some(owner), Some(group)) {
            tracing::debug!(%error, "a file has another owner now");
        }
    }
    // What runs as its owner does not any more once it was written, as the system has it, too.
    let permissions = replaced.st_mode & 0o777;
    let permissions = match executable {
        None => permissions,
        Some(true) => permissions | 0o100 | (permissions & 0o044) >> 2,
        Some(false) => permissions & !0o111,
    };
    Ok(fchmod(file, Mode::from_raw_mode(permissions as _))?)
}

/// Opens a directory to pass through it.
fn pass(directory: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    match openat(directory, name, DIRECTORY, Mode::empty()) {
        // A link, as some systems tell it.
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
