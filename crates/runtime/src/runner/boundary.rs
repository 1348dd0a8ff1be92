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
use opencode_schema::model::ModelRef;
use opencode_store::{Epoch, SessionRow, StoreError, Transaction};

use super::{Runner, Stop};
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
    model: ResolvedModelOutcome,
    epoch: Option<Epoch>,
    /// The beginning of an epoch, where there is none yet.
    baseline: Option<Baseline>,
}

/// Why a boundary's transaction was taken back.
enum Fence {
    /// The session is gone or lives elsewhere.
    Moved,
    /// The inbox contradicts the log.
    Conflict(String),
}

impl Runner {
    /// An interruption ends the look at the surroundings, which may take long. What is written
    /// after it is always awaited: when an interruption has returned, everything is settled.
    pub(super) async fn boundary(&mut self, promotion: Promotion) -> Result<Boundary, Stop> {
        let cancel = self.cancel.clone();
        let survey = cancel
            .run_until_cancelled(self.survey())
            .await
            .unwrap_or(Err(Stop::Interrupted))?;
        self.enter(survey, promotion).await
    }

    async fn survey(&mut self) -> Result<Survey, Stop> {
        let (session, epoch) = self.observe().await?;
        let location = self.location(&session).await?;
        let model = location
            .catalogue
            .resolve(session.info.model.as_ref())
            .map_err(|error| DrainError::Model(explain(&error, &location)))?;
        let baseline = match &epoch {
            Some(_) => None,
            None => Some(initialize(&location).await?),
        };
        Ok(Survey {
            session,
            model,
            epoch,
            baseline,
        })
    }

    async fn enter(&mut self, survey: Survey, promotion: Promotion) -> Result<Boundary, Stop> {
        let Survey {
            session,
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
        let epoch = self
            .read_history(session.key, &target, begins)
            .await?
            .or(epoch);
        let system = epoch.map(|epoch| SystemPart::new(epoch.baseline));
        let model_ref = ModelRef {
            id: model.model.id.clone(),
            provider_id: model.model.provider_id.clone(),
            variant: session
                .info
                .model
                .as_ref()
                .and_then(|it| it.variant.clone()),
        };
        Ok(Boundary {
            agent: session
                .info
                .agent
                .clone()
                .unwrap_or_else(|| DEFAULT_AGENT.to_owned()),
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
            return Err(Stop::Interrupted);
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
        let written = self
            .core
            .store
            .write(move |transaction| decide(transaction, &expected, baseline, promotion));
        match written.await? {
            Ok(promoted) => Ok(promoted),
            Err(Fence::Moved) => Err(Stop::Interrupted),
            Err(Fence::Conflict(reason)) => Err(DrainError::Internal(reason).into()),
        }
    }

    /// Brings the transcript up to date. Returns the epoch when it has just begun.
    async fn read_history(
        &mut self,
        session: i64,
        target: &Target,
        begins: bool,
    ) -> Result<Option<Epoch>, Stop> {
        let reading = self.transcript.reading();
        let read = self.core.store.read(move |reader| {
            let epoch = if begins { reader.epoch(session)? } else { None };
            Ok((reading(reader, session)?, epoch))
        });
        let (changes, epoch) = read.await?;
        self.transcript.update(changes, target);
        Ok(epoch)
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
    let promoted = promote(transaction, expected, promotion)?;
    Ok(promoted.map_err(|conflict| Fence::Conflict(conflict.to_string())))
}
