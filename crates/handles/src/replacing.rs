//! Files that are written beside their place and moved there, so that they are never seen half written
//! and a crash leaves the old content or the new one. Nothing is forced onto the disk: what a power
//! failure leaves is up to the system.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Write},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::names::single;
#[cfg(not(unix))]
use crate::portable::{Attributes, adopt, attributes};
use crate::unix::Directory;
#[cfg(unix)]
use crate::unix::{Attributes, adopt, attributes};

/// What the names begin and end with that files have before they are moved to their place.
const PREFIX: &str = ".opencode-";
const SUFFIX: &str = ".tmp";

/// Whether a name is one that files have here before they are moved to their place.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

impl Directory {
    /// Creates a file; fails where anything has its name.
    pub fn create_file(&self, name: impl AsRef<OsStr>, content: &[u8]) -> io::Result<()> {
        let name = single(name.as_ref())?;
        let (temporary, mut file) = Temporary::file(self, 0o666)?;
        file.write_all(content)?;
        self.name_new(&temporary.name, name)
    }

    /// Puts a file in the place of `replaced`, whatever has its name by now. It keeps that one's owner
    /// and permissions; another name of that one (a hard link) keeps the old content.
    pub fn replace_file(
        &self,
        name: impl AsRef<OsStr>,
        content: &[u8],
        replaced: &File,
    ) -> io::Result<()> {
        let replaced = attributes(replaced)?;
        self.put(single(name.as_ref())?, content, Some(replaced), None)
    }

    /// Puts a regular file in the place of whatever file or link has its name. It keeps the owner and
    /// the permissions of a file, but for the right to execute it.
    pub fn put_file(
        &self,
        name: impl AsRef<OsStr>,
        content: &[u8],
        executable: bool,
    ) -> io::Result<()> {
        let name = single(name.as_ref())?;
        self.put(name, content, self.attributes(name), Some(executable))
    }

    /// Puts a link in the place of whatever file or link has its name.
    pub fn put_link(&self, name: impl AsRef<OsStr>, target: &[u8]) -> io::Result<()> {
        let name = single(name.as_ref())?;
        let (temporary, ()) = Temporary::create(self, |name| self.new_link(name, target))?;
        temporary.place(name)
    }

    fn put(
        &self,
        name: &OsStr,
        content: &[u8],
        replaced: Option<Attributes>,
        executable: Option<bool>,
    ) -> io::Result<()> {
        // Whoever could not read the old file shall not read the new one meanwhile.
        let mode = match (&replaced, executable) {
            (Some(_), _) => 0o600,
            (None, Some(true)) => 0o777,
            (None, _) => 0o666,
        };
        let (temporary, mut file) = Temporary::file(self, mode)?;
        file.write_all(content)?;
        if let Some(replaced) = replaced {
            adopt(&file, &replaced, executable)?;
        }
        temporary.place(name)
    }
}

/// Something beside the place it is for. Dropping it removes its name, so that nothing stays behind
/// whatever goes wrong.
struct Temporary<'a> {
    directory: &'a Directory,
    name: String,
    is_placed: bool,
}

impl<'a> Temporary<'a> {
    fn file(directory: &'a Directory, mode: u32) -> io::Result<(Self, File)> {
        Self::create(directory, |name| directory.new_file(name, mode))
    }

    /// Creates something under a name that nobody has.
    fn create<T>(
        directory: &'a Directory,
        create: impl Fn(&str) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{PREFIX}{}-{number}{SUFFIX}", process::id());
            let created = match create(&name) {
                // Left behind by a process of the same number that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            };
            let temporary = Self {
                directory,
                name,
                is_placed: false,
            };
            return Ok((temporary, created));
        }
    }

    /// Moves it to a name, over what is there.
    fn place(mut self, name: &OsStr) -> io::Result<()> {
        self.directory.rename(&self.name, name)?;
        self.is_placed = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_placed
            && let Err(error) = self.directory.remove(&self.name)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "a temporary file stays behind");
        }
    }
}
