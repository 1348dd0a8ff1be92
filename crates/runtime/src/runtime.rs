//! The session runtime of one host, from its opening to its close.

use std::sync::Arc;
use std::time::Duration;

use opencode_llm::{ModelClient, RetryPolicy};
use opencode_location::locations::Locations;
use opencode_schema::clock::Clock;
use opencode_schema::envelope;
use opencode_schema::id::{EventID, IdSource};
use opencode_store::{Committed, DatabasePath, Durability, OpenError, Seam, Store, StoreOptions};
use opencode_tools::{Registry, SearchServices, Web};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::coordinator::Coordinator;
use crate::core::Core;
use crate::limits::Limits;
use crate::live::LiveEvents;
use crate::managed_output;
use crate::metrics::Metrics;
use crate::permissions::Permissions;
use crate::questions::Questions;
use crate::recovery::{Recovery, recover};
use crate::revert::Reverts;
use crate::runner::{Shared, drains};
use crate::snapshots::{SnapshotStores, sweep_regularly};
use crate::sources::{Fetch, Sources};
use crate::tail::Followed;
use crate::tasks::RunningTasks;
use crate::terminals;
use crate::todos::TodoUpdates;
use crate::transfer::ImportBudget;
use crate::unanswered::{Timer, Unanswered};
use crate::unknown_agents::UnknownAgents;

/// Maximum time that closing waits for drains to settle before it closes the database. Work committed by then is kept;
/// the next drain settles the rest.
const CLOSE_PATIENCE: Duration = Duration::from_secs(10);

/// Maximum time that closing waits for readers of durable events to receive the committed events.
const READERS_PATIENCE: Duration = Duration::from_secs(1);

/// Time for a capture that is under way to stop.
const CAPTURES_PATIENCE: Duration = Duration::from_secs(2);

/// Options and services of a runtime.
pub struct RuntimeOptions {
    /// The path of the database.
    pub database: DatabasePath,
    /// The failures that committed data survives.
    pub durability: Durability,
    /// The default directory of sessions and requests without a directory; absolute.
    pub directory: String,
    /// Locations.
    pub locations: Arc<Locations>,
    /// Tools.
    pub tools: Arc<Registry>,
    /// The treatment of permissions and questions without an answer.
    pub unanswered: Unanswered,
    /// Measures the waiting time of those requests.
    pub timer: Arc<dyn Timer>,
    /// Answers model requests.
    pub model: Arc<dyn ModelClient>,
    /// Time that a Provider Turn waits for a provider that temporarily refuses its request.
    pub retry: RetryPolicy,
    /// Fetches the instructions that the configuration names by their address.
    pub fetch: Arc<dyn Fetch>,
    /// Access of tools to web servers.
    pub web: Arc<dyn Web>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Identifiers.
    pub ids: Arc<IdSource>,
    /// Limits on the input of a session.
    pub limits: Limits,
    /// Action on sessions whose last activity was cut off.
    pub recovery: Recovery,
    /// Observes accesses to the database and injects faults; for tests only.
    pub seam: Option<Arc<dyn Seam>>,
}

/// The session runtime of one host.
#[derive(Clone)]
pub struct Runtime {
    pub(crate) core: Arc<Core>,
    pub(crate) coordinator: Coordinator,
    pub(crate) shared: Arc<Shared>,
    pub(crate) directory: Arc<str>,
    /// Ends the drains.
    pub(crate) closing: CancellationToken,
    /// Ends the durable streams after the drains have settled.
    pub(crate) closed: CancellationToken,
    /// All background work: drains, their tools, recovery, and operations whose caller dropped the future. The tracker
    /// is closed from the beginning, so that callers can wait until it is empty.
    pub(crate) tasks: TaskTracker,
}

