//! The inbox: Admitted Prompts, pending and promoted.

use std::borrow::Cow;

use opencode_schema::clock::Millis;
use opencode_schema::event::{
    DurableEvent, PromptAdmitted, PromptRedelivered, Prompted, SessionEvent,
};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::prompt::{Delivery, Prompt, PromptFileAttachment, SessionInputAdmitted};
use rusqlite::types::FromSql as _;
use rusqlite::{OptionalExtension, Row, params};

use crate::error::{Abort, StoreError};
use crate::format::entry::StoredEvent;
use crate::format::packed::Packed;
use crate::format::stored::Format;
use crate::integer::{Sequence, SessionKey};
use crate::projections::kind::MessageKind;
use crate::projections::sessions::SessionRow;
use crate::projections::{LifecycleConflict, Projected};
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

/// An inbox row.
struct InputRow {
    aggregate: SessionKey,
    admitted: Sequence,
    /// Set for a pending input. The delivery may have changed since the admission.
    delivery: Option<Delivery>,
    promoted: Option<Sequence>,
    withdrawn: Option<Sequence>,
}

/// A stored input and its state.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredInput {
    /// Receipt, with the delivery of the admission.
    pub receipt: SessionInputAdmitted,
    /// Current delivery.
    pub delivery: Delivery,
    /// True if the input was withdrawn. The id stays used.
    pub withdrawn: bool,
}

/// The state of the input with an id.
enum Waiting {
    /// No input has this id.
    Unknown,
    /// The id belongs to another input, or its input is not pending.
    No,
    /// A pending input, admitted at `seq`. `repeats` is true if the payloads are equal.
    Admitted { seq: Sequence, repeats: bool },
}

