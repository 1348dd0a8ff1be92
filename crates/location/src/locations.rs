//! The Locations of a host: opened when first asked for, then shared.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha1::{Digest as _, Sha1};

use opencode_llm::redact::Secrets;
use opencode_schema::clock::{Clock, Millis, SystemClock};

use crate::catalogue::{Catalogue, ModelsDevFile};
use crate::config::{Configuration, HostConfiguration};
use crate::definitions::Definitions;
use crate::directory::normalise;
use crate::environment::Environment;
use crate::known_secrets::known_secrets;
use crate::location::{Location, LocationError, check};
use crate::project::{Project, Projects};
use crate::trust::{Trust, TrustDecisions};

/// How many Locations are kept beyond those in use. Opening one again costs a few milliseconds; a
/// program that works in more directories at once than this pays that when it comes back to one.
pub const MAX_IDLE_LOCATIONS: usize = 64;

/// How long a Location that nobody uses is kept.
pub const IDLE_TIME: Duration = Duration::from_secs(60 * 60);

/// Opens and keeps Locations.
///
/// A Location is in use while somebody other than this cache holds it. Those in use are never
/// dropped. An idle one goes when nobody has asked for it for [`IDLE_TIME`], which is looked at
/// whenever a Location is asked for, and of more than [`MAX_IDLE_LOCATIONS`] the least recently used
/// go at once.
pub struct Locations {
    environment: Arc<Environment>,
    /// The configuration of the embedding program.
    host: Arc<HostConfiguration>,
    projects: Projects,
    models: Arc<ModelsDevFile>,
    clock: Arc<dyn Clock>,
    trust: TrustDecisions,
    /// Is told the secrets of every Location that is read.
    learn_secrets: LearnSecrets,
    max_idle: usize,
    idle_time: Millis,
    /// By directory in normal form. Held for lookups and evictions, never while a Location opens.
    slots: Mutex<HashMap<String, Arc<Slot>>>,
    /// Counts uses, to tell which was the last. A clock would tie within its resolution.
    uses: AtomicU64,
    /// When idle Locations were last looked for.
    swept: AtomicI64,
}

/// Takes the secrets of a Location.
pub type LearnSecrets = Arc<dyn Fn(&Secrets) + Send + Sync>;

/// The place of one Location.
#[derive(Default)]
struct Slot {
    /// Held by whoever opens it or reads it again: concurrent first openers wait for the one that
    /// began; when it fails or gives up, the next of them tries.
    reading: tokio::sync::Mutex<()>,
    /// The snapshot, once there is one. Held to look at it or to replace it.
    location: Mutex<Option<Arc<Location>>>,
    /// The number of the last use.
    used: AtomicU64,
    /// When it was last asked for or seen in use.
    seen: AtomicI64,
}

impl Slot {
    fn location(&self) -> MutexGuard<'_, Option<Arc<Location>>> {
        self.location.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> Option<Arc<Location>> {
        self.location().clone()
    }

    /// Whether nobody holds the Location or is opening it. Only to be asked while the slots are
    /// locked: every new use begins there.
    fn idle(self: &Arc<Self>) -> bool {
        let unclaimed = Arc::strong_count(self) == 1;
        let unused = |location: &Arc<Location>| Arc::strong_count(location) == 1;
        unclaimed && self.location().as_ref().is_none_or(unused)
    }
}

/// A Location that was read again.
#[derive(Debug)]
pub struct Reloaded {
    /// The new snapshot.
    pub location: Arc<Location>,
    /// Whether it may offer other providers or models than the one before.
    pub catalogue_changed: bool,
}

impl Locations {
    /// No Location yet. `host` is what the embedding program configures itself.
    pub fn new(environment: Arc<Environment>, host: impl Into<HostConfiguration>) -> Self {
        Self {
            projects: Projects::new(Arc::clone(&environment)),
            environment,
            host: Arc::new(host.into()),
            models: Arc::default(),
            clock: Arc::new(SystemClock),
            trust: TrustDecisions::new(Trust::Never),
            learn_secrets: Arc::new(|_| {}),
            max_idle: MAX_IDLE_LOCATIONS,
            idle_time: IDLE_TIME.as_millis() as Millis,
            slots: Mutex::default(),
            uses: AtomicU64::new(0),
            swept: AtomicI64::new(0),
        }
    }

    /// Keeps this many idle Locations instead of [`MAX_IDLE_LOCATIONS`].
    #[must_use]
    pub fn with_max_idle(mut self, max_idle: usize) -> Self {
        self.max_idle = max_idle;
        self
    }

