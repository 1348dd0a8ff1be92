//! The operations of the session runtime.

mod compaction;
mod context;
mod inspection;
mod integrations;
mod lifecycle;
mod mcp;
mod requests;
mod reverts;
mod sharing;
mod terminals;
mod transfer;

use std::sync::Arc;

use futures::FutureExt;
use opencode_location::location::{Location, Reloaded};
use opencode_schema::clock::Millis;
use opencode_schema::event::{Nothing, Notice};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::message::SessionMessage;
use opencode_schema::model::ModelRef;
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};
use opencode_schema::session::{SessionBudget, SessionInfo};
use opencode_schema::todo::Todo;
use opencode_store::{Anchored, Interrupted, Order, Sequence, SessionFilter, StoredEvent};

use crate::commands::{CommandRequest, Prepared};
use crate::drain::has_work;
use crate::error::RuntimeError;
use crate::inbox::PromptRequest;
use crate::live::{LiveSubscription, Selection};
use crate::recovery::interrupted;
use crate::runtime::Runtime;
use crate::sessions::{CreateSession, UpdateSession, check_budget};
use crate::streams::SessionEvents;

impl Runtime {
    /// Returns the default directory of sessions and requests without a directory.
    pub fn default_directory(&self) -> &str {
        &self.directory
    }

    /// Creates a session, or returns the one that has the caller's id.
    pub async fn create_session(
        &self,
        request: CreateSession,
    ) -> Result<SessionInfo, RuntimeError> {
        self.sessions.create_session(request).await
    }

    /// Returns one session.
    pub async fn session(&self, id: &SessionID) -> Result<SessionInfo, RuntimeError> {
        Ok(self.journal.session(id).await?.info)
    }

    /// Changes the title, the archive or the permission rules of a session. Records nothing if nothing changes.
    pub async fn update_session(
        &self,
        id: &SessionID,
        request: UpdateSession,
    ) -> Result<SessionInfo, RuntimeError> {
        self.sessions.update(id, request).await
    }

    /// Returns sessions in the order of `(time created, id)`.
    pub async fn sessions(
        &self,
        filter: SessionFilter,
        order: Order,
        anchor: Option<Anchored<(Millis, String)>>,
        limit: usize,
    ) -> Result<Vec<SessionInfo>, RuntimeError> {
        self.sessions.list(filter, order, anchor, limit).await
    }

    /// Returns the sessions that a session created for the tasks of its agent, in the order of `(time created, id)`.
    pub async fn children(&self, id: &SessionID) -> Result<Vec<SessionInfo>, RuntimeError> {
        self.sessions.children(id).await
    }

    /// Returns the sessions with a running drain in this host, and those that an operation holds.
    pub fn active(&self) -> Vec<SessionID> {
        self.coordinator.active()
    }

    /// Admits a prompt and returns its receipt once it is durable. Wakes the session if the request says so; that wake
    /// is registered before this returns.
    pub async fn prompt(
        &self,
        request: PromptRequest,
    ) -> Result<SessionInputAdmitted, RuntimeError> {
        let (inbox, coordinator) = (Arc::clone(&self.inbox), self.coordinator.clone());
        let resume = request.resume;
        self.uninterruptible(Box::pin(async move {
            let receipt = inbox.admit_hooked(request).await?;
            if resume {
                coordinator.wake(&receipt.session_id);
            }
            Ok(receipt)
        }))
        .await
    }

    /// Admits the prompt of a command and returns its receipt. Wakes the session if the request says so. The shell
    /// commands of a template run before the admission.
    ///
    /// # Errors
    ///
    /// `CommandNotFound` if the Location of the session has no such command.
    pub async fn run_command(
        &self,
        request: CommandRequest,
    ) -> Result<SessionInputAdmitted, RuntimeError> {
        let resume = request.resume;
        match self.commands.prepare(request).await? {
            Prepared::Prompt(prompt) => self.prompt(*prompt).await,
            Prepared::Admitted(receipt) => {
                if resume {
                    self.coordinator.wake(&receipt.session_id);
                }
                Ok(*receipt)
            }
        }
    }

