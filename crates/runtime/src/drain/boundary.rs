//! The Safe Provider-Turn Boundary: all work between two requests.
//!
//! The order matters. Agent and model are sampled first, so that an input stays pending if it cannot
//! run. A Prompt Promotion follows, then the single observation of the System Context, so that the
//! model is told the state after its input became visible. Only a turn without a Context Epoch
//! observes first: its baseline precedes the promoted inputs, and an input stays pending if no
//! baseline can be made.
//!
//! Each transaction (`entry`) checks again that the session still has the state that was read
//! (`fence`). Changes of the surroundings during an observation are noticed at the next boundary.

use std::sync::Arc;
use std::time::{Duration, Instant};

use opencode_context::{Observed, SystemContext};
use opencode_llm::{HostedResults, SystemPart};
use opencode_location::catalogue::ResolvedModelOutcome;
use opencode_location::location::Location;
use opencode_schema::clock::Millis;
use opencode_schema::id::SessionID;
use opencode_schema::model::ModelRef;
use opencode_schema::prompt::SessionInputAdmitted;
use opencode_store::{Abort, HistoryChanges, Sequence, SessionKey, SessionRow};

use super::entry::{BoundaryResult, Entry, Refusal};
use super::epoch::{EpochChange, Known};
use super::preparation_failure::PreparationFailure;
use super::sample::Sampled;
use super::settings::{ActiveSettings, active_settings};
use super::{Continuation, DrainStop, Runner, nested};
use crate::asks::permissions::TurnPermissions;
use crate::error::DrainError;
use crate::history::lowering::Target;
use crate::inbox::{Attached, Promotion, Reading, attaching};
use crate::mcp::LocationServers;
use crate::metrics::Change;
use crate::provider::Fence;
use crate::sessions::{check_directory, root_of};
use crate::sources::{ObservedSession, Turn};

/// Maximum number of times that one turn is prepared if the session keeps changing.
const MAX_OUTDATED: u32 = 32;

/// Inputs of one Provider Turn.
pub(crate) struct Boundary {
    pub(crate) session: SessionRow,
    /// The state of the session that must still hold when the request is dispatched.
    pub(crate) fence: Fence,
    pub(crate) sampled: Sampled,
    pub(crate) model: ResolvedModelOutcome,
    /// The model as the step records it, with its name on the wire.
    pub(crate) model_ref: ModelRef,
    /// The Baseline System Context.
    pub(crate) baseline: SystemPart,
    /// Changes of the history since the last request.
    pub(crate) changes: HistoryChanges,
    /// Number of inputs that became visible.
    pub(crate) promoted: usize,
}

/// The surroundings of a turn, before its System Context is observed.
pub(super) struct PreparedTurn {
    pub(super) session: SessionRow,
    pub(super) sampled: Sampled,
    model: ResolvedModelOutcome,
    known: Option<Known>,
    /// The attached texts of inputs that may be promoted.
    pub(super) attached: Attached,
}

/// The surroundings of a turn and the observation of its System Context.
pub(super) struct ObservedTurn {
    pub(super) here: PreparedTurn,
    pub(super) observed: Observed,
    /// Duration of the observation.
    took: Duration,
}

/// The stored data of a session, read in one transaction.
struct Stored {
    session: SessionRow,
    /// The root of its tree.
    root: SessionID,
    known: Option<Known>,
    /// The directories in which its tools read files.
    explored: Vec<String>,
    /// Inputs that may be promoted and have attached texts to read.
    attaching: Vec<SessionInputAdmitted>,
    /// The settings that apply after the promotion.
    settings: Option<ActiveSettings>,
}

/// The remaining work of a boundary, which stays the same if the boundary starts again.
struct Due {
    promotion: Promotion,
    /// Number of inputs that became visible so far.
    promoted: usize,
    continuation: Option<Continuation>,
}

impl PreparedTurn {
    fn fence(&self, known: Option<&Known>) -> Fence {
        Fence::new(&self.session, known.map(|known| known.epoch.baseline_seq))
    }

    fn settings(&self) -> Option<ActiveSettings> {
        self.sampled.settings.clone()
    }