    /// Takes the time from here instead of the machine.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Decides by this whether the files of projects count, instead of never.
    #[must_use]
    pub fn with_trust(mut self, trust: Trust) -> Self {
        self.trust = TrustDecisions::new(trust);
        self
    }

    /// Tells this function the secrets of every Location that is read, before anything is logged of it.
    #[must_use]
    pub fn with_learn_secrets(mut self, learn_secrets: LearnSecrets) -> Self {
        self.learn_secrets = learn_secrets;
        self
    }

    /// The Location of a directory, opened if it is not yet.
    ///
    /// Names that differ only lexically (`/a/b/../c/` and `/a/c`) are one Location. A failure is
    /// not remembered: once the directory is there, it opens.
    pub async fn get(&self, directory: &str) -> Result<Arc<Location>, LocationError> {
        let directory = normalise(directory)?;
        let slot = self.claim(&directory);
        if let Some(open) = slot.open() {
            if open.agents.unread().is_empty() || !self.may_be_mended(&open).await? {
                return Ok(open);
            }
            let read = self.read_again(&directory, &slot).await;
            self.release(&directory, slot);
            return Ok(read?.location);
        }
        let opened = self.open_once(&directory, &slot).await;
        self.release(&directory, slot);
        opened
    }

    /// Reads everything that belongs to a directory again. Whoever asks for the Location from then
    /// on gets the new snapshot; who holds the one before keeps it.
    ///
    /// # Errors
    ///
    /// As for [`Locations::get`]; the snapshot before stays.
    pub async fn reload(&self, directory: &str) -> Result<Reloaded, LocationError> {
        let directory = normalise(directory)?;
        let slot = self.claim(&directory);
        let reloaded = self.read_again(&directory, &slot).await;
        self.release(&directory, slot);
        reloaded
    }

    /// Trusts the project of a Location from now on, or no longer. Callers that ask for the Location
    /// later get a snapshot that was read anew; those that hold the one before keep it.
    ///
    /// # Errors
    ///
    /// As for [`Locations::get`]; the decision holds all the same.
    pub async fn trust(&self, directory: &str, trusted: bool) -> Result<Reloaded, LocationError> {
        let directory = normalise(directory)?;
        self.trust.decide(&directory, trusted);
        self.reload(&directory).await
    }

    /// Whether a file that could not be read was changed, so that the restrictions that follow from it
    /// may end.
    async fn may_be_mended(&self, location: &Arc<Location>) -> Result<bool, LocationError> {
        let location = Arc::clone(location);
        let directory = location.directory.clone();
        self.blocking(&directory, move || location.agents.may_be_mended())
            .await
    }

    async fn open_once(
        &self,
        directory: &str,
        slot: &Slot,
    ) -> Result<Arc<Location>, LocationError> {
        let _reading = slot.reading.lock().await;
        if let Some(open) = slot.open() {
            return Ok(open);
        }
        let opened = self.read(directory, None).await?;
        *slot.location() = Some(Arc::clone(&opened));
        Ok(opened)
    }

    async fn read_again(&self, directory: &str, slot: &Slot) -> Result<Reloaded, LocationError> {
        let _reading = slot.reading.lock().await;
        let before = slot.open();
        let location = self.read(directory, before.clone()).await?;
        *slot.location() = Some(Arc::clone(&location));
        let same = |before: &Arc<Location>| before.catalogue.offers_the_same(&location.catalogue);
        Ok(Reloaded {
            catalogue_changed: !before.as_ref().is_some_and(same),
            location,
        })
    }

    /// The machine, as its host describes it.
    pub fn environment(&self) -> &Arc<Environment> {
        &self.environment
    }

    /// The projects of directories, also of those that are no Locations.
    pub fn projects(&self) -> &Projects {
        &self.projects
    }

