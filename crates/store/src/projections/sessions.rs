//! Session rows, and lists of them.

use opencode_schema::bounded::{MAX_SAFE_INTEGER, nearest_cost, nearest_count};
use opencode_schema::clock::Millis;
use opencode_schema::display::DisplayText;
use opencode_schema::event::{RecordedRevert, RecordedRule, SessionRecord};
use opencode_schema::id::{SessionID, WorkspaceID};
use opencode_schema::location::LocationRef;
use opencode_schema::permission::PermissionRule;
use opencode_schema::session::{
    CacheTokens, SessionInfo, SessionShare, SessionSummary, SessionTime, Tokens,
};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{OptionalExtension, Params, Row, params, params_from_iter};

use crate::error::StoreError;
use crate::integer::{Sequence, SessionKey};
use crate::projections::activity::Activity;
use crate::projections::imported::{self, BUDGET};
use crate::projections::messages::{Anchored, Order};
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

/// A session with the key of its log and its projections.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Key of the session.
    pub key: SessionKey,
    /// Public state of the session.
    pub info: SessionInfo,
    /// Permission rules of the session itself.
    pub permission: Vec<PermissionRule>,
    /// The newest activity, if it has settings.
    pub activity: Option<Activity>,
    /// True if the session is a fork: a copy of its parent, and no work for it.
    pub is_fork: bool,
    /// The newest entry that came with an import.
    pub imported: Option<Sequence>,
    /// True if the budget came with an import.
    pub has_imported_budget: bool,
}

/// Conditions of a session list. A session must satisfy all given conditions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// The Location is exactly this directory.
    pub directory: Option<String>,
    /// The session belongs to this project.
    pub project: Option<String>,
    /// The session is in this directory of its project.
    pub subpath: Option<String>,
    /// The session was created with this workspace.
    pub workspace: Option<String>,
    /// The title contains this text. `%` and `_` are wildcards. ASCII letters match in any case.
    pub search: Option<String>,
    /// True for archived sessions only, false for all others only.
    pub archived: Option<bool>,
    /// True for sessions without a parent only.
    pub roots: bool,
    /// The session has this parent.
    pub parent: Option<String>,
}

const SELECT: &str = "SELECT a.key, a.id, s.parent, s.project, s.agent, s.model, s.cost,
    s.tokens_input, s.tokens_output, s.tokens_reasoning, s.tokens_cache_read, s.tokens_cache_write,
    s.time_created, s.time_updated, s.time_archived, s.title, s.directory, s.workspace, s.path,
    s.staged, s.permission, s.settings, s.output, s.rejected, s.forked, s.share_url,
    s.summary_additions, s.summary_deletions, s.summary_files, s.budget, s.unconfirmed,
    (SELECT max(last) FROM imported WHERE imported.aggregate = a.key)
    FROM session s JOIN aggregate a ON a.key = s.aggregate";

/// The readable sessions of a query, and the number of unreadable ones.
#[derive(Default)]
struct Listed {
    sessions: Vec<SessionRow>,
    unreadable: usize,
}