    /// Sets whether a session runs, without prompt and tools, if its agent does not exist. Otherwise its drain fails
    /// with the reason.
    pub fn tolerate_unknown_agent(&self, session: &SessionID, is_tolerated: bool) {
        self.unknown_agents.note(session, is_tolerated);
    }

    /// Returns the todo list that the model of a session noted last.
    pub async fn todos(&self, id: &SessionID) -> Result<Vec<Todo>, RuntimeError> {
        self.todos.todos(id).await
    }

    /// Returns the waiting inputs in the order of their admission, each with its current delivery.
    pub async fn inbox(&self, id: &SessionID) -> Result<Vec<SessionInputAdmitted>, RuntimeError> {
        self.inbox.list(id).await
    }

    /// Removes an input from the inbox. Its id stays used: a repeated prompt with this id is a conflict.
    ///
    /// # Errors
    ///
    /// `InputPromoted` if the input is already a message; `InputNotFound` if it never waited there or was withdrawn.
    pub async fn withdraw(
        &self,
        id: &SessionID,
        message_id: &MessageID,
    ) -> Result<(), RuntimeError> {
        let inbox = Arc::clone(&self.inbox);
        let (id, message_id) = (id.clone(), message_id.clone());
        self.uninterruptible(async move { inbox.withdraw(id, message_id).await })
            .await
    }

    /// Changes the delivery of a waiting input, and wakes the session.
    ///
    /// # Errors
    ///
    /// The same as for [`withdraw`](Self::withdraw).
    pub async fn set_delivery(
        &self,
        id: &SessionID,
        message_id: &MessageID,
        delivery: Delivery,
    ) -> Result<SessionInputAdmitted, RuntimeError> {
        let (inbox, coordinator) = (Arc::clone(&self.inbox), self.coordinator.clone());
        let (id, message_id) = (id.clone(), message_id.clone());
        self.uninterruptible(async move {
            let input = inbox.set_delivery(id, message_id, delivery).await?;
            coordinator.wake(&input.session_id);
            Ok(input)
        })
        .await
    }

    /// Stops the session's drain and the commands that make prompts for it, and returns when all its work has settled.
    /// Pending inputs stay pending.
    pub async fn interrupt(&self, id: &SessionID) -> Result<(), RuntimeError> {
        self.journal.session(id).await?;
        self.commands.running.stop(id).await;
        self.coordinator.interrupt(id).await;
        Ok(())
    }

    /// Returns when no drain of the session runs in this host.
    pub async fn wait(&self, id: &SessionID) -> Result<(), RuntimeError> {
        self.journal.session(id).await?;
        self.coordinator.wait(id).await;
        Ok(())
    }

    /// Returns when nothing runs in this host: no Session Drain, no tool, no recovery that is about to start a drain,
    /// and no operation that may wake a session. Also returns when the host is closed.
    pub async fn until_idle(&self) {
        tokio::select! {
            biased;
            () = self.tasks.wait() => {}
            () = self.closed.cancelled() => {}
        }
    }

    /// Continues the session: joins its drain, or starts one that makes at least one Provider Turn. The drain runs in
    /// the background when this returns; use [`wait`](Self::wait) to wait for its end.
    ///
    /// # Errors
    ///
    /// `NothingToRun` if a request would contain no messages: providers refuse such a request. `ImportedPrompt` if it
    /// would answer a prompt that came with an import.
    pub async fn resume(&self, id: &SessionID) -> Result<(), RuntimeError> {
        if !self.journal.of_session(id, has_work).await? {
            return Err(RuntimeError::NothingToRun(id.clone()));
        }
        let is_imported = self.journal.of_session(id, |reader, key| {
            Ok(reader.pending_count(key)? == 0 && reader.ends_with_imported_prompt(key)?)
        });
        if is_imported.await? {
            return Err(RuntimeError::ImportedPrompt(id.clone()));
        }
        // The call has registered the run. No caller needs its outcome here.
        drop(self.coordinator.run(id));
        Ok(())
    }

