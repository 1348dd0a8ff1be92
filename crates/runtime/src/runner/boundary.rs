//! The Safe Provider-Turn Boundary: everything that happens between two requests.
//!
//! The order matters. The model is resolved and the first System Context observed before anything
//! is promoted, so that what cannot run stays pending. Everything that is decided here is written
//! in one transaction, which checks again that the session still lives in this Location.

use std::sync::Arc;

use opencode_context::{Baseline, Source, SystemContext};
use opencode_llm::SystemPart;
use opencode_location::catalogue::{ModelResolutionError, ResolvedModelOutcome};
use opencode_location::location::Location;
use opencode_schema::message::{ErrorKind, SessionErrorUnknown};
use opencode_schema::model::ModelRef;
use opencode_store::{Epoch, SessionRow, StoreError, Transaction};

use super::publisher::Publisher;
use super::{Owed, Runner, Stop};
use crate::environment::Environment;
use crate::error::DrainError;
use crate::inbox::{Promotion, promote};
use crate::lowering::Target;

/// The agent of a session that has chosen none.
const DEFAULT_AGENT: &str = "build";

/// What one Provider Turn runs with.
pub(crate) struct Boundary {
    pub(crate) session: SessionRow,
    pub(crate) agent: String,
    /// Provider Turns that the agent allows an input; none leaves it to the runtime.
    pub(crate) steps: Option<u32>,
    pub(crate) model: ResolvedModelOutcome,
    /// The model as the step records it: by its name on the wire.
    pub(crate) model_ref: ModelRef,
    pub(crate) system: Vec<SystemPart>,
    /// Inputs that became visible.
    pub(crate) promoted: usize,
}

/// The surroundings of a turn, seen before anything is written.
struct Survey {
    session: SessionRow,
    agent: Sampled,
    model: ResolvedModelOutcome,
    epoch: Option<Epoch>,
    /// The beginning of an epoch, where there is none yet.
    baseline: Option<Baseline>,
}

/// The agent and the model that a turn is to run with, as they are chosen at this moment.
struct Sampled {
    id: String,
    steps: Option<u32>,
    /// The session's choice, else the agent's; none leaves it to the Location.
    model: Option<ModelRef>,
}

/// Why there is no survey.
enum Obstacle {
    Stop(Stop),
    /// The model cannot be resolved.
    Model {
        session: Box<SessionRow>,
        agent: Sampled,
        message: String,
    },
}

impl From<Stop> for Obstacle {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// Why a boundary's transaction was taken back.
enum Fence {
    /// The session is gone or lives elsewhere.
    Moved,
    /// The inbox contradicts the log.
    Conflict(String),
}

impl Runner {
    /// An interruption ends the look at the surroundings and the reading of the history, which may
    /// take long. What is written between them is always awaited: when an interruption has returned,
    /// everything is settled.
    ///
    /// A session that moved away is followed: its drain goes on where the session lives now, with
    /// what it owes, and writes nothing more through the former Location.
    pub(super) async fn boundary(
        &mut self,
        promotion: Promotion,
        owed: Option<Owed>,
    ) -> Result<Boundary, Stop> {
        loop {
            match self.boundary_here(promotion, owed.as_ref()).await {
                Err(Stop::Moved) => self.location = None,
                other => return other,
            }
        }
    }

    async fn boundary_here(
        &mut self,
        promotion: Promotion,
        owed: Option<&Owed>,
    ) -> Result<Boundary, Stop> {
        let stopped = self.stopper.stopped().clone();
        let survey = stopped.run_until_cancelled(self.survey()).await;
        match survey.unwrap_or(Err(Stop::Interrupted.into())) {
            Ok(survey) => self.enter(survey, promotion).await,
            Err(Obstacle::Stop(stop)) => Err(stop),
            Err(Obstacle::Model {
                session,
                agent,
                message,
            }) => match owed {
                None => Err(DrainError::Model(message).into()),
                Some(owed) => Err(self.fail_owed(*session, agent, message, owed).await?),
            },
        }
    }

    /// Records that a turn which had to follow could not: results that wait for a model must not
    /// wait in silence. Inputs stay pending.
    async fn fail_owed(
        &self,
        session: SessionRow,
        agent: Sampled,
        message: String,
        owed: &Owed,
    ) -> Result<Stop, DrainError> {
        let model = agent.model.unwrap_or_else(|| owed.to.clone());
        let core = Arc::clone(&self.core);
        let mut publisher = Publisher::new(core, session, agent.id, model);
        publisher.fail_step(SessionErrorUnknown::of(
            ErrorKind::InvalidRequest,
            message.clone(),
        ));
        publisher.flush().await?;
        Ok(Stop::Recorded(DrainError::Model(message)))
    }

    async fn survey(&mut self) -> Result<Survey, Obstacle> {
        let (session, epoch) = self.observe().await?;
        let location = self.location(&session).await?;
        let agent = sample(&session, &location);
        let model = match location.catalogue.resolve(agent.model.as_ref()) {
            Ok(model) => model,
            Err(error) => {
                return Err(Obstacle::Model {
                    session: Box::new(session),
                    agent,
                    message: explain(&error, &location),
                });
            }
        };
        let baseline = match &epoch {
            Some(_) => None,
            None => Some(initialize(&location).await?),
        };
        Ok(Survey {
            session,
            agent,
            model,
            epoch,
            baseline,
        })
    }