impl Reader<'_> {
    /// Returns one session.
    pub fn session(&self, id: &SessionID) -> Result<Option<SessionRow>, StoreError> {
        let found = self
            .connection
            .prepare_cached(&format!("{SELECT} WHERE a.id = ?"))?
            .query_row([id.as_str()], row)
            .optional()?;
        found.map(|found| self.with_revert(found)).transpose()
    }

    /// Adds the staged revert of the session to its row.
    fn with_revert(
        &self,
        (mut session, staged): (SessionRow, Option<Sequence>),
    ) -> Result<SessionRow, StoreError> {
        let revert = staged.map(|seq| self.staged_by(session.key, seq));
        session.info.revert = revert.transpose()?;
        if session.info.revert.is_some() {
            // The files are in another state than after the steps.
            session.info.summary = None;
        }
        Ok(session)
    }

    /// True if the session of a key was not removed.
    pub fn session_exists(&self, key: SessionKey) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT 1 FROM session WHERE aggregate = ?")?
            .exists([key])?)
    }

    /// Returns the record of a session in the shape of its events.
    pub fn session_record(&self, session: &SessionRow) -> Result<SessionRecord, StoreError> {
        let (slug, version) = self
            .connection
            .prepare_cached("SELECT slug, version FROM session WHERE aggregate = ?")?
            .query_row([session.key], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (info, rules) = (session.info.clone(), session.permission.clone());
        let rules = rules.into_iter().map(RecordedRule::from);
        Ok(SessionRecord {
            id: info.id,
            slug,
            project_id: info.project_id,
            workspace_id: info.location.workspace_id,
            directory: info.location.directory,
            path: info.subpath,
            parent_id: info.parent_id,
            title: info.title,
            agent: info.agent,
            model: info.model,
            version,
            time: info.time,
            permission: Some(rules.collect()).filter(|rules: &Vec<_>| !rules.is_empty()),
            budget: info.budget.map(Box::new),
            cost: None,
            tokens: None,
            revert: None,
            share: None,
            summary: None,
        })
    }

    /// Returns the whole record of a session, including cost, tokens and staged revert.
    pub fn whole_session_record(&self, session: &SessionRow) -> Result<SessionRecord, StoreError> {
        let revert = session.info.revert.clone();
        Ok(SessionRecord {
            share: session.info.share.clone().map(Box::new),
            summary: session.info.summary.map(Box::new),
            cost: Some(session.info.cost),
            tokens: Some(Box::new(session.info.tokens)),
            revert: revert.map(RecordedRevert::from).map(Box::new),
            ..self.session_record(session)?
        })
    }

    /// Returns the sessions of a query. Omits an unreadable session, so that it does not hide the
    /// others.
    fn readable(&self, sql: &str, values: impl Params) -> Result<Listed, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        let mut listed = Listed::default();
        while let Some(found) = rows.next()? {
            let session = row(found).map_err(StoreError::from);
            match session.and_then(|session| self.with_revert(session)) {
                Ok(session) => listed.sessions.push(session),
                Err(error @ StoreError::Corrupt { .. }) => {
                    let session = found.get::<_, String>(1).unwrap_or_default();
                    tracing::error!(session_id = session, %error, "a session is unreadable");
                    listed.unreadable += 1;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(listed)
    }

    /// Returns the readable sessions that a session created, in the order of their creation.
    pub fn children(&self, parent: &SessionID) -> Result<Vec<SessionRow>, StoreError> {
        let sql = format!("{SELECT} WHERE s.parent = ? ORDER BY s.time_created, s.aggregate");
        Ok(self.readable(&sql, [parent.as_str()])?.sessions)
    }

    /// Returns sessions in the order of their creation, at most `limit`. Unreadable sessions
    /// are omitted and do not count towards `limit`.
    pub fn sessions(
        &self,
        filter: &SessionFilter,
        order: Order,
        anchor: Option<&Anchored<(Millis, String)>>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let mut conditions = vec!["1"];
        let mut values: Vec<Value> = Vec::new();
        let mut equal = |condition: &'static str, value: &Option<String>| {
            if let Some(value) = value {
                conditions.push(condition);
                values.push(value.clone().into());
            }
        };
        equal("s.directory = ?", &filter.directory);
        equal("s.project = ?", &filter.project);
        equal("ifnull(s.path, '') = ?", &filter.subpath);
        equal("s.workspace = ?", &filter.workspace);
        equal("s.title LIKE '%' || ? || '%'", &filter.search);
        equal("s.parent = ?", &filter.parent);
        conditions.extend(filter.roots.then_some("s.parent IS NULL"));
        conditions.extend(filter.archived.map(|archived| match archived {
            true => "s.time_archived IS NOT NULL",
            false => "s.time_archived IS NULL",
        }));
        // A page before the anchor is read backwards from it, then reversed.
        let ascending = match anchor {
            Some(anchor) => (order == Order::Ascending) != anchor.before,
            None => order == Order::Ascending,
        };
        if let Some(Anchored { at: (time, id), .. }) = anchor {
            // After the removal of that session, those of the same millisecond are read once more.
            conditions.push(if ascending {
                "(s.time_created, s.aggregate)
                   > (?, ifnull((SELECT key FROM aggregate WHERE id = ?), -1))"
            } else {
                "(s.time_created, s.aggregate)
                   < (?, ifnull((SELECT key FROM aggregate WHERE id = ?), 9223372036854775807))"
            });
            values.extend([Value::from(*time), Value::from(id.clone())]);
        }
        let direction = if ascending { "ASC" } else { "DESC" };
        let sql = format!(
            "{SELECT} WHERE {} ORDER BY s.time_created {direction}, s.aggregate {direction} LIMIT ?",
            conditions.join(" AND ")
        );
        let mut unreadable = 0;
        let mut sessions = loop {
            let mut values = values.clone();
            values.push(Value::from(limit.saturating_add(unreadable) as i64));
            let listed = self.readable(&sql, params_from_iter(values))?;
            if listed.unreadable == unreadable {
                break listed.sessions;
            }
            // Read further in the list, so that other sessions replace the unreadable ones.
            unreadable = listed.unreadable;
        };
        if ascending != (order == Order::Ascending) {
            sessions.reverse();
        }
        Ok(sessions)
    }
}

impl Transaction<'_> {
    /// Stores a project, if it is not stored yet.
    pub fn add_project(&self, id: &str, directory: &str, time: Millis) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO project (id, directory, time_created) VALUES (?, ?, ?)
             ON CONFLICT (id) DO NOTHING",
            params![id, directory, time],
        )
    }
}

