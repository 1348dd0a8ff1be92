//! Projections: the rows of sessions, inbox, messages and parts that an entry changes.
//!
//! An event for a message or a part that does not exist, or that is in another state, changes
//! nothing. A [`LifecycleConflict`] rolls the entry back together with the command that wrote it.

pub(crate) mod activity;
pub(crate) mod assemble;
pub(crate) mod changes;
pub(crate) mod credentials;
pub(crate) mod derived;
pub(crate) mod epoch;
pub(crate) mod erasure;
pub(crate) mod imported;
pub(crate) mod inbox;
pub(crate) mod kind;
pub(crate) mod messages;
pub(crate) mod parts;
pub(crate) mod permissions;
pub(crate) mod removal;
pub(crate) mod revert;
pub(crate) mod sessions;
pub(crate) mod todos;

use opencode_schema::bounded::{MAX_SAFE_INTEGER, nearest_cost};
use opencode_schema::clock::Millis;
use opencode_schema::event::{DurableEvent, Moved, RecordedRule, SessionEvent, SessionRecord};
use opencode_schema::id::MessageID;
use opencode_schema::model::ModelRef;
use opencode_schema::session::{RequestUsage, SessionChoice, Tokens};
use rusqlite::params;
use serde::Deserialize as _;

use crate::error::{Abort, StoreError};
use crate::format::packed::Packed;
use crate::integer::{Sequence, SessionKey};
use crate::projections::kind::MessageKind;
use crate::view::transaction::Transaction;

/// A contradiction between an entry and the stored data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LifecycleConflict {
    /// A session with this id exists.
    #[error("the session exists already")]
    SessionExists,
    /// Another input or message has the id.
    #[error("the id {0} is in use")]
    IdInUse(MessageID),
    /// The input is not pending, or its content differs from the admission.
    #[error("the input {0} cannot be promoted")]
    NotPending(MessageID),
    /// A revert names a message that the session does not have.
    #[error("there is no message {0} to go back to")]
    NoBoundary(MessageID),
}

/// Member of the metadata of an event with the [`RequestUsage`] of the requests behind it.
pub const USAGE: &str = "usage";

/// The entry whose payload this entry repeats, if any.
pub(crate) type Projected = Result<Option<Sequence>, Abort<LifecycleConflict>>;

