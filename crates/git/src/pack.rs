//! A pack: a file with many objects, and its index.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use gix_hash::{Kind as Hash, oid};
use gix_pack::{
    cache,
    data::{self, decode::entry::ResolvedBase, entry::Header},
    index,
};
use gix_zlib::Inflate;
use opencode_handles::{is_absent, refuse_database};

use crate::object::{Object, damaged, too_large};

/// Maximum length of a chain of deltas. Git writes chains of at most 4,095.
const MAX_DELTAS: usize = 4096;

/// Maximum number of bytes to produce for all objects of a chain of deltas. It takes seconds.
const MAX_CHAIN_BYTES: u64 = 16 * 1024 * 1024 * 1024;

/// Memory for the decoder to note the longest chain of deltas.
const CHAIN_BYTES: u64 = 1024 * 1024;

/// Maximum number of entries in a directory of packs.
const MAX_ENTRIES: usize = 100_000;

/// A pack of a repository. Its files are opened at the first use.
pub(crate) struct Pack {
    path: PathBuf,
    hash: Hash,
    index: OnceLock<Option<index::File>>,
    data: OnceLock<Option<data::File>>,
}

/// The place of an object in a pack.
pub(crate) struct Place<'a> {
    index: &'a index::File,
    data: &'a data::File,
    offset: u64,
}

impl Pack {
    /// Returns the packs of an object directory.
    pub(crate) fn all(directory: &Path, hash: Hash) -> io::Result<Vec<Self>> {
        let entries = match fs::read_dir(directory.join("pack")) {
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut packs = Vec::new();
        for (count, entry) in entries.enumerate() {
            if count == MAX_ENTRIES {
                return Err(damaged("a directory of packs has too many entries"));
            }
            let path = entry?.path();
            if path.extension().is_some_and(|it| it == "idx") {
                packs.push(Self {
                    path,
                    hash,
                    index: OnceLock::new(),
                    data: OnceLock::new(),
                });
            }
        }
        Ok(packs)
    }

    /// Returns the place of an object, or `None` if the pack does not have it or cannot be used.
    pub(crate) fn find(&self, id: &oid) -> Option<Place<'_>> {
        let index = self.index.get_or_init(|| {
            let open = |path: &Path| index::File::at(path, self.hash);
            open_checked(&self.path, |path| open(path).map_err(damaged))
        });
        let index = index.as_ref()?;
        let offset = index.pack_offset_at_index(index.lookup(id)?);
        let data = self.data.get_or_init(|| {
            let open = |path: &Path| data::File::at(path, self.hash);
            let path = self.path.with_extension("pack");
            open_checked(&path, |path| open(path).map_err(damaged))
        });
        Some(Place {
            index,
            data: data.as_ref()?,
            offset,
        })
    }
}

/// Opens a file that is regular and does not belong to an open database. A link that is created
/// between the check and the opening is not detected.
fn open_checked<T>(path: &Path, open: impl FnOnce(&Path) -> io::Result<T>) -> Option<T> {
    let check = || {
        let found = path.metadata()?;
        if !found.is_file() {
            return Err(damaged("it is not a regular file"));
        }
        refuse_database(&found)
    };
    match check().and_then(|()| open(path)) {
        Ok(opened) => Some(opened),
        // Git removed the pack, or has not finished it.
        Err(error) if is_absent(&error) => None,
        Err(error) => {
            let path = path.display();
            tracing::warn!(%path, %error, "a pack of the repository is not used");
            None
        }
    }
}

impl Place<'_> {
    /// Reads the object, which may have at most `max` bytes.
    pub(crate) fn read(&self, inflate: &mut Inflate, max: u64) -> io::Result<Object> {
        let entry = self.data.entry(self.offset).map_err(damaged)?;
        let deltas = self.deltas(&entry)?;
        if deltas == 0 && entry.decompressed_size > max {
            return Err(too_large(max));
        }
        let data = self.limited(max, deltas)?;
        let mut content = Vec::new();
        let base = |id: &oid, _: &mut Vec<u8>| Ok(self.base(id).map(ResolvedBase::InPack));
        let decoded = data.decode_entry(entry, &mut content, inflate, &base, &mut cache::Never);
        let kind = decoded.map_err(damaged)?.kind;
        if content.len() as u64 > max {
            return Err(too_large(max));
        }
        Ok(Object { kind, content })
    }

    /// Returns the number of deltas between an entry and an object that is stored completely.
    /// Reads headers only.
    ///
    /// # Errors
    ///
    /// Fails if there are too many, which includes deltas that refer to each other in a circle.
    fn deltas(&self, entry: &data::Entry) -> io::Result<usize> {
        let mut here = entry.clone();
        for count in 0..=MAX_DELTAS {
            let base = match here.header {
                Header::OfsDelta { base_distance } => here
                    .checked_base_pack_offset(base_distance)
                    .and_then(|offset| self.data.entry(offset).ok()),
                Header::RefDelta { base_id } => self.base(&base_id),
                _ => return Ok(count),
            };
            here = base.ok_or_else(|| damaged("the base of a delta is missing"))?;
        }
        Err(damaged("a chain of deltas is too long"))
    }

    /// Returns the entry of an object in the same pack. Git stores the base of a delta nowhere else.
    fn base(&self, id: &oid) -> Option<data::Entry> {
        let index = self.index.lookup(id)?;
        let offset = self.index.pack_offset_at_index(index);
        self.data.entry(offset).ok()
    }

    /// Returns the data with a limit of memory that suffices for an object of `max` bytes: the
    /// decoder needs two buffers and the deltas. A long chain gets less, because each delta of it
    /// can fill a buffer.
    fn limited(&self, max: u64, deltas: usize) -> io::Result<data::File<&[u8]>> {
        let all = self.data.entry_slice(0..self.data.data_len() as u64);
        let limit = max.saturating_mul(4).saturating_add(CHAIN_BYTES);
        let limit = limit.min(MAX_CHAIN_BYTES / (deltas as u64 + 1));
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let data = data::File::from_data(all.unwrap_or_default(), PathBuf::new(), self.hash());
        Ok(data.map_err(damaged)?.with_alloc_limit_bytes(Some(limit)))
    }

    fn hash(&self) -> Hash {
        self.data.object_hash()
    }
}