    /// Replaces the budget of the host. The work since its opening still counts. A paused session continues only when a
    /// caller resumes it.
    ///
    /// # Errors
    ///
    /// `InvalidField` for an impossible limit.
    pub fn set_host_budget(&self, budget: SessionBudget) -> Result<(), RuntimeError> {
        check_budget(&budget)?;
        self.drains.budgets.set_host(budget);
        Ok(())
    }

    /// Joins the session's drain, or makes at least one Provider Turn, and returns the outcome.
    pub async fn run(&self, id: &SessionID) -> Result<DrainOutcome, RuntimeError> {
        self.journal.session(id).await?;
        Ok(self.coordinator.run(id).await.into())
    }

    /// Selects the agent from the next Provider Turn on.
    pub async fn switch_agent(&self, id: &SessionID, agent: String) -> Result<(), RuntimeError> {
        self.sessions.switch_agent(id, agent).await
    }

    /// Selects the model from the next Provider Turn on.
    pub async fn switch_model(&self, id: &SessionID, model: ModelRef) -> Result<(), RuntimeError> {
        self.sessions.switch_model(id, model).await
    }

    /// Moves the session to another directory of its project, which may not exist yet. A running turn settles in the
    /// old Location; the next turn starts with the context of the new Location.
    ///
    /// # Errors
    ///
    /// `OtherProject` if the directory belongs to a different project than the session.
    pub async fn move_session(
        &self,
        id: &SessionID,
        location: LocationRef,
    ) -> Result<SessionInfo, RuntimeError> {
        self.sessions.relocate(id, location).await
    }

    /// Returns the sessions whose last activity was cut off, according to the stored history. Excludes the sessions
    /// that run in this host.
    pub async fn interrupted(&self) -> Result<Vec<Interrupted>, RuntimeError> {
        let before = self.active();
        let mut interrupted = interrupted(&self.journal).await?;
        let after = self.active();
        interrupted
            .retain(|it| !before.contains(&it.session_id) && !after.contains(&it.session_id));
        Ok(interrupted)
    }

    /// Returns messages by sequence, each with its sequence.
    pub async fn messages(
        &self,
        id: &SessionID,
        order: Order,
        anchor: Option<Anchored<Sequence>>,
        limit: usize,
    ) -> Result<Vec<(Sequence, SessionMessage)>, RuntimeError> {
        self.sessions.messages(id, order, anchor, limit).await
    }

    /// Returns one message of a session.
    pub async fn message(
        &self,
        id: &SessionID,
        message_id: &MessageID,
    ) -> Result<SessionMessage, RuntimeError> {
        self.sessions.message(id, message_id).await
    }

    /// Returns the active history, oldest first.
    pub async fn context(&self, id: &SessionID) -> Result<Vec<SessionMessage>, RuntimeError> {
        self.sessions.context(id).await
    }

    /// Returns a page of durable events after `after`, and true if there are more.
    pub async fn history(
        &self,
        id: &SessionID,
        after: Option<Sequence>,
        limit: usize,
    ) -> Result<(Vec<StoredEvent>, bool), RuntimeError> {
        self.sessions.history(id, after, limit).await
    }

    /// Replays the durable events after `after`, then follows new ones.
    pub async fn events(
        &self,
        id: &SessionID,
        after: Option<Sequence>,
    ) -> Result<SessionEvents, RuntimeError> {
        let session = self.journal.session(id).await?;
        let journal = Arc::clone(&self.journal);
        Ok(SessionEvents::new(
            journal,
            &self.followed,
            session,
            after,
            self.closed.clone(),
        ))
    }