impl Transaction<'_> {
    /// Applies an event to the projections. A replayed event has weaker checks: see
    /// [`Transaction::admit`].
    pub(crate) fn project(
        &self,
        aggregate: SessionKey,
        event: &DurableEvent,
        replayed: bool,
    ) -> Projected {
        let seq = Sequence::from(event.seq);
        let time = event.timestamp;
        let is_copied = event.metadata.as_ref().is_some_and(removal::is_copied);
        // A fork is not older than its creation.
        let own_time = (!is_copied).then_some(time);
        match &event.payload {
            SessionEvent::SessionCreated(created) => {
                self.create(aggregate, &created.info, is_copied, replayed)?;
            }
            SessionEvent::SessionUpdated(updated) => {
                match replayed {
                    true => self.update_by_import(aggregate, &updated.info)?,
                    false => self.update(aggregate, &updated.info)?,
                }
                self.add_usage(aggregate, event)?;
            }
            SessionEvent::SessionDeleted(_) => self.delete(aggregate)?,
            SessionEvent::AgentSwitched(switched) => {
                self.add(
                    aggregate,
                    seq,
                    &switched.message_id,
                    MessageKind::AGENT_SWITCHED,
                )?;
                self.run(
                    "UPDATE session SET agent = ?2, time_updated = ifnull(?3, time_updated)
                     WHERE aggregate = ?1",
                    params![aggregate, switched.agent, own_time],
                )?;
                self.choose(aggregate, SessionChoice::Agent, replayed)?;
            }
            SessionEvent::ModelSwitched(switched) => {
                self.add(
                    aggregate,
                    seq,
                    &switched.message_id,
                    MessageKind::MODEL_SWITCHED,
                )?;
                self.run(
                    "UPDATE session SET model = ?2, time_updated = ifnull(?3, time_updated)
                     WHERE aggregate = ?1",
                    params![aggregate, model_text(&switched.model), own_time],
                )?;
                self.choose(aggregate, SessionChoice::Model, replayed)?;
            }
            SessionEvent::Moved(moved) => {
                self.moved(aggregate, moved, time)?;
                self.choose(aggregate, SessionChoice::Directory, replayed)?;
            }
            SessionEvent::PromptAdmitted(admitted) => {
                self.admit(aggregate, seq, admitted, replayed)?;
            }
            SessionEvent::Prompted(prompted) => return self.promote(aggregate, event, prompted),
            SessionEvent::PromptWithdrawn(it) => self.withdraw(aggregate, seq, &it.message_id)?,
            SessionEvent::PromptRedelivered(it) => self.redeliver(aggregate, it)?,
            SessionEvent::ContextUpdated(it) => {
                self.add(aggregate, seq, &it.message_id, MessageKind::SYSTEM)?;
            }
            SessionEvent::Synthetic(it) => {
                self.add(aggregate, seq, &it.message_id, MessageKind::SYNTHETIC)?;
            }
            SessionEvent::ShellStarted(it) => {
                self.add(aggregate, seq, &it.message_id, MessageKind::SHELL)?;
                self.run(
                    "UPDATE message SET run = ?3 WHERE aggregate = ?1 AND seq = ?2",
                    params![aggregate, seq, it.call_id],
                )?;
            }
            SessionEvent::ShellEnded(it) => self.shell_ended(aggregate, seq, time, &it.call_id)?,
            SessionEvent::CompactionEnded(it) => {
                self.add_usage(aggregate, event)?;
                self.add(aggregate, seq, &it.message_id, MessageKind::COMPACTION)?;
            }
            SessionEvent::RevertStaged(_) => self.stage(aggregate, Some(seq), time)?,
            SessionEvent::RevertCleared(_) => self.stage(aggregate, None, time)?,
            SessionEvent::RevertCommitted(it) => {
                self.commit_revert(aggregate, seq, &it.message_id, time)?;
            }
            SessionEvent::Pruned(pruned) => {
                for call in &pruned.calls {
                    if let Some(message) = self.assistant(aggregate, &call.assistant_message_id)? {
                        self.prune(aggregate, message, &call.call_id, seq, time)?;
                    }
                }
            }
            // The waits of a running turn are not recovery attempts.
            SessionEvent::Retried(retried) if retried.error.is_wait() => {}
            SessionEvent::Retried(_) => self.run(
                "UPDATE aggregate SET retries = retries + 1 WHERE key = ?",
                [aggregate],
            )?,
            SessionEvent::OutputRejected(rejected) => {
                self.reject_output(aggregate)?;
                if let Some(id) = &rejected.message_id {
                    self.add(aggregate, seq, id, MessageKind::SYNTHETIC)?;
                }
            }
            SessionEvent::TodosUpdated(it) => self.replace_todos(aggregate, &it.todos)?,
            SessionEvent::CompactionStarted(_)
            | SessionEvent::Interrupted(_)
            | SessionEvent::Paused(_)
            | SessionEvent::ModelFallback(_) => {}
            _ => self.project_assistant(aggregate, seq, time, event)?,
        }
        Ok(None)
    }

    fn create(
        &self,
        aggregate: SessionKey,
        info: &SessionRecord,
        is_fork: bool,
        replayed: bool,
    ) -> Result<(), Abort<LifecycleConflict>> {
        if self.reader().session_exists(aggregate)? {
            return Err(Abort::Refused(LifecycleConflict::SessionExists));
        }
        let imported_rules = || info.permission.as_deref().map(imported::restricting);
        let permission = match replayed {
            true => imported_rules().map(|rules| rules_text(&rules)),
            false => permission_text(info),
        };
        self.run(
            "INSERT INTO session (aggregate, project, workspace, parent, slug, directory, path,
               title, version, agent, model, time_created, time_updated, time_archived, permission,
               budget, forked, unconfirmed)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                aggregate,
                info.project_id,
                info.workspace_id.as_ref().map(|id| id.as_str()),
                info.parent_id.as_ref().map(|id| id.as_str()),
                info.slug,
                info.directory,
                info.path,
                info.title,
                info.version,
                info.agent,
                info.model.as_ref().map(model_text),
                info.time.created,
                info.time.updated,
                info.time.archived,
                permission,
                budget_text(info).filter(|budget| budget != "{}"),
                is_fork,
                if replayed {
                    imported::chosen_by(info)
                } else {
                    0
                },
            ],
        )?;
        Ok(())
    }

    fn update(&self, aggregate: SessionKey, info: &SessionRecord) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET title = ?2, parent = ?3, time_updated = ?4, time_archived = ?5,
               permission = ifnull(?6, permission), budget = nullif(ifnull(?7, budget), '{}'),
               project = ?8,
               unconfirmed = iif(?7 IS NULL OR nullif(?7, '{}') IS budget, unconfirmed, unconfirmed & ~?9)
             WHERE aggregate = ?1",
            params![
                aggregate,
                info.title,
                info.parent_id.as_ref().map(|id| id.as_str()),
                info.time.updated,
                info.time.archived,
                permission_text(info),
                budget_text(info),
                info.project_id,
                imported::BUDGET,
            ],
        )
    }

    /// Deletes all projections of a session. The owner of the log removes the log.
    fn delete(&self, aggregate: SessionKey) -> Result<(), StoreError> {
        for sql in [
            "DELETE FROM part WHERE aggregate = ?",
            "DELETE FROM message WHERE aggregate = ?",
            "DELETE FROM input WHERE aggregate = ?",
            "DELETE FROM context_epoch WHERE aggregate = ?",
            "DELETE FROM explored WHERE aggregate = ?",
            "DELETE FROM changed_file WHERE aggregate = ?",
            "DELETE FROM todo WHERE aggregate = ?",
            "DELETE FROM session WHERE aggregate = ?",
            "UPDATE aggregate SET pending = 0 WHERE key = ?",
        ] {
            self.run(sql, [aggregate])?;
        }
        Ok(())
    }

    /// Moves a session and deletes the Context Epoch and its related data. The new Location starts
    /// with a complete baseline.
    fn moved(&self, aggregate: SessionKey, moved: &Moved, time: Millis) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET directory = ?2, path = ?3, workspace = ?4, time_updated = ?5
             WHERE aggregate = ?1",
            params![
                aggregate,
                moved.location.directory,
                moved.subdirectory,
                moved.location.workspace_id.as_ref().map(|id| id.as_str()),
                time,
            ],
        )?;
        self.run("DELETE FROM context_epoch WHERE aggregate = ?", [aggregate])?;
        self.run("DELETE FROM explored WHERE aggregate = ?", [aggregate])?;
        // The snapshots of another worktree are in another store.
        self.forget_changes(aggregate)
    }

    /// Adds a message row.
    pub(crate) fn add(
        &self,
        aggregate: SessionKey,
        seq: Sequence,
        id: &MessageID,
        kind: MessageKind,
    ) -> Result<(), Abort<LifecycleConflict>> {
        let added = self
            .connection
            .prepare_cached(
                "INSERT INTO message (aggregate, seq, id, type, changed) VALUES (?1, ?2, ?3, ?4, ?2)
                 ON CONFLICT (id) DO NOTHING",
            )?
            .execute(params![aggregate, seq, Packed::message(id), kind])?;
        if added == 0 {
            return Err(Abort::Refused(LifecycleConflict::IdInUse(id.clone())));
        }
        Ok(())
    }

    fn shell_ended(
        &self,
        aggregate: SessionKey,
        seq: Sequence,
        time: Millis,
        call_id: &str,
    ) -> Result<(), StoreError> {
        self.run(
            &format!(
                "UPDATE message SET settled = ?2, completed = ?3, changed = ?2
                 WHERE aggregate = ?1 AND seq = (
                   SELECT max(seq) FROM message
                   WHERE aggregate = ?1 AND type = {shell} AND run = ?4)",
                shell = MessageKind::SHELL
            ),
            params![aggregate, seq, time, call_id],
        )
    }

    /// Adds the usage in the metadata of an event. That of a copied event belongs to its source.
    fn add_usage(&self, aggregate: SessionKey, event: &DurableEvent) -> Result<(), StoreError> {
        let metadata = event.metadata.as_ref().filter(|it| !removal::is_copied(it));
        let usage = metadata.and_then(|it| RequestUsage::deserialize(it.get(USAGE)?).ok());
        usage.map_or(Ok(()), |usage| {
            self.add_spent(aggregate, usage.cost, usage.tokens)
        })
    }

    /// Adds the usage of a step, a summary or a title. Limits every sum to the integers that JavaScript represents
    /// exactly.
    pub(crate) fn add_spent(
        &self,
        aggregate: SessionKey,
        cost: f64,
        tokens: Tokens,
    ) -> Result<(), StoreError> {
        let count = |tokens: u64| tokens.min(MAX_SAFE_INTEGER) as i64;
        self.run(
            "UPDATE session SET cost = min(cost + ?2, ?8),
               tokens_input = min(min(tokens_input, ?8) + ?3, ?8),
               tokens_output = min(min(tokens_output, ?8) + ?4, ?8),
               tokens_reasoning = min(min(tokens_reasoning, ?8) + ?5, ?8),
               tokens_cache_read = min(min(tokens_cache_read, ?8) + ?6, ?8),
               tokens_cache_write = min(min(tokens_cache_write, ?8) + ?7, ?8)
             WHERE aggregate = ?1",
            params![
                aggregate,
                nearest_cost(cost),
                count(tokens.input),
                count(tokens.output),
                count(tokens.reasoning),
                count(tokens.cache.read),
                count(tokens.cache.write),
                MAX_SAFE_INTEGER as i64
            ],
        )
    }

    pub(crate) fn run(&self, sql: &str, values: impl rusqlite::Params) -> Result<(), StoreError> {
        self.connection.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }
}

fn permission_text(info: &SessionRecord) -> Option<String> {
    info.permission.as_deref().map(rules_text)
}

fn rules_text(rules: &[RecordedRule]) -> String {
    serde_json::to_string(rules).expect("a rule is plain text")
}

/// The limits as JSON. Without any limit, an empty object.
fn budget_text(info: &SessionRecord) -> Option<String> {
    serde_json::to_string(info.budget.as_ref()?).ok()
}

fn model_text(model: &ModelRef) -> String {
    serde_json::to_string(model).expect("a model reference is plain text")
}
