//! The operations of the session runtime.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use opencode_llm::ModelClient;
use opencode_location::locations::Locations;
use opencode_schema::clock::{Clock, Millis};
use opencode_schema::envelope;
use opencode_schema::id::{EventID, IdSource, MessageID, SessionID};
use opencode_schema::location::{LocationInfo, LocationRef};
use opencode_schema::message::SessionMessage;
use opencode_schema::model::ModelRef;
use opencode_schema::prompt::SessionInputAdmitted;
use opencode_schema::session::SessionInfo;
use opencode_store::{
    Anchored, Committed, DatabasePath, Durability, OpenError, Order, SessionFilter, Store,
    StoreOptions, StoredEvent,
};
use opencode_tools::{Permissions, Registry};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::coordinator::{Coordinator, Drain};
use crate::core::Core;
use crate::error::RuntimeError;
use crate::inbox::PromptRequest;
use crate::live::{LiveEvents, LiveSubscription};
use crate::runner::{Runner, ToolOffer};
use crate::sessions::CreateSession;
use crate::tail::SessionEvents;

/// How long closing waits for drains to settle before it closes the database under them. What is
/// committed by then stands; the rest is settled by the next drain.
const CLOSE_PATIENCE: Duration = Duration::from_secs(10);

/// What a runtime is made of.
pub struct RuntimeOptions {
    /// Where the database lies.
    pub database: DatabasePath,
    /// What survives which failure.
    pub durability: Durability,
    /// The directory of sessions and requests that name none, absolute.
    pub directory: String,
    /// Locations.
    pub locations: Arc<Locations>,
    /// Tools.
    pub tools: Arc<Registry>,
    /// Who may do what.
    pub permissions: Arc<dyn Permissions>,
    /// Who answers model requests.
    pub model: Arc<dyn ModelClient>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Identifiers.
    pub ids: Arc<IdSource>,
}

/// The session runtime of one host.
#[derive(Clone)]
pub struct Runtime {
    core: Arc<Core>,
    coordinator: Coordinator,
    directory: Arc<str>,
    /// Ends the drains.
    closing: CancellationToken,
    /// Breaks the durable streams, once the drains have settled.
    closed: CancellationToken,
    tasks: TaskTracker,
}

impl Runtime {
    /// Opens the database and is ready.
    ///
    /// # Errors
    ///
    /// Says why the database cannot be opened.
    pub async fn open(options: RuntimeOptions) -> Result<Self, OpenError> {
        let live = Arc::new(LiveEvents::default());
        let announcing = Arc::clone(&live);
        let store = Store::open(StoreOptions {
            path: options.database,
            durability: options.durability,
            ids: Arc::clone(&options.ids),
            listener: Box::new(move |committed| announce(&announcing, committed)),
        })
        .await?;
        let core = Arc::new(Core {
            store,
            live,
            ids: options.ids,
            clock: options.clock,
            locations: options.locations,
            tools: options.tools,
            permissions: options.permissions,
            model: options.model,
        });
        let (closing, tasks) = (CancellationToken::new(), TaskTracker::new());
        let coordinator = Coordinator::new(drain(&core), tasks.clone(), closing.clone());
        let directory = options.directory.into();
        Ok(Self {
            core,
            coordinator,
            directory,
            closing,
            closed: CancellationToken::new(),
            tasks,
        })
    }

    /// The directory of sessions and requests that name none.
    pub fn default_directory(&self) -> &str {
        &self.directory
    }

    /// Creates a session, or returns the one that has the caller's id.
    pub async fn create_session(
        &self,
        request: CreateSession,
    ) -> Result<SessionInfo, RuntimeError> {
        self.core.create_session(request).await
    }

    /// One session.
    pub async fn session(&self, id: &SessionID) -> Result<SessionInfo, RuntimeError> {
        Ok(self.core.session(id).await?.info)
    }

    /// Sessions in the order of `(time created, id)`.
    pub async fn sessions(
        &self,
        filter: SessionFilter,
        order: Order,
        anchor: Option<Anchored<(Millis, String)>>,
        limit: usize,
    ) -> Result<Vec<SessionInfo>, RuntimeError> {
        self.core.sessions(filter, order, anchor, limit).await
    }

    /// Sessions with a running drain in this host.
    pub fn active(&self) -> Vec<SessionID> {
        self.coordinator.active()
    }

    /// Admits a prompt and returns its receipt once it is durable. Unless told otherwise the
    /// session is woken, and that wake is registered before this returns.
    pub async fn prompt(
        &self,
        request: PromptRequest,
    ) -> Result<SessionInputAdmitted, RuntimeError> {
        let (core, coordinator) = (Arc::clone(&self.core), self.coordinator.clone());
        let resume = request.resume;
        uninterruptible(async move {
            let receipt = core.admit(request).await?;
            if resume {
                coordinator.wake(&receipt.session_id);
            }
            Ok(receipt)
        })
        .await
    }

    /// Stops the session's drain and returns when everything of it is settled. What is pending
    /// stays pending.
    pub async fn interrupt(&self, id: &SessionID) -> Result<(), RuntimeError> {
        self.core.session(id).await?;
        self.coordinator.interrupt(id).await;
        Ok(())
    }

    /// Returns when no drain of the session runs in this host.
    pub async fn wait(&self, id: &SessionID) -> Result<(), RuntimeError> {
        self.core.session(id).await?;
        self.coordinator.wait(id).await;
        Ok(())
    }

