//! The pause of a session whose budget is used up.

use opencode_location::catalogue::ResolvedModelOutcome;
use opencode_schema::event::Paused;
use opencode_store::{Draft, SessionRow};

use super::{DrainStop, Runner};
use crate::budgets::NextTurn;
use crate::error::DrainError;

impl Runner {
    /// Compares the work so far with the budgets of the session and of the host.
    ///
    /// # Errors
    ///
    /// `Budget` if a limit is reached. The pause is recorded.
    pub(super) async fn check_budgets(
        &self,
        session: &SessionRow,
        model: &ResolvedModelOutcome,
    ) -> Result<(), DrainStop> {
        let (id, with_root) = (session.info.id.clone(), self.services.budgets.has_default());
        let store = &self.services.journal.store;
        let found = store.read(move |reader| reader.budgets(&id, with_root));
        let next = NextTurn {
            has_prices: !model.cost.rows().is_empty(),
        };
        let applied = self.services.budgets.applied(found.await?);
        match applied.pause(next) {
            None => Ok(()),
            Some(paused) => Err(self.pause_session(session, paused).await?.into()),
        }
    }

    async fn pause_session(
        &self,
        session: &SessionRow,
        paused: Paused,
    ) -> Result<DrainError, DrainError> {
        let message = paused.message.clone();
        let journal = &self.services.journal;
        let drafts = vec![Draft::new(journal.now(), paused)];
        // A caller that reads about the pause may raise the budget and resume at once.
        self.stopper.turn_failed();
        journal.commit(session, drafts, Vec::new()).await?;
        Ok(DrainError::Budget(message))
    }
}
