//! A Session Drain: Provider Turns until no work is left.

mod abandoned;
mod base_instructions;
mod boundary;
mod budgets;
mod call_context;
mod calls;
mod cited_sources;
mod cleaning;
mod compacting;
mod context_observer;
mod conversation;
mod dispatch;
mod ends;
mod entry;
mod epoch;
mod fallback;
mod files;
mod hooked;
mod limit;
mod manual_compaction;
mod nested;
mod next;
mod offered_tools;
mod output;
mod prefix;
mod preparation_failure;
mod progress;
mod prune;
mod publisher;
mod repetition;
mod request;
mod request_size;
mod sample;
mod services;
mod settings;
mod skills;
mod summariser;
mod titles;
mod translate;
mod turn;
mod unread;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use opencode_schema::event::Interrupted;
use opencode_schema::id::SessionID;
use opencode_schema::location::LocationRef;
use opencode_schema::message::SessionMessage;
use opencode_schema::model::ModelRef;
use opencode_schema::prompt::Delivery;
use opencode_store::{Abort, Anchored, Order, Reader, SessionKey, StoreError};
use tokio_util::task::TaskTracker;

use self::boundary::Boundary;
use self::compacting::CompactionAttempts;
use self::context_observer::ContextObserver;
use self::conversation::{Conversation, Conversations};
use self::ends::{Followed, TurnOutcome};
use self::limit::{TurnLimit, TurnPlace};
pub(crate) use self::next::next_request;
use self::offered_tools::OfferedTools;
use self::repetition::Repetition;
pub(crate) use self::services::Services;
use self::settings::ActiveSettings;
pub(crate) use self::titles::Titles;
use self::unread::NotifiedSessions;
use crate::compaction::Pause;
use crate::coordinator::state::Exit;
use crate::coordinator::{Drain, DrainExit, Stopper};
use crate::error::DrainError;
use crate::inbox::Promotion;
use crate::journal::append;

/// Error of a call that did not complete.
const INTERRUPTED_CALL: &str = opencode_tools::INTERRUPTED;

/// The reason why a drain ends early.
pub(crate) enum DrainStop {
    /// It was interrupted.
    Interrupted,
    /// The session has another Location, agent, model or Context Epoch than the turn was prepared
    /// for. No request was sent.
    Outdated,
    /// It failed.
    Failed(DrainError),
}

impl<E: Into<DrainError>> From<E> for DrainStop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// State that all drains of a host share.
pub(crate) struct Shared {
    context_observer: ContextObserver,
    offer: OfferedTools,
    conversations: Conversations,
    /// The sessions that were notified of unreadable configuration.
    notified: NotifiedSessions,
    /// Tracks running tools, so that closing the host waits for them.
    tasks: TaskTracker,
}

impl Shared {
    pub(crate) fn new(tasks: TaskTracker) -> Arc<Self> {
        Arc::new(Self {
            context_observer: ContextObserver::default(),
            offer: OfferedTools::default(),
            conversations: Conversations::default(),
            notified: NotifiedSessions::default(),
            tasks,
        })
    }

    /// Drops the state of a session that was removed.
    pub(crate) fn forget(&self, session: &SessionID) {
        drop(self.conversations.take(session));
        self.notified.forget(session);
    }
}

/// Returns the function that starts the drains of a host.
pub(crate) fn begin_drains(services: &Arc<Services>, shared: &Arc<Shared>) -> Drain {
    let (services, shared) = (Arc::clone(services), Arc::clone(shared));
    Arc::new(move |session, force, stopper| {
        let (services, shared) = (Arc::clone(&services), Arc::clone(&shared));
        let mut runner = Runner::new(services, shared, session, stopper);
        runner.conversation = runner.shared.conversations.take(&runner.session);
        runner.drain(force).boxed()
    })
}

/// One drain of one session.
pub(crate) struct Runner {
    services: Arc<Services>,
    shared: Arc<Shared>,
    session: SessionID,
    stopper: Stopper,
    /// The Location that this drain works in, until the session moves to another one.
    location: Option<LocationRef>,
    conversation: Conversation,
    /// The calls of this activity.
    repetition: Repetition,
    /// Set if automatic compaction pauses in this activity, because it had too little effect.
    compaction_pause: Option<Pause>,
    /// Number of times that the next turn was prepared and then found outdated.
    outdated: u32,
    /// Number of models of the option `fallback` that are used up in this activity.
    fallbacks: usize,
    /// The settings of the newest prepared turn. A prompt with settings may be large, so it is read once.
    settings: Option<ActiveSettings>,
}

/// A turn that must follow: the turn before called tools and waits for their results, or the provider paused its
/// answer.
struct Continuation {
    /// The model that called them.
    to: ModelRef,
}

/// A settled turn.
struct Answered {
    followed: Followed,
    /// The model that answered.
    model: ModelRef,
}