    async fn enter(&mut self, survey: Survey, promotion: Promotion) -> Result<Boundary, Stop> {
        let Survey {
            session,
            agent,
            model,
            epoch,
            baseline,
        } = survey;
        let begins = baseline.is_some();
        let promoted = self.commit_boundary(&session, baseline, promotion).await?;
        let target = Target {
            provider_id: model.model.provider_id.clone(),
            wire_id: model.model.id.clone(),
        };
        let stopped = self.stopper.stopped().clone();
        let reading = self.read_history(session.key, target, begins);
        let begun = stopped.run_until_cancelled(reading).await;
        let epoch = begun.unwrap_or(Err(Stop::Interrupted))?.or(epoch);
        let system = epoch.map(|epoch| SystemPart::new(epoch.baseline));
        let model_ref = ModelRef {
            id: model.model.id.clone(),
            provider_id: model.model.provider_id.clone(),
            variant: agent.model.and_then(|it| it.variant),
        };
        Ok(Boundary {
            agent: agent.id,
            steps: agent.steps,
            system: system
                .into_iter()
                .filter(|part| !part.text.is_empty())
                .collect(),
            session,
            model,
            model_ref,
            promoted,
        })
    }

    /// The session as it is now; its agent and model hold for the whole turn.
    async fn observe(&mut self) -> Result<(SessionRow, Option<Epoch>), Stop> {
        let id = self.session.clone();
        let found = self.core.store.read(move |reader| {
            let Some(session) = reader.session(&id)? else {
                return Ok(None);
            };
            let epoch = reader.epoch(session.key)?;
            Ok(Some((session, epoch)))
        });
        let Some((session, epoch)) = found.await? else {
            return Err(DrainError::SessionGone(self.session.clone()).into());
        };
        let location = &session.info.location;
        if self.location.get_or_insert_with(|| location.clone()) != location {
            return Err(Stop::Moved);
        }
        Ok((session, epoch))
    }

    async fn location(&self, session: &SessionRow) -> Result<Arc<Location>, Stop> {
        let opened = self
            .core
            .locations
            .get(&session.info.location.directory)
            .await;
        opened.map_err(|error| DrainError::Location(error).into())
    }

    async fn commit_boundary(
        &self,
        session: &SessionRow,
        baseline: Option<Baseline>,
        promotion: Promotion,
    ) -> Result<usize, Stop> {
        if baseline.is_none() && promotion == Promotion::Nothing {
            return Ok(0);
        }
        let expected = session.clone();
        let batch = self.core.limits.steer_batch;
        let written = self
            .core
            .store
            .write(move |transaction| decide(transaction, &expected, baseline, promotion, batch));
        match written.await? {
            Ok(promoted) => Ok(promoted),
            Err(Fence::Moved) => Err(Stop::Moved),
            Err(Fence::Conflict(reason)) => Err(DrainError::Internal(reason).into()),
        }
    }

    /// Brings the transcript up to date. Returns the epoch when it has just begun.
    async fn read_history(
        &mut self,
        session: i64,
        target: Target,
        begins: bool,
    ) -> Result<Option<Epoch>, Stop> {
        let transcript = &mut self.conversation.transcript;
        let reading = transcript.reading(&target);
        let read = self.core.store.read(move |reader| {
            let epoch = if begins { reader.epoch(session)? } else { None };
            Ok((reading(reader, session)?, epoch))
        });
        let (found, epoch) = read.await?;
        transcript.update(found, target);
        Ok(epoch)
    }
}

/// Agent and model as they are chosen now; an agent that nobody describes is its id alone.
fn sample(session: &SessionRow, location: &Location) -> Sampled {
    let info = &session.info;
    let id = info.agent.as_deref().unwrap_or(DEFAULT_AGENT);
    let agent = location.agents.get(id);
    let chosen = || agent.and_then(|agent| agent.model.clone());
    Sampled {
        id: id.to_owned(),
        steps: agent.and_then(|agent| agent.steps),
        model: info.model.clone().or_else(chosen),
    }
}

/// Why a model cannot be resolved, with what is wrong in the configuration: a document that was
/// dropped is the likeliest cause.
fn explain(error: &ModelResolutionError, location: &Location) -> String {
    let diagnostics = location.configuration.diagnostics.iter();
    diagnostics.fold(error.to_string(), |text, diagnostic| {
        format!("{text}\n{diagnostic}")
    })
}

async fn initialize(location: &Location) -> Result<Baseline, Stop> {
    let environment: Arc<dyn Source> = Arc::new(Environment::of(location));
    let context = SystemContext::combine([environment])
        .map_err(|error| DrainError::Context(error.to_string()))?;
    let baseline = context.initialize().await;
    baseline.map_err(|error| DrainError::Context(error.to_string()).into())
}

/// What a boundary writes, in one transaction.
fn decide(
    transaction: &mut Transaction<'_>,
    expected: &SessionRow,
    baseline: Option<Baseline>,
    promotion: Promotion,
    steer_batch: usize,
) -> Result<Result<usize, Fence>, StoreError> {
    let current = transaction.reader().session(&expected.info.id)?;
    let here = current
        .as_ref()
        .is_some_and(|session| session.info.location == expected.info.location);
    if !here {
        return Ok(Err(Fence::Moved));
    }
    if let Some(baseline) = baseline {
        let baseline_seq = transaction.reader().latest_seq(expected.key)?;
        let snapshot = serde_json::to_string(&baseline.snapshot).map_err(|error| {
            StoreError::Database(format!("the snapshot cannot be written: {error}"))
        })?;
        let epoch = Epoch {
            baseline: baseline.text,
            snapshot,
            baseline_seq,
        };
        transaction.set_epoch(expected.key, &epoch)?;
    }
    let promoted = promote(transaction, expected, promotion, steer_batch)?;
    Ok(promoted.map_err(|conflict| Fence::Conflict(conflict.to_string())))
}
