//! From stream events to canonical ones.

use std::sync::Arc;

use serde_json::Value;

use super::calls::Calls;
use super::frame::{Event, read, text};
use super::reasoning::Reasoning;
use super::{ITEM_ID, PHASE, PROTOCOL, hosted, metadata, usage};
use crate::error::LlmError;
use crate::event::{BlockId, FinishReason, LlmEvent};
use crate::protocol::failure;
use crate::protocol::framed::{Frames, Sink};
use crate::request::ToolResultValue;

/// More items than any answer has.
const MAX_ITEMS: usize = 16_384;

/// The state of one reply.
pub(super) struct ResponseFrames {
    /// The provider keeps the items of its answers.
    stores: bool,
    reasoning: Vec<Reasoning>,
    texts: Vec<Text>,
    calls: Calls,
    /// Calls that the provider runs and that have no result: identifier and name.
    hosted: Vec<(BlockId, BlockId)>,
    items: usize,
    response: Option<String>,
}

struct Text {
    id: BlockId,
    phase: Option<String>,
    is_begun: bool,
}

impl Frames for ResponseFrames {
    fn frame(&mut self, data: &[u8], sink: &mut Sink<'_>) -> Result<(), LlmError> {
        // Some servers end the stream as another protocol does.
        if data == b"[DONE]" {
            return Ok(());
        }
        let mut event: Event<'_> =
            serde_json::from_slice(data).map_err(|_| sink.undecodable(data))?;
        let kind = event.kind.take().unwrap_or_default();
        let item = event.item_id.take().unwrap_or_default();
        match kind.as_str() {
            "response.created" => {
                self.response = text(&read(event.response), "id").map(str::to_owned);
                Ok(())
            }
            "response.output_item.added" => self.added(&read(event.item), sink),
            "response.output_item.done" => self.done(read(event.item), sink),
            "response.reasoning_summary_part.added" => {
                let part = event.part();
                self.reasoning(&item, sink)?.begin(part, sink)
            }
            "response.reasoning_summary_part.done" => {
                let (part, stores) = (event.part(), self.stores);
                self.reasoning(&item, sink)?.conclude(part, stores, sink)
            }
            "response.reasoning_summary_text.delta"
            | "response.reasoning_summary.delta"
            | "response.reasoning_text.delta" => match event.delta.take() {
                Some(delta) => self.reasoning(&item, sink)?.push(event.part(), delta, sink),
                None => Ok(()),
            },
            "response.output_text.delta" | "response.refusal.delta" => match event.delta.take() {
                Some(delta) => self.say(&item, delta, sink),
                None => Ok(()),
            },
            "response.function_call_arguments.delta" => {
                let delta = event.delta.take().unwrap_or_default();
                self.calls.push(&item, delta, sink)
            }
            "response.completed" | "response.incomplete" => {
                self.finish(&read(event.response), sink)
            }
            "response.failed" => {
                let response = read(event.response);
                let error = response.get("error").cloned();
                sink.emit(failure::event(&error.unwrap_or_default()))
            }
            "error" => sink.emit(failure::event(&reported(&mut event))),
            _ => Ok(()),
        }
    }

    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        sink.end()
    }
}

impl ResponseFrames {
    pub(super) fn new(stores: bool) -> Self {
        Self {
            stores,
            reasoning: Vec::new(),
            texts: Vec::new(),
            calls: Calls::default(),
            hosted: Vec::new(),
            items: 0,
            response: None,
        }
    }

    fn added(&mut self, item: &Value, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let id = text(item, "id").unwrap_or_default();
        match text(item, "type").unwrap_or_default() {
            "reasoning" => {
                let encrypted = encrypted(item);
                self.open_reasoning(id, encrypted, sink)?.begin(0, sink)
            }
            "function_call" => self.calls.start(item, sink),
            "message" => {
                self.text(id, text(item, "phase"), sink)?;
                Ok(())
            }
            kind => match hosted::call(kind, item) {
                Some((name, input)) => self.call_hosted(id, name, input, sink),
                None => Ok(()),
            },
        }
    }

    fn done(&mut self, item: Value, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let id = text(&item, "id").unwrap_or_default().to_owned();
        match text(&item, "type").unwrap_or_default() {
            "reasoning" => {
                let encrypted = encrypted(&item);
                self.reasoning(&id, sink)?.complete(encrypted, sink)
            }
            "function_call" => self.calls.complete(&item, sink),
            kind => match hosted::call(kind, &item) {
                Some((name, input)) => {
                    self.call_hosted(&id, name, input, sink)?;
                    self.settle_hosted(&id, item, sink)
                }
                None => Ok(()),
            },
        }
    }