    /// Subscribes to the events of this host from now on, except those that are derived from others.
    pub fn subscribe(&self) -> LiveSubscription {
        self.journal.announcer.subscribe(Selection::default())
    }

    /// Subscribes to the selected events of this host from now on.
    ///
    /// # Errors
    ///
    /// Events that the store derives are selected, and storage failed.
    pub async fn subscribe_to(
        &self,
        selection: Selection,
    ) -> Result<LiveSubscription, RuntimeError> {
        let demand = match selection.has_derived() {
            true => Some(self.journal.store.derive().await?),
            false => None,
        };
        // The store derives events from all entries that commit from here on.
        let mut subscription = self.journal.announcer.subscribe(selection);
        demand.into_iter().for_each(|it| subscription.keep(it));
        Ok(subscription)
    }

    /// Returns the first event of a subscription, as JSON text.
    pub fn connected_event(&self) -> String {
        self.journal.announcer.host_event("server.connected")
    }

    /// Returns the event that regularly tells a subscriber that the host is alive, as JSON text.
    pub fn heartbeat_event(&self) -> String {
        self.journal.announcer.host_event("server.heartbeat")
    }

    /// Opens a Location.
    pub async fn open_location(
        &self,
        location: &LocationRef,
    ) -> Result<Arc<Location>, RuntimeError> {
        Ok(self.locations.get(&location.directory).await?)
    }

    /// Reloads everything that belongs to a Location. A running Provider Turn keeps the previous state. Connected
    /// clients are notified if the available models changed.
    pub async fn reload_location(&self, location: &LocationRef) -> Result<(), RuntimeError> {
        let reloaded = self.locations.reload(&location.directory).await?;
        self.announce_reloaded(location, &reloaded);
        Ok(())
    }

    /// Marks the project of a Location as trusted or untrusted from now on. A running Provider Turn keeps the previous
    /// state.
    pub async fn trust_location(
        &self,
        location: &LocationRef,
        trusted: bool,
    ) -> Result<(), RuntimeError> {
        let locations = &self.locations;
        let reloaded = locations.trust(&location.directory, trusted).await?;
        self.announce_reloaded(location, &reloaded);
        Ok(())
    }

    /// Notifies clients that the embedding program has changed the models of one Location, or of all open ones.
    pub fn announce_models(&self, directory: Option<&str>) {
        let open = self.locations.open_directories().into_iter();
        for directory in open.filter(|open| directory.is_none_or(|it| it == open)) {
            let location = LocationRef {
                directory,
                workspace_id: None,
            };
            let notice = Notice::CatalogUpdated(Nothing {});
            self.journal.announcer.notify(Some(&location), &notice);
        }
    }

    /// Notifies clients if the available models changed.
    fn announce_reloaded(&self, location: &LocationRef, reloaded: &Reloaded) {
        if reloaded.catalogue_changed {
            let location = LocationRef {
                directory: reloaded.location.directory.clone(),
                workspace_id: location.workspace_id.clone(),
            };
            let notice = Notice::CatalogUpdated(Nothing {});
            self.journal.announcer.notify(Some(&location), &notice);
        }
    }

    /// Starts the work in the order of the calls, and completes it even if the caller drops the future. Otherwise a
    /// commit could lose its wake, and an acknowledged prompt would stay pending.
    pub(crate) async fn uninterruptible<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, RuntimeError>> + Send + 'static,
    ) -> Result<T, RuntimeError> {
        let work = self.tasks.track_future(work);
        // Without this, a task that has used up its budget would yield before the writer's queue, and others could
        // overtake.
        let mut work = tokio::task::unconstrained(work).boxed();
        if let Some(done) = (&mut work).now_or_never() {
            return done;
        }
        opencode_log::spawn(work).await?
    }
}

/// Outcome of a drain that a caller requested.
#[derive(Debug)]
pub enum DrainOutcome {
    /// No work was left.
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
