//! Builds an assistant message from its part rows and their entries.

use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::event::{EventProvider, SessionEvent, StepStarted};
use opencode_schema::message::{
    AssistantMessage, AssistantPart, PROVIDER_METADATA, SpanTime, StepSnapshot,
    TEXT_PROVIDER_METADATA, ToolProvider, ToolState, ToolTime,
};
use rusqlite::Row;
use serde_json::{Map, Value};

use crate::error::StoreError;
use crate::format::entry::StoredEvent;
use crate::integer::Sequence;
use crate::projections::kind::PartKind;
use crate::projections::messages::{Entries, MessageRow, entry, extract};

/// A row of `part`: the sequences of the entries that define one part.
pub(crate) struct PartRow {
    kind: PartKind,
    name: String,
    started: Sequence,
    input: Option<Sequence>,
    called: Option<Sequence>,
    progress: Option<Sequence>,
    settled: Option<Sequence>,
    pruned: Option<Millis>,
}

impl PartRow {
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            kind: row.get(0)?,
            name: row.get(1)?,
            started: row.get(2)?,
            input: row.get(3)?,
            called: row.get(4)?,
            progress: row.get(5)?,
            settled: row.get(6)?,
            pruned: row.get(7)?,
        })
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = Sequence> {
        // The message does not contain the start time of a text.
        let started = (self.kind != PartKind::TEXT).then_some(self.started);
        let story = [
            started,
            self.input,
            self.called,
            self.progress,
            self.settled,
        ];
        story.into_iter().flatten()
    }

    /// Returns the entries at which a text starts and ends. Its part does not have their times.
    pub(crate) fn text_span(&self) -> Option<(Sequence, Option<Sequence>)> {
        (self.kind == PartKind::TEXT).then_some((self.started, self.settled))
    }

    /// True if an entry defines a part of the row.
    pub(crate) fn is_defined_by(&self, entry: Sequence) -> bool {
        self.started == entry || self.entries().any(|other| other == entry)
    }

    pub(crate) fn read_part(&self, entries: &Entries) -> Result<AssistantPart, StoreError> {
        match self.kind {
            PartKind::TEXT => self.text(entries),
            PartKind::REASONING => self.reasoning(entries),
            PartKind::TOOL => self.tool(entries),
            other => Err(StoreError::corrupt(
                self.started,
                format!("there are no parts of kind {other}"),
            )),
        }
    }

    fn text(&self, entries: &Entries) -> Result<AssistantPart, StoreError> {
        let ended = extract(entries, self.settled, |it| match it {
            SessionEvent::TextEnded(it) => Some(it.text),
            _ => None,
        })?;
        Ok(AssistantPart::Text {
            id: self.name.clone(),
            text: ended.map(|(_, text)| text).unwrap_or_default(),
        })
    }

    /// Returns the provider metadata of a text, with the id of the text.
    fn attached(&self, entries: &Entries) -> Result<Option<(String, Value)>, StoreError> {
        let (PartKind::TEXT, Some(ended)) = (self.kind, self.settled) else {
            return Ok(None);
        };
        let metadata = entry(entries, ended)?.additive()?;
        let attached = metadata.and_then(|mut metadata| metadata.remove(PROVIDER_METADATA));
        Ok(attached.map(|attached| (self.name.clone(), attached)))
    }

    fn reasoning(&self, entries: &Entries) -> Result<AssistantPart, StoreError> {
        let started = entry(entries, self.started)?;
        let SessionEvent::ReasoningStarted(begin) = started.payload()? else {
            return Err(StoreError::corrupt(self.started, "it starts no reasoning"));
        };
        let ended = extract(entries, self.settled, |it| match it {
            SessionEvent::ReasoningEnded(it) => Some(it),
            _ => None,
        })?;
        let time = SpanTime {
            created: started.timestamp,
            completed: ended.as_ref().map(|(at, _)| *at),
        };
        let (text, metadata) = match ended {
            Some((_, end)) => (end.text, end.provider_metadata),
            None => (String::new(), None),
        };
        Ok(AssistantPart::Reasoning {
            id: self.name.clone(),
            text,
            provider_metadata: metadata.or(begin.provider_metadata),
            time: Some(time),
        })
    }

    fn tool(&self, entries: &Entries) -> Result<AssistantPart, StoreError> {
        let started = entry(entries, self.started)?;
        let SessionEvent::ToolInputStarted(call) = started.payload()? else {
            return Err(StoreError::corrupt(
                self.started,
                "it does not start a call",
            ));
        };
        let (state, provider) = self.tool_state(entries)?;
        let when = |seq: Option<Sequence>| Some(entries.get(&seq?)?.timestamp);
        let time = ToolTime {
            created: started.timestamp,
            ran: when(self.called),
            completed: when(self.settled),
            pruned: self.pruned,
        };
        let (id, name, state) = (call.call_id, call.name, Box::new(state));
        Ok(AssistantPart::Tool {
            id,
            name,
            provider,
            state,
            time,
        })
    }

    fn tool_state(
        &self,
        entries: &Entries,
    ) -> Result<(ToolState, Option<ToolProvider>), StoreError> {
        let called = extract(entries, self.called, |it| match it {
            SessionEvent::ToolCalled(it) => Some(it),
            _ => None,
        })?;
        let progress = extract(entries, self.progress, |it| match it {
            SessionEvent::ToolProgress(it) => Some((it.structured, it.content)),
            _ => None,
        })?;
        let settled = extract(entries, self.settled, |it| match it {
            SessionEvent::ToolSuccess(it) => Some(Ok(it)),
            SessionEvent::ToolFailed(it) => Some(Err(it)),
            _ => None,
        })?;
        let (structured, content) = progress.map(|(_, it)| it).unwrap_or_default();
        let called = called.map(|(_, called)| called);
        let provider = called.as_ref().map(|called| call_side(&called.provider));
        let input = called.map(|called| called.input);
        Ok(match settled {
            Some((_, Ok(it))) => {
                let state = ToolState::Completed {
                    input: input.unwrap_or_default(),
                    content: it.content,
                    output_paths: Some(it.output_paths.unwrap_or_default()),
                    structured: it.structured,
                    result: it.result,
                };
                (state, Some(settled_side(provider, it.provider)))
            }
            Some((_, Err(it))) => {
                let state = ToolState::Error {
                    input: input.unwrap_or_default(),
                    content,
                    structured,
                    error: it.error,
                    result: it.result,
                };
                (state, Some(settled_side(provider, it.provider)))
            }
            None => match input {
                Some(input) => (
                    ToolState::Running {
                        input,
                        structured,
                        content,
                    },
                    provider,
                ),
                None => (
                    ToolState::Pending {
                        input: self.argument_text(entries)?,
                    },
                    provider,
                ),
            },
        })
    }

    fn argument_text(&self, entries: &Entries) -> Result<String, StoreError> {
        let ended = extract(entries, self.input, |it| match it {
            SessionEvent::ToolInputEnded(it) => Some(it.text),
            _ => None,
        })?;
        Ok(ended.map(|(_, text)| text).unwrap_or_default())
    }
}