    fn model_ref(&self) -> ModelRef {
        let chosen = self.sampled.model.as_ref();
        ModelRef {
            id: self.model.model.id.clone(),
            provider_id: self.model.model.provider_id.clone(),
            variant: chosen.and_then(|it| it.variant.clone()),
        }
    }
}

impl ObservedTurn {
    /// Returns the entry to write for a session with this epoch, or without one, and the Baseline
    /// System Context after the write.
    ///
    /// # Errors
    ///
    /// The same as [`EpochChange::of`].
    pub(super) fn decide(
        &self,
        known: Option<&Known>,
        promotion: Promotion,
        attached: Attached,
        steer_batch: usize,
        time: Millis,
    ) -> Result<(Entry, String), DrainError> {
        let change = EpochChange::of(&self.observed, known)?;
        let baseline = match (&change, known) {
            (EpochChange::Begin { baseline, .. }, _) => baseline.clone(),
            (_, Some(known)) => known.epoch.baseline.clone(),
            (_, None) => String::new(),
        };
        let entry = Entry {
            fence: self.here.fence(known),
            change,
            promotion,
            attached,
            settings: self.here.settings(),
            steer_batch,
            // Only a turn without an epoch promotes here, so no work is under way.
            reminds: false,
            time,
        };
        Ok((entry, baseline))
    }

    /// The model that will read the history.
    pub(super) fn target(&self) -> Target {
        let model = &self.here.model.model;
        Target {
            provider_id: model.provider_id.clone(),
            wire_id: model.id.clone(),
            calls_tools: model.capabilities.tools,
            delegates: self.here.sampled.delegates(),
            hosted: HostedResults::of(model.protocol),
        }
    }

    /// Returns the inputs of the turn after the entry is written.
    pub(super) fn boundary(
        self,
        baseline: String,
        baseline_seq: Option<Sequence>,
        changes: HistoryChanges,
        promoted: usize,
    ) -> Boundary {
        let model_ref = self.here.model_ref();
        let PreparedTurn {
            session,
            sampled,
            model,
            ..
        } = self.here;
        Boundary {
            fence: Fence::new(&session, baseline_seq),
            baseline: SystemPart::new(baseline),
            changes,
            session,
            sampled,
            model,
            model_ref,
            promoted,
        }
    }
}

impl Runner {
    /// An interruption ends the reading of the surroundings and of the history, which may take long.
    /// The writes between them are always awaited: when an interruption has returned, everything is
    /// settled.
    ///
    /// The drain follows a session that moved: it continues in the new Location of the session, with
    /// the turn that it owes, and writes nothing more through the former Location. Inputs that became
    /// visible stay visible, and the drain owes a turn for them.
    pub(super) async fn boundary(
        &mut self,
        promotion: Promotion,
        continuation: Option<Continuation>,
    ) -> Result<Boundary, DrainStop> {
        let mut due = Due {
            promotion,
            promoted: 0,
            continuation,
        };
        loop {
            match self.prepare_boundary(&mut due).await {
                Err(DrainStop::Outdated) => self.prepare_again()?,
                other => return other,
            }
        }
    }

    /// Forgets the Location that the session had when the turn was prepared.
    ///
    /// # Errors
    ///
    /// Fails if this happened too often for one turn.
    pub(super) fn prepare_again(&mut self) -> Result<(), DrainError> {
        self.location = None;
        self.outdated += 1;
        if self.outdated < MAX_OUTDATED {
            return Ok(());
        }
        Err(DrainError::Outdated {
            session_id: self.session.clone(),
            times: self.outdated,
        })
    }

    async fn prepare_boundary(&mut self, due: &mut Due) -> Result<Boundary, DrainStop> {
        let stopped = self.stopper.stopped().clone();
        let looking = stopped
            .run_until_cancelled(self.prepare_observation(due.promotion))
            .await;
        let (mut here, context) = match looking.unwrap_or(Err(DrainStop::Interrupted.into())) {
            Ok(found) => found,
            Err(PreparationFailure::Stopped(stop)) => return Err(stop),
            Err(PreparationFailure::Unresolved {
                session,
                sampled,
                error,
            }) => {
                return match &due.continuation {
                    None => Err(error.into()),
                    Some(continuation) => Err(self
                        .record_failed_turn(*session, *sampled, error, continuation)
                        .await?),
                };
            }
        };
        self.check_budgets(&here.session, &here.model).await?;
        if here.known.is_some() {
            self.promote(&mut here, due).await?;
        }
        let observing = stopped.run_until_cancelled(self.observe(here, context));
        let observed_turn = observing.await.unwrap_or(Err(DrainStop::Interrupted))?;
        self.enter(observed_turn, due).await
    }

