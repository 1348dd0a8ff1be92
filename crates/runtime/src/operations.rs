//! The operations of the session runtime.

use std::fmt::Display;
use std::sync::Arc;

use futures::{FutureExt, Stream};
use opencode_location::location::Location;
use opencode_location::locations::Reloaded;
use opencode_schema::clock::Millis;
use opencode_schema::envelope;
use opencode_schema::event::{Nothing, Notice};
use opencode_schema::id::{EventID, MessageID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::message::SessionMessage;
use opencode_schema::model::ModelRef;
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};
use opencode_schema::session::SessionInfo;
use opencode_schema::todo::Todo;
use opencode_store::{Anchored, Interrupted, Order, SessionFilter, StoredEvent};

use crate::error::RuntimeError;
use crate::inbox::PromptRequest;
use crate::live::LiveSubscription;
use crate::runner::has_work;
use crate::runtime::Runtime;
use crate::sessions::CreateSession;
use crate::tail::SessionEvents;
use crate::transfer::{Imported, SessionExport};

impl Runtime {
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

    /// The sessions that a session created for the tasks of its agent, in the order of
    /// `(time created, id)`.
    pub async fn children(&self, id: &SessionID) -> Result<Vec<SessionInfo>, RuntimeError> {
        self.core.children(id).await
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
        self.uninterruptible(async move {
            let receipt = core.admit(request).await?;
            if resume {
                coordinator.wake(&receipt.session_id);
            }
            Ok(receipt)
        })
        .await
    }

    /// Whether a session runs, without prompt and tools, if its agent does not exist. Otherwise it does
    /// not begin, and says why.
    pub fn tolerate_unknown_agent(&self, session: &SessionID, is_tolerated: bool) {
        self.core.unknown_agents.note(session, is_tolerated);
    }

    /// What is to be done in a session, as its model noted last.
    pub async fn todos(&self, id: &SessionID) -> Result<Vec<Todo>, RuntimeError> {
        self.core.todos(id).await
    }

    /// The inputs that wait, in the order of their admission, each with the delivery it has now.
    pub async fn inbox(&self, id: &SessionID) -> Result<Vec<SessionInputAdmitted>, RuntimeError> {
        self.core.inbox(id).await
    }

    /// Takes an input out of the inbox. Its id stays used: repeating the prompt is a conflict.
    ///
    /// # Errors
    ///
    /// `InputPromoted` for an input that is a message by now, `InputNotFound` for one that never
    /// waited there or was withdrawn.
    pub async fn withdraw(
        &self,
        id: &SessionID,
        message_id: &MessageID,
    ) -> Result<(), RuntimeError> {
        let core = Arc::clone(&self.core);
        let (id, message_id) = (id.clone(), message_id.clone());
        self.uninterruptible(async move { core.withdraw(id, message_id).await })
            .await
    }

