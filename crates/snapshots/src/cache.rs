//! A cache of file stamps and ids for the next process.
//!
//! The cache only avoids reading files again. Stale entries are read again. A damaged or missing
//! cache has the same effect as no earlier capture.

use std::{
    io::{self, Read},
    path::Path,
    time::{Duration, SystemTime},
};

use git2::{ObjectType, Oid};
use opencode_handles::{Kind, Stamp, open_file};

use crate::entry::Mode;
use crate::objects;
use crate::worktree::{Content, Folder, Known, listing::EarlierFiles};

/// Prefix of the cache file names.
pub(crate) const LIST: &str = "files-";

const FORMAT: &[u8] = b"opencode files 2\n";

/// Maximum size of a cache to read, in bytes.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

const ID_BYTES: usize = 20;

/// The content of a cache.
pub(crate) struct Cached {
    pub files: EarlierFiles,
    /// Time of the last renewal of all objects.
    pub renewed: SystemTime,
}

/// Reads a cache. Returns `None` if the file is missing or damaged.
pub(crate) fn load(path: &Path) -> Option<Cached> {
    let file = open_file(path).ok()?;
    if file.metadata().ok()?.len() > MAX_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(ID_BYTES)?)?;
    if objects::hash(ObjectType::Blob, body).ok()?.as_bytes() != sum {
        tracing::warn!("the list of captured files is damaged; all files are read again");
        return None;
    }
    let cached = Reader(body.strip_prefix(FORMAT)?).cached();
    if cached.is_none() {
        tracing::warn!("the list of captured files is not understood; all files are read again");
    }
    cached
}

/// Replaces a cache.
pub(crate) fn save(path: &Path, folder: &Folder, renewed: SystemTime) -> io::Result<()> {
    let mut writer = Writer(FORMAT.to_vec());
    let since = renewed.duration_since(SystemTime::UNIX_EPOCH);
    writer.number(since.map_or(0, |since| since.as_secs()));
    folder.each(&mut |listing| {
        writer.text(&listing.path);
        for file in &listing.files {
            if let (Some(stamp), Content::Stored(mode, id)) = (file.stamp, file.content) {
                writer.file(&file.name, stamp, mode, id);
            }
        }
        // Ends the directory.
        writer.text("");
    });
    let sum = objects::hash(ObjectType::Blob, &writer.0).map_err(io::Error::other)?;
    writer.0.extend_from_slice(sum.as_bytes());
    let directory = path.parent().unwrap_or(path);
    objects::write_new(directory, path, &writer.0)
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        // No system has names or paths of that length.
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.0.extend_from_slice(&length.to_le_bytes());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn file(&mut self, name: &str, stamp: Stamp, mode: Mode, id: Oid) {
        self.text(name);
        self.0.push(match mode {
            Mode::File => 0,
            Mode::Executable => 1,
            Mode::Link => 2,
        });
        self.0.extend_from_slice(id.as_bytes());
        self.number(stamp.size);
        self.number(stamp.modified.cast_unsigned());
        self.number(stamp.changed.cast_unsigned());
        self.number(stamp.inode);
        self.0.push(u8::from(stamp.has_other_names));
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn cached(mut self) -> Option<Cached> {
        let renewed = Duration::from_secs(self.number()?);
        let mut files = EarlierFiles::new();
        while !self.0.is_empty() {
            let directory = self.text()?;
            let mut listed = Vec::new();
            loop {
                let name = self.text()?;
                if name.is_empty() {
                    break;
                }
                listed.push(self.file(name)?);
            }
            if !listed.is_empty() {
                files.insert(directory, listed);
            }
        }
        let renewed = SystemTime::UNIX_EPOCH.checked_add(renewed)?;
        Some(Cached { files, renewed })
    }

    fn file(&mut self, name: String) -> Option<Known> {
        let (mode, kind) = match self.take(1)?[0] {
            0 => (Mode::File, Kind::File),
            1 => (Mode::Executable, Kind::Executable),
            2 => (Mode::Link, Kind::Link),
            _ => return None,
        };
        let id = Oid::from_bytes(self.take(ID_BYTES)?).ok()?;
        let stamp = Stamp {
            kind,
            size: self.number()?,
            modified: self.number()?.cast_signed(),
            changed: self.number()?.cast_signed(),
            inode: self.number()?,
            has_other_names: self.take(1)?[0] != 0,
        };
        Some(Known {
            name,
            stamp: Some(stamp),
            content: Content::Stored(mode, id),
        })
    }

    fn number(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Option<String> {
        let length = self.take(4)?.try_into().ok().map(u32::from_le_bytes)?;
        let text = self.take(usize::try_from(length).ok()?)?;
        String::from_utf8(text.to_vec()).ok()
    }

    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
}
