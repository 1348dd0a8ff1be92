//! What directories hold, kept as long as they do not change.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How long ago a directory must have changed when it is listed, for its time to tell the next
/// change. File systems count in steps of up to two seconds.
const SETTLED: Duration = Duration::from_secs(3);

/// What directories held when somebody last looked.
#[derive(Default)]
pub(crate) struct Listings {
    /// Of the look before; what is not taken over is forgotten.
    before: HashMap<OsString, Listing>,
    // By text: the hash of a path goes through its names one by one.
    now: HashMap<OsString, Listing>,
}

struct Listing {
    modified: SystemTime,
    entries: Arc<[Entry]>,
}

/// A name in a directory.
pub(super) struct Entry {
    pub name: OsString,
    pub kind: Kind,
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Directory,
    Link,
    Other,
}

impl Listings {
    /// Begins a look: what was listed in the last one may be used once more.
    pub(crate) fn begin(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }

    /// The names in a directory, sorted; an error beyond `most` of them.
    pub(super) fn list(&mut self, directory: &Path, most: usize) -> io::Result<Arc<[Entry]>> {
        let modified = fs::metadata(directory)?.modified()?;
        if let Some(known) = self.before.remove(directory.as_os_str())
            && known.modified == modified
            && known.entries.len() <= most
        {
            let entries = Arc::clone(&known.entries);
            self.now.insert(directory.into(), known);
            return Ok(entries);
        }
        // Compared with the times of files, so the clock they are taken from is the right one.
        let is_settled = SystemTime::now()
            .duration_since(modified)
            .is_ok_and(|age| age >= SETTLED);
        let entries: Arc<[Entry]> = read(directory, most)?.into();
        if is_settled {
            let entries = Arc::clone(&entries);
            let listing = Listing { modified, entries };
            self.now.insert(directory.into(), listing);
        }
        Ok(entries)
    }
}

fn read(directory: &Path, most: usize) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory)? {
        if entries.len() == most {
            return Err(io::Error::from(io::ErrorKind::QuotaExceeded));
        }
        let entry = entry?;
        let kind = match entry.file_type()? {
            kind if kind.is_dir() => Kind::Directory,
            kind if kind.is_symlink() => Kind::Link,
            _ => Kind::Other,
        };
        let name = entry.file_name();
        entries.push(Entry { name, kind });
    }
    // A fixed order, so that the same files are left out where there are too many.
    entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}
