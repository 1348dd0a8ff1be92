//! The Locations of a host: opened when first asked for, then shared.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::OnceCell;

use crate::agents::Agents;
use crate::catalogue::Catalogue;
use crate::config::Configuration;
use crate::directory::normalise;
use crate::environment::Environment;
use crate::location::{Location, LocationError, check};
use crate::project::Projects;

/// How many Locations are kept beyond those in use. Opening one again costs a few milliseconds; a
/// program that works in more directories at once than this pays that when it comes back to one.
pub const MAX_IDLE_LOCATIONS: usize = 64;

/// Opens and keeps Locations.
///
/// A Location is in use while somebody other than this cache holds it. Those in use are never
/// dropped; of the idle ones the least recently used go once there are more than the bound.
pub struct Locations {
    environment: Arc<Environment>,
    /// The strongest configuration document, from the embedding program.
    config: Option<Arc<Value>>,
    projects: Projects,
    max_idle: usize,
    /// By directory in normal form. Held for lookups and evictions, never while a Location opens.
    slots: Mutex<HashMap<String, Arc<Slot>>>,
    /// Counts uses, to tell which was the last. A clock would tie within its resolution.
    uses: AtomicU64,
}

/// The place of one Location.
#[derive(Default)]
struct Slot {
    /// Concurrent first openers wait for the one that began; when it fails or gives up, the next
    /// of them tries.
    location: OnceCell<Arc<Location>>,
    /// The number of the last use.
    used: AtomicU64,
}

impl Slot {
    /// Whether nobody holds the Location or is opening it. Only to be asked while the slots are
    /// locked: every new use begins there.
    fn idle(self: &Arc<Self>) -> bool {
        let unclaimed = Arc::strong_count(self) == 1;
        let unused = |location: &Arc<Location>| Arc::strong_count(location) == 1;
        unclaimed && self.location.get().is_none_or(unused)
    }
}

impl Locations {
    /// No Location yet. `config` is what the embedding program configures itself.
    pub fn new(environment: Arc<Environment>, config: Option<Value>) -> Self {
        Self {
            projects: Projects::new(Arc::clone(&environment)),
            environment,
            config: config.map(Arc::new),
            max_idle: MAX_IDLE_LOCATIONS,
            slots: Mutex::default(),
            uses: AtomicU64::new(0),
        }
    }

    /// Keeps this many idle Locations instead of [`MAX_IDLE_LOCATIONS`].
    #[must_use]
    pub fn with_max_idle(mut self, max_idle: usize) -> Self {
        self.max_idle = max_idle;
        self
    }

    /// The Location of a directory, opened if it is not yet.
    ///
    /// Names that differ only lexically (`/a/b/../c/` and `/a/c`) are one Location. A failure is
    /// not remembered: once the directory is there, it opens.
    pub async fn get(&self, directory: &str) -> Result<Arc<Location>, LocationError> {
        let directory = normalise(directory)?;
        let slot = self.claim(&directory);
        if let Some(open) = slot.location.get() {
            return Ok(Arc::clone(open));
        }
        let opened = slot
            .location
            .get_or_try_init(|| self.open(&directory))
            .await
            .map(Arc::clone);
        self.release(&directory, slot);
        opened
    }

    /// The projects of directories, also of those that are no Locations.
    pub fn projects(&self) -> &Projects {
        &self.projects
    }

    async fn open(&self, directory: &str) -> Result<Arc<Location>, LocationError> {
        let name = directory.to_owned();
        self.blocking(directory, move || check(&name)).await??;
        let project = self.projects.resolve(directory).await;
        let name = directory.to_owned();
        let environment = Arc::clone(&self.environment);
        let config = self.config.clone();
        self.blocking(directory, move || {
            let mut configuration =
                Configuration::load(&environment, &project, &name, config.as_deref());
            let (catalogue, diagnostic) = Catalogue::build(&configuration.documents);
            configuration.diagnostics.extend(diagnostic);
            Arc::new(Location {
                directory: name,
                project,
                agents: Agents::build(&configuration.documents),
                configuration,
                catalogue,
            })
        })
        .await
    }

    /// Runs what blocks on the disk where that disturbs nobody.
    async fn blocking<T: Send + 'static>(
        &self,
        directory: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, LocationError> {
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| LocationError::Unreadable {
                directory: directory.to_owned(),
                message: format!("opening it was cut off: {error}"),
            })
    }

    /// The slot of a directory, marked as just used.
    fn claim(&self, directory: &str) -> Arc<Slot> {
        let mut slots = self.lock();
        let slot = match slots.get(directory) {
            Some(slot) => Arc::clone(slot),
            None => Arc::clone(slots.entry(directory.to_owned()).or_default()),
        };
        let use_number = self.uses.fetch_add(1, Ordering::Relaxed);
        slot.used.store(use_number, Ordering::Relaxed);
        slot
    }

    /// Gives a slot back after opening: drops it if that failed, and idle ones if it is one too many.
    fn release(&self, directory: &str, slot: Arc<Slot>) {
        let mut slots = self.lock();
        let empty = slot.location.get().is_none();
        drop(slot);
        if empty && slots.get(directory).is_some_and(Slot::idle) {
            slots.remove(directory);
        }
        self.evict(&mut slots);
    }

    fn evict(&self, slots: &mut HashMap<String, Arc<Slot>>) {
        if slots.len() <= self.max_idle {
            return;
        }
        let mut idle: Vec<_> = slots
            .iter()
            .filter(|(_, slot)| slot.idle())
            .map(|(directory, slot)| (slot.used.load(Ordering::Relaxed), directory.clone()))
            .collect();
        idle.sort_unstable();
        let excess = idle.len().saturating_sub(self.max_idle);
        for (_, directory) in idle.drain(..excess) {
            slots.remove(&directory);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows which Locations are open; the configuration may hold secrets.
impl fmt::Debug for Locations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locations")
            .field("open", &self.lock().keys())
            .finish_non_exhaustive()
    }
}