    /// Joins the session's drain, or makes at least one Provider Turn, and returns how that ended.
    pub async fn run(&self, id: &SessionID) -> Result<DrainOutcome, RuntimeError> {
        self.core.session(id).await?;
        Ok(self.coordinator.run(id).await.into())
    }

    /// Chooses the agent from the next Provider Turn on.
    pub async fn switch_agent(&self, id: &SessionID, agent: String) -> Result<(), RuntimeError> {
        self.core.switch_agent(id, agent).await
    }

    /// Chooses the model from the next Provider Turn on.
    pub async fn switch_model(&self, id: &SessionID, model: ModelRef) -> Result<(), RuntimeError> {
        self.core.switch_model(id, model).await
    }

    /// Messages by sequence, each with its sequence.
    pub async fn messages(
        &self,
        id: &SessionID,
        order: Order,
        anchor: Option<Anchored<u64>>,
        limit: usize,
    ) -> Result<Vec<(u64, SessionMessage)>, RuntimeError> {
        self.core.messages(id, order, anchor, limit).await
    }

    /// One message of a session.
    pub async fn message(
        &self,
        id: &SessionID,
        message_id: &MessageID,
    ) -> Result<SessionMessage, RuntimeError> {
        self.core.message(id, message_id).await
    }

    /// The active history, oldest first.
    pub async fn context(&self, id: &SessionID) -> Result<Vec<SessionMessage>, RuntimeError> {
        self.core.context(id).await
    }

    /// A page of durable events after `after`, and whether there are more.
    pub async fn history(
        &self,
        id: &SessionID,
        after: Option<u64>,
        limit: usize,
    ) -> Result<(Vec<StoredEvent>, bool), RuntimeError> {
        self.core.history(id, after, limit).await
    }

    /// Replays and follows the durable events after `after`.
    pub async fn events(
        &self,
        id: &SessionID,
        after: Option<u64>,
    ) -> Result<SessionEvents, RuntimeError> {
        let session = self.core.session(id).await?;
        let core = Arc::clone(&self.core);
        Ok(SessionEvents::new(
            core,
            session,
            after,
            self.closed.clone(),
        ))
    }

    /// Everything that happens in this host from now on.
    pub fn subscribe(&self) -> LiveSubscription {
        self.core.live.subscribe()
    }

    /// The event that a subscriber sees first, as JSON text.
    pub fn connected_event(&self) -> String {
        let id = EventID::generate(&self.core.ids);
        envelope::host_text(&id, "server.connected")
    }

    /// Opens a Location and describes it.
    pub async fn location(&self, location: LocationRef) -> Result<LocationInfo, RuntimeError> {
        let opened = self.core.locations.get(&location.directory).await?;
        Ok(LocationInfo {
            workspace_id: location.workspace_id,
            ..opened.info()
        })
    }

    /// Interrupts every drain without waiting. For an owner that goes away without closing.
    pub fn abandon(&self) {
        self.closing.cancel();
        self.closed.cancel();
    }

    /// Interrupts every drain, waits until they have settled, ends the streams and closes the
    /// database. Later operations are refused. Closing twice is harmless.
    pub async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        if tokio::time::timeout(CLOSE_PATIENCE, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::error!(
                "some Session Drains did not settle in time; they are left to the next host"
            );
        }
        let live = &self.core.live;
        live.publish(|| {
            let id = EventID::generate(&self.core.ids);
            envelope::host_text(&id, "global.disposed")
        });
        live.end();
        self.closed.cancel();
        self.core.store.close().await;
    }
}

/// How a drain ended that somebody asked for.
#[derive(Debug)]
pub enum DrainOutcome {
    /// Nothing was left to do.
    Done,
    /// It was interrupted.
    Interrupted,
    /// It failed.
    Failed(crate::error::DrainError),
}

impl From<crate::coordinator::DrainExit> for DrainOutcome {
    fn from(exit: crate::coordinator::DrainExit) -> Self {
        use crate::coordinator::state::Exit;
        match exit {
            Exit::Done => Self::Done,
            Exit::Interrupted => Self::Interrupted,
            Exit::Failed(error) => Self::Failed(error),
        }
    }
}

/// Begins at once, in the caller's order, and goes on to its end even if the caller does not wait:
/// a commit whose wake got lost would leave an acknowledged prompt lying.
async fn uninterruptible<T: Send + 'static>(
    work: impl Future<Output = Result<T, RuntimeError>> + Send + 'static,
) -> Result<T, RuntimeError> {
    // A task that has used up its budget would stop before the writer's queue, and be overtaken.
    let mut work = tokio::task::unconstrained(work).boxed();
    if let Some(done) = (&mut work).now_or_never() {
        return done;
    }
    tokio::spawn(work).await.map_err(|_| RuntimeError::Closed)?
}

fn drain(core: &Arc<Core>) -> Drain {
    let core = Arc::clone(core);
    let offer = Arc::new(ToolOffer::default());
    Arc::new(move |session, force, cancel| {
        let (core, offer) = (Arc::clone(&core), Arc::clone(&offer));
        Runner::new(core, offer, session, cancel)
            .drain(force)
            .boxed()
    })
}

/// Tells the live stream what was committed. It runs on the writer's thread and only pushes.
fn announce(live: &LiveEvents, committed: &[Committed]) {
    for entry in committed {
        live.publish(|| envelope::durable_text(&entry.event, entry.location.as_ref()));
    }
}
