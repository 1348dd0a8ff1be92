//! Directories by descriptor.

use std::{
    fs::File,
    io,
    os::{fd::OwnedFd, unix::ffi::OsStringExt},
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{
        AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fchmod, fchown, fstat, mkdirat, openat,
        readlinkat, renameat, statat, symlinkat, unlinkat,
    },
    io::Errno,
    process::{Gid, Uid},
};

use super::{Kind, Name, Stamp};

/// To pass through a directory takes no permission to list it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PASS: OFlags = OFlags::RDONLY;

const DIRECTORY: OFlags = PASS
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A directory of the worktree, held open.
pub(crate) struct Held(OwnedFd);

impl Held {
    /// Opens a directory by its absolute path, which has no links.
    pub(crate) fn root(path: &Path) -> io::Result<Self> {
        let slash = Self(openat(CWD, "/", DIRECTORY, Mode::empty())?);
        let Some(path) = path.to_str() else {
            return Err(io::Error::other("the path is not UTF-8"));
        };
        slash.below(path.trim_matches('/'))
    }

    /// Opens a directory below this one; itself for an empty path.
    pub(crate) fn below(&self, relative: &str) -> io::Result<Self> {
        if relative.is_empty() {
            return Ok(Self(pass(&self.0, ".")?));
        }
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Some(opened) = self.below_at_once(relative) {
            return opened;
        }
        let mut here: Option<OwnedFd> = None;
        for name in relative.split('/') {
            let place = here.as_ref().unwrap_or(&self.0);
            here = Some(pass(place, name)?);
        }
        here.map(Self)
            .ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    /// One system call for the whole way, where the system has it and the path is not too long.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn below_at_once(&self, relative: &str) -> Option<io::Result<Self>> {
        use rustix::fs::{ResolveFlags, openat2};
        use std::sync::atomic::AtomicBool;

        static MISSING: AtomicBool = AtomicBool::new(false);
        if MISSING.load(Ordering::Relaxed) {
            return None;
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match openat2(&self.0, relative, DIRECTORY, Mode::empty(), resolve) {
            Ok(opened) => Some(Ok(Self(opened))),
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => {
                MISSING.store(true, Ordering::Relaxed);
                None
            }
            Err(Errno::NAMETOOLONG | Errno::AGAIN) => None,
            // A link on the way.
            Err(Errno::LOOP) => Some(Err(Errno::NOTDIR.into())),
            Err(error) => Some(Err(error.into())),
        }
    }

    /// The stamp of the directory itself.
    pub(crate) fn stamp(&self) -> io::Result<Stamp> {
        Ok(stamp(&fstat(&self.0)?))
    }

    /// Which file system it is in.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
    pub(crate) fn device(&self) -> io::Result<u64> {
        Ok(fstat(&self.0)?.st_dev as u64)
    }

    /// A path that leads here and nowhere else, for calls that take no descriptor.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn own_path(&self) -> String {
        use std::os::fd::AsRawFd;
        format!("/proc/self/fd/{}", self.0.as_raw_fd())
    }

    /// Whether the file system is one of this machine alone, that tells of every change.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
    pub(crate) fn tells_changes(&self) -> bool {
        /// ext, XFS, Btrfs, tmpfs, ZFS, F2FS, overlayfs and bcachefs.
        const LOCAL: [u32; 8] = [
            0xEF53,
            0x5846_5342,
            0x9123_683E,
            0x0102_1994,
            0x2FC1_2FC1,
            0xF2F5_2010,
            0x794C_7630,
            0xCA45_1A4E,
        ];
        let system = rustix::fs::fstatfs(&self.0);
        system.is_ok_and(|system| LOCAL.contains(&(system.f_type as u32)))
    }