/// Work that is eligible when a drain begins.
struct Pending {
    steer: bool,
    queue: bool,
    /// A revert is staged.
    staged: bool,
}

impl Runner {
    fn new(
        services: Arc<Services>,
        shared: Arc<Shared>,
        session: SessionID,
        stopper: Stopper,
    ) -> Self {
        Self {
            services,
            shared,
            session,
            stopper,
            location: None,
            conversation: Conversation::default(),
            repetition: Repetition::default(),
            compaction_pause: None,
            outdated: 0,
            fallbacks: 0,
            settings: None,
        }
    }

    /// Drains the session. A forced drain runs at least one Provider Turn.
    ///
    /// Its log entries belong to this session only, even if a tool of another session started the drain.
    #[tracing::instrument(
        parent = None,
        level = "error",
        name = "session_drain",
        skip_all,
        fields(session_id = %self.session, location = tracing::field::Empty),
    )]
    async fn drain(mut self, force: bool) -> DrainExit {
        let ended = AssertUnwindSafe(self.activities(force))
            .catch_unwind()
            .await;
        if ended.is_ok() {
            let conversation = std::mem::take(&mut self.conversation);
            let session = self.session.clone();
            self.shared.conversations.keep(session, conversation);
        }
        let mut ended = ended.unwrap_or_else(|panic| {
            let message = format!("the Session Drain panicked: {}", panic_text(&*panic));
            Err(DrainError::Internal(message).into())
        });
        if let Err(DrainStop::Interrupted) = ended
            && !self.stopper.host_closes()
            && let Err(error) = self.record_interruption().await
        {
            ended = Err(error.into());
        }
        let error = match ended {
            Ok(exit) => return exit,
            Err(DrainStop::Interrupted | DrainStop::Outdated) => return Exit::Interrupted,
            Err(DrainStop::Failed(error)) => error,
        };
        self.stopper.turn_failed();
        report(&error);
        self.announce(&error);
        Exit::Failed(error)
    }

    fn announce(&self, error: &DrainError) {
        if let Some(cause) = error.announced() {
            let announcer = &self.services.journal.announcer;
            let location = self.location.as_ref();
            announcer.announce_failure(&self.session, location, error.to_string(), cause);
        }
    }

    /// Runs activities: first the pending prompts, then one activity per queued prompt.
    async fn activities(&mut self, force: bool) -> Result<DrainExit, DrainStop> {
        let pending = self.pending().await?;
        let has_work = pending.steer || pending.queue || force && self.has_history().await?;
        if !has_work {
            return Ok(Exit::Idle);
        }
        if pending.staged {
            // The turns that follow must not read reverted messages.
            self.services
                .reverts
                .commit_staged_revert(&self.session)
                .await?;
        }
        self.settle_abandoned_calls().await?;
        let mut promotion = match pending {
            Pending { steer: true, .. } => Promotion::Steers,
            Pending { queue: true, .. } => Promotion::QueuedThenSteers,
            _ => Promotion::Nothing,
        };
        let (mut force, mut exit) = (force, Exit::Idle);
        loop {
            if self.activity(promotion, force).await? {
                (force, exit) = (false, Exit::Done);
                self.begin_title();
                self.prune().await?;
            }
            if !self.pending().await?.queue {
                return Ok(exit);
            }
            promotion = Promotion::QueuedThenSteers;
        }
    }

    /// Runs Provider Turns until none is needed and no steer waits. Returns true if it ran a turn.
    ///
    /// The turns of a forced run are counted from 1, so it has as many turns as a prompt.
    async fn activity(&mut self, first: Promotion, force: bool) -> Result<bool, DrainStop> {
        let mut promotion = first;
        let (mut step, mut turns) = (1, 0);
        let mut continuation = None;
        self.repetition = Repetition::default();
        self.compaction_pause = None;
        self.fallbacks = 0;
        loop {
            let continues = continuation.is_some();
            let boundary = self.boundary(promotion, continuation).await?;
            if boundary.promoted > 0 {
                step = 1;
            } else if !(continues || force && turns == 0 && self.has_history().await?) {
                // The caller withdrew the input of this turn meanwhile.
                return Ok(turns > 0);
            }
            turns += 1;
            let Answered { followed, model } = Box::pin(self.answered(boundary, step)).await?;
            let steered = self.pending().await?.steer;
            match followed {
                Followed::Limit(limit) if !steered => return self.end_at(limit),
                Followed::Nothing if !steered => return Ok(true),
                _ => {}
            }
            continuation = (followed == Followed::Turn).then_some(Continuation { to: model });
            promotion = Promotion::Steers;
            step += 1;
        }
    }

    /// Runs one turn until it has an answer. It prepares the turn again after a compaction, with another model, and if the
    /// session changed before its request was sent.
    async fn answered(&mut self, mut boundary: Boundary, step: u32) -> Result<Answered, DrainStop> {
        let mut attempts = CompactionAttempts::default();
        loop {
            let model = boundary.model_ref.clone();
            let place = TurnPlace::new(step, boundary.sampled.steps());
            let turned = match Box::pin(self.turn(boundary, place, &mut attempts)).await {
                Err(DrainStop::Outdated) => {
                    self.prepare_again()?;
                    TurnOutcome::PrepareAgain
                }
                other => other?,
            };
            match turned {
                TurnOutcome::Settled(followed) => return Ok(Answered { followed, model }),
                TurnOutcome::FallBack(step) => {
                    self.fall_back(*step).await?;
                }
                TurnOutcome::PrepareAgain => {}
            }
            let continuation = Some(Continuation { to: model });
            boundary = self.boundary(Promotion::Nothing, continuation).await?;
        }
    }

    /// Ends an activity at its limit, which its last step records. The limit of the agent is part of its work, so queued
    /// prompts go on.
    fn end_at(&self, limit: TurnLimit) -> Result<bool, DrainStop> {
        let error = DrainError::StepLimit {
            session_id: self.session.clone(),
            limit: limit.turns,
        };
        if !limit.is_of_agent {
            return Err(error.into());
        }
        self.announce(&error);
        Ok(true)
    }

    async fn pending(&self) -> Result<Pending, DrainStop> {
        if self.stopper.stopped().is_cancelled() {
            return Err(DrainStop::Interrupted);
        }
        let id = self.session.clone();
        let pending = self.services.journal.store.read(move |reader| {
            let Some(session) = reader.session(&id)? else {
                return Ok(None);
            };
            Ok(Some(Pending {
                steer: reader.has_pending(session.key, Delivery::Steer)?,
                queue: reader.has_pending(session.key, Delivery::Queue)?,
                staged: session.info.revert.is_some(),
            }))
        });
        pending
            .await?
            .ok_or_else(|| DrainError::SessionGone(self.session.clone()).into())
    }

    /// True if the history has something that a request could contain.
    async fn has_history(&self) -> Result<bool, DrainStop> {
        let id = self.session.clone();
        let found = self.services.journal.store.read(move |reader| {
            let session = reader.session(&id)?;
            session.map_or(Ok(false), |session| has_messages(reader, session.key))
        });
        Ok(found.await?)
    }

    /// Records that a user stopped the work if no other record says so, which is the case before the
    /// first output of a turn. Without this record, recovery would continue the session.
    async fn record_interruption(&self) -> Result<(), DrainError> {
        let (id, now) = (self.session.clone(), self.services.journal.now());
        let recorded = self.services.journal.store.write(move |transaction| {
            let reader = transaction.reader();
            let Some(session) = reader.session(&id)? else {
                return Ok(());
            };
            let Some(unfinished) = reader.interruption(session.key)? else {
                return Ok(());
            };
            let message_id = Some(unfinished.message_id);
            append(transaction, &session, now, Interrupted { message_id })?;
            Ok::<(), Abort<DrainError>>(())
        });
        Ok(recorded.await?)
    }
}