impl Reader<'_> {
    pub(crate) fn input_exists(&self, id: &MessageID) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT 1 FROM input WHERE id = ?")?
            .exists([Packed::message(id)])?)
    }

    fn admission(
        &self,
        aggregate: SessionKey,
        admitted: Sequence,
    ) -> Result<StoredEvent, StoreError> {
        let entry = self.entries(aggregate, &[admitted])?.pop();
        entry.ok_or_else(|| StoreError::corrupt(admitted, "the admission is missing"))
    }

    /// Returns the input with this id, in any session.
    pub fn input(&self, id: &MessageID) -> Result<Option<StoredInput>, StoreError> {
        let row = self
            .connection
            .prepare_cached(
                "SELECT i.aggregate, i.admitted, i.promoted, i.withdrawn, a.id, i.delivery
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
                Ok((input, row.get::<_, String>(4)?, row.get(5)?))
            })
            .optional()?;
        let Some((row, session, delivery)) = row else {
            return Ok(None);
        };
        let session =
            SessionID::parse(&session).map_err(|error| StoreError::corrupt(row.admitted, error))?;
        let withdrawn = row.withdrawn.is_some();
        Ok(Some(StoredInput {
            receipt: self.receipt(&row, session)?,
            delivery: read_delivery(delivery, row.admitted)?,
            withdrawn,
        }))
    }

    /// True if an input of that delivery is pending.
    pub fn has_pending(&self, session: SessionKey, delivery: Delivery) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT 1 FROM input INDEXED BY input_pending WHERE aggregate = ? AND delivery = ?
                 AND promoted IS NULL AND withdrawn IS NULL LIMIT 1",
            )?
            .exists(params![session, delivery_number(delivery)])?)
    }

    /// Returns pending inputs of that delivery admitted up to `cutoff`, in admission order.
    pub fn pending(
        &self,
        id: &SessionID,
        session: SessionKey,
        delivery: Delivery,
        cutoff: Sequence,
        limit: usize,
    ) -> Result<Vec<SessionInputAdmitted>, StoreError> {
        self.pending_where(id, session, delivery, cutoff, limit, |_| true)
    }

    /// Returns those of [`pending`](Self::pending) that have files, agents or mentions, and possibly
    /// some others. Does not parse prompts of text alone, which are the most frequent ones.
    pub fn pending_attached(
        &self,
        id: &SessionID,
        session: SessionKey,
        delivery: Delivery,
        cutoff: Sequence,
        limit: usize,
    ) -> Result<Vec<SessionInputAdmitted>, StoreError> {
        let is_attached = |text: &str| {
            text.contains('@') || text.contains("files\"") || text.contains("agents\"")
        };
        self.pending_where(id, session, delivery, cutoff, limit, is_attached)
    }

    /// Returns those of [`pending`](Self::pending) that have settings. Does not parse the others.
    pub fn pending_with_settings(
        &self,
        id: &SessionID,
        session: SessionKey,
        delivery: Delivery,
        cutoff: Sequence,
        limit: usize,
    ) -> Result<Vec<SessionInputAdmitted>, StoreError> {
        let has_settings = |text: &str| text.contains("\"settings\":");
        let mut inputs = self.pending_where(id, session, delivery, cutoff, limit, has_settings)?;
        inputs.retain(|input| input.prompt.settings.is_some());
        Ok(inputs)
    }

    /// Returns the pending inputs for which `is_wanted` returns true for their JSON text.
    fn pending_where(
        &self,
        id: &SessionID,
        session: SessionKey,
        delivery: Delivery,
        cutoff: Sequence,
        limit: usize,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<SessionInputAdmitted>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT i.admitted, e.time, e.format, e.data FROM input i INDEXED BY input_pending
             LEFT JOIN event e ON e.aggregate = i.aggregate AND e.seq = i.admitted
             WHERE i.aggregate = ?1 AND i.delivery = ?2 AND i.admitted <= ?3
             AND i.promoted IS NULL AND i.withdrawn IS NULL ORDER BY i.admitted LIMIT ?4",
        )?;
        let number = delivery_number(delivery);
        let mut rows = statement.query(params![session, number, cutoff, limit as i64])?;
        let mut inputs = Vec::new();
        while let Some(row) = rows.next()? {
            let admitted = row.get(0)?;
            let text = admission_text(admitted, row)?;
            if !is_wanted(&text) {
                continue;
            }
            let PromptAdmitted {
                message_id, prompt, ..
            } = admission(admitted, &text)?;
            inputs.push(SessionInputAdmitted {
                admitted_seq: admitted.into(),
                id: message_id,
                session_id: id.clone(),
                prompt,
                delivery,
                time_created: row.get(1)?,
                promoted_seq: None,
            });
        }
        Ok(inputs)
    }

    /// Returns all pending inputs in admission order, each with its current delivery.
    pub fn pending_inputs(
        &self,
        session: &SessionRow,
    ) -> Result<Vec<SessionInputAdmitted>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT admitted, delivery FROM input INDEXED BY input_pending
             WHERE aggregate = ? AND promoted IS NULL AND withdrawn IS NULL",
        )?;
        let rows = statement.query_map([session.key], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut rows = rows.collect::<Result<Vec<(Sequence, i64)>, _>>()?;
        // The index sorts by delivery.
        rows.sort_unstable();
        rows.into_iter()
            .map(|(admitted, delivery)| {
                let row = InputRow {
                    aggregate: session.key,
                    admitted,
                    delivery: Some(read_delivery(delivery, admitted)?),
                    promoted: None,
                    withdrawn: None,
                };
                self.receipt(&row, session.info.id.clone())
            })
            .collect()
    }

    /// Returns the number of pending inputs.
    pub fn pending_count(&self, session: SessionKey) -> Result<u64, StoreError> {
        let pending: i64 = self
            .connection
            .prepare_cached("SELECT pending FROM aggregate WHERE key = ?")?
            .query_row([session], |row| row.get(0))?;
        Ok(pending.max(0) as u64)
    }

    /// Returns the receipt, read from the entry of the admission.
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
            admitted_seq: row.admitted.into(),
            id: message_id,
            session_id,
            prompt,
            delivery: row.delivery.unwrap_or(admitted_delivery),
            time_created: entry.timestamp,
            promoted_seq: row.promoted.map(u64::from),
        })
    }
}

