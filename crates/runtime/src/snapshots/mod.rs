//! The snapshots of every Location that has some: where they lie, what a step takes of them, and when
//! they go.
//!
//! Snapshots are help, not truth: where none can be had, a step goes on without.

mod step;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::join_all;
use opencode_location::location::Location;
use opencode_schema::clock::Millis;
use opencode_snapshots::{SnapshotOptions, Snapshots};
use opencode_store::DatabasePath;
use parking_lot::Mutex;
use sha1::{Digest, Sha1};

pub(crate) use self::step::{StepChanges, StepSnapshot};
use crate::journal::Journal;
use crate::timer::Timer;

/// How long the snapshots of a Location that nobody uses are kept at hand. Having them at hand saves
/// reading what is stored of the files.
const IDLE_TIME: Millis = 60 * 60 * 1000;

/// The snapshots of a host.
pub(crate) struct SnapshotStores {
    pub(crate) journal: Arc<Journal>,
    timer: Arc<dyn Timer>,
    /// The folder of all of them.
    pub(crate) root: PathBuf,
    /// What is the host's own, wherever it lies: reverting it would take the sessions with it.
    private: Vec<PathBuf>,
    /// Held for a lookup; never across an await.
    open: Mutex<HashMap<Place, Slot>>,
}

/// What decides where snapshots lie and what they hold.
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
    /// Those below the folder for durable data, of a host with this database.
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
        Self {
            journal,
            timer,
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

    /// Forgets what nobody used for [`IDLE_TIME`].
    pub(crate) fn forget_idle(&self, now: Millis) {
        self.open
            .lock()
            .retain(|_, slot| slot.used > now - IDLE_TIME);
    }
}

impl Place {
    /// Nothing outside a repository.
    fn of(location: &Location) -> Option<Self> {
        location.project.vcs.as_ref()?;
        Some(Self {
            project: location.project.id.clone(),
            worktree: location.project.directory.clone(),
            directory: location.directory.clone(),
        })
    }

    /// Where they are. Blocks on the disk; nothing if the Location does not lie in its worktree.
    fn options(&self, root: &Path, private: Vec<PathBuf>) -> Option<SnapshotOptions> {
        let worktree = Path::new(&self.worktree).canonicalize().ok()?;
        let directory = Path::new(&self.directory).canonicalize().ok()?;
        let scope = directory.strip_prefix(&worktree).ok()?.to_owned();
        let worktree_id = hex(worktree.as_os_str().as_encoded_bytes());
        Some(SnapshotOptions {
            store: root.join(folder(&self.project)).join(worktree_id),
            worktree,
            scope,
            private,
        })
    }
}

/// A folder of that name, whatever somebody calls his project.
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
    /// The snapshots of a Location, also where configuration switches them off; nothing outside a
    /// repository.
    pub(crate) async fn of(&self, location: &Location) -> Option<Snapshots> {
        let (place, now) = (Place::of(location)?, self.journal.now());
        if let Some(slot) = self.open.lock().get_mut(&place) {
            slot.used = now;
            return Some(slot.snapshots.clone());
        }
        let (root, private) = (self.root.clone(), self.private.clone());
        let wanted = place.clone();
        let options = opencode_log::spawn_blocking(move || wanted.options(&root, private));
        let options = options.await.ok()??;
        let mut open = self.open.lock();
        // Somebody else may have come before.
        let slot = open.entry(place).or_insert_with(|| Slot {
            snapshots: Snapshots::new(options),
            used: now,
        });
        Some(slot.snapshots.clone())
    }
}
