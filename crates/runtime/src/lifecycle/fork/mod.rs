//! Forks: a new session with the messages of another one, up to a boundary.
//!
//! The fork gets the entries of the source, with the same times, payloads and metadata but new message ids, and its
//! Context Epoch. So its first request begins with the bytes of the last request of the source. The entries are copied
//! in steps into a hidden log, which one transaction publishes.

mod remap;
mod title;

use std::sync::Arc;

use opencode_schema::Record;
use opencode_schema::event::{Interrupted, SessionEvent, SessionRecord};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::model::ModelRef;
use opencode_schema::session::{SessionChoice, SessionInfo, SessionTime};
use opencode_store::{
    Abort, CopiedState, Draft, Epoch, MessagesBefore, Range, Reader, Sequence, SessionKey,
    SessionRow, StoreError, StoredEvent, copied,
};

use self::remap::{PartBoundary, Remap};
use self::title::fork_title;
use super::Lifecycle;
use crate::error::RuntimeError;
use crate::journal::append;
use crate::sessions::is_unconfirmed;
use crate::sessions::slug::slug;

/// Number of entries that are copied in one command.
const STEP: usize = 64;
/// Maximum payload bytes of a command; the entry that exceeds it is included.
const STEP_BYTES: usize = 1024 * 1024;

/// A request to fork a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkSession {
    /// The session to copy.
    pub session_id: SessionID,
    /// The first message that the fork does not get. Without it, the fork gets all messages.
    pub message_id: Option<MessageID>,
    /// A part of that message: the fork gets the message with the parts before this part.
    pub part_id: Option<String>,
}

/// The content of a fork.
struct Plan {
    source: SessionRow,
    /// The record of the source.
    record: SessionRecord,
    messages: MessagesBefore,
    part: Option<PartBoundary>,
    /// The Context Epoch, unless the fork cannot continue it.
    epoch: Option<Epoch>,
    explored: Vec<String>,
    /// The entries of the source that came with imports.
    imported: Vec<Range>,
}

/// A fork that is being written.
struct Copy {
    key: SessionKey,
    id: SessionID,
    remap: Remap,
    agent: Option<String>,
    model: Option<ModelRef>,
    /// True if the choice of the agent, or of the model, came with an import.
    has_imported_agent: bool,
    has_imported_model: bool,
    /// The entries of the fork that came with imports.
    imported: Vec<Range>,
    /// Sequence of the last entry of the fork.
    last: Sequence,
    /// Sequence in the fork of the last entry that the baseline of the source is based on.
    baseline_seq: Sequence,
}

impl Lifecycle {
    /// Forks a session, which must be idle.
    pub(crate) async fn fork(
        self: &Arc<Self>,
        request: ForkSession,
    ) -> Result<SessionInfo, RuntimeError> {
        let Some(_held) = self.coordinator.hold(&request.session_id) else {
            // An unknown session is never busy.
            return Err(RuntimeError::SessionBusy(request.session_id));
        };
        let plan = self.plan(request).await?;
        let store = &self.journal.store;
        let begun = store.write(|it| Ok::<_, Abort<RuntimeError>>(it.begin_copy()?));
        let key = begun.await?;
        let forked = self.write_copy(key, plan).await;
        if forked.is_err() {
            let given_up =
                store.write(move |it| Ok::<_, Abort<RuntimeError>>(it.give_up_copy(key)?));
            given_up.await?;
            self.purge_in_background();
        }
        forked
    }

    async fn plan(&self, request: ForkSession) -> Result<Plan, RuntimeError> {
        let planned = self.journal.store.read(move |db| Ok(plan(db, request)));
        match planned.await? {
            Ok(plan) => Ok(plan),
            Err(Abort::Refused(error)) => Err(error),
            Err(Abort::Failed(error)) => Err(error.into()),
        }
    }

