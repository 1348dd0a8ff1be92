//! Turns the output of a provider into events: their order, open fragments, and joint commits.
//!
//! Durable events are collected and committed together, before a tool that they record is started. A fragment that
//! follows collected events is announced after their commit, in its place among them.

use std::sync::Arc;

use opencode_llm::{BlockId, CitedSource};
use opencode_location::secret::Redactor;
use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::event::{
    LiveEvent, MessagePartUpdated, Notice, ReasoningDelta, ReasoningEnded, ReasoningStarted,
    SessionEvent, StepFailed, StepStarted, TextDelta, TextEnded, TextStarted, ToolInputDelta,
    ToolInputEnded, ToolInputStarted,
};
use opencode_schema::id::{IdSource, MessageID};
use opencode_schema::message::{
    AssistantPart, CITED_SOURCES, PAUSED_TURN, PROVIDER_METADATA, ProviderMetadata, REFUSAL,
    SessionErrorUnknown, SpanTime, TURN_LIMIT,
};
use opencode_schema::model::ModelRef;
use opencode_schema::prompt::Delivery;
use opencode_store::{Draft, SessionRow};
use serde_json::Value;

use super::cited_sources::CitedSources;
use super::cleaning::clean;
use crate::error::DrainError;
use crate::journal::Journal;

/// Number of events after which a commit is due, so that other sessions do not wait long for the writer.
const MAX_COLLECTED: usize = 256;

/// An open part is announced again once its text has grown by this fraction.
const GROWTH: usize = 16;

/// A block that began and has not ended.
struct Fragment {
    id: BlockId,
    kind: FragmentKind,
    text: String,
    /// Position of its part in the message.
    index: u32,
    began: Millis,
    /// The text in the newest announcement of the part.
    announced: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FragmentKind {
    Text,
    Reasoning,
    ToolInput,
}

/// The events of one Provider Turn.
pub(super) struct Publisher {
    journal: Arc<Journal>,
    session: SessionRow,
    agent: String,
    model: ModelRef,
    message_id: MessageID,
    started: bool,
    open: Vec<Fragment>,
    /// Number of parts of the message.
    parts: u32,
    drafts: Vec<Draft>,
    /// Snapshot of the files at the start of the step.
    snapshot: Option<String>,
    /// The metadata of the request, which the end of the step records.
    report: Option<Record>,
    /// The sources that the answer cites.
    sources: CitedSources,
    /// The directories read by calls whose settlement is collected.
    explored: Vec<String>,
    /// Removes secrets before events are recorded.
    secrets: Redactor,
}

impl Publisher {
    pub(super) fn new(
        journal: Arc<Journal>,
        session: SessionRow,
        agent: String,
        model: ModelRef,
        secrets: Redactor,
    ) -> Self {
        let message_id = MessageID::generate(&journal.ids);
        Self {
            journal,
            session,
            agent,
            model,
            message_id,
            started: false,
            open: Vec::new(),
            parts: 0,
            drafts: Vec::new(),
            snapshot: None,
            report: None,
            sources: CitedSources::default(),
            explored: Vec::new(),
            secrets,
        }
    }

    pub(super) fn message_id(&self) -> &MessageID {
        &self.message_id
    }

    pub(super) fn ids(&self) -> Arc<IdSource> {
        Arc::clone(&self.journal.ids)
    }

    /// True if the step has begun, which means that output of the provider is recorded.
    pub(super) fn has_started(&self) -> bool {
        self.started
    }

    /// Stores the snapshot of the files at the start of the step.
    pub(super) fn remember_snapshot(&mut self, snapshot: Option<String>) {
        self.snapshot = snapshot;
    }

    /// Stores the metadata that the end of the step records of its request.
    pub(super) fn remember_report(&mut self, report: Option<Record>) {
        self.report = report;
    }

    /// Marks the end of the step as paused by the provider, so that the next turn continues it.
    pub(super) fn remember_pause(&mut self) {
        let additive = self.report.get_or_insert_default();
        additive.insert(PAUSED_TURN.to_owned(), true.into());
    }

    /// Marks the end of the step as that of the last turn that the prompt may take.
    pub(super) fn remember_limit(&mut self, limit: u32) {
        let additive = self.report.get_or_insert_default();
        additive.insert(TURN_LIMIT.to_owned(), limit.into());
    }

    /// True if a prompt waits that would join the work.
    pub(super) async fn is_steered(&self) -> Result<bool, DrainError> {
        let key = self.session.key;
        let found = self
            .journal
            .store
            .read(move |reader| reader.has_pending(key, Delivery::Steer));
        Ok(found.await?)
    }

    /// Stores the explanation of a refusal with the end of the step.
    pub(super) fn remember_refusal(&mut self, mut refusal: Value) {
        self.secrets.clean_value(&mut refusal);
        let additive = self.report.get_or_insert_default();
        additive.insert(REFUSAL.to_owned(), refusal);
    }

