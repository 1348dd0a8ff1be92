//! The Locations of a host. Each one is opened at its first use and then shared.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use opencode_schema::clock::{Clock, Millis, SystemClock};
use opencode_secrets::Secrets;
use parking_lot::Mutex;

use super::all_secrets::AllSecrets;
use super::approvals::approvals;
use super::known_secrets::known_secrets;
use super::trust::{Trust, TrustDecisions};
use super::{Location, LocationError, check, confirm_changes};
use crate::catalogue::{Catalogue, ListFile, ModelsDevFile, ProgramProviders, StoredKeys};
use crate::config::{Configuration, HostConfiguration};
use crate::definitions::Definitions;
use crate::directory::normalise;
use crate::environment::Environment;
use crate::guarded::GuardedFiles;
use crate::project::Projects;

/// Maximum number of idle Locations in the cache. Opening a Location again costs a few milliseconds. A
/// program that uses more directories than this pays that cost each time it returns to an evicted one.
pub const MAX_IDLE_LOCATIONS: usize = 64;

/// Time after which the cache drops an idle Location.
pub const IDLE_TIME: Duration = Duration::from_secs(60 * 60);

/// Opens Locations and caches them.
///
/// A Location is in use while a holder other than this cache has a reference to it. The cache never drops a Location in
/// use. It drops an idle Location that no caller has requested for [`IDLE_TIME`]; requests for Locations trigger this
/// check. If there are more than [`MAX_IDLE_LOCATIONS`] idle ones, it drops the least recently used ones immediately.
pub struct Locations {
    environment: Arc<Environment>,
    /// The configuration of the embedding program.
    host: Arc<HostConfiguration>,
    projects: Projects,
    models: Arc<ModelsDevFile>,
    clock: Arc<dyn Clock>,
    trust: TrustDecisions,
    programs: ProgramProviders,
    keys: StoredKeys,
    /// Receives the secrets of every Location that is read.
    learn_secrets: LearnSecrets,
    /// The secrets of every Location that was read.
    all_secrets: Arc<AllSecrets>,
    max_idle: usize,
    idle_time: Millis,
    /// Key: directory in normal form. Locked for lookups and evictions, never while a Location opens.
    slots: Mutex<HashMap<String, Arc<Slot>>>,
    /// Counts uses, to order them. Clock values can be equal within the resolution of the clock.
    uses: AtomicU64,
    /// Time of the last search for idle Locations.
    swept: AtomicI64,
}

/// Callback that receives the secrets of a Location.
pub type LearnSecrets = Arc<dyn Fn(&Secrets) + Send + Sync>;

/// The cache entry of one Location.
#[derive(Default)]
struct Slot {
    /// Locked while a caller opens or rereads the Location. Concurrent first openers wait for the
    /// caller that started. If that caller fails or is cancelled, the next waiter tries.
    reading: tokio::sync::Mutex<()>,
    /// The snapshot, after it was opened. Locked only to read or replace it.
    location: Mutex<Option<Arc<Location>>>,
    /// The sequence number of the last use.
    used: AtomicU64,
    /// Time when the Location was last requested or last found in use.
    seen: AtomicI64,
}

impl Slot {
    fn open(&self) -> Option<Arc<Location>> {
        self.location.lock().clone()
    }

    /// True if no holder uses the Location and no caller is opening it. Call this only while the slots
    /// are locked, because every new use starts under that lock.
    fn idle(self: &Arc<Self>) -> bool {
        let unclaimed = Arc::strong_count(self) == 1;
        let unused = |location: &Arc<Location>| Arc::strong_count(location) == 1;
        unclaimed && self.location.lock().as_ref().is_none_or(unused)
    }
}

/// A Location that was read again.
#[derive(Debug)]
pub struct Reloaded {
    /// The new snapshot.
    pub location: Arc<Location>,
    /// True if the new snapshot may offer other providers or models than the previous one.
    pub catalogue_changed: bool,
}

impl Locations {
    /// Creates an empty cache. `host` is the configuration of the embedding program.
    pub fn new(environment: Arc<Environment>, host: impl Into<HostConfiguration>) -> Self {
        Self {
            projects: Projects::default(),
            environment,
            host: Arc::new(host.into()),
            models: Arc::default(),
            clock: Arc::new(SystemClock),
            trust: TrustDecisions::new(Trust::Never),
            programs: ProgramProviders::default(),
            keys: StoredKeys::default(),
            learn_secrets: Arc::new(|_| {}),
            all_secrets: Arc::default(),
            max_idle: MAX_IDLE_LOCATIONS,
            idle_time: IDLE_TIME.as_millis() as Millis,
            slots: Mutex::default(),
            uses: AtomicU64::new(0),
            swept: AtomicI64::new(0),
        }
    }

