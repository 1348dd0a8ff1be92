//! Directories by path, on systems without names relative to a descriptor. A link on the way is
//! refused when a directory is opened; one that is put in place afterwards would be followed.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use super::{Kind, Name, Stamp};

/// A directory of the worktree.
pub(crate) struct Held(PathBuf);

impl Held {
    /// A directory by its absolute path.
    pub(crate) fn root(path: &Path) -> io::Result<Self> {
        let held = Self(path.to_owned());
        held.stamp()?;
        Ok(held)
    }

    /// A directory below this one; itself for an empty path.
    pub(crate) fn below(&self, relative: &str) -> io::Result<Self> {
        let mut here = Self(self.0.clone());
        for name in relative.split('/').filter(|name| !name.is_empty()) {
            here.0.push(name);
            here.stamp()?;
        }
        Ok(here)
    }

    /// The stamp of the directory itself.
    pub(crate) fn stamp(&self) -> io::Result<Stamp> {
        let stamp = stamp(&fs::symlink_metadata(&self.0)?);
        if stamp.kind == Kind::Directory {
            Ok(stamp)
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// What stands under a name; nothing if nothing does.
    pub(crate) fn stat(&self, name: &str) -> io::Result<Option<Stamp>> {
        match fs::symlink_metadata(self.0.join(name)) {
            Ok(found) => Ok(Some(stamp(&found))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Everything in the directory, in no order; nothing if that is more than `max` names.
    pub(crate) fn names(&self, max: usize) -> io::Result<Option<Vec<Name>>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            let kind = stamp(&entry.metadata()?).kind;
            let name = entry.file_name().into_string();
            let name = name.map_err(|name| name.to_string_lossy().into_owned());
            if names.len() == max {
                return Ok(None);
            }
            names.push(Name { name, kind });
        }
        Ok(Some(names))
    }

    /// Opens a regular file to read it, and its stamp.
    pub(crate) fn open_file(&self, name: &str) -> io::Result<(File, Stamp)> {
        let looks = self.stat(name)?.ok_or(io::ErrorKind::NotFound)?;
        if looks.kind != Kind::File {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok((File::open(self.0.join(name))?, looks))
    }

    /// Where a link leads.
    pub(crate) fn read_link(&self, name: &str) -> io::Result<Vec<u8>> {
        let target = fs::read_link(self.0.join(name))?;
        let target = target.into_os_string().into_string();
        let invalid = |_| io::Error::other("a link leads to a path that is not Unicode");
        Ok(target.map_err(invalid)?.replace('\\', "/").into_bytes())
    }

    /// Opens a directory in this one, creating it if there is none.
    pub(crate) fn directory(&self, name: &str) -> io::Result<Self> {
        match fs::create_dir(self.0.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.below(name),
        }
    }

    /// Puts a regular file in the place of whatever file or link has its name.
    pub(crate) fn put_file(&self, name: &str, content: &[u8], _executable: bool) -> io::Result<()> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let temporary = format!(".opencode-{}-s{number}.tmp", std::process::id());
        let temporary = self.0.join(temporary);
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)
            .and_then(|mut file| file.write_all(content))
            .and_then(|()| fs::rename(&temporary, self.0.join(name)));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// Links need a right here that few have.
    pub(crate) fn put_link(&self, _name: &str, _target: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Removes a file or a link.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Removes a directory that is empty.
    pub(crate) fn remove_directory(&self, name: &str) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }
}

/// There is no time here that nobody can set, and nothing says who may execute a file.
fn stamp(metadata: &Metadata) -> Stamp {
    let nanoseconds = |time: io::Result<SystemTime>| {
        let since = time
            .ok()
            .and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        since.map_or(0, |since| {
            i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
        })
    };
    let kind = match metadata.file_type() {
        kind if kind.is_file() => Kind::File,
        kind if kind.is_dir() => Kind::Directory,
        kind if kind.is_symlink() => Kind::Link,
        _ => Kind::Other,
    };
    let modified = nanoseconds(metadata.modified());
    Stamp {
        kind,
        size: metadata.len(),
        modified,
        changed: modified,
        inode: u64::try_from(nanoseconds(metadata.created())).unwrap_or(0),
        has_other_names: false,
    }
}