    /// Stores a source that the answer cites with the end of the step.
    pub(super) fn remember_source(&mut self, source: CitedSource) {
        self.sources.add(source);
    }

    /// Returns a text of the provider without secrets. One that is cut must be cleaned before, because a cut could
    /// split a secret.
    pub(super) fn cleaned(&self, mut text: String) -> String {
        self.secrets.clean(&mut text);
        text
    }

    /// Collects a durable event.
    pub(super) fn push(&mut self, payload: impl Into<SessionEvent>) {
        let mut payload = payload.into();
        clean(&mut payload, &self.secrets);
        let mut draft = Draft::new(self.journal.now(), payload);
        if let SessionEvent::StepEnded(_) | SessionEvent::StepFailed(_) = draft.payload {
            draft.metadata = self.take_report();
        }
        self.drafts.push(draft);
    }

    /// Returns the additive values of the end of the step.
    fn take_report(&mut self) -> Option<Record> {
        if let Some(mut sources) = self.sources.take() {
            self.secrets.clean_value(&mut sources);
            let additive = self.report.get_or_insert_default();
            additive.insert(CITED_SOURCES.to_owned(), sources);
        }
        self.report.take()
    }

    /// Collects the directories that a call read, to commit them with its settlement.
    pub(super) fn remember_explored(&mut self, explored: Vec<String>) {
        self.explored.extend(explored);
    }

    /// Begins the step at the first output, finish or failure, whichever comes first.
    pub(super) fn ensure_step(&mut self) {
        if !self.started {
            self.started = true;
            let snapshot = self.snapshot.take();
            self.push(StepStarted {
                assistant_message_id: self.message_id.clone(),
                agent: self.agent.clone(),
                model: self.model.clone(),
                snapshot,
            });
        }
    }

    /// Ends open fragments and fails the step. Begins the step first if necessary.
    pub(super) fn fail_step(&mut self, error: SessionErrorUnknown) {
        self.end_all();
        self.ensure_step();
        self.push(StepFailed {
            assistant_message_id: self.message_id.clone(),
            error,
        });
    }

    /// True if so many events are collected that they should be committed.
    pub(super) fn is_full(&self) -> bool {
        self.drafts.len() >= MAX_COLLECTED
    }

    /// Commits the collected events.
    pub(super) async fn flush(&mut self) -> Result<(), DrainError> {
        if self.drafts.is_empty() {
            return Ok(());
        }
        let drafts = std::mem::take(&mut self.drafts);
        let explored = std::mem::take(&mut self.explored);
        self.journal.commit(&self.session, drafts, explored).await
    }

    pub(super) fn begin_text(&mut self, id: BlockId) {
        self.ensure_step();
        self.push(TextStarted {
            assistant_message_id: self.message_id.clone(),
            text_id: id.to_string(),
        });
        self.open(id, FragmentKind::Text);
    }

    pub(super) fn begin_reasoning(&mut self, id: BlockId, metadata: Option<ProviderMetadata>) {
        self.ensure_step();
        self.push(ReasoningStarted {
            assistant_message_id: self.message_id.clone(),
            reasoning_id: id.to_string(),
            provider_metadata: metadata,
        });
        self.open(id, FragmentKind::Reasoning);
    }

    pub(super) fn begin_tool_input(&mut self, id: BlockId, name: &str) {
        self.ensure_step();
        self.push(ToolInputStarted {
            assistant_message_id: self.message_id.clone(),
            call_id: id.to_string(),
            name: name.to_owned(),
        });
        self.open(id, FragmentKind::ToolInput);
    }

    /// Adds to an open fragment and announces the addition, after the commit of the collected events.
    pub(super) fn append(&mut self, kind: FragmentKind, id: &BlockId, delta: String) {
        let Some(fragment) = self.find(kind, id) else {
            return;
        };
        fragment.text.push_str(&delta);
        let event = self.delta(kind, id, delta);
        if let Some(last) = self.drafts.last_mut() {
            last.followed_by.push(event);
            return;
        }
        let session = &self.session.info;
        let announcer = &self.journal.announcer;
        announcer.announce(&session.id, Some(&session.location), &event);
        // The input of a call is announced once it is whole.
        if kind != FragmentKind::ToolInput
            && announcer.is_selected(MessagePartUpdated::NAME, &session.id)
        {
            self.announce_part(kind, id);
        }
    }