    /// Reads everything of a Location. Its entries in the log are about the Location, whichever
    /// session needs it first.
    #[tracing::instrument(
        parent = None,
        level = "error",
        name = "location",
        skip_all,
        fields(location = directory),
    )]
    async fn read(
        &self,
        directory: &str,
        before: Option<Arc<Location>>,
    ) -> Result<Arc<Location>, LocationError> {
        let name = directory.to_owned();
        self.blocking(directory, move || check(&name)).await??;
        let project = self.projects.resolve(directory).await;
        let decision = self.trust.of(directory).await;
        let before = before.filter(|it| it.is_trusted == decision.is_trusted);
        let name = directory.to_owned();
        let environment = Arc::clone(&self.environment);
        let host = Arc::clone(&self.host);
        let models = Arc::clone(&self.models);
        let learn_secrets = Arc::clone(&self.learn_secrets);
        self.blocking(directory, move || {
            let unread = Configuration::default();
            let before = before.as_deref().map_or(&unread, |it| &it.configuration);
            let is_trusted = decision.is_trusted;
            let mut configuration = before.reload(&environment, &project, &name, &host, is_trusted);
            configuration.diagnostics.extend(decision.diagnostic);
            let list = models.get(&environment);
            configuration
                .diagnostics
                .extend(list.diagnostics.iter().cloned());
            let (mut catalogue, diagnostic) =
                Catalogue::build_on(list, &configuration, &environment);
            configuration.diagnostics.extend(diagnostic);
            let (mut definitions, diagnostics) =
                Definitions::read(&configuration, &catalogue, &environment, &project, &name);
            configuration.diagnostics.extend(diagnostics);
            let unusable = definitions.commands.check(&definitions.agents, &catalogue);
            configuration.diagnostics.extend(unusable);
            let secrets = Arc::new(known_secrets(
                &configuration,
                &catalogue,
                &definitions.agents,
                &environment,
            ));
            learn_secrets(&secrets);
            let redactor = secrets.of_texts();
            let command_variables = host.command_environment.variables(
                &environment,
                catalogue.credential_variables(),
                &redactor,
            );
            for diagnostic in &mut configuration.diagnostics {
                redactor.clean(&mut diagnostic.message);
                if !before.diagnostics.contains(diagnostic) {
                    diagnostic.log();
                }
            }
            definitions.agents.hide(&secrets);
            catalogue.hide(secrets);
            Arc::new(Location {
                secrets: redactor,
                command_variables: Arc::new(command_variables),
                approvals: approvals(&project, &name, &environment.home, is_trusted),
                directory: name,
                project,
                is_trusted,
                agents: definitions.agents,
                commands: definitions.commands,
                references: definitions.references,
                skills: definitions.skills,
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
        opencode_log::spawn_blocking(work)
            .await
            .map_err(|error| LocationError::Unreadable {
                directory: directory.to_owned(),
                message: format!("opening it was cut off: {error}"),
            })
    }

    /// The slot of a directory, marked as just used.
    fn claim(&self, directory: &str) -> Arc<Slot> {
        let now = self.clock.now();
        let mut slots = self.lock();
        self.sweep(&mut slots, now);
        let slot = match slots.get(directory) {
            Some(slot) => Arc::clone(slot),
            None => Arc::clone(slots.entry(directory.to_owned()).or_default()),
        };
        let use_number = self.uses.fetch_add(1, Ordering::Relaxed);
        slot.used.store(use_number, Ordering::Relaxed);
        slot.seen.store(now, Ordering::Relaxed);
        slot
    }

    /// Gives a slot back after opening: drops it if that failed, and idle ones if it is one too many.
    fn release(&self, directory: &str, slot: Arc<Slot>) {
        let mut slots = self.lock();
        let empty = slot.open().is_none();
        drop(slot);
        if empty && slots.get(directory).is_some_and(Slot::idle) {
            slots.remove(directory);
        }
        self.evict(&mut slots);
    }

    /// Drops what nobody has used for long. Often enough is now and then: looking at every Location
    /// each time one is asked for would make many of them slow.
    fn sweep(&self, slots: &mut HashMap<String, Arc<Slot>>, now: Millis) {
        const SWEEPS_PER_IDLE_TIME: Millis = 60;
        let since = now.abs_diff(self.swept.load(Ordering::Relaxed));
        if since < (self.idle_time / SWEEPS_PER_IDLE_TIME).unsigned_abs() {
            return;
        }
        self.swept.store(now, Ordering::Relaxed);
        slots.retain(|_, slot| {
            if !slot.idle() {
                slot.seen.store(now, Ordering::Relaxed);
                return true;
            }
            let unused_for = now - slot.seen.load(Ordering::Relaxed);
            slot.open().is_some() && unused_for < self.idle_time
        });
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

/// Stands between a project and the worktree to which approvals are bound. No id of a project has it.
pub const WORKTREE: char = '\u{1f}';

/// Under which name answers of `always` are saved for a Location.
fn approvals(project: &Project, directory: &str, home: &Path, is_trusted: bool) -> String {
    if is_trusted {
        return project.id.clone();
    }
    let worktree = project.worktree(Path::new(directory), home);
    let hash = Sha1::digest(worktree.as_os_str().as_encoded_bytes());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}{WORKTREE}{hash}", project.id)
}

/// Shows which Locations are open; the configuration may hold secrets.
impl fmt::Debug for Locations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locations")
            .field("open", &self.lock().keys())
            .finish_non_exhaustive()
    }
}
