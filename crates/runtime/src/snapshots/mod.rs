//! The snapshots of all Locations: their folders, the captures around a step, and their removal.
//!
//! Snapshots are optional: a step continues without one if none can be made.

mod changes;
mod erase;
mod step;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::join_all;
use opencode_location::location::Location;
use opencode_schema::clock::Millis;
use opencode_snapshots::{HeldTrees, Owner, SnapshotOptions, Snapshots};
use opencode_store::DatabasePath;
use parking_lot::Mutex;
use sha1::{Digest, Sha1};

pub(crate) use self::changes::{ChangedSessions, Counting, SessionChanges};
pub(crate) use self::erase::{RETENTION, is_id};
pub(crate) use self::step::{StepChanges, StepSnapshot};
use crate::journal::Journal;
use crate::timer::Timer;

/// Time in milliseconds after which unused snapshots are dropped from memory. Keeping them in memory
/// saves reading the stored state of the files.
const IDLE_TIME: Millis = 60 * 60 * 1000;

/// The snapshots of a host.
pub(crate) struct SnapshotStores {
    pub(crate) journal: Arc<Journal>,
    timer: Arc<dyn Timer>,
    /// The folder of all stores.
    pub(crate) root: PathBuf,
    /// Files of the host itself, which are never captured. A revert of them would also revert the sessions.
    private: Vec<PathBuf>,
    /// The database of the host.
    owner: Owner,
    /// The snapshots that steps and reverts hold.
    held: HeldTrees,
    /// Locked for a lookup, never across an await.
    open: Mutex<HashMap<Place, Slot>>,
}

/// The values that determine the folder and the contents of a store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Place {
    project: String,
    worktree: String,
    directory: String,
}

struct Slot {
    snapshots: Snapshots,
    used: Millis,
}

impl SnapshotStores {
    /// Creates the stores of a host below its folder for durable data.
    pub(crate) fn new(
        journal: Arc<Journal>,
        timer: Arc<dyn Timer>,
        data: &Path,
        database: &DatabasePath,
    ) -> Self {
        let mut private = vec![data.to_owned(), data.join("embedded")];
        if let DatabasePath::File(database) = database {
            private.extend(["", "-wal", "-shm", "-journal", ".lock"].map(|suffix| {
                let mut file = database.clone().into_os_string();
                file.push(suffix);
                PathBuf::from(file)
            }));
        }
        let owner = owner(&journal, database);
        Self {
            journal,
            timer,
            owner,
            held: HeldTrees::default(),
            root: data.join("embedded").join("snapshot"),
            private,
            open: Mutex::default(),
        }
    }

    /// Stops captures, and gives back the watches and descriptors of all Locations. The program may go
    /// on after it closed the host.
    pub(crate) async fn end(&self) {
        let open: Vec<_> = self.open.lock().drain().collect();
        join_all(open.iter().map(|(_, slot)| slot.snapshots.end())).await;
    }

    /// Drops the snapshots that were not used for [`IDLE_TIME`].
    pub(crate) fn forget_idle(&self, now: Millis) {
        self.open
            .lock()
            .retain(|_, slot| slot.used > now - IDLE_TIME);
    }
}

impl Place {
    /// Returns `None` outside a repository.
    fn of(location: &Location) -> Option<Self> {
        location.project.vcs.as_ref()?;
        Some(Self {
            project: location.project.id.clone(),
            worktree: location.project.directory.clone(),
            directory: location.directory.clone(),
        })
    }

    /// Returns the options of the store. Blocks on the disk. `None` if the Location is outside its worktree.
    fn options(
        &self,
        root: &Path,
        private: Vec<PathBuf>,
        owner: Owner,
        held: HeldTrees,
    ) -> Option<SnapshotOptions> {
        let worktree = Path::new(&self.worktree).canonicalize().ok()?;
        let directory = Path::new(&self.directory).canonicalize().ok()?;
        let scope = directory.strip_prefix(&worktree).ok()?.to_owned();
        let worktree_id = hex(worktree.as_os_str().as_encoded_bytes());
        Some(SnapshotOptions {
            store: root.join(folder(&self.project)).join(worktree_id),
            worktree,
            scope,
            private,
            owner,
            held,
        })
    }
}

/// Returns the mark of a database. One in memory has a new mark in each host.
fn owner(journal: &Journal, database: &DatabasePath) -> Owner {
    match database {
        DatabasePath::File(path) => {
            let path = path.canonicalize().unwrap_or_else(|_| path.clone());
            Owner {
                name: hex(path.as_os_str().as_encoded_bytes()),
                is_lasting: true,
            }
        }
        DatabasePath::Memory => Owner {
            name: hex(journal.ids.next("memory", false).as_bytes()),
            is_lasting: false,
        },
    }
}

/// Returns a safe folder name for any project id.
fn folder(project: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if project.chars().all(is_plain) {
        project.to_owned()
    } else {
        hex(project.as_bytes())
    }
}

fn hex(bytes: &[u8]) -> String {
    format!("{:x}", Sha1::digest(bytes))
}

impl SnapshotStores {
    /// Returns the snapshots of a Location, even if the configuration switches them off. `None` outside a repository.
    pub(crate) async fn of(&self, location: &Location) -> Option<Snapshots> {
        let (place, now) = (Place::of(location)?, self.journal.now());
        if let Some(slot) = self.open.lock().get_mut(&place) {
            slot.used = now;
            return Some(slot.snapshots.clone());
        }
        let (root, private) = (self.root.clone(), self.private.clone());
        let (wanted, owner, held) = (place.clone(), self.owner.clone(), self.held.clone());
        let options =
            opencode_log::spawn_blocking(move || wanted.options(&root, private, owner, held));
        let options = options.await.ok()??;
        let mut open = self.open.lock();
        // Another task may have added the entry meanwhile.
        let slot = open.entry(place).or_insert_with(|| Slot {
            snapshots: Snapshots::new(options),
            used: now,
        });
        Some(slot.snapshots.clone())
    }
}