    /// Announces a call that the provider runs, unless that was done.
    fn call_hosted(
        &mut self,
        id: &str,
        name: String,
        input: Value,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        if self.hosted.iter().any(|(known, _)| **known == *id) {
            return Ok(());
        }
        let (id, name): (BlockId, BlockId) = (id.into(), name.into());
        self.hosted.push((Arc::clone(&id), Arc::clone(&name)));
        let attached = metadata([(ITEM_ID, (*id).into())]);
        sink.emit(LlmEvent::ToolCall {
            id,
            name,
            input,
            provider_executed: true,
            provider_metadata: attached,
        })
    }

    fn settle_hosted(
        &mut self,
        id: &str,
        item: Value,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let Some(call) = self.hosted.iter().position(|(known, _)| **known == *id) else {
            return Ok(());
        };
        let (id, name) = self.hosted.swap_remove(call);
        let error = item.get("error").filter(|error| !error.is_null()).cloned();
        let attached = metadata([(ITEM_ID, (*id).into())]);
        sink.emit(LlmEvent::ToolResult {
            id,
            name,
            result: error.map_or(ToolResultValue::Json(item), ToolResultValue::Error),
            output: None,
            provider_executed: true,
            provider_metadata: attached,
        })
    }

    /// A reasoning item that is spoken of, whether or not it was announced.
    fn reasoning(&mut self, id: &str, sink: &Sink<'_>) -> Result<&mut Reasoning, LlmError> {
        self.open_reasoning(id, Value::Null, sink)
    }

    fn open_reasoning(
        &mut self,
        id: &str,
        encrypted: Value,
        sink: &Sink<'_>,
    ) -> Result<&mut Reasoning, LlmError> {
        let known = self.reasoning.iter().rposition(|known| known.id() == id);
        let at = match known {
            Some(at) => at,
            None => {
                self.count_item(sink)?;
                self.reasoning.push(Reasoning::new(id, encrypted));
                self.reasoning.len() - 1
            }
        };
        Ok(&mut self.reasoning[at])
    }

    fn text(
        &mut self,
        id: &str,
        phase: Option<&str>,
        sink: &Sink<'_>,
    ) -> Result<&mut Text, LlmError> {
        let known = self.texts.iter().rposition(|known| *known.id == *id);
        let at = match known {
            Some(at) => at,
            None => {
                self.count_item(sink)?;
                self.texts.push(Text {
                    id: id.into(),
                    phase: phase.map(str::to_owned),
                    is_begun: false,
                });
                self.texts.len() - 1
            }
        };
        Ok(&mut self.texts[at])
    }

    /// A text stays open until the step ends: more of it may come behind other items.
    fn say(&mut self, id: &str, delta: String, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let stores = self.stores;
        let text = self.text(id, None, sink)?;
        if !text.is_begun {
            text.is_begun = true;
            let item = stores.then(|| (ITEM_ID, id.into()));
            let phase = text.phase.take().map(|phase| (PHASE, phase.into()));
            sink.emit(LlmEvent::TextStart {
                id: Arc::clone(&text.id),
                provider_metadata: metadata(item.into_iter().chain(phase)),
            })?;
        }
        sink.emit(LlmEvent::TextDelta {
            id: Arc::clone(&text.id),
            text: delta,
            provider_metadata: None,
        })
    }

    fn finish(&mut self, response: &Value, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        self.calls.complete_all(sink)?;
        let why = response.get("incomplete_details");
        let why = why.and_then(|details| text(details, "reason"));
        let reason = match why {
            Some("max_output_tokens") => FinishReason::Length,
            Some("content_filter") => FinishReason::ContentFilter,
            _ if !self.calls.is_empty() => FinishReason::ToolCalls,
            None => FinishReason::Stop,
            Some(_) => FinishReason::Unknown,
        };
        let usage = response.get("usage").cloned();
        let id = text(response, "id").or(self.response.as_deref());
        let id = id.map(|id| ("responseId", id.into()));
        let tier = text(response, "service_tier").map(|tier| ("serviceTier", tier.into()));
        sink.finish(
            reason,
            usage.and_then(usage::parse),
            metadata(id.into_iter().chain(tier)),
        )
    }

    fn count_item(&mut self, sink: &Sink<'_>) -> Result<(), LlmError> {
        self.items += 1;
        if self.items <= MAX_ITEMS {
            return Ok(());
        }
        let problem = format!("Too many items in one {PROTOCOL} stream");
        Err(LlmError::invalid_output(sink.route(), problem))
    }
}

fn encrypted(item: &Value) -> Value {
    item.get("encrypted_content").cloned().unwrap_or_default()
}

/// The failure an event reports, in a member of its own or in its members.
fn reported(event: &mut Event<'_>) -> Value {
    match read(event.error) {
        Value::Null => {
            let members = [
                ("code", event.code.take()),
                ("message", event.message.take()),
            ];
            let members = members.into_iter();
            members
                .filter_map(|(name, text)| Some((name.to_owned(), Value::from(text?))))
                .collect()
        }
        error => error,
    }
}