    /// Promotes prompts, if there is a Context Epoch to which they belong.
    async fn promote(&self, here: &mut PreparedTurn, due: &mut Due) -> Result<(), DrainStop> {
        let entry = Entry {
            fence: here.fence(here.known.as_ref()),
            change: EpochChange::Keep,
            promotion: due.promotion,
            attached: std::mem::take(&mut here.attached),
            settings: here.settings(),
            steer_batch: self.services.steer_batch,
            reminds: self.services.reminders
                && due.promotion == Promotion::Steers
                && due.continuation.is_some(),
            time: self.services.journal.now(),
        };
        let BoundaryResult { promoted, .. } = self.write(entry).await?;
        due.promotion = Promotion::Nothing;
        due.promoted += promoted;
        if promoted > 0 {
            due.continuation = Some(Continuation {
                to: here.model_ref(),
            });
        }
        Ok(())
    }

    pub(super) async fn observe_turn(
        &mut self,
        promotion: Promotion,
    ) -> Result<ObservedTurn, PreparationFailure> {
        let (here, context) = self.prepare_observation(promotion).await?;
        Ok(self.observe(here, context).await?)
    }

    /// Samples agent and model, composes the System Context to observe, and reads attached files.
    async fn prepare_observation(
        &mut self,
        promotion: Promotion,
    ) -> Result<(PreparedTurn, SystemContext), PreparationFailure> {
        let Stored {
            session,
            known,
            explored,
            attaching,
            settings,
            root,
        } = self.stored(promotion).await?;
        let location = self.location(&session).await?;
        let tolerates = self.services.unknown_agents.are_tolerated(&session.info.id);
        let servers = self.services.mcp.prepare(&location).await;
        let servers = servers.as_deref();
        let mut sampled = Sampled::of(&session, location, tolerates, settings).in_tree(root);
        if let Some(model) = self.fallback_model() {
            sampled.model = Some(model);
        }
        self.report_unread(&session, &sampled);
        let model = match sampled.resolve() {
            Ok(model) => model,
            Err(error) => {
                return Err(PreparationFailure::Unresolved {
                    session: Box::new(session),
                    error: sampled.explain(&error),
                    sampled: Box::new(sampled),
                });
            }
        };
        let context = self.services.sources.compose(Turn {
            location: &sampled.location,
            session: ObservedSession {
                id: &session.info.id,
                agent: &sampled.id,
                directory: &sampled.location.directory,
                snapshot: known.as_ref().map(|known| &*known.epoch.snapshot),
            },
            agent: sampled.agent(),
            permission: &session.permission,
            model: &model.selection,
            nested: &nested::directories(&sampled.location, &explored),
            mcp_instructions: servers
                .map(LocationServers::instructions)
                .unwrap_or_default(),
        });
        let context = context.map_err(|error| DrainError::Context(error.to_string()))?;
        let permissions = TurnPermissions::new(
            Arc::clone(&self.services.permissions),
            session.info.location.clone(),
            sampled.rule_scope(),
        );
        let directory = &session.info.location.directory;
        let folders = sampled.folders(&self.services);
        let reading = Reading::new(&permissions, directory, folders, servers);
        let attached = Box::pin(reading.all(&attaching)).await;
        let here = PreparedTurn {
            session,
            sampled,
            model,
            known,
            attached,
        };
        Ok((here, context))
    }

    async fn observe(
        &self,
        here: PreparedTurn,
        context: SystemContext,
    ) -> Result<ObservedTurn, DrainStop> {
        let began = Instant::now();
        let observed = self.shared.context_observer.observe(context).await?;
        Ok(ObservedTurn {
            here,
            observed,
            took: began.elapsed(),
        })
    }

