//! The objects of a repository, packed or not.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use gix_hash::{Kind as Hash, oid};
use gix_zlib::Inflate;
use parking_lot::{Mutex, RwLock};

use crate::directories;
use crate::loose;
use crate::object::{Object, damaged};
use crate::pack::Pack;

/// Maximum number of packs. Each takes two files.
const MAX_PACKS: usize = 4096;

/// The objects of a repository and of those that it borrows from.
///
/// Packs that were used stay open.
pub struct Objects {
    directory: PathBuf,
    hash: Hash,
    found: RwLock<Arc<Found>>,
    inflate: Mutex<Inflate>,
}

/// The directories and the packs that exist.
struct Found {
    directories: Vec<PathBuf>,
    packs: Vec<Pack>,
}

impl Objects {
    /// Lists the packs of an object directory. The ids of its objects are made with `hash`.
    ///
    /// # Errors
    ///
    /// Fails if the directories cannot be listed.
    pub fn open(directory: &Path, hash: Hash) -> io::Result<Self> {
        Ok(Self {
            directory: directory.to_owned(),
            hash,
            found: RwLock::new(Arc::new(Found::list(directory, hash)?)),
            inflate: Mutex::default(),
        })
    }

    /// True if an object exists. Does not notice objects that were packed since the packs were
    /// listed.
    pub fn has(&self, id: &oid) -> bool {
        id.kind() == self.hash && self.found.read().has(id)
    }

    /// Returns an object, or `None` if it does not exist. Lists the packs again if it is missing,
    /// because Git may have moved it into a new pack.
    ///
    /// # Errors
    ///
    /// Fails if the object is damaged or has more than `max` bytes.
    pub fn read(&self, id: &oid, max: u64) -> io::Result<Option<Object>> {
        if id.kind() != self.hash {
            return Err(damaged("it has ids of several kinds"));
        }
        let found = Arc::clone(&self.found.read());
        if let Ok(Some(object)) = found.read(id, max, &self.inflate) {
            return Ok(Some(object));
        }
        let found = Arc::new(Found::list(&self.directory, self.hash)?);
        *self.found.write() = Arc::clone(&found);
        found.read(id, max, &self.inflate)
    }
}

impl Found {
    fn list(directory: &Path, hash: Hash) -> io::Result<Self> {
        let directories = directories::with_alternates(directory)?;
        let mut packs = Vec::new();
        for directory in &directories {
            packs.extend(Pack::all(directory, hash)?);
            if packs.len() > MAX_PACKS {
                return Err(damaged("it has too many packs"));
            }
        }
        Ok(Self { directories, packs })
    }

    fn has(&self, id: &oid) -> bool {
        let mut directories = self.directories.iter();
        self.packs.iter().any(|pack| pack.find(id).is_some())
            || directories.any(|directory| loose::path(directory, id).is_file())
    }

    /// Reads an object from the first place where it is not damaged.
    fn read(&self, id: &oid, max: u64, inflate: &Mutex<Inflate>) -> io::Result<Option<Object>> {
        let packed = self.packs.iter().filter_map(|pack| pack.find(id));
        let packed = packed.map(|place| place.read(&mut inflate.lock(), max).map(Some));
        let directories = self.directories.iter();
        let loose = directories.map(|directory| loose::read(directory, id, max));
        let mut result = Ok(None);
        for read in packed.chain(loose) {
            match read {
                Ok(None) => {}
                Ok(object) => return Ok(object),
                Err(error) => result = Err(error),
            }
        }
        result
    }
}
