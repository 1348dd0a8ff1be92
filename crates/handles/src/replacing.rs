//! Atomic file replacement: a file is written under a temporary name and renamed. Readers never see
//! a partial file, and a crash leaves the old or the new content. Nothing is flushed to disk: the
//! system decides the state after a power failure.

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

/// Prefix and suffix of temporary names.
const PREFIX: &str = ".opencode-";
const SUFFIX: &str = ".tmp";

/// True if a name is a temporary name of this module.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

impl Directory {
    /// Creates a file. Fails if the name exists.
    pub fn create_file(&self, name: impl AsRef<OsStr>, content: &[u8]) -> io::Result<()> {
        let name = single(name.as_ref())?;
        let (temporary, mut file) = Temporary::file(self, 0o666)?;
        file.write_all(content)?;
        self.name_new(&temporary.name, name)
    }

    /// Replaces the file `replaced`, or any file that has its name now. The new file has the owner
    /// and the permissions of `replaced`. Another name of `replaced` (a hard link) keeps the old
    /// content.
    pub fn replace_file(
        &self,
        name: impl AsRef<OsStr>,
        content: &[u8],
        replaced: &File,
    ) -> io::Result<()> {
        let replaced = attributes(replaced)?;
        self.put(single(name.as_ref())?, content, Some(replaced), None)
    }

    /// Writes a regular file and replaces any existing file or link. Keeps the owner and the
    /// permissions of an existing file, except for the right to execute it.
    pub fn put_file(
        &self,
        name: impl AsRef<OsStr>,
        content: &[u8],
        executable: bool,
    ) -> io::Result<()> {
        let name = single(name.as_ref())?;
        self.put(name, content, self.attributes(name), Some(executable))
    }

    /// Creates a link and replaces any existing file or link.
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
        // Users without read access to the old file must not be able to read the new one meanwhile.
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

/// A file or link under a temporary name. Dropping it removes that name, so that nothing remains
/// after an error.
struct Temporary<'a> {
    directory: &'a Directory,
    name: String,
    is_placed: bool,
}

impl<'a> Temporary<'a> {
    fn file(directory: &'a Directory, mode: u32) -> io::Result<(Self, File)> {
        Self::create(directory, |name| directory.new_file(name, mode))
    }

    /// Creates an entry under an unused name.
    fn create<T>(
        directory: &'a Directory,
        create: impl Fn(&str) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{PREFIX}{}-{number}{SUFFIX}", process::id());
            let created = match create(&name) {
                // Left by a killed process with the same id.
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

    /// Renames it and replaces an existing entry.
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