    /// Announces an open block with its text so far, for clients that select whole parts. The longer the text, the more
    /// has to be added, so that the announcements of a text have a multiple of its size and not its square.
    fn announce_part(&mut self, kind: FragmentKind, id: &BlockId) {
        let (session, message_id) = (&self.session.info, &self.message_id);
        let announcer = &self.journal.announcer;
        let mut open = self.open.iter_mut().rev();
        let Some(fragment) = open.find(|it| it.kind == kind && it.id == *id) else {
            return;
        };
        let added = fragment.text.len().saturating_sub(fragment.announced.len());
        if added == 0 || added * GROWTH < fragment.text.len() {
            return;
        }
        let time = SpanTime {
            created: fragment.began,
            completed: None,
        };
        let (id, mut text) = (id.to_string(), fragment.text.clone());
        // A secret may arrive in pieces. Once it is whole, the text no longer begins as before.
        self.secrets.clean(&mut text);
        let delta = text
            .strip_prefix(fragment.announced.as_str())
            .map(str::to_owned);
        fragment.announced.clone_from(&text);
        let (part, part_time) = match kind {
            FragmentKind::Text => (AssistantPart::Text { id, text }, Some(time)),
            FragmentKind::Reasoning => {
                let (provider_metadata, time) = (None, Some(time));
                let reasoning = AssistantPart::Reasoning {
                    id,
                    text,
                    provider_metadata,
                    time,
                };
                (reasoning, None)
            }
            FragmentKind::ToolInput => return,
        };
        let updated = MessagePartUpdated {
            session_id: session.id.clone(),
            message_id: message_id.clone(),
            index: fragment.index,
            part,
            time: self.journal.now(),
            delta,
            part_time,
            title: None,
            ignored: None,
        };
        announcer.notify(
            Some(&session.location),
            &Notice::MessagePartUpdated(updated),
        );
    }

    /// Ends an open fragment with its whole text. Does nothing if it is not open.
    pub(super) fn end(
        &mut self,
        kind: FragmentKind,
        id: &BlockId,
        metadata: Option<ProviderMetadata>,
    ) {
        let found = self
            .open
            .iter()
            .rposition(|it| it.kind == kind && it.id == *id);
        if let Some(at) = found {
            let fragment = self.open.remove(at);
            self.push_end(fragment, metadata);
        }
    }

    /// Ends all open fragments, in the order in which they began.
    pub(super) fn end_all(&mut self) {
        for fragment in std::mem::take(&mut self.open) {
            self.push_end(fragment, None);
        }
    }

    fn open(&mut self, id: BlockId, kind: FragmentKind) {
        let began = self.drafts.last().map(|draft| draft.timestamp);
        self.open.push(Fragment {
            id,
            kind,
            text: String::new(),
            index: self.parts,
            began: began.unwrap_or_else(|| self.journal.now()),
            announced: String::new(),
        });
        self.parts += 1;
    }

    fn find(&mut self, kind: FragmentKind, id: &BlockId) -> Option<&mut Fragment> {
        self.open
            .iter_mut()
            .rev()
            .find(|it| it.kind == kind && it.id == *id)
    }

    fn push_end(&mut self, fragment: Fragment, provider_metadata: Option<ProviderMetadata>) {
        let assistant_message_id = self.message_id.clone();
        let (id, text) = (fragment.id.to_string(), fragment.text);
        let event: SessionEvent = match fragment.kind {
            FragmentKind::Text => {
                let ended = TextEnded {
                    assistant_message_id,
                    text_id: id,
                    text,
                };
                self.push(ended);
                if let (Some(metadata), Some(draft)) = (provider_metadata, self.drafts.last_mut()) {
                    let mut attached = of_text(&metadata);
                    self.secrets.clean_members(&mut attached);
                    draft.metadata = Some(attached);
                }
                return;
            }
            FragmentKind::Reasoning => ReasoningEnded {
                assistant_message_id,
                reasoning_id: id,
                text,
                provider_metadata,
            }
            .into(),
            FragmentKind::ToolInput => ToolInputEnded {
                assistant_message_id,
                call_id: id,
                text,
            }
            .into(),
        };
        self.push(event);
    }

    fn delta(&self, kind: FragmentKind, id: &BlockId, delta: String) -> LiveEvent {
        let assistant_message_id = self.message_id.clone();
        let id = id.to_string();
        match kind {
            FragmentKind::Text => TextDelta {
                assistant_message_id,
                text_id: id,
                delta,
            }
            .into(),
            FragmentKind::Reasoning => ReasoningDelta {
                assistant_message_id,
                reasoning_id: id,
                delta,
            }
            .into(),
            FragmentKind::ToolInput => ToolInputDelta {
                assistant_message_id,
                call_id: id,
                delta,
            }
            .into(),
        }
    }
}

/// Returns the metadata for the end of a text. That event has no field for the provider's metadata.
fn of_text(metadata: &ProviderMetadata) -> Record {
    let members = metadata.iter();
    let members = members.map(|(name, more)| (name.clone(), more.clone().into()));
    let attached = Value::Object(members.collect());
    Record::from_iter([(PROVIDER_METADATA.to_owned(), attached)])
}
