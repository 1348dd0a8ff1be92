//! Git objects: those in the store of the host, and those of the user's repository as a fallback.
//!
//! Objects that the repository already has are not stored again, so the first snapshot of a project
//! writes little. Git's garbage collection can remove such an object. So a content is copied into
//! the store when a file no longer has it, because a restore needs that content.
//!
//! An object is written to a temporary file and renamed. So it is either complete or absent, even
//! with concurrent writers or a killed process. Nothing is flushed to disk: damage by a power
//! failure is detected when the object is read.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use flate2::{Compression, write::ZlibEncoder};
use git2::{ObjectType, Odb, Oid};
use opencode_git::{Hash, Kind, ObjectId};
use opencode_handles::{create_private_folder, open_file, private_file};

use crate::error::SnapshotError;

/// Maximum size in bytes of a file in a snapshot.
pub(crate) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Minimum age at which the time of a reused object is renewed. A sweep uses this time.
pub(crate) const RENEWAL: Duration = Duration::from_secs(20 * 60 * 60);

/// Prefix of temporary files that become objects.
pub(crate) const TEMPORARY: &str = "tmp_obj_";

/// Objects by their id.
pub(crate) struct Objects {
    directory: PathBuf,
    theirs: PathBuf,
    /// Object database of the store, opened at the first read.
    own: OnceLock<Result<Odb<'static>, git2::Error>>,
    /// Objects of the user's repository. `None` if they cannot be listed.
    users: OnceLock<Option<opencode_git::Objects>>,
    written: AtomicU64,
    /// Set when the host closes. All later writes fail.
    ended: Arc<AtomicBool>,
}

impl Objects {
    /// Creates a view for one operation. Opened files stay open, so a longer-lived view would keep
    /// a repository's old packs open after a repack.
    pub(crate) fn new(directory: PathBuf, theirs: PathBuf, ended: Arc<AtomicBool>) -> Self {
        Self {
            directory,
            theirs,
            own: OnceLock::new(),
            users: OnceLock::new(),
            written: AtomicU64::new(0),
            ended,
        }
    }

    /// Returns the number of stored content bytes.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Stores an object, if neither the store nor the user's repository has it.
    pub(crate) fn put(&self, kind: ObjectType, content: &[u8]) -> Result<Oid, SnapshotError> {
        let id = hash(kind, content)?;
        let is_stored = self.renew(id) || (kind == ObjectType::Blob && self.users_have(id));
        if !is_stored {
            self.write(id, kind, content)?;
        }
        Ok(id)
    }

    /// Copies a content from the user's repository, if the store does not have it.
    pub(crate) fn keep(&self, id: Oid) -> Result<u64, SnapshotError> {
        if self.path(id).exists() {
            return Ok(0);
        }
        // If neither has the object, a later read reports it as missing.
        let Some((kind, content)) = self.read_users(id) else {
            return Ok(0);
        };
        self.write(id, kind, &content)?;
        Ok(content.len() as u64)
    }

    /// Returns the content of an object.
    pub(crate) fn read(&self, id: Oid, kind: ObjectType) -> Result<Vec<u8>, SnapshotError> {
        let missing = || SnapshotError::Missing(id.to_string());
        let own = self.own.get_or_init(|| open(&self.directory));
        let read = own.as_ref().ok().map(|own| own.read(id));
        let read = match read {
            Some(Err(error)) if error.code() != git2::ErrorCode::NotFound => {
                tracing::warn!(%id, %error, "an object of a snapshot is damaged");
                // After the removal, the next file with that content stores the object again.
                let _ = fs::remove_file(self.path(id));
                None
            }
            read => read.and_then(Result::ok),
        };
        let read = read.map(|object| (object.kind(), object.data().to_vec()));
        match read.or_else(|| self.read_users(id)) {
            Some((found, content)) if found == kind => Ok(content),
            _ => Err(missing()),
        }
    }

