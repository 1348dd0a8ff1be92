//! Git objects: ours, in a store of our own, and those of the user's repository behind them.
//!
//! What the repository has already is not stored again, so that the first snapshot of a project writes
//! little. Its garbage collection may take such an object away; therefore a content is copied here at
//! the moment a file stops having it, because that is what a restore wants back.
//!
//! An object is written beside its place and moved there, so it is whole or not there, whoever writes
//! it at the same time and whenever a process dies. Nothing is forced onto the disk: what a power
//! failure damages is found when it is read.

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
use git2::{ObjectType, Odb, OdbLookupFlags, Oid};
use opencode_handles::{create_private_folder, open_file, private_file};

use crate::alternates::Alternates;
use crate::error::SnapshotError;

/// What is used again has its time renewed when that is older than this, as a sweep goes by it.
pub(crate) const RENEWAL: Duration = Duration::from_secs(20 * 60 * 60);

/// The names of files that become objects begin with this.
pub(crate) const TEMPORARY: &str = "tmp_obj_";

/// The objects of the user's repository.
struct Users {
    odb: Odb<'static>,
    alternates: Alternates,
}

/// Objects by their id.
pub(crate) struct Objects {
    directory: PathBuf,
    theirs: PathBuf,
    /// What the store has, opened with the first look.
    own: OnceLock<Result<Odb<'static>, git2::Error>>,
    /// What the user's repository has. None where libgit2 must not open it.
    users: OnceLock<Option<Users>>,
    written: AtomicU64,
    /// Set when the host closes. Refuses every write from then on.
    ended: Arc<AtomicBool>,
}

impl Objects {
    /// For one operation: what is opened stays open, so that a repository that is packed meanwhile
    /// would be held on to.
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

    /// How many bytes of content were stored.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Stores an object of ours, if it is nowhere yet.
    pub(crate) fn put(&self, kind: ObjectType, content: &[u8]) -> Result<Oid, SnapshotError> {
        let id = hash(kind, content)?;
        let is_stored = self.renew(id) || (kind == ObjectType::Blob && self.users_have(id));
        if !is_stored {
            self.write(id, kind, content)?;
        }
        Ok(id)
    }

    /// Copies a content that the user's repository has and the store has not.
    pub(crate) fn keep(&self, id: Oid) -> Result<u64, SnapshotError> {
        if self.path(id).exists() {
            return Ok(0);
        }
        let Some(users) = self.users().filter(|users| users.alternates.may_read(id)) else {
            return Ok(0);
        };
        // What neither has is missed when somebody wants it.
        let Ok(object) = users.odb.read(id) else {
            return Ok(0);
        };
        self.write(id, object.kind(), object.data())?;
        Ok(object.data().len() as u64)
    }

    /// The content of an object.
    pub(crate) fn read(&self, id: Oid, kind: ObjectType) -> Result<Vec<u8>, SnapshotError> {
        let missing = || SnapshotError::Missing(id.to_string());
        let own = self.own.get_or_init(|| open(&self.directory));
        let read = own.as_ref().ok().map(|own| own.read(id));
        let read = match read {
            Some(Err(error)) if error.code() != git2::ErrorCode::NotFound => {
                tracing::warn!(%id, %error, "an object of a snapshot is damaged");
                // What is gone is stored again when a file has that content.
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

    fn read_users(&self, id: Oid) -> Option<(ObjectType, Vec<u8>)> {
        let users = self.users().filter(|users| users.alternates.may_read(id))?;
        let object = users.odb.read(id).ok()?;
        Some((object.kind(), object.data().to_vec()))
    }

    /// Whether somebody has an object. One of ours will not be swept soon.
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

    /// Whether an object is somewhere.
    pub(crate) fn has(&self, id: Oid) -> bool {
        self.path(id).exists() || self.users_have(id)
    }

    /// Whether the user's repository has an object.
    pub(crate) fn users_have(&self, id: Oid) -> bool {
        let has = |users: &Users| users.odb.exists_ext(id, OdbLookupFlags::NO_REFRESH);
        self.users().is_some_and(has)
    }

    fn users(&self) -> Option<&Users> {
        let open = || {
            let alternates = match Alternates::look(&self.theirs) {
                Ok(alternates) => alternates,
                Err(error) => {
                    tracing::warn!(%error, "the objects of the repository are not used");
                    return None;
                }
            };
            let odb = open(&self.theirs).ok()?;
            Some(Users { odb, alternates })
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

/// The id that an object has.
pub(crate) fn hash(kind: ObjectType, content: &[u8]) -> Result<Oid, SnapshotError> {
    // Git hashes everything that fits into memory, but for what was made to have the hash of another.
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

/// Writes a file beside its place and moves it there.
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
        // The sweep finds it otherwise.
        let _ = fs::remove_file(&temporary);
    }
    written
}