    /// What stands under a name; nothing if nothing does.
    pub(crate) fn stat(&self, name: &str) -> io::Result<Option<Stamp>> {
        match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(stamp(&found))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Everything in the directory, in no order; nothing if that is more than `max` names.
    pub(crate) fn names(&self, max: usize) -> io::Result<Option<Vec<Name>>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let readable = openat(&self.0, ".", flags, Mode::empty())?;
        let mut names = Vec::new();
        for entry in Dir::new(readable)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Directory,
                FileType::Symlink => Kind::Link,
                // Some file systems do not tell.
                FileType::Unknown => match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(found) => stamp(&found).kind,
                    Err(_) => continue,
                },
                _ => Kind::Other,
            };
            let name = name.to_owned().into_string();
            let name = name.map_err(|name| {
                String::from_utf8_lossy(name.into_cstring().to_bytes()).into_owned()
            });
            if names.len() == max {
                return Ok(None);
            }
            names.push(Name { name, kind });
        }
        Ok(Some(names))
    }

    /// Opens a regular file to read it, and its stamp. Nothing else is opened: that alone can do
    /// something, or wait for ever.
    pub(crate) fn open_file(&self, name: &str) -> io::Result<(File, Stamp)> {
        let looks = self.stat(name)?.ok_or(io::ErrorKind::NotFound)?;
        if !matches!(looks.kind, Kind::File | Kind::Executable) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(&self.0, name, flags, Mode::empty()) {
            // A link that was put in its place just now.
            Err(Errno::LOOP | Errno::MLINK) => return Err(Errno::NOTDIR.into()),
            file => File::from(file?),
        };
        let stamp = stamp(&fstat(&file)?);
        match stamp.kind {
            Kind::File | Kind::Executable => Ok((file, stamp)),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Where a link leads.
    pub(crate) fn read_link(&self, name: &str) -> io::Result<Vec<u8>> {
        Ok(readlinkat(&self.0, name, Vec::new())?.into_bytes())
    }

    /// Opens a directory in this one, creating it if there is none.
    pub(crate) fn directory(&self, name: &str) -> io::Result<Self> {
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

    /// Puts a regular file in the place of whatever file or link has its name. It keeps the owner and
    /// the permissions of a file, but for the right to execute it.
    pub(crate) fn put_file(&self, name: &str, content: &[u8], executable: bool) -> io::Result<()> {
        let replaced = match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::RegularFile => {
                Some(found)
            }
            _ => None,
        };
        // Whoever could not read the old file shall not read the new one meanwhile.
        let mode = match (&replaced, executable) {
            (Some(_), _) => 0o600,
            (None, true) => 0o777,
            (None, false) => 0o666,
        };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let create = |temporary: &str| openat(&self.0, temporary, flags, Mode::from_raw_mode(mode));
        let (temporary, file) = unused(create)?;
        let written = (|| {
            let mut file = File::from(file);
            io::Write::write_all(&mut file, content)?;
            if let Some(replaced) = replaced {
                adopt(&file, &replaced, executable)?;
            }
            renameat(&self.0, temporary.as_str(), &self.0, name)?;
            Ok(())
        })();
        self.tidy(&temporary, written)
    }

    /// Puts a link in the place of whatever file or link has its name.
    pub(crate) fn put_link(&self, name: &str, target: &[u8]) -> io::Result<()> {
        let target = std::ffi::OsString::from_vec(target.to_vec());
        let (temporary, ()) = unused(|temporary| symlinkat(&target, &self.0, temporary))?;
        let moved = renameat(&self.0, temporary.as_str(), &self.0, name);
        self.tidy(&temporary, moved.map_err(io::Error::from))
    }

    /// Removes a file or a link.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes a directory that is empty.
    pub(crate) fn remove_directory(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Removes a temporary file that was not moved to its place.
    fn tidy(&self, temporary: &str, written: io::Result<()>) -> io::Result<()> {
        if written.is_err()
            && let Err(error) = self.remove(temporary)
        {
            tracing::warn!(%error, "a temporary file stays behind");
        }
        written
    }
}

/// Opens a directory to pass through it.
fn pass(directory: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    match openat(directory, name, DIRECTORY, Mode::empty()) {
        // A link, as some systems tell it.
        Err(Errno::LOOP) => Err(Errno::NOTDIR),
        opened => opened,
    }
}

/// Creates something under a name that nobody has.
fn unused<T>(create: impl Fn(&str) -> Result<T, Errno>) -> io::Result<(String, T)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".opencode-{}-s{number}.tmp", std::process::id());
        match create(&name) {
            // Left behind by a process of the same number that was killed.
            Err(Errno::EXIST) => {}
            created => return Ok((name, created?)),
        }
    }
}

/// Gives a file the owner and the permissions of the one it replaces.
fn adopt(file: &File, replaced: &Stat, executable: bool) -> io::Result<()> {
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
    let permissions = replaced.st_mode & 0o777;
    let permissions = if executable {
        permissions | 0o100 | (permissions & 0o044) >> 2
    } else {
        permissions & !0o111
    };
    Ok(fchmod(file, Mode::from_raw_mode(permissions as _))?)
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