/// Reads a session and the sequence of the entry that staged its revert.
fn row(row: &Row<'_>) -> rusqlite::Result<(SessionRow, Option<Sequence>)> {
    let count = |at| counted(row, at);
    let tokens = Tokens {
        input: count(7)?,
        output: count(8)?,
        reasoning: count(9)?,
        cache: CacheTokens {
            read: count(10)?,
            write: count(11)?,
        },
    };
    let model: Option<opencode_schema::model::ModelRef> = json(row, 5)?;
    let path: Option<String> = row.get(18)?;
    let permission: Option<Vec<RecordedRule>> = json(row, 20)?;
    let permission = permission.unwrap_or_default().into_iter();
    let permission: Vec<_> = permission.map(PermissionRule::from).collect();
    let (unconfirmed, imported): (i64, Option<Sequence>) = (row.get(30)?, row.get(31)?);
    let info = SessionInfo {
        id: identifier(row, 1, SessionID::parse)?,
        parent_id: optional(row, 2, SessionID::parse)?,
        project_id: row.get(3)?,
        agent: row.get(4)?,
        model: model.map(|model| model.with_variant()),
        cost: nearest_cost(row.get(6)?),
        tokens,
        time: SessionTime {
            created: row.get(12)?,
            updated: row.get(13)?,
            archived: row.get(14)?,
        },
        // Logs of other databases hold any text.
        title: DisplayText::line(row.get::<_, String>(15)?).into_string(),
        location: LocationRef {
            directory: row.get(16)?,
            workspace_id: optional(row, 17, WorkspaceID::parse)?,
        },
        subpath: path.filter(|path| !path.is_empty()),
        revert: None,
        share: row
            .get::<_, Option<String>>(25)?
            .map(|url| SessionShare { url }),
        summary: summary(row, 26)?,
        budget: json(row, 29)?,
        permission: imported::shown(&permission),
        imported: imported::import(&permission, unconfirmed, imported),
    };
    // The settings of a prompt of an import choose neither agent nor model of later work.
    let is_own = |activity: &Activity| imported.is_none_or(|last| activity.settings > last);
    let session = SessionRow {
        key: row.get(0)?,
        info,
        permission,
        activity: Activity::read(row, 21)?.filter(is_own),
        is_fork: row.get(24)?,
        imported,
        has_imported_budget: unconfirmed & BUDGET != 0,
    };
    Ok((session, row.get(19)?))
}

/// Reads the sums of changed lines and files from three columns.
pub(crate) fn summary(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<SessionSummary>> {
    if row.get_ref(at + 2)? == ValueRef::Null {
        return Ok(None);
    }
    Ok(Some(SessionSummary {
        additions: counted(row, at)?,
        deletions: counted(row, at + 1)?,
        files: counted(row, at + 2)?,
    }))
}

/// Reads a sum of tokens. Sums of invalid reports that an earlier version stored may be fractions.
fn counted(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    match row.get_ref(at)? {
        ValueRef::Real(number) => Ok(nearest_count(number)),
        _ => row
            .get::<_, i64>(at)
            .map(|count| (count.max(0) as u64).min(MAX_SAFE_INTEGER)),
    }
}

fn identifier<T, E: std::error::Error + Send + Sync + 'static>(
    row: &Row<'_>,
    at: usize,
    parse: impl Fn(&str) -> Result<T, E>,
) -> rusqlite::Result<T> {
    let text: String = row.get(at)?;
    parse(&text).map_err(|error| unreadable(at, error))
}

fn optional<T, E: std::error::Error + Send + Sync + 'static>(
    row: &Row<'_>,
    at: usize,
    parse: impl Fn(&str) -> Result<T, E>,
) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(at)?;
    text.map(|text| parse(&text))
        .transpose()
        .map_err(|error| unreadable(at, error))
}

fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(at)?;
    text.map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|error| unreadable(at, error))
}

fn unreadable(at: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, Box::new(error))
}