impl Runtime {
    /// Opens the database and starts the runtime.
    ///
    /// # Errors
    ///
    /// Returns the reason why the database cannot be opened.
    pub async fn open(options: RuntimeOptions) -> Result<Self, OpenError> {
        let database = options.database.clone();
        let live = Arc::new(LiveEvents::default());
        let (announcing, ids) = (Arc::clone(&live), Arc::clone(&options.ids));
        let store = Store::open(StoreOptions {
            path: options.database,
            durability: options.durability,
            ids: Arc::clone(&options.ids),
            listener: Box::new(move |committed| announce(&announcing, &ids, committed)),
            seam: options.seam,
        })
        .await?;
        let closing = CancellationToken::new();
        let environment = options.locations.environment();
        let search = SearchServices::from_variables(|name| environment.variable(name));
        let sources = Sources::new(
            Arc::clone(options.locations.environment()),
            Arc::clone(&options.clock),
            options.fetch,
            closing.clone(),
        );
        let snapshots = SnapshotStores::new(&options.locations.environment().data, &database);
        let core = Arc::new(Core {
            store,
            terminals: terminals::open(&live, &options.ids, &options.clock),
            overlays: terminals::Overlays::default(),
            clock: options.clock,
            locations: options.locations,
            sources,
            tools: options.tools,
            permissions: Permissions::new(&live, &options.ids),
            questions: Questions::new(&live, &options.ids),
            snapshots,
            reverts: Reverts::default(),
            running_tasks: RunningTasks::default(),
            unknown_agents: UnknownAgents::default(),
            unanswered: options.unanswered,
            timer: options.timer,
            todo_updates: TodoUpdates::default(),
            web: options.web,
            search: Arc::new(search),
            live,
            ids: options.ids,
            model: options.model,
            retry: options.retry,
            limits: Limits {
                steer_batch: options.limits.steer_batch.max(1),
                ..options.limits
            },
            metrics: Metrics::default(),
            imports: ImportBudget::default(),
            followed: Followed::default(),
        });
        let tasks = TaskTracker::new();
        tasks.close();
        let shared = Shared::new(tasks.clone());
        let drains = drains(&core, &shared);
        let announcing = Arc::clone(&core);
        let listener =
            Box::new(move |session: &_, active| announcing.announce_status(session, active));
        let coordinator = Coordinator::new(drains, tasks.clone(), closing.clone(), listener);
        if options.recovery == Recovery::Resume {
            let recovery = recover(Arc::clone(&core), coordinator.clone(), closing.clone());
            opencode_log::spawn_tracked(&tasks, recovery);
        }
        let timer = Arc::clone(&core.timer);
        let sweeping =
            sweep_regularly(Arc::downgrade(&core), timer, tasks.clone(), closing.clone());
        let outputs = managed_output::sweep_regularly(&core, tasks.clone(), closing.clone());
        // Both end with the host. They are not tracked, so that a wait for idleness does not include their timers.
        drop(opencode_log::spawn(sweeping));
        drop(opencode_log::spawn(outputs));
        let directory = options.directory.into();
        Ok(Self {
            core,
            coordinator,
            shared,
            directory,
            closing,
            closed: CancellationToken::new(),
            tasks,
        })
    }

    /// Stops every drain at once, without waiting, and records nothing more. For an owner that is dropped without a
    /// close: no user decided to interrupt, so the database is left in the state that a crash would leave, and recovery
    /// can resume the sessions.
    pub fn abandon(&self) {
        self.core.store.abandon();
        self.closing.cancel();
        self.closed.cancel();
        self.core.terminals.abandon();
    }

    /// Interrupts every drain, waits until they have settled, ends the terminals and the streams, and closes the
    /// database. A reader that follows a session without pausing receives all committed events. Later operations are
    /// refused. A second close is harmless.
    pub async fn close(&self) {
        self.closing.cancel();
        let settled = tokio::time::timeout(CLOSE_PATIENCE, self.tasks.wait());
        let (settled, ()) = tokio::join!(settled, self.core.terminals.close());
        if settled.is_err() {
            tracing::error!(
                "some Session Drains or tools did not end in time; the next host settles what they left"
            );
        }
        self.core.permissions.end();
        self.core.questions.end();
        self.core.overlays.end();
        tokio::select! {
            () = self.core.snapshots.end() => {}
            () = self.core.timer.after(CAPTURES_PATIENCE) => {}
        }
        let live = &self.core.live;
        live.publish(|| {
            let id = EventID::generate(&self.core.ids);
            envelope::host_text(&id, "global.disposed")
        });
        live.end();
        // Waiting readers receive all events committed so far. A reader that stopped reading does not delay the close.
        tokio::select! {
            () = self.core.store.tails_caught_up() => {}
            () = self.core.timer.after(READERS_PATIENCE) => {}
        }
        self.closed.cancel();
        self.core.store.close().await;
    }
}

/// Publishes committed events on the live stream. Runs on the writer's thread and must only enqueue.
fn announce(live: &LiveEvents, ids: &IdSource, committed: &[Committed]) {
    for entry in committed {
        live.publish(|| envelope::durable_text(&entry.event, entry.location.as_ref()));
        if let Some(updated) = &entry.updated {
            live.publish(|| {
                let id = EventID::generate(ids);
                envelope::updated_text(&id, &updated.location, &updated.info)
            });
        }
    }
}
