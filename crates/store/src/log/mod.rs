//! Reading the log.

pub(crate) mod aggregate;

use std::borrow::Cow;

use opencode_schema::event::RECORDS;
use opencode_schema::id::EventID;
use rusqlite::{Params, Row};
use serde::de::IgnoredAny;

use crate::error::StoreError;
use crate::format::entry::StoredEvent;
use crate::format::former;
use crate::format::packed::unpack;
use crate::format::stored::Format;
use crate::format::version::Kind;
use crate::integer::{Sequence, SessionKey};
use crate::view::reader::Reader;

/// Reads entries together with the entries that their stored form refers to.
const SELECT: &str =
    "SELECT e.seq, e.id, e.type, e.time, e.format, e.data, e.metadata, s.format, s.data, c.data
    FROM event e
    LEFT JOIN event s ON s.aggregate = e.aggregate AND s.seq = e.source
    LEFT JOIN event c ON c.aggregate = e.aggregate AND c.seq = e.message
    WHERE e.aggregate = ?1";

impl Reader<'_> {
    /// Returns entries of the durable stream after `after`, ascending, at most `limit`.
    pub fn events(
        &self,
        session: SessionKey,
        after: Option<Sequence>,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        self.events_within(session, after, limit, usize::MAX)
    }

    /// As [`events`](Self::events), but stops when the payloads reach `bytes` in total. Returns at
    /// least one entry if there is one.
    pub fn events_within(
        &self,
        session: SessionKey,
        after: Option<Sequence>,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let sql = format!(
            "{SELECT} AND e.seq > ?2 AND e.type NOT IN (?4, ?5, ?6) ORDER BY e.seq LIMIT ?3"
        );
        let after = after.unwrap_or(Sequence::BEFORE_FIRST);
        let [created, updated, deleted] = RECORDS;
        let values = (session, after, limit as i64, created, updated, deleted);
        self.page(&sql, values, bytes)
    }

    /// Returns every entry from sequence `from` on, ascending, including those of the older shape.
    /// Returns at most `limit` entries and stops when the payloads reach `bytes` in total, but
    /// returns at least one entry if there is one.
    pub fn log(
        &self,
        session: SessionKey,
        from: Sequence,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let sql = format!("{SELECT} AND e.seq >= ?2 ORDER BY e.seq LIMIT ?3");
        self.page(&sql, (session, from, limit as i64), bytes)
    }

    fn page(
        &self,
        sql: &str,
        values: impl Params,
        bytes: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        let mut events = Vec::new();
        let mut read = 0;
        while let Some(row) = rows.next()? {
            let event = stored(row)?;
            check(&event)?;
            read += event.data.len();
            events.push(event);
            if read >= bytes {
                break;
            }
        }
        Ok(events)
    }

    /// Returns the entries at these sequences. `seqs` must ascend.
    pub(crate) fn entries(
        &self,
        session: SessionKey,
        seqs: &[Sequence],
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let mut found = Vec::with_capacity(seqs.len());
        self.each_entry(session, seqs, |entry| {
            found.push(entry);
            true
        })?;
        Ok(found)
    }

    /// As [`entries`](Self::entries), but returns `None` if the payloads have more than `bytes` in
    /// total.
    pub(crate) fn entries_within(
        &self,
        session: SessionKey,
        seqs: &[Sequence],
        bytes: usize,
    ) -> Result<Option<Vec<StoredEvent>>, StoreError> {
        let mut found = Vec::with_capacity(seqs.len());
        let mut read = 0;
        self.each_entry(session, seqs, |entry| {
            read += entry.data.len();
            found.push(entry);
            read <= bytes
        })?;
        Ok((read <= bytes).then_some(found))
    }

    /// Reads entries until `wanted` returns false. Uses one scan if the sequences are close
    /// together.
    fn each_entry(
        &self,
        session: SessionKey,
        seqs: &[Sequence],
        mut wanted: impl FnMut(StoredEvent) -> bool,
    ) -> Result<(), StoreError> {
        let (Some(first), Some(last)) = (seqs.first(), seqs.last()) else {
            return Ok(());
        };
        if last.since(*first) < 4 * seqs.len() as u64 + 16 {
            let sql = format!("{SELECT} AND e.seq BETWEEN ?2 AND ?3 ORDER BY e.seq");
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query((session, *first, *last))?;
            while let Some(row) = rows.next()? {
                if seqs.binary_search(&row.get(0)?).is_ok() && !wanted(stored(row)?) {
                    break;
                }
            }
        } else {
            let mut statement = self
                .connection
                .prepare_cached(&format!("{SELECT} AND e.seq = ?2"))?;
            for seq in seqs {
                let mut rows = statement.query((session, *seq))?;
                if let Some(row) = rows.next()?
                    && !wanted(stored(row)?)
                {
                    break;
                }
            }
        }
        Ok(())
    }
}

fn stored(row: &Row<'_>) -> Result<StoredEvent, StoreError> {
    let seq: Sequence = row.get(0)?;
    read(row, seq).map_err(|error| error.of_entry(seq))
}

/// Checks payload and metadata. Callers pass both on as text, so no later code would detect damage.
fn check(event: &StoredEvent) -> Result<(), StoreError> {
    let seq = event.seq;
    if event.kind().is_none() {
        return Err(StoreError::corrupt(seq, "its type is unknown"));
    }
    for text in std::iter::once(&event.data).chain(&event.metadata) {
        serde_json::from_str::<IgnoredAny>(text)
            .map_err(|error| StoreError::corrupt(seq, error))?;
    }
    Ok(())
}

fn read(row: &Row<'_>, seq: Sequence) -> Result<StoredEvent, StoreError> {
    let id = unpack("evt_", row.get_ref(1)?).map_err(|error| StoreError::corrupt(seq, error))?;
    let corrupt = |error| StoreError::corrupt(seq, error);
    let payload = |format: Option<Format>, column| match format {
        Some(format) => format.payload(row.get_ref(column)?).map_err(corrupt),
        None => Ok(None),
    };
    let format: Format = row.get(4)?;
    let (data, source) = (payload(Some(format), 5)?, payload(row.get(7)?, 8)?);
    let data = match format {
        Format::Former => {
            let creator = payload(Some(Format::Former), 9)?;
            former::restore(data, source.as_deref(), creator.as_deref())
        }
        Format::Compressed => data.or(source).map(Cow::into_owned),
    };
    let data = data.ok_or_else(|| StoreError::corrupt(seq, "a value it refers to is missing"))?;
    let metadata = format.metadata(row.get_ref(6)?).map_err(corrupt)?;
    let kind = Kind::read(row.get(2)?);
    Ok(StoredEvent {
        id: EventID::parse(&id).map_err(|error| StoreError::corrupt(seq, error))?,
        seq,
        number: kind.number,
        version: kind.version,
        timestamp: row.get(3)?,
        data,
        metadata: metadata.map(Cow::into_owned),
    })
}