    async fn write_copy(&self, key: SessionKey, plan: Plan) -> Result<SessionInfo, RuntimeError> {
        let new_ids = plan.messages.ids.iter().cloned();
        let new_ids = new_ids.map(|id| (id, MessageID::generate(&self.journal.ids)));
        let mut copy = Copy {
            key,
            id: SessionID::generate(&self.journal.ids),
            remap: Remap::new(new_ids.collect(), plan.part),
            agent: None,
            model: None,
            has_imported_agent: false,
            has_imported_model: false,
            imported: Vec::new(),
            last: Sequence::FIRST,
            baseline_seq: Sequence::FIRST,
        };
        let baseline_seq = plan.epoch.as_ref().map(|epoch| epoch.baseline_seq);
        let (source, mut next) = (plan.source.key, Sequence::FIRST);
        loop {
            let read = self
                .journal
                .store
                .read(move |db| db.log(source, next, STEP, STEP_BYTES));
            let entries = read.await?;
            let Some(last) = entries.last() else {
                break;
            };
            next = last.seq.next();
            let drafts = copy.drafts(entries, baseline_seq, &plan.imported)?;
            if !drafts.is_empty() {
                let id = copy.id.clone();
                let written = self.journal.store.write(move |transaction| {
                    let written = transaction.append_copied(key, &id, drafts);
                    written
                        .map_err(Abort::unexpected)
                        .map_err(Abort::<RuntimeError>::from)
                });
                written.await?;
            }
            if self.closing.is_cancelled() {
                return Err(RuntimeError::Closed);
            }
        }
        let unconfirmed = copy.unconfirmed(&plan.source.info);
        let state = CopiedState {
            imported: std::mem::take(&mut copy.imported),
            unconfirmed,
            has_imported_budget: plan.source.has_imported_budget,
            epoch: plan.epoch.map(|epoch| Epoch {
                baseline_seq: copy.baseline_seq,
                ..epoch
            }),
            explored: plan.explored,
        };
        self.publish(copy, plan.record, state).await
    }

    async fn publish(
        &self,
        copy: Copy,
        source: SessionRecord,
        state: CopiedState,
    ) -> Result<SessionInfo, RuntimeError> {
        let now = self.journal.now();
        let info = SessionRecord {
            parent_id: Some(source.id),
            id: copy.id.clone(),
            slug: slug(&self.journal.ids),
            title: fork_title(&source.title),
            agent: copy.agent,
            model: copy.model,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            time: SessionTime {
                created: now,
                updated: now,
                archived: None,
            },
            cost: None,
            tokens: None,
            revert: None,
            ..source
        };
        let (key, id) = (copy.key, copy.id);
        let published = self.journal.store.write(move |transaction| {
            transaction
                .publish_copy(key, info, now, &state)
                .map_err(Abort::unexpected)?;
            let session = transaction.reader().session(&id)?;
            let session = session.ok_or(Abort::Refused(RuntimeError::SessionNotFound(id)))?;
            // The source may end with work that is due. No crash cut the fork off, so no recovery may continue it.
            if let Some(unfinished) = transaction.reader().interruption(key)? {
                let message_id = Some(unfinished.message_id);
                append(transaction, &session, now, Interrupted { message_id })?;
            }
            Ok(session.info)
        });
        Ok(published.await?)
    }
}

impl Copy {
    /// Records that the newest entry came with an import.
    fn add_imported(&mut self) {
        let seq = self.last;
        match self.imported.last_mut() {
            Some((_, last)) if last.next() == seq => *last = seq,
            _ => self.imported.push((seq, seq)),
        }
    }

    /// Returns the choices of the fork that came with an import and that no caller confirmed, not for the source either.
    fn unconfirmed(&self, source: &SessionInfo) -> Vec<SessionChoice> {
        let open = |choice| is_unconfirmed(source, choice);
        let has_agent = self.has_imported_agent && self.agent.is_some();
        let is_same_model = match (&self.model, &source.model) {
            (Some(own), Some(other)) => own.same_selection(other),
            _ => false,
        };
        let has_model = self.has_imported_model && self.model.is_some();
        [
            (SessionChoice::Directory, open(SessionChoice::Directory)),
            (
                SessionChoice::Agent,
                has_agent && (open(SessionChoice::Agent) || self.agent != source.agent),
            ),
            (
                SessionChoice::Model,
                has_model && (open(SessionChoice::Model) || !is_same_model),
            ),
        ]
        .into_iter()
        .filter_map(|(choice, is_open)| is_open.then_some(choice))
        .collect()
    }