/// True if the prompts differ only in the content of `data:` URIs. A promotion stores media in the form that models
/// receive; the admission keeps what the caller gave.
fn has_replaced_media(admitted: &Prompt, promoted: &Prompt) -> bool {
    let is_data = |file: &PromptFileAttachment| file.uri.starts_with("data:");
    let is_same_file = |(one, other): (&PromptFileAttachment, &PromptFileAttachment)| {
        one == other
            || is_data(one)
                && is_data(other)
                && (&one.name, &one.description, &one.source)
                    == (&other.name, &other.description, &other.source)
    };
    let (Some(before), Some(after)) = (&admitted.files, &promoted.files) else {
        return false;
    };
    let rest = Prompt {
        files: admitted.files.clone(),
        ..promoted.clone()
    };
    before.len() == after.len() && before.iter().zip(after).all(is_same_file) && rest == *admitted
}

impl Transaction<'_> {
    /// Adds an inbox row. Its id becomes the id of the message, so it must be free as both.
    ///
    /// A replayed log may admit an id again after a revert, because its program deletes the inputs
    /// that a revert removes. This store keeps them, so the row is replaced.
    pub(crate) fn admit(
        &self,
        aggregate: SessionKey,
        seq: Sequence,
        admitted: &PromptAdmitted,
        replayed: bool,
    ) -> Result<(), Abort<LifecycleConflict>> {
        let id = &admitted.message_id;
        let reader = self.reader();
        let is_free = !reader.message_exists(id)?
            && (!reader.input_exists(id)? || (replayed && self.delete_input(aggregate, id)?));
        if !is_free {
            return Err(Abort::Refused(LifecycleConflict::IdInUse(id.clone())));
        }
        self.count_pending(aggregate, 1)?;
        self.run(
            "INSERT INTO input (aggregate, admitted, id, delivery) VALUES (?, ?, ?, ?)",
            params![
                aggregate,
                seq,
                Packed::message(id),
                delivery_number(admitted.delivery)
            ],
        )?;
        Ok(())
    }

    /// Marks the inbox row as promoted and adds the user message. The row must have the same
    /// content as the promotion. A promotion without an admission, as in imported history, also
    /// creates its row.
    pub(crate) fn promote(
        &self,
        aggregate: SessionKey,
        event: &DurableEvent,
        prompted: &Prompted,
    ) -> Projected {
        let seq = Sequence::from(event.seq);
        let id = &prompted.message_id;
        let delivery = delivery_number(prompted.delivery);
        let admission = match self.waiting(aggregate, event, prompted)? {
            Waiting::No => return Err(Abort::Refused(LifecycleConflict::NotPending(id.clone()))),
            Waiting::Unknown => None,
            Waiting::Admitted { seq, repeats } => Some((seq, repeats)),
        };
        let admitted = admission.map_or(seq, |(admitted, _)| admitted);
        self.apply_settings(aggregate, admitted, prompted)?;
        self.add(aggregate, seq, id, MessageKind::USER)?;
        match admission {
            Some((admitted, _)) => {
                self.count_pending(aggregate, -1)?;
                self.run(
                    "UPDATE input SET promoted = ?3 WHERE aggregate = ?1 AND admitted = ?2",
                    (aggregate, admitted, seq),
                )?;
            }
            None => self.run(
                "INSERT INTO input (aggregate, admitted, id, delivery, promoted)
                 VALUES (?1, ?2, ?3, ?4, ?2)",
                params![aggregate, seq, Packed::message(id), delivery],
            )?,
        }
        Ok(admission.and_then(|(admitted, repeats)| repeats.then_some(admitted)))
    }

    /// Returns the state of the input that a promotion names. The input must belong to this session
    /// and delivery, and must have been admitted with this prompt at this time.
    fn waiting(
        &self,
        aggregate: SessionKey,
        event: &DurableEvent,
        prompted: &Prompted,
    ) -> Result<Waiting, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT i.admitted, e.time, e.format, e.data,
               i.aggregate = ?2 AND i.delivery = ?3 AND i.promoted IS NULL AND i.withdrawn IS NULL
             FROM input i LEFT JOIN event e ON e.aggregate = i.aggregate AND e.seq = i.admitted
             WHERE i.id = ?1",
        )?;
        let delivery = delivery_number(prompted.delivery);
        let id = Packed::message(&prompted.message_id);
        let mut rows = statement.query(params![id, aggregate, delivery])?;
        let Some(row) = rows.next()? else {
            return Ok(Waiting::Unknown);
        };
        let (seq, is_pending) = (row.get(0)?, row.get::<_, bool>(4)?);
        if !is_pending {
            return Ok(Waiting::No);
        }
        let admitted = admission(seq, &admission_text(seq, row)?)?;
        let is_same = admitted.prompt == prompted.prompt;
        let is_admitted = is_same || has_replaced_media(&admitted.prompt, &prompted.prompt);
        if row.get::<_, Millis>(1)? != event.timestamp || !is_admitted {
            return Ok(Waiting::No);
        }
        let repeats = is_same && admitted.delivery == prompted.delivery;
        Ok(Waiting::Admitted { seq, repeats })
    }

    pub(crate) fn withdraw(
        &self,
        aggregate: SessionKey,
        seq: Sequence,
        id: &MessageID,
    ) -> Result<(), StoreError> {
        let withdrawn = self
            .connection
            .prepare_cached(
                "UPDATE input SET withdrawn = ?3 WHERE id = ?2 AND aggregate = ?1
                 AND promoted IS NULL AND withdrawn IS NULL",
            )?
            .execute(params![aggregate, Packed::message(id), seq])?;
        self.count_pending(aggregate, -(withdrawn as i64))
    }

    /// Deletes the row of an input that a revert of its session removed.
    fn delete_input(&self, aggregate: SessionKey, id: &MessageID) -> Result<bool, StoreError> {
        let pending = self
            .connection
            .prepare_cached(
                "DELETE FROM input WHERE id = ?2 AND aggregate = ?1 AND withdrawn IS NULL
                 AND admitted < (SELECT reverted FROM aggregate WHERE key = ?1)
                 RETURNING promoted IS NULL",
            )?
            .query_row(params![aggregate, Packed::message(id)], |row| {
                row.get::<_, i64>(0)
            })
            .optional()?;
        self.count_pending(aggregate, -pending.unwrap_or(0))?;
        Ok(pending.is_some())
    }

    fn count_pending(&self, aggregate: SessionKey, change: i64) -> Result<(), StoreError> {
        if change == 0 {
            return Ok(());
        }
        self.run(
            "UPDATE aggregate SET pending = pending + ?2 WHERE key = ?1",
            (aggregate, change),
        )
    }

    pub(crate) fn redeliver(
        &self,
        aggregate: SessionKey,
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

fn read_delivery(number: i64, admitted: Sequence) -> Result<Delivery, StoreError> {
    match number {
        0 => Ok(Delivery::Steer),
        1 => Ok(Delivery::Queue),
        _ => Err(StoreError::corrupt(admitted, "its delivery is unknown")),
    }
}

/// Returns the payload of an admission. Its format and its stored form are columns 2 and 3.
fn admission_text<'a>(seq: Sequence, row: &'a Row<'_>) -> Result<Cow<'a, str>, StoreError> {
    let (format, stored) = (row.get_ref(2)?, row.get_ref(3)?);
    let text = Format::column_result(format).and_then(|format| format.payload(stored));
    let text = text.map_err(|error| StoreError::corrupt(seq, error))?;
    text.ok_or_else(|| StoreError::corrupt(seq, "it has no payload"))
}

fn admission(seq: Sequence, text: &str) -> Result<PromptAdmitted, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::corrupt(seq, error))
}
