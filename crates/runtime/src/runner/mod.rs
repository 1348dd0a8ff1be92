//! A Session Drain: Provider Turns until nothing is left to do.

mod boundary;
mod calls;
mod offer;
mod publisher;
mod translate;
mod turn;

use std::sync::Arc;

use opencode_llm::PrefixCache;
use opencode_schema::event::ToolFailed;
use opencode_schema::id::SessionID;
use opencode_schema::location::LocationRef;
use opencode_schema::message::{ErrorKind, SessionErrorUnknown};
use opencode_schema::prompt::Delivery;
use opencode_store::{SessionRow, StoreError};
use tokio_util::sync::CancellationToken;

use crate::coordinator::DrainExit;
use crate::coordinator::state::Exit;
use crate::core::{Core, append};
use crate::error::DrainError;
use crate::inbox::Promotion;
use crate::transcript::Transcript;

pub(crate) use self::offer::ToolOffer;

/// Provider Turns since the last Prompt Promotion after which a drain gives up.
const TURN_ALLOWANCE: u32 = 25;

/// What a call says that did not come to an end.
const INTERRUPTED_CALL: &str = opencode_tools::INTERRUPTED;

/// Why a drain ends early.
pub(crate) enum Stop {
    /// It was interrupted, or its session lives elsewhere now.
    Interrupted,
    /// It failed.
    Failed(DrainError),
}

impl<E: Into<DrainError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// One drain of one session.
pub(crate) struct Runner {
    core: Arc<Core>,
    offer: Arc<ToolOffer>,
    session: SessionID,
    cancel: CancellationToken,
    /// The Location this drain works in; a session that moved away is left alone.
    location: Option<LocationRef>,
    transcript: Transcript,
    prefix: PrefixCache,
}

/// What is eligible when a drain begins.
struct Pending {
    steer: bool,
    queue: bool,
}

impl Runner {
    pub(crate) fn new(
        core: Arc<Core>,
        offer: Arc<ToolOffer>,
        session: SessionID,
        cancel: CancellationToken,
    ) -> Self {
        let (transcript, prefix) = (Transcript::default(), PrefixCache::default());
        Self {
            core,
            offer,
            session,
            cancel,
            location: None,
            transcript,
            prefix,
        }
    }

    /// Drains the session. A forced drain makes at least one Provider Turn.
    #[tracing::instrument(name = "session_drain", skip_all, fields(session_id = %self.session))]
    pub(crate) async fn drain(mut self, force: bool) -> DrainExit {
        match self.activities(force).await {
            Ok(()) => Exit::Done,
            Err(Stop::Interrupted) => Exit::Interrupted,
            Err(Stop::Failed(error)) => {
                tracing::warn!(tag = error.tag(), %error, "the Session Drain failed");
                if let Some(cause) = error.announced() {
                    let location = self.location.as_ref();
                    self.core
                        .announce_failure(&self.session, location, error.to_string(), cause);
                }
                Exit::Failed(error)
            }
        }
    }

    /// Runs activities: what is pending first, then one per queued input.
    async fn activities(&mut self, force: bool) -> Result<(), Stop> {
        let pending = self.pending().await?;
        if !force && !pending.steer && !pending.queue {
            return Ok(());
        }
        self.fail_abandoned_calls().await?;
        let mut promotion = match pending {
            Pending { steer: true, .. } => Promotion::Steers,
            Pending { queue: true, .. } => Promotion::QueuedThenSteers,
            _ => Promotion::Nothing,
        };
        loop {
            self.activity(promotion).await?;
            if !self.pending().await?.queue {
                return Ok(());
            }
            promotion = Promotion::QueuedThenSteers;
        }
    }

    /// Runs Provider Turns until none is needed and no steer waits.
    async fn activity(&mut self, first: Promotion) -> Result<(), Stop> {
        let mut promotion = first;
        let mut step = 1;
        loop {
            let boundary = self.boundary(promotion).await?;
            if boundary.promoted > 0 {
                step = 1;
            }
            let continues = self.turn(boundary).await?;
            let steered = self.pending().await?.steer;
            if !continues && !steered {
                return Ok(());
            }
            if continues && !steered && step >= TURN_ALLOWANCE {
                let session_id = self.session.clone();
                return Err(DrainError::StepLimit {
                    session_id,
                    limit: TURN_ALLOWANCE,
                }
                .into());
            }
            promotion = Promotion::Steers;
            step += 1;
        }
    }

    async fn pending(&self) -> Result<Pending, Stop> {
        if self.cancel.is_cancelled() {
            return Err(Stop::Interrupted);
        }
        let id = self.session.clone();
        let pending = self.core.store.read(move |reader| {
            let Some(session) = reader.session(&id)? else {
                return Ok(None);
            };
            Ok(Some(Pending {
                steer: reader.has_pending(session.key, Delivery::Steer)?,
                queue: reader.has_pending(session.key, Delivery::Queue)?,
            }))
        });
        pending
            .await?
            .ok_or_else(|| DrainError::SessionGone(self.session.clone()).into())
    }

    /// Fails the tool calls that a former process, or a failed turn, left open. They are never run
    /// again: nobody knows how far they got.
    async fn fail_abandoned_calls(&self) -> Result<(), Stop> {
        let (id, now) = (self.session.clone(), self.core.now());
        let failed = self.core.store.write(move |transaction| {
            let Some(session) = transaction.reader().session(&id)? else {
                return Ok(Ok(()));
            };
            fail_open_calls(transaction, &session, now).map(Ok::<(), DrainError>)
        });
        Ok(failed.await??)
    }
}

fn fail_open_calls(
    transaction: &mut opencode_store::Transaction<'_>,
    session: &SessionRow,
    now: i64,
) -> Result<(), StoreError> {
    for call in transaction.reader().open_calls(session.key)? {
        let payload = ToolFailed {
            assistant_message_id: call.message_id,
            call_id: call.call_id,
            error: SessionErrorUnknown::of(ErrorKind::Interrupted, INTERRUPTED_CALL),
            result: None,
            provider: opencode_schema::event::EventProvider {
                executed: call.provider_executed,
                metadata: None,
            },
        };
        append(transaction, session, now, payload)?;
    }
    Ok(())
}
