//! The entries of a log that came with an import, and the choices of a session that no caller has confirmed.
//!
//! An import is a text of a stranger. Its entries about permissions and budgets can only restrict, its
//! choices wait for a confirmation, and no recovery continues its work.

use opencode_schema::event::{RecordedRule, SessionRecord};
use opencode_schema::permission::PermissionRule;
use opencode_schema::session::{SessionChoice, SessionImport};
use rusqlite::{OptionalExtension, params};

use crate::error::StoreError;
use crate::integer::{Sequence, SessionKey};
use crate::projections::{budget_text, rules_text};
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

/// The choices that are stored as bits, and their bits.
const CHOICES: [(SessionChoice, i64); 3] = [
    (SessionChoice::Directory, 1),
    (SessionChoice::Agent, 2),
    (SessionChoice::Model, 4),
];

/// The bit of a budget that came with an import.
pub(crate) const BUDGET: i64 = 8;

/// A range of entries: the first and the last one.
pub type Range = (Sequence, Sequence);

impl Reader<'_> {
    /// Returns the entries of a log that came with imports, in order.
    pub fn imported(&self, session: SessionKey) -> Result<Vec<Range>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT first, last FROM imported WHERE aggregate = ? ORDER BY first",
        )?;
        let rows = statement.query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// True if an entry came with an import.
    pub fn is_imported(&self, session: SessionKey, seq: Sequence) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT 1 FROM imported WHERE aggregate = ?1 AND first <= ?2 AND last >= ?2",
            )?
            .exists((session, seq))?)
    }

    /// Returns the permission rules of a session that callers of this host set, with the limits of tasks.
    fn own_rules(&self, session: SessionKey) -> Result<Vec<RecordedRule>, StoreError> {
        let text: Option<Option<String>> = self
            .connection
            .prepare_cached("SELECT permission FROM session WHERE aggregate = ?")?
            .query_row([session], |row| row.get(0))
            .optional()?;
        let rules = text.flatten().map(|text| serde_json::from_str(&text));
        let mut rules: Vec<_> = rules
            .transpose()
            .map_err(StoreError::corrupt_row)?
            .unwrap_or_default();
        let is_restriction =
            |rule: &RecordedRule| PermissionRule::from(rule.clone()).is_restriction();
        rules.truncate(rules.iter().position(is_restriction).unwrap_or(rules.len()));
        Ok(rules)
    }
}

impl Transaction<'_> {
    /// Records that an entry, the newest one of its log, came with an import.
    pub(crate) fn mark_imported(
        &self,
        aggregate: SessionKey,
        seq: Sequence,
    ) -> Result<(), StoreError> {
        let extended = self
            .connection
            .prepare_cached("UPDATE imported SET last = ?2 WHERE aggregate = ?1 AND last = ?2 - 1")?
            .execute((aggregate, seq))?;
        match extended {
            0 => self.add_imported(aggregate, (seq, seq)),
            _ => Ok(()),
        }
    }

    pub(crate) fn add_imported(
        &self,
        aggregate: SessionKey,
        (first, last): Range,
    ) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO imported (aggregate, first, last) VALUES (?, ?, ?)",
            (aggregate, first, last),
        )
    }

    /// Records that a caller confirmed a choice of an import.
    pub fn confirm(&self, session: SessionKey, choice: SessionChoice) -> Result<(), StoreError> {
        self.choose(session, choice, false)
    }

    /// Records who made a choice of a session: an import, or a caller of this host.
    pub(crate) fn choose(
        &self,
        aggregate: SessionKey,
        choice: SessionChoice,
        by_import: bool,
    ) -> Result<(), StoreError> {
        let sql = match by_import {
            true => "UPDATE session SET unconfirmed = unconfirmed | ?2 WHERE aggregate = ?1",
            false => {
                "UPDATE session SET unconfirmed = unconfirmed & ~?2 WHERE aggregate = ?1 AND unconfirmed & ?2"
            }
        };
        self.run(sql, (aggregate, bits([choice])))
    }

    pub(crate) fn set_unconfirmed(
        &self,
        aggregate: SessionKey,
        bits: i64,
    ) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET unconfirmed = ?2 WHERE aggregate = ?1",
            (aggregate, bits),
        )
    }

    /// Applies a record of an import. It changes neither the own rules and the budget that callers of this host set,
    /// nor the place of a session that one of them created.
    pub(crate) fn update_by_import(
        &self,
        aggregate: SessionKey,
        info: &SessionRecord,
    ) -> Result<(), StoreError> {
        let reader = self.reader();
        let rules = info.permission.as_ref();
        let rules = rules.map(|imported| {
            let mut rules = reader.own_rules(aggregate)?;
            rules.extend(restricting(imported));
            Ok::<_, StoreError>(rules_text(&rules))
        });
        self.run(
            "UPDATE session SET title = ?2, time_updated = ?3, time_archived = ?4,
               permission = ifnull(?5, permission),
               parent = iif(?6, ?7, parent), project = iif(?6, ?8, project),
               budget = iif(budget IS NULL OR unconfirmed & ?10, nullif(ifnull(?9, budget), '{}'), budget),
               unconfirmed = iif(?9 IS NOT NULL AND budget IS NULL, unconfirmed | ?10, unconfirmed)
             WHERE aggregate = ?1",
            params![
                aggregate,
                info.title,
                info.time.updated,
                info.time.archived,
                rules.transpose()?,
                reader.is_imported(aggregate, Sequence::FIRST)?,
                info.parent_id.as_ref().map(|id| id.as_str()),
                info.project_id,
                budget_text(info),
                BUDGET,
            ],
        )
    }
}