    /// Sets the maximum number of idle Locations, instead of [`MAX_IDLE_LOCATIONS`].
    #[must_use]
    pub fn with_max_idle(mut self, max_idle: usize) -> Self {
        self.max_idle = max_idle;
        self
    }

    /// Uses this clock instead of the clock of the machine.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Uses this policy to decide if the files of a project are trusted. The default is never.
    #[must_use]
    pub fn with_trust(mut self, trust: Trust) -> Self {
        self.trust = TrustDecisions::new(trust);
        self
    }

    /// Offers the models of these providers of the embedding program. Later changes of them count too.
    #[must_use]
    pub fn with_program_providers(mut self, programs: ProgramProviders) -> Self {
        self.programs = programs;
        self
    }

    /// Uses these keys of providers for which neither the configuration nor the environment has one. Later changes count
    /// too.
    #[must_use]
    pub fn with_stored_keys(mut self, keys: StoredKeys) -> Self {
        self.keys = keys;
        self
    }

    /// The stored keys of providers.
    pub fn stored_keys(&self) -> &StoredKeys {
        &self.keys
    }

    /// The file with the list of models, if the host may replace it.
    ///
    /// # Errors
    ///
    /// A text that names the variable with an unusable address.
    pub fn list_file(&self) -> Result<Option<ListFile>, String> {
        ListFile::of(&self.environment)
    }

    /// Notes that the file with the list of models was replaced. Later callers of [`Locations::get`] receive snapshots
    /// with the new list.
    pub fn note_new_list(&self) {
        self.models.note_replacement();
    }

    /// The secrets of every Location that was read.
    pub fn all_secrets(&self) -> &Arc<AllSecrets> {
        &self.all_secrets
    }

    /// Calls this function with the secrets of every Location that is read, before the Location logs anything.
    #[must_use]
    pub fn with_learn_secrets(mut self, learn_secrets: LearnSecrets) -> Self {
        self.learn_secrets = learn_secrets;
        self
    }