/// Returns the message that a Provider Turn projects to.
pub(crate) fn assistant(
    started: StepStarted,
    metadata: Option<Record>,
    time: SpanTime,
    row: &MessageRow,
    parts: &[PartRow],
    entries: &Entries,
) -> Result<AssistantMessage, StoreError> {
    let mut message = AssistantMessage {
        id: started.assistant_message_id,
        metadata,
        time,
        agent: started.agent,
        model: started.model,
        content: parts
            .iter()
            .map(|part| part.read_part(entries))
            .collect::<Result<_, _>>()?,
        snapshot: started.snapshot.map(|start| StepSnapshot {
            start: Some(start),
            ..StepSnapshot::default()
        }),
        finish: None,
        cost: None,
        tokens: None,
        error: None,
        output: None,
    };
    let output = extract(entries, row.output, |it| match it {
        SessionEvent::OutputProduced(it) => Some(it.output),
        _ => None,
    })?;
    message.output = output.map(|(_, output)| output);
    if let Some(entry) = row.settled.map(|seq| entry(entries, seq)).transpose()? {
        settle(&mut message, entry)?;
    }
    let attached = parts.iter().map(|part| part.attached(entries));
    let attached = attached.filter_map(Result::transpose);
    let attached: Map<String, Value> = attached.collect::<Result<_, _>>()?;
    if !attached.is_empty() {
        let metadata = message.metadata.get_or_insert_default();
        metadata.insert(TEXT_PROVIDER_METADATA.to_owned(), attached.into());
    }
    Ok(message)
}

fn settle(message: &mut AssistantMessage, entry: &StoredEvent) -> Result<(), StoreError> {
    match entry.payload()? {
        SessionEvent::StepEnded(ended) => {
            message.finish = Some(ended.finish);
            message.cost = Some(ended.cost);
            message.tokens = Some(ended.tokens);
            if ended.snapshot.is_some() || ended.files.is_some() {
                let snapshot = message.snapshot.get_or_insert_default();
                snapshot.end = ended.snapshot;
                snapshot.files = ended.files;
            }
        }
        SessionEvent::StepFailed(failed) => {
            message.finish = Some("error".into());
            message.error = Some(failed.error);
        }
        _ => {
            return Err(StoreError::corrupt(entry.seq, "it does not end a step"));
        }
    }
    if let Some(more) = entry.additive()? {
        message.metadata.get_or_insert_default().extend(more);
    }
    Ok(())
}

fn call_side(provider: &EventProvider) -> ToolProvider {
    let EventProvider { executed, metadata } = provider.clone();
    ToolProvider {
        executed,
        metadata,
        result_metadata: None,
    }
}

/// The provider metadata of the call and of the result are separate and never overwrite each other.
fn settled_side(call: Option<ToolProvider>, settlement: EventProvider) -> ToolProvider {
    let call = call.unwrap_or_default();
    ToolProvider {
        executed: settlement.executed || call.executed,
        metadata: call.metadata,
        result_metadata: settlement.metadata,
    }
}