/// Logs why a drain stopped: a bug as an error, a used-up budget as information, because the user set it, and anything
/// else as a warning, because the next drain continues.
fn report(error: &DrainError) {
    const FAILED: &str = "the Session Drain failed";
    let tag = error.tag();
    match error {
        DrainError::Internal(_) => tracing::error!(tag, %error, "{FAILED}"),
        DrainError::Budget(_) => tracing::info!(tag, %error, "the Session Drain paused"),
        _ => tracing::warn!(tag, %error, "{FAILED}"),
    }
}

/// True if a run of a session has content to send: a history, or pending input.
pub(crate) fn has_work(reader: &Reader<'_>, session: SessionKey) -> Result<bool, StoreError> {
    Ok(reader.has_pending(session, Delivery::Steer)?
        || reader.has_pending(session, Delivery::Queue)?
        || has_messages(reader, session)?)
}

/// True if a session has messages other than switches and updates of the System Context.
fn has_messages(reader: &Reader<'_>, session: SessionKey) -> Result<bool, StoreError> {
    const PAGE: usize = 16;
    let mut anchor = None;
    loop {
        let page = reader.messages(session, Order::Ascending, anchor.as_ref(), PAGE)?;
        if page.iter().any(|(_, message)| is_message(message)) {
            return Ok(true);
        }
        match page.last() {
            Some((seq, _)) if page.len() == PAGE => {
                let (at, before) = (*seq, false);
                anchor = Some(Anchored { at, before });
            }
            _ => return Ok(false),
        }
    }
}

fn is_message(message: &SessionMessage) -> bool {
    !matches!(
        message,
        SessionMessage::AgentSwitched { .. }
            | SessionMessage::ModelSwitched { .. }
            | SessionMessage::System { .. }
    )
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it does not say why")
}
