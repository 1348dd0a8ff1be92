//! The inbox: Admitted Prompts, pending and promoted.

use opencode_schema::event::{
    DurableEvent, PromptAdmitted, PromptRedelivered, Prompted, SessionEvent,
};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};
use rusqlite::{OptionalExtension, params};

use crate::error::StoreError;
use crate::log::StoredEvent;
use crate::packed::Packed;
use crate::projection::{LifecycleConflict, Projected, Target, kind};
use crate::reader::Reader;
use crate::transaction::Transaction;

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
                "SELECT 1 FROM input INDEXED BY input_pending WHERE aggregate = ? AND delivery = ?
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
            "SELECT admitted FROM input INDEXED BY input_pending
             WHERE aggregate = ? AND delivery = ? AND admitted <= ?
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

impl Transaction<'_> {
    /// Adds an inbox row. Its id becomes the message's, so it must be free as both.
    pub(crate) fn admit(&self, aggregate: i64, seq: i64, admitted: &PromptAdmitted) -> Projected {
        let id = &admitted.message_id;
        let reader = self.reader();
        if reader.message_exists(id)? || reader.input_exists(id)? {
            return Ok(Err(LifecycleConflict::IdInUse(id.clone())));
        }
        self.run(
            "INSERT INTO input (aggregate, admitted, id, delivery) VALUES (?, ?, ?, ?)",
            params![
                aggregate,
                seq,
                Packed::message(id),
                delivery_number(admitted.delivery)
            ],
        )?;
        Ok(Ok(Target::default()))
    }

    /// Marks the inbox row, which must say the same as the promotion, and makes the user message. A
    /// promotion without an admission, as imported history has it, makes its row too.
    pub(crate) fn promote(
        &self,
        aggregate: i64,
        event: &DurableEvent,
        prompted: &Prompted,
    ) -> Projected {
        let seq = event.seq as i64;
        let id = &prompted.message_id;
        let delivery = delivery_number(prompted.delivery);
        let is_known = self.reader().input_exists(id)?;
        let source = self.pending_row(aggregate, id, delivery)?;
        let source = match source {
            Some(admitted) if self.was_admitted(aggregate, admitted, event, prompted)? => source,
            None if !is_known => None,
            _ => return Ok(Err(LifecycleConflict::NotPending(id.clone()))),
        };
        let added = self.add(aggregate, seq, id, kind::USER)?;
        if added.is_err() {
            return Ok(added);
        }
        match source {
            Some(admitted) => self.run(
                "UPDATE input SET promoted = ?3 WHERE aggregate = ?1 AND admitted = ?2",
                [aggregate, admitted, seq],
            )?,
            None => self.run(
                "INSERT INTO input (aggregate, admitted, id, delivery, promoted)
                 VALUES (?1, ?2, ?3, ?4, ?2)",
                params![aggregate, seq, Packed::message(id), delivery],
            )?,
        }
        Ok(added.map(|target| Target { source, ..target }))
    }

    /// The admission of a pending input of this session and delivery.
    fn pending_row(
        &self,
        aggregate: i64,
        id: &MessageID,
        delivery: i64,
    ) -> Result<Option<i64>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT admitted FROM input WHERE id = ? AND aggregate = ? AND delivery = ?
                 AND promoted IS NULL AND withdrawn IS NULL",
            )?
            .query_row(params![Packed::message(id), aggregate, delivery], |row| {
                row.get(0)
            })
            .optional()?)
    }

    /// Whether a promotion repeats prompt and time of the admission at `admitted`.
    fn was_admitted(
        &self,
        aggregate: i64,
        admitted: i64,
        event: &DurableEvent,
        prompted: &Prompted,
    ) -> Result<bool, StoreError> {
        let entry = self.reader().admission(aggregate, admitted)?;
        Ok(match entry.payload()? {
            SessionEvent::PromptAdmitted(it) => {
                it.prompt == prompted.prompt && entry.timestamp == event.timestamp
            }
            _ => false,
        })
    }

    pub(crate) fn withdraw(
        &self,
        aggregate: i64,
        seq: i64,
        id: &MessageID,
    ) -> Result<(), StoreError> {
        self.run(
            "UPDATE input SET withdrawn = ?3 WHERE id = ?2 AND aggregate = ?1
             AND promoted IS NULL AND withdrawn IS NULL",
            params![aggregate, Packed::message(id), seq],
        )
    }

    pub(crate) fn redeliver(
        &self,
        aggregate: i64,
        it: &PromptRedelivered,
    ) -> Result<(), StoreError> {
        self.run(
            "UPDATE input SET delivery = ?3 WHERE id = ?2 AND aggregate = ?1
             AND promoted IS NULL AND withdrawn IS NULL",
            params![
                aggregate,
                Packed::message(&it.message_id),
                delivery_number(it.delivery)
            ],
        )
    }
}

fn delivery_number(delivery: Delivery) -> i64 {
    match delivery {
        Delivery::Steer => 0,
        Delivery::Queue => 1,
    }
}
