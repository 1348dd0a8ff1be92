//! The newest activity of a session: the settings of its prompts, and its structured output.
//!
//! An activity begins with the promotion of a queued prompt, or of a steer that was admitted after the end of the
//! activity before. Any other steer continues the activity. The newest prompt with settings determines the settings of
//! its activity. A prompt without settings keeps those of the activity that it continues.

use opencode_schema::event::{Prompted, SessionEvent};
use opencode_schema::prompt::{Delivery, PromptSettings, SessionInputAdmitted};
use rusqlite::{OptionalExtension, Row};

use crate::error::StoreError;
use crate::integer::{Sequence, SessionKey};
use crate::projections::messages::entry;
use crate::projections::sessions::SessionRow;
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

/// The newest activity of a session, if it has settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// Admission of the prompt whose settings apply.
    pub settings: Sequence,
    /// True if the structured output was produced or has failed.
    pub is_output_settled: bool,
    /// Number of outputs that were refused since the last promotion.
    pub rejected: u32,
}

impl Activity {
    /// Reads three columns, the first of which is at `at`.
    pub(crate) fn read(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Self>> {
        let settings: Option<Sequence> = row.get(at)?;
        let Some(settings) = settings else {
            return Ok(None);
        };
        let settled: Option<Sequence> = row.get(at + 1)?;
        Ok(Some(Self {
            settings,
            is_output_settled: settled.is_some(),
            rejected: row.get(at + 2)?,
        }))
    }
}

impl Reader<'_> {
    /// Returns the settings of the prompt that was admitted at `admitted`.
    pub fn prompt_settings(
        &self,
        session: SessionKey,
        admitted: Sequence,
    ) -> Result<PromptSettings, StoreError> {
        let entries = self.gather(session, vec![admitted])?;
        let prompt = match entry(&entries, admitted)?.payload()? {
            SessionEvent::PromptAdmitted(it) => it.prompt,
            SessionEvent::Prompted(it) => it.prompt,
            _ => return Err(StoreError::corrupt(admitted, "it is no admission")),
        };
        let settings = prompt.settings.map(|settings| *settings);
        settings.ok_or_else(|| StoreError::corrupt(admitted, "its prompt has no settings"))
    }

    /// Returns the promotion of the prompt that was admitted at `admitted`, if it is promoted.
    pub fn promotion(
        &self,
        session: SessionKey,
        admitted: Sequence,
    ) -> Result<Option<Sequence>, StoreError> {
        let promoted = self
            .connection
            .prepare_cached("SELECT promoted FROM input WHERE aggregate = ? AND admitted = ?")?
            .query_row((session, admitted), |row| row.get(0))
            .optional()?;
        Ok(promoted.flatten())
    }

    /// Returns the admission of the prompt whose settings apply after the promotion of inputs. `first` is the first of
    /// these inputs, and `with_settings` are those with settings, in the order of the promotion.
    pub fn settings_after(
        &self,
        session: &SessionRow,
        first: Option<&SessionInputAdmitted>,
        with_settings: &[SessionInputAdmitted],
    ) -> Result<Option<Sequence>, StoreError> {
        if let Some(newest) = with_settings.last() {
            return Ok(Some(newest.admitted_seq.into()));
        }
        let Some(activity) = session.activity else {
            return Ok(None);
        };
        let continues = match first {
            None => true,
            Some(input) => {
                self.continues(session.key, input.delivery, input.admitted_seq.into())?
            }
        };
        Ok(continues.then_some(activity.settings))
    }

    /// True if an input continues the newest activity when it is promoted now.
    pub fn continues(
        &self,
        session: SessionKey,
        delivery: Delivery,
        admitted: Sequence,
    ) -> Result<bool, StoreError> {
        if delivery == Delivery::Queue {
            return Ok(false);
        }
        // An activity that was cut off has not ended.
        Ok(self.interruption(session)?.is_some()
            || self
                .activity_end(session)?
                .is_some_and(|ended| admitted < ended))
    }
}

impl Transaction<'_> {
    /// Records the settings after a promotion. The user message is not yet added.
    pub(crate) fn apply_settings(
        &self,
        aggregate: SessionKey,
        admitted: Sequence,
        prompted: &Prompted,
    ) -> Result<(), StoreError> {
        if prompted.prompt.settings.is_some() {
            return self.set_settings(aggregate, Some(admitted));
        }
        let known = self
            .connection
            .prepare_cached("SELECT settings FROM session WHERE aggregate = ?")?
            .query_row([aggregate], |row| row.get(0))
            .optional()?
            .flatten();
        if known.is_none() {
            return Ok(());
        }
        let continues = self
            .reader()
            .continues(aggregate, prompted.delivery, admitted)?;
        self.set_settings(aggregate, known.filter(|_| continues))
    }

    /// Records the prompt whose settings apply. Its structured output is due.
    fn set_settings(
        &self,
        aggregate: SessionKey,
        admitted: Option<Sequence>,
    ) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET settings = ?2, output = NULL, rejected = 0 WHERE aggregate = ?1",
            (aggregate, admitted),
        )
    }

    /// Counts a refused output.
    pub(crate) fn reject_output(&self, aggregate: SessionKey) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET rejected = rejected + 1 WHERE aggregate = ?",
            [aggregate],
        )
    }

    /// Records the entry that settled the output of the newest activity.
    pub(crate) fn settle_output(
        &self,
        aggregate: SessionKey,
        seq: Sequence,
    ) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET output = ?2 WHERE aggregate = ?1 AND settings IS NOT NULL",
            (aggregate, seq),
        )
    }

    /// Forgets the settings of prompts whose messages were reverted: those after `boundary`.
    pub(crate) fn revert_settings(
        &self,
        aggregate: SessionKey,
        boundary: Sequence,
    ) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET settings = NULL, output = NULL, rejected = 0
             WHERE aggregate = ?1 AND settings IS NOT NULL AND EXISTS (
               SELECT 1 FROM input
               WHERE aggregate = ?1 AND admitted = session.settings AND promoted > ?2)",
            (aggregate, boundary),
        )
    }
}