    /// Returns an object of the user's repository, if its content has this id.
    fn read_users(&self, id: Oid) -> Option<(ObjectType, Vec<u8>)> {
        let read = self.users()?.read(&users_id(id), MAX_BYTES);
        let object = read.unwrap_or_else(|error| {
            tracing::warn!(%id, %error, "an object of the repository cannot be read");
            None
        })?;
        let kind = match object.kind {
            Kind::Blob => ObjectType::Blob,
            Kind::Tree => ObjectType::Tree,
            Kind::Commit | Kind::Tag => return None,
        };
        let found = hash(kind, &object.content).ok()?;
        (found == id).then_some((kind, object.content))
    }

    /// True if the store has an object. Renews its time, so that a sweep keeps it.
    pub(crate) fn renew(&self, id: Oid) -> bool {
        let path = self.path(id);
        let Ok(modified) = path.metadata().and_then(|found| found.modified()) else {
            return false;
        };
        let now = SystemTime::now();
        if now.duration_since(modified).is_ok_and(|age| age > RENEWAL)
            && let Err(error) = open_file(&path).and_then(|file| file.set_modified(now))
        {
            tracing::warn!(%error, "an object of a snapshot looks older than it is");
        }
        true
    }

    /// True if the store has an object.
    pub(crate) fn has_own(&self, id: Oid) -> bool {
        self.path(id).exists()
    }

    /// True if the store or the user's repository has an object.
    pub(crate) fn has(&self, id: Oid) -> bool {
        self.path(id).exists() || self.users_have(id)
    }

    /// True if the user's repository has an object.
    pub(crate) fn users_have(&self, id: Oid) -> bool {
        self.users().is_some_and(|users| users.has(&users_id(id)))
    }

    fn users(&self) -> Option<&opencode_git::Objects> {
        let open = || match opencode_git::Objects::open(&self.theirs, Hash::Sha1) {
            Ok(users) => Some(users),
            Err(error) => {
                tracing::warn!(%error, "the objects of the repository are not used");
                None
            }
        };
        self.users.get_or_init(open).as_ref()
    }

    fn write(&self, id: Oid, kind: ObjectType, content: &[u8]) -> Result<(), SnapshotError> {
        if self.ended.load(Ordering::Relaxed) {
            return Err(SnapshotError::Ended);
        }
        let path = self.path(id);
        let failed = || SnapshotError::io(path.display().to_string());
        let folder = path.parent().unwrap_or(&self.directory);
        let compressed = compress(kind, content).map_err(failed())?;
        write_new(folder, &path, &compressed).map_err(failed())?;
        self.written
            .fetch_add(content.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn path(&self, id: Oid) -> PathBuf {
        let id = id.to_string();
        let (folder, name) = id.split_at(2);
        self.directory.join(folder).join(name)
    }
}

/// Returns an id in the form of `opencode_git`.
fn users_id(id: Oid) -> ObjectId {
    let mut bytes = [0; 20];
    bytes.copy_from_slice(id.as_bytes());
    bytes.into()
}

/// Returns the id of an object.
pub(crate) fn hash(kind: ObjectType, content: &[u8]) -> Result<Oid, SnapshotError> {
    // Git hashes any content that fits into memory, except content crafted for a SHA-1 collision.
    Oid::hash_object(kind, content).map_err(|error| SnapshotError::GivenUp(error.to_string()))
}

fn open(directory: &Path) -> Result<Odb<'static>, git2::Error> {
    let odb = Odb::new()?;
    if directory.is_dir() {
        match directory.to_str() {
            Some(directory) => odb.add_disk_alternate(directory)?,
            None => tracing::warn!("objects in a path that is not UTF-8 are not looked at"),
        }
    }
    Ok(odb)
}

fn compress(kind: ObjectType, content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(content.len() / 2), Compression::fast());
    write!(encoder, "{} {}\0", kind.str(), content.len())?;
    encoder.write_all(content)?;
    encoder.finish()
}

/// Writes a file under a temporary name and renames it.
pub(crate) fn write_new(folder: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let temporary = folder.join(format!("{TEMPORARY}{}_{number}", process::id()));
    let write = || {
        let mut file = private_file()
            .create(true)
            .truncate(true)
            .open(&temporary)?;
        file.write_all(content)
    };
    let written = write()
        .or_else(|_| {
            create_private_folder(folder)?;
            write()
        })
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // Otherwise the sweep removes it later.
        let _ = fs::remove_file(&temporary);
    }
    written
}
