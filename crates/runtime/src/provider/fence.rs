//! The fence of a Provider Turn: the turn is dispatched only for the current Location, agent, model and
//! Context Epoch of its session.
//!
//! A turn is prepared from a view of the session. Reading the history, the estimate and the snapshot of
//! the files take time, and a caller may move the session or switch its agent or model meanwhile. The
//! runner therefore compares the view with the session once more, in a transaction of the single writer
//! that writes nothing. Moves and switches are transactions of the same writer, so each one is ordered:
//!
//! - The comparison sees a change that came before it. The turn returns to the boundary, keeps the
//!   inputs that it promoted, and is prepared again. Nothing was sent.
//! - A change that comes after it finds a turn that has begun: between the answer of the writer and the
//!   request there is no await, and no other condition. Like any switch during a turn, it applies to
//!   the next turn.
//!
//! The log needs no entry for the beginning: the contract says that `session.next.step.started` comes
//! with the first output. No decision depends on the order of a move and of a request without output.

use opencode_schema::id::SessionID;
use opencode_schema::location::LocationRef;
use opencode_schema::model::ModelRef;
use opencode_store::{Abort, Reader, Sequence, SessionKey, SessionRow, StoreError};

use crate::error::{DrainError, RuntimeError};
use crate::journal::Journal;

/// The state of a session that a Provider Turn was prepared for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fence {
    session: SessionRow,
    /// Start of the Context Epoch. A session that moves loses its epoch, even if it moves back.
    baseline_seq: Option<Sequence>,
}

/// Returns the values that must stay the same for the whole turn.
fn chosen(session: &SessionRow) -> (SessionKey, &LocationRef, Option<&String>, Option<&ModelRef>) {
    let info = &session.info;
    let (agent, model) = (info.agent.as_ref(), info.model.as_ref());
    (session.key, &info.location, agent, model)
}

impl Fence {
    pub(crate) fn new(session: &SessionRow, baseline_seq: Option<Sequence>) -> Self {
        Self {
            session: session.clone(),
            baseline_seq,
        }
    }

    pub(crate) fn session(&self) -> &SessionRow {
        &self.session
    }

    pub(crate) fn baseline_seq(&self) -> Option<Sequence> {
        self.baseline_seq
    }

    /// True if the session still has the state that the turn was prepared for.
    pub(crate) fn holds(&self, reader: &Reader<'_>) -> Result<bool, StoreError> {
        let Some(now) = reader.session(&self.session.info.id)? else {
            return Ok(false);
        };
        Ok(chosen(&now) == chosen(&self.session)
            && reader.baseline_seq(now.key)? == self.baseline_seq)
    }
}

impl Fence {
    /// True if the session is still what the request was prepared for. Runs in a transaction of the writer.
    pub(crate) async fn is_current(&self, journal: &Journal) -> Result<bool, DrainError> {
        let fence = self.clone();
        let compared = journal.store.write(move |transaction| {
            let holds = fence.holds(&transaction.reader())?;
            Ok::<bool, Abort<DrainError>>(holds)
        });
        Ok(compared.await?)
    }

    /// Returns the fence of a request that is prepared now.
    pub(crate) async fn of(journal: &Journal, id: &SessionID) -> Result<Self, RuntimeError> {
        let wanted = id.clone();
        let found = journal.store.read(move |reader| {
            let Some(session) = reader.session(&wanted)? else {
                return Ok(None);
            };
            let baseline_seq = reader.baseline_seq(session.key)?;
            Ok(Some(Fence::new(&session, baseline_seq)))
        });
        found
            .await?
            .ok_or_else(|| RuntimeError::SessionNotFound(id.clone()))
    }
}