/// Returns the rules of an import as they are stored. A limit among them restricts, too.
pub(crate) fn restricting(imported: &[RecordedRule]) -> Vec<RecordedRule> {
    let rules = imported.iter().cloned().map(PermissionRule::from);
    let rules: Vec<_> = rules
        .map(|rule| match rule.begins_list() {
            true => PermissionRule::RESTRICTION,
            false => rule,
        })
        .collect();
    let begins = rules.first().is_some_and(|rule| !rule.begins_list());
    let begin = begins.then_some(PermissionRule::RESTRICTION);
    begin
        .into_iter()
        .chain(rules)
        .map(RecordedRule::from)
        .collect()
}

/// Returns the bits of the choices in a record.
pub(crate) fn chosen_by(info: &SessionRecord) -> i64 {
    let agent = info.agent.as_ref().map(|_| SessionChoice::Agent);
    let model = info.model.as_ref().map(|_| SessionChoice::Model);
    let budget = info.budget.as_ref().map_or(0, |_| BUDGET);
    let choices = [Some(SessionChoice::Directory), agent, model];
    bits(choices.into_iter().flatten()) | budget
}

/// Returns the bits of choices.
pub(crate) fn bits(choices: impl IntoIterator<Item = SessionChoice>) -> i64 {
    let bit = |choice| {
        CHOICES
            .iter()
            .find(|(it, _)| *it == choice)
            .map_or(0, |it| it.1)
    };
    choices
        .into_iter()
        .fold(0, |bits, choice| bits | bit(choice))
}

/// Returns the public form of what came with imports. `None` for a session without entries, rules and open choices of
/// an import. A fork may have rules and choices of an import without such entries.
pub(crate) fn import(
    rules: &[PermissionRule],
    unconfirmed: i64,
    newest: Option<Sequence>,
) -> Option<SessionImport> {
    let (_, lists) = PermissionRule::split_own(rules);
    let restrictions =
        lists.filter(|list| list.first().is_some_and(PermissionRule::is_restriction));
    let import = SessionImport {
        rules: restrictions.map(|list| list.len() as u64 - 1).sum(),
        unconfirmed: CHOICES
            .iter()
            .filter(|(_, bit)| unconfirmed & bit != 0)
            .map(|(choice, _)| *choice)
            .collect(),
    };
    Some(import).filter(|it| newest.is_some() || *it != SessionImport::default())
}

/// Returns the rules that a session shows: its own, then those of imports.
pub(crate) fn shown(rules: &[PermissionRule]) -> Vec<PermissionRule> {
    let (own, lists) = PermissionRule::split_own(rules);
    let restrictions =
        lists.filter(|list| list.first().is_some_and(PermissionRule::is_restriction));
    let restrictions = restrictions.flat_map(|list| &list[1..]);
    own.iter().chain(restrictions).cloned().collect()
}