    async fn enter(
        &mut self,
        mut observed_turn: ObservedTurn,
        due: &mut Due,
    ) -> Result<Boundary, DrainStop> {
        let (batch, now) = (self.services.steer_batch, self.services.journal.now());
        let attached = std::mem::take(&mut observed_turn.here.attached);
        let here = &observed_turn.here;
        let directory = here.session.info.location.directory.clone();
        let metrics = &self.services.metrics;
        metrics.observed(
            &directory,
            observed_turn.took,
            observed_turn.observed.unavailable_keys(),
        );
        let (entry, baseline) =
            observed_turn.decide(here.known.as_ref(), due.promotion, attached, batch, now)?;
        let change = entry.change.size();
        let BoundaryResult {
            promoted,
            baseline_seq,
        } = self.write(entry).await?;
        self.services.metrics.changed(&directory, change);
        let stopped = self.stopper.stopped().clone();
        let reading = self.read_history(observed_turn.here.session.key, observed_turn.target());
        let read = stopped.run_until_cancelled(reading).await;
        let mut changes = read.unwrap_or(Err(DrainStop::Interrupted))?;
        // After a compaction an epoch may begin late, at a checkpoint that was already sent.
        changes.replaced |= matches!(change, Change::Begun { .. });
        let promoted = due.promoted + promoted;
        Ok(observed_turn.boundary(baseline, baseline_seq, changes, promoted))
    }

    /// Reads the session. Its agent and its model stay the same for the whole turn.
    async fn stored(&mut self, promotion: Promotion) -> Result<Stored, DrainStop> {
        let (id, batch) = (self.session.clone(), self.services.steer_batch);
        let former = self.settings.clone();
        let found = self.services.journal.store.read(move |reader| {
            let Some(session) = reader.session(&id)? else {
                return Ok(None);
            };
            let checkpoint = reader.checkpoint(session.key)?;
            let epoch = reader.epoch(session.key)?;
            Ok(Some(Stored {
                known: epoch.map(|epoch| Known { epoch, checkpoint }),
                explored: reader.explored(session.key)?,
                attaching: attaching(reader, &session, promotion, batch)?,
                settings: active_settings(reader, &session, promotion, batch, former)?,
                root: root_of(reader, &session)?,
                session,
            }))
        });
        let Some(stored) = found.await? else {
            return Err(DrainError::SessionGone(self.session.clone()).into());
        };
        self.settings = stored.settings.clone();
        let location = &stored.session.info.location;
        tracing::Span::current().record("location", &location.directory);
        if self.location.get_or_insert_with(|| location.clone()) != location {
            return Err(DrainStop::Outdated);
        }
        Ok(stored)
    }

    async fn location(&self, session: &SessionRow) -> Result<Arc<Location>, DrainStop> {
        check_directory(&session.info).map_err(DrainError::from)?;
        let directory = &session.info.location.directory;
        let opened = self.services.locations.get(directory).await;
        opened.map_err(|error| DrainError::Location(error).into())
    }

    async fn write(&self, entry: Entry) -> Result<BoundaryResult, DrainStop> {
        if entry.is_empty() {
            return Ok(BoundaryResult {
                promoted: 0,
                baseline_seq: entry.fence.baseline_seq(),
            });
        }
        let directory = entry.fence.session().info.location.directory.clone();
        let written = self.services.journal.store.write(move |it| entry.write(it));
        written.await.map_err(|abort| match abort {
            Abort::Refused(refusal) => {
                if matches!(refusal, Refusal::Outdated) {
                    self.services.metrics.contended(&directory);
                }
                refusal.stop()
            }
            Abort::Failed(error) => error.into(),
        })
    }

    /// Reads the changes of the history into the conversation.
    pub(super) async fn read_history(
        &mut self,
        session: SessionKey,
        target: Target,
    ) -> Result<HistoryChanges, DrainStop> {
        let reading = self.conversation.reading(&target);
        let read = self
            .services
            .journal
            .store
            .read(move |reader| reading(reader, session));
        Ok(self.conversation.update(read.await?, target))
    }
}