    /// Returns the Location of a directory. Opens it if it is not open yet.
    ///
    /// Paths that differ only lexically (`/a/b/../c/` and `/a/c`) are the same Location. The cache does
    /// not remember a failure: after the directory has been created, it opens.
    pub async fn get(&self, directory: &str) -> Result<Arc<Location>, LocationError> {
        let directory = normalise(directory)?;
        let slot = self.claim(&directory);
        if let Some(open) = slot.open() {
            let is_current = open.provider_changes == self.programs.generation()
                && open.key_changes == self.keys.generation()
                && open.list_changes == self.models.generation();
            let is_readable = open.agents.unread().is_empty();
            if is_current && (is_readable || !self.may_be_readable(&open).await?) {
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

    /// Rereads everything of a directory. Later callers receive the new snapshot, existing holders keep the former.
    ///
    /// # Errors
    ///
    /// As for [`Locations::get`]. The previous snapshot then stays in the cache.
    pub async fn reload(&self, directory: &str) -> Result<Reloaded, LocationError> {
        let directory = normalise(directory)?;
        self.host.remote.forget();
        let slot = self.claim(&directory);
        let reloaded = self.read_again(&directory, &slot).await;
        self.release(&directory, slot);
        reloaded
    }

    /// Sets whether the host trusts the project of a Location. Later callers receive a snapshot that
    /// was read again. Existing holders keep the previous one.
    ///
    /// # Errors
    ///
    /// As for [`Locations::get`], and if changes by tools cannot be confirmed. Otherwise the decision applies.
    pub async fn trust(&self, directory: &str, trusted: bool) -> Result<Reloaded, LocationError> {
        let directory = normalise(directory)?;
        if trusted {
            let project = self.projects.resolve(&directory).await;
            let (environment, name) = (Arc::clone(&self.environment), directory.clone());
            let confirming = move || confirm_changes(&environment, &project, &name);
            self.blocking(&directory, confirming).await??;
        }
        self.trust.decide(&directory, trusted);
        self.reload(&directory).await
    }

    /// True if a file that could not be read has changed since then, so that the resulting restrictions
    /// may no longer apply.
    async fn may_be_readable(&self, location: &Arc<Location>) -> Result<bool, LocationError> {
        let location = Arc::clone(location);
        let directory = location.directory.clone();
        self.blocking(&directory, move || location.agents.may_be_readable())
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
        *slot.location.lock() = Some(Arc::clone(&opened));
        Ok(opened)
    }

    async fn read_again(&self, directory: &str, slot: &Slot) -> Result<Reloaded, LocationError> {
        let _reading = slot.reading.lock().await;
        let before = slot.open();
        let location = self.read(directory, before.clone()).await?;
        *slot.location.lock() = Some(Arc::clone(&location));
        let same =
            |before: &Arc<Location>| before.catalogue.offers_same_models(&location.catalogue);
        Ok(Reloaded {
            catalogue_changed: !before.as_ref().is_some_and(same),
            location,
        })
    }

    /// Returns the directories of the open Locations.
    pub fn open_directories(&self) -> Vec<String> {
        self.slots.lock().keys().cloned().collect()
    }

    /// The machine, as the host describes it.
    pub fn environment(&self) -> &Arc<Environment> {
        &self.environment
    }

    /// The projects of directories, including directories that are not Locations.
    pub fn projects(&self) -> &Projects {
        &self.projects
    }

    /// Reads everything of a Location. Its log entries belong to the Location, not to the session that came first.
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
        let programs = self.programs.clone();
        let stored = self.keys.now().await;
        let remote = self.host.remote.get().await;
        let learn_secrets = Arc::clone(&self.learn_secrets);
        let all_secrets = Arc::clone(&self.all_secrets);
        self.blocking(directory, move || {
            let unread = Configuration::default();
            let before = before.as_deref().map_or(&unread, |it| &it.configuration);
            let is_trusted = decision.is_trusted;
            let mut configuration =
                before.reload(&environment, &project, &name, &host, is_trusted, &remote);
            configuration.diagnostics.extend(decision.diagnostic);
            let list_changes = models.generation();
            let list = models.get(&environment);
            configuration
                .diagnostics
                .extend(list.diagnostics.iter().cloned());
            let programs = programs.of(&name);
            let (mut catalogue, diagnostic) = Catalogue::build_on(
                list,
                &configuration,
                &environment,
                &programs.providers,
                &stored,
            );
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
                &definitions.mcp,
                &environment,
            ));
            learn_secrets(&secrets);
            all_secrets.learn(&secrets);
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
            let named = definitions.mcp.named_files(Path::new(&name));
            let guarded = GuardedFiles::of(&environment, &project, &name, &configuration, named);
            Arc::new(Location {
                guarded: Arc::new(guarded),
                secrets: redactor,
                command_variables: Arc::new(command_variables),
                home: Arc::from(environment.home.as_path()),
                approvals: approvals(&project, &name, &environment.home, is_trusted),
                directory: name,
                project,
                is_trusted,
                agents: definitions.agents,
                commands: definitions.commands,
                references: definitions.references,
                copies: [environment.clones(), environment.skill_copies()].into(),
                skills: definitions.skills,
                mcp: definitions.mcp,
                configuration,
                catalogue,
                provider_changes: programs.generation,
                key_changes: stored.generation,
                list_changes,
            })
        })
        .await
    }

    /// Runs blocking disk work on a thread for blocking tasks.
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

    /// Returns the slot of a directory and marks it as just used.
    fn claim(&self, directory: &str) -> Arc<Slot> {
        let now = self.clock.now();
        let mut slots = self.slots.lock();
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

    /// Releases a slot after opening. Removes the slot if opening failed, then evicts excess idle Locations.
    fn release(&self, directory: &str, slot: Arc<Slot>) {
        let mut slots = self.slots.lock();
        let empty = slot.open().is_none();
        drop(slot);
        if empty && slots.get(directory).is_some_and(Slot::idle) {
            slots.remove(directory);
        }
        self.evict(&mut slots);
    }

    /// Removes the slots that were idle for too long. Runs at most 60 times per idle time: a check of
    /// every Location at each request would be slow with many Locations.
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
}

/// Shows only the open directories, because the configuration may contain secrets.
impl fmt::Debug for Locations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locations")
            .field("open", &self.slots.lock().keys())
            .finish_non_exhaustive()
    }
}
