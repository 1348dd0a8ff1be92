//! The inbox: Admitted Prompts, pending and promoted.

use opencode_schema::event::{DurableEvent, PromptAdmitted, Prompted, SessionEvent};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};
use rusqlite::{OptionalExtension, params};

use crate::error::StoreError;
use crate::log::StoredEvent;
use crate::packed::Packed;
use crate::projection::delivery_number;
use crate::reader::Reader;

/// An inbox row.
struct InputRow {
    aggregate: i64,
    admitted: i64,
    /// Set for a pending input, whose delivery may have been changed since its admission.
    delivery: Option<Delivery>,
    promoted: Option<i64>,
    withdrawn: Option<i64>,
}

/// A stored input and whether its id may still be answered with its receipt.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredInput {
    /// The receipt; its delivery is the one it was admitted with.
    pub receipt: SessionInputAdmitted,
    /// It was withdrawn; the id stays used.
    pub withdrawn: bool,
}

impl Reader<'_> {
    pub(crate) fn input_exists(&self, id: &MessageID) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT 1 FROM input WHERE id = ?")?
            .exists([Packed::message(id)])?)
    }

    /// Whether a promotion repeats prompt and time of the admission at `admitted`.
    pub(crate) fn was_admitted(
        &self,
        aggregate: i64,
        admitted: i64,
        event: &DurableEvent,
        prompted: &Prompted,
    ) -> Result<bool, StoreError> {
        let entry = self.admission(aggregate, admitted)?;
        Ok(match entry.payload()? {
            SessionEvent::PromptAdmitted(it) => {
                it.prompt == prompted.prompt && entry.timestamp == event.timestamp
            }
            _ => false,
        })
    }

    fn admission(&self, aggregate: i64, admitted: i64) -> Result<StoredEvent, StoreError> {
        let entry = self.entries(aggregate, &[admitted])?.pop();
        entry.ok_or_else(|| StoreError::corrupt(admitted, "the admission is missing"))
    }

    /// The input with this id, of whatever session.
    pub fn input(&self, id: &MessageID) -> Result<Option<StoredInput>, StoreError> {
        let row = self
            .connection
            .prepare_cached(
                "SELECT i.aggregate, i.admitted, i.promoted, i.withdrawn, a.id
                 FROM input i JOIN aggregate a ON a.key = i.aggregate WHERE i.id = ?",
            )?
            .query_row([Packed::message(id)], |row| {
                let input = InputRow {
                    aggregate: row.get(0)?,
                    admitted: row.get(1)?,
                    delivery: None,
                    promoted: row.get(2)?,
                    withdrawn: row.get(3)?,
                };
                Ok((input, row.get::<_, String>(4)?))
            })
            .optional()?;
        let Some((row, session)) = row else {
            return Ok(None);
        };
        let session =
            SessionID::parse(&session).map_err(|error| StoreError::corrupt(row.admitted, error))?;
        let withdrawn = row.withdrawn.is_some();
        Ok(Some(StoredInput {
            receipt: self.receipt(&row, session)?,
            withdrawn,
        }))
    }

    /// Whether anything of that delivery is pending.
    pub fn has_pending(&self, session: i64, delivery: Delivery) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT 1 FROM input WHERE aggregate = ? AND delivery = ?
                 AND promoted IS NULL AND withdrawn IS NULL LIMIT 1",
            )?
            .exists(params![session, delivery_number(delivery)])?)
    }

    /// Pending inputs of that delivery admitted up to `cutoff`, in admission order.
    pub fn pending(
        &self,
        id: &SessionID,
        session: i64,
        delivery: Delivery,
        cutoff: u64,
        limit: usize,
    ) -> Result<Vec<SessionInputAdmitted>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT admitted FROM input WHERE aggregate = ? AND delivery = ? AND admitted <= ?
             AND promoted IS NULL AND withdrawn IS NULL ORDER BY admitted LIMIT ?",
        )?;
        let number = delivery_number(delivery);
        let cutoff = i64::try_from(cutoff).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![session, number, cutoff, limit as i64], |row| {
            row.get::<_, i64>(0)
        })?;
        let mut inputs = Vec::new();
        for admitted in rows {
            let row = InputRow {
                aggregate: session,
                admitted: admitted?,
                delivery: Some(delivery),
                promoted: None,
                withdrawn: None,
            };
            inputs.push(self.receipt(&row, id.clone())?);
        }
        Ok(inputs)
    }

    /// The receipt, from the entry of the admission.
    fn receipt(
        &self,
        row: &InputRow,
        session_id: SessionID,
    ) -> Result<SessionInputAdmitted, StoreError> {
        let entry = self.admission(row.aggregate, row.admitted)?;
        let (message_id, prompt, admitted_delivery) = match entry.payload()? {
            SessionEvent::PromptAdmitted(PromptAdmitted {
                message_id,
                prompt,
                delivery,
            }) => (message_id, prompt, delivery),
            SessionEvent::Prompted(it) => (it.message_id, it.prompt, it.delivery),
            _ => return Err(StoreError::corrupt(row.admitted, "it is no admission")),
        };
        Ok(SessionInputAdmitted {
            admitted_seq: row.admitted as u64,
            id: message_id,
            session_id,
            prompt,
            delivery: row.delivery.unwrap_or(admitted_delivery),
            time_created: entry.timestamp,
            promoted_seq: row.promoted.map(|seq| seq as u64),
        })
    }
}
