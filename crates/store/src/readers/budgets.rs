//! Budgets of sessions, and the work that counts towards them.

use std::collections::HashSet;

use opencode_schema::bounded::{nearest_cost, nearest_count};
use opencode_schema::id::SessionID;
use opencode_schema::session::SessionBudget;
use rusqlite::OptionalExtension;

use crate::error::StoreError;
use crate::integer::Sequence;
use crate::projections::imported::BUDGET;
use crate::view::reader::Reader;

/// The work of a session and its child sessions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    /// Tokens of all kinds.
    pub tokens: u64,
    /// Cost, in the currency of the catalogue.
    pub cost: f64,
    /// Provider Turns that ended.
    pub turns: u64,
    /// Their time in milliseconds.
    pub duration_ms: u64,
}

/// A budget that applies to a session.
#[derive(Debug, Clone, PartialEq)]
pub struct AppliedBudget {
    /// The session that has the budget.
    pub session_id: SessionID,
    /// Its own limits.
    pub budget: Option<SessionBudget>,
    /// True if the limits came with an import.
    pub is_imported: bool,
    /// True if no other session in the file gave it its work.
    pub is_root: bool,
    /// The work that counts towards the limits.
    pub spent: Spent,
}

/// A session in the chain of those whose budgets apply.
struct Link {
    id: String,
    parent: Option<String>,
    budget: Option<String>,
    is_imported: bool,
}

impl Reader<'_> {
    /// Returns the budgets that apply to a session, nearest first: its own, and those of the sessions whose tasks it
    /// works on. A fork is on its own. `with_root` includes the outermost session without a budget of its own.
    pub fn budgets(
        &self,
        session: &SessionID,
        with_root: bool,
    ) -> Result<Vec<AppliedBudget>, StoreError> {
        let mut applied = Vec::new();
        // A file from elsewhere may contain a cycle.
        let mut seen = HashSet::new();
        let mut next = Some(session.as_str().to_owned());
        while let Some(id) = next.filter(|id| seen.insert(id.clone())) {
            let Some(link) = self.link(&id)? else {
                break;
            };
            let is_root = link.parent.is_none();
            if link.budget.is_some() || is_root && with_root {
                let budget = link.budget.map(|text| serde_json::from_str(&text));
                applied.push(AppliedBudget {
                    session_id: SessionID::parse(&link.id).map_err(StoreError::corrupt_row)?,
                    budget: budget.transpose().map_err(StoreError::corrupt_row)?,
                    is_imported: link.is_imported,
                    is_root,
                    spent: self.spent_below(&link.id)?,
                });
            }
            next = link.parent;
        }
        Ok(applied)
    }

    fn link(&self, id: &str) -> Result<Option<Link>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT p.id, s.budget, s.unconfirmed & ?2 <> 0
                 FROM aggregate a JOIN session s ON s.aggregate = a.key
                 LEFT JOIN aggregate p ON p.id = s.parent AND NOT s.forked
                   AND EXISTS (SELECT 1 FROM session WHERE aggregate = p.key)
                 WHERE a.id = ?1",
            )?
            .query_row((id, BUDGET), |row| {
                Ok(Link {
                    id: id.to_owned(),
                    parent: row.get(0)?,
                    budget: row.get(1)?,
                    is_imported: row.get(2)?,
                })
            })
            .optional()?)
    }

    /// Sums the work of a session and of the sessions below it, except forks, and except imports that name a session of
    /// this host as their parent.
    fn spent_below(&self, id: &str) -> Result<Spent, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "WITH RECURSIVE tree (key, id) AS (
               SELECT key, id FROM aggregate WHERE id = ?1
               UNION
               SELECT a.key, a.id FROM tree
               JOIN session s ON s.parent = tree.id AND s.forked = 0
               JOIN aggregate a ON a.key = s.aggregate
               WHERE NOT EXISTS (SELECT 1 FROM imported WHERE aggregate = a.key AND first = ?2)
                 OR EXISTS (SELECT 1 FROM imported WHERE aggregate = tree.key AND first = ?2)
             )
             SELECT total(s.tokens_input + s.tokens_output + s.tokens_reasoning
                 + s.tokens_cache_read + s.tokens_cache_write),
               total(s.cost), total(s.turns), total(s.worked)
             FROM tree JOIN session s ON s.aggregate = tree.key",
        )?;
        Ok(statement.query_row((id, Sequence::FIRST), |row| {
            Ok(Spent {
                tokens: nearest_count(row.get(0)?),
                cost: nearest_cost(row.get(1)?),
                turns: nearest_count(row.get(2)?),
                duration_ms: nearest_count(row.get(3)?),
            })
        })?)
    }
}