    /// Returns the entries of the fork for entries of the source.
    fn drafts(
        &mut self,
        entries: Vec<StoredEvent>,
        baseline_seq: Option<Sequence>,
        imported: &[Range],
    ) -> Result<Vec<Draft>, StoreError> {
        let mut drafts = Vec::new();
        for entry in entries {
            let payload = entry.payload()?;
            let is_imported = imported
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&entry.seq));
            if let SessionEvent::SessionCreated(created) = payload {
                self.agent = created.info.agent;
                self.model = created.info.model;
                self.has_imported_agent = is_imported;
                self.has_imported_model = is_imported;
                continue;
            }
            let Some(payload) = self.remap.entry(entry.seq, payload) else {
                continue;
            };
            match &payload {
                SessionEvent::AgentSwitched(it) => {
                    self.agent = Some(it.agent.clone());
                    self.has_imported_agent = is_imported;
                }
                SessionEvent::ModelSwitched(it) => {
                    self.model = Some(it.model.clone());
                    self.has_imported_model = is_imported;
                }
                _ => {}
            }
            self.last = self.last.next();
            if is_imported {
                self.add_imported();
            }
            if baseline_seq.is_some_and(|seq| entry.seq <= seq) {
                self.baseline_seq = self.last;
            }
            let metadata: Option<Record> = entry.additive()?;
            // The cost of a step and of a summary, the files of a call and the time of a switch belong to the source.
            let is_owned = matches!(
                payload,
                SessionEvent::StepEnded(_)
                    | SessionEvent::CompactionEnded(_)
                    | SessionEvent::ToolSuccess(_)
                    | SessionEvent::AgentSwitched(_)
                    | SessionEvent::ModelSwitched(_)
            );
            drafts.push(Draft {
                metadata: if is_owned {
                    Some(copied(metadata))
                } else {
                    metadata
                },
                ..Draft::new(entry.timestamp, payload)
            });
        }
        Ok(drafts)
    }
}

/// Reads everything that decides about the content of the fork, except the entries.
fn plan(db: &Reader<'_>, request: ForkSession) -> Result<Plan, Abort<RuntimeError>> {
    let Some(source) = db.session(&request.session_id)? else {
        let error = RuntimeError::SessionNotFound(request.session_id);
        return Err(Abort::Refused(error));
    };
    let (end, part) = boundary(db, &source, request)?;
    let messages = db.messages_before(source.key, end)?;
    let epoch = db.epoch(source.key)?;
    let epoch = epoch.filter(|epoch| {
        let is_whole = messages
            .first_left_out
            .is_none_or(|first| first > epoch.baseline_seq);
        is_whole && !messages.leaves_out_context
    });
    Ok(Plan {
        imported: db.imported(source.key)?,
        record: db.session_record(&source)?,
        epoch,
        explored: db.explored(source.key)?,
        messages,
        part,
        source,
    })
}

/// Returns the sequence before which the messages of the fork are, and the boundary within the last of them.
fn boundary(
    db: &Reader<'_>,
    source: &SessionRow,
    request: ForkSession,
) -> Result<(Option<Sequence>, Option<PartBoundary>), Abort<RuntimeError>> {
    let Some(message_id) = request.message_id else {
        return match request.part_id {
            None => Ok((None, None)),
            Some(_) => Err(Abort::Refused(RuntimeError::InvalidField {
                field: "partID",
                message: "A part belongs to a message; give its messageID, too".to_owned(),
            })),
        };
    };
    let Some(seq) = db.message_seq(source.key, &message_id)? else {
        return Err(Abort::Refused(RuntimeError::MessageNotFound {
            session_id: source.info.id.clone(),
            message_id,
        }));
    };
    let Some(part_id) = request.part_id else {
        return Ok((Some(seq), None));
    };
    let Some(from) = db.part_start(source.key, seq, &part_id)? else {
        return Err(Abort::Refused(RuntimeError::PartNotFound {
            message_id,
            part_id,
        }));
    };
    Ok((Some(seq.next()), Some(PartBoundary { message_id, from })))
}