    /// Changes how a waiting input enters its session, and wakes the session.
    ///
    /// # Errors
    ///
    /// As [`withdraw`](Self::withdraw).
    pub async fn set_delivery(
        &self,
        id: &SessionID,
        message_id: &MessageID,
        delivery: Delivery,
    ) -> Result<SessionInputAdmitted, RuntimeError> {
        let (core, coordinator) = (Arc::clone(&self.core), self.coordinator.clone());
        let (id, message_id) = (id.clone(), message_id.clone());
        self.uninterruptible(async move {
            let input = core.set_delivery(id, message_id, delivery).await?;
            coordinator.wake(&input.session_id);
            Ok(input)
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

    /// Returns when nothing runs in this host: no Session Drain, no tool, no recovery that is going
    /// to run one, and no change that may wake one. Returns as well when the host is closed.
    pub async fn until_idle(&self) {
        tokio::select! {
            biased;
            () = self.tasks.wait() => {}
            () = self.closed.cancelled() => {}
        }
    }

    /// Lets the session go on where it stands: joins its drain, or starts one that makes at least
    /// one Provider Turn. It is under way when this returns; [`wait`](Self::wait) for its end.
    ///
    /// # Errors
    ///
    /// `NothingToRun`, if a request would hold no message at all: providers refuse that.
    pub async fn resume(&self, id: &SessionID) -> Result<(), RuntimeError> {
        if !self.core.of_session(id, has_work).await? {
            return Err(RuntimeError::NothingToRun(id.clone()));
        }
        // Registered by the call; what it gives at its end is for somebody else to see.
        drop(self.coordinator.run(id));
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

    /// Moves the session to another directory of its project, which need not exist yet. A running
    /// turn settles where it began; the next one begins with the context of the new Location.
    ///
    /// # Errors
    ///
    /// `OtherProject` when the directory belongs to another project than the session.
    pub async fn move_session(
        &self,
        id: &SessionID,
        location: LocationRef,
    ) -> Result<SessionInfo, RuntimeError> {
        self.core.relocate(id, location).await
    }

    /// Sessions whose last activity was cut, by their stored history alone. Those that run in this
    /// host are none of them.
    pub async fn interrupted(&self) -> Result<Vec<Interrupted>, RuntimeError> {
        let before = self.active();
        let mut interrupted = self.core.interrupted().await?;
        let after = self.active();
        interrupted
            .retain(|it| !before.contains(&it.session_id) && !after.contains(&it.session_id));
        Ok(interrupted)
    }

    /// The session as lines of text, which another host can [import](Self::import).
    pub async fn export(&self, id: &SessionID) -> Result<SessionExport, RuntimeError> {
        SessionExport::begin(Arc::clone(&self.core), id).await
    }

    /// Replays the lines of an export in one transaction: what is stored here already must be the
    /// same and is skipped, what follows it is applied. Streams of the session's durable events go
    /// on with it; live subscribers are told nothing, because nothing of it happens here.
    ///
    /// # Errors
    ///
    /// `Import` says which line is at fault, `SessionBusy` that a Session Drain works on the
    /// session. Nothing of it is stored then.
    pub async fn import<E: Display>(
        &self,
        lines: impl Stream<Item = Result<String, E>>,
    ) -> Result<Imported, RuntimeError> {
        self.core.import(self.coordinator.clone(), lines).await
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

    /// The event that tells a subscriber now and then that the host is alive, as JSON text.
    pub fn heartbeat_event(&self) -> String {
        let id = EventID::generate(&self.core.ids);
        envelope::host_text(&id, "server.heartbeat")
    }

    /// Opens a Location.
    pub async fn open_location(
        &self,
        location: &LocationRef,
    ) -> Result<Arc<Location>, RuntimeError> {
        Ok(self.core.locations.get(&location.directory).await?)
    }

    /// Reads everything that belongs to a Location again. A Provider Turn that is under way keeps
    /// what it began with. Connected clients are told when there are other models than before.
    pub async fn reload_location(&self, location: &LocationRef) -> Result<(), RuntimeError> {
        let reloaded = self.core.locations.reload(&location.directory).await?;
        self.announce_reloaded(location, &reloaded);
        Ok(())
    }

    /// Trusts the project of a Location from now on, or no longer. A Provider Turn that is under way
    /// keeps what it began with.
    pub async fn trust_location(
        &self,
        location: &LocationRef,
        trusted: bool,
    ) -> Result<(), RuntimeError> {
        let locations = &self.core.locations;
        let reloaded = locations.trust(&location.directory, trusted).await?;
        self.announce_reloaded(location, &reloaded);
        Ok(())
    }

    /// Tells clients if there are other models than before.
    fn announce_reloaded(&self, location: &LocationRef, reloaded: &Reloaded) {
        if reloaded.catalogue_changed {
            let location = LocationRef {
                directory: reloaded.location.directory.clone(),
                workspace_id: location.workspace_id.clone(),
            };
            let notice = Notice::CatalogUpdated(Nothing {});
            self.core.notify(Some(&location), &notice);
        }
    }

    /// Begins at once, in the caller's order, and goes on to its end even if the caller does not
    /// wait: a commit whose wake got lost would leave an acknowledged prompt lying.
    pub(crate) async fn uninterruptible<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, RuntimeError>> + Send + 'static,
    ) -> Result<T, RuntimeError> {
        let work = self.tasks.track_future(work);
        // A task that has used up its budget would stop before the writer's queue, and be overtaken.
        let mut work = tokio::task::unconstrained(work).boxed();
        if let Some(done) = (&mut work).now_or_never() {
            return done;
        }
        opencode_log::spawn(work).await?
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

impl From<crate::coordinator::RunAnswer> for DrainOutcome {
    fn from(answer: crate::coordinator::RunAnswer) -> Self {
        use crate::coordinator::state::Answer;
        match answer {
            Answer::Done => Self::Done,
            Answer::Interrupted => Self::Interrupted,
            Answer::Failed(error) => Self::Failed(error),
        }
    }
}
