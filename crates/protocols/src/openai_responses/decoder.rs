//! Decodes stream events into canonical events.

use std::sync::Arc;

use opencode_llm::canonical::cited_source::{CitedSource, MAX_SOURCES};
use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::{BlockId, LlmEvent};
use opencode_llm::canonical::request::ToolResultValue;
use serde_json::{Value, json};

use super::calls::Calls;
use super::frame::{Event, item, message, text};
use super::reasoning::Reasoning;
use super::{PHASE, PROTOCOL, hosted, item_id, metadata, usage};
use crate::ends::End;
use crate::failure;
use crate::framed::{Frames, Sink};
use crate::openai_annotations::{self, Annotations};
use crate::stream_data::DONE;
use crate::tool_input;

/// Maximum number of items. No answer has more.
const MAX_ITEMS: usize = 16_384;

/// Maximum number of open items. No answer has more at once.
const MAX_OPEN: usize = 256;

/// The state of one reply.
pub(super) struct ResponseFrames {
    /// The provider stores the items of its answers.
    stores: bool,
    /// Announced items that are not complete: their position in the answer and their identifier.
    open: Vec<(i64, String)>,
    reasoning: Vec<Reasoning>,
    texts: Vec<Text>,
    calls: Calls,
    /// The calls that the provider runs.
    hosted: Vec<HostedCall>,
    items: usize,
    response: Option<String>,
}

struct Text {
    /// The identifier of the item. Empty if the server sent none.
    item: String,
    id: BlockId,
    phase: Option<String>,
    is_begun: bool,
    is_over: bool,
}

struct HostedCall {
    item: String,
    id: BlockId,
    name: BlockId,
    is_settled: bool,
}

impl Frames for ResponseFrames {
    fn frame(&mut self, data: &[u8], sink: &mut Sink<'_>) -> Result<(), LlmError> {
        // Some servers end the stream with the marker of another protocol.
        if data == DONE {
            return Ok(());
        }
        let mut mended = Vec::new();
        let mut event: Event<'_> = sink.parse(data, &mut mended)?;
        let kind = event.kind.take().unwrap_or_default();
        let place = event.output_index.0;
        let of = self.known(event.item_id.take().unwrap_or_default(), place);
        match kind.as_str() {
            "response.created" => {
                let response: Value = sink.read(event.response).unwrap_or_default();
                self.response = text(&response, "id").map(str::to_owned);
                Ok(())
            }
            "response.output_item.added" => {
                let item = item(sink.read(event.item).unwrap_or_default());
                self.open(place, &item);
                self.added(place, &item, sink)
            }
            "response.output_item.done" => {
                let mut item = item(sink.read(event.item).unwrap_or_default());
                let id = text(&item, "id").unwrap_or_default().to_owned();
                let known = self.known(id, place);
                if !known.is_empty() && item.is_object() {
                    self.open.retain(|(_, open)| *open != known);
                    item["id"] = known.into();
                }
                self.done(place, item, sink)
            }
            "response.reasoning_summary_part.added" => {
                let part = event.part();
                self.reasoning(&of, sink)?.begin(part, sink)
            }
            "response.reasoning_summary_part.done" => {
                let (part, stores) = (event.part(), self.stores);
                self.reasoning(&of, sink)?.end_part(part, stores, sink)
            }
            "response.reasoning_summary_text.delta"
            | "response.reasoning_summary.delta"
            | "response.reasoning_text.delta" => match event.delta.take_prose() {
                Some(delta) => self.reasoning(&of, sink)?.push(event.part(), delta, sink),
                None => Ok(()),
            },
            "response.output_text.delta" | "response.refusal.delta" => {
                match event.delta.take_prose() {
                    Some(delta) => self.text_delta(&of, delta, sink),
                    None => Ok(()),
                }
            }
            // Some servers send an annotation only here, without the complete message.
            "response.output_text.annotation.added" => {
                let annotation = sink.read(event.annotation).unwrap_or_default();
                sink.cite(openai_annotations::source(&annotation))
            }
            "response.function_call_arguments.delta" => {
                let delta = event.delta.take_json();
                self.calls.push(place, &of, delta, sink)
            }
            "response.function_call_arguments.done" => match sink.read(event.arguments) {
                Some(whole) => self.calls.complete_input(place, &of, whole, sink),
                None => Ok(()),
            },
            "response.completed"
            | "response.done"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                let response = sink.read(event.response).unwrap_or_default();
                self.finish(kind.trim_start_matches("response."), response, sink)
            }
            // Some servers answer with one document.
            "" if event.output.is_some() => {
                let response = sink.parse(data, &mut Vec::new())?;
                self.finish("completed", response, sink)
            }
            "error" => sink.emit(failure::named(data)),
            // Some proxies report their own errors in the format of another protocol.
            "" if event.error.is_some() => sink.emit(failure::named(data)),
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
            open: Vec::new(),
            reasoning: Vec::new(),
            texts: Vec::new(),
            calls: Calls::default(),
            hosted: Vec::new(),
            items: 0,
            response: None,
        }
    }

    /// Records the position of an item in the answer.
    fn open(&mut self, place: Option<i64>, item: &Value) {
        if let (Some(place), Some(id)) = (place, text(item, "id"))
            && self.open.len() < MAX_OPEN
        {
            self.open.retain(|(other, _)| *other != place);
            self.open.push((place, id.to_owned()));
        }
    }

    /// Returns the identifier with which an item was announced. Some servers send a different
    /// identifier with each event; then the position in the answer identifies the item.
    fn known(&self, id: String, place: Option<i64>) -> String {
        if self.open.iter().any(|(_, open)| *open == id) {
            return id;
        }
        let open = self.open.iter().find(|(at, _)| Some(*at) == place);
        open.map_or(id, |(_, open)| open.clone())
    }

    fn added(
        &mut self,
        place: Option<i64>,
        item: &Value,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let id = text(item, "id").unwrap_or_default();
        match text(item, "type").unwrap_or_default() {
            "reasoning" => {
                let encrypted = encrypted(item);
                let mut known = self.reasoning.iter();
                let known = known.rposition(|it| it.id() == id && !it.is_over());
                let item = self.reasoning_at(known, id, encrypted, sink)?;
                item.begin(0, sink)
            }
            "function_call" => self.calls.start(place, item, sink),
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

    fn done(
        &mut self,
        place: Option<i64>,
        mut item: Value,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let id = text(&item, "id").unwrap_or_default().to_owned();
        match text(&item, "type").unwrap_or_default() {
            "reasoning" => {
                let encrypted = encrypted(&item);
                self.reasoning(&id, sink)?.complete(encrypted, sink)
            }
            "function_call" => self.calls.complete(place, item, sink),
            "message" => {
                // Some servers send a text only as a whole.
                let whole = message(&item);
                if !whole.is_empty() && !self.text(&id, None, sink)?.is_begun {
                    self.text_delta(&id, whole, sink)?;
                }
                self.annotate(&id, &mut item, sink)?;
                self.text(&id, None, sink)?.is_over = true;
                Ok(())
            }
            kind => match hosted::call(kind, &item) {
                Some((name, input)) => {
                    self.call_hosted(&id, name, input, sink)?;
                    self.settle_hosted(&id, item, sink)
                }
                None => Ok(()),
            },
        }
    }

    /// Announces a provider-executed call, unless it is already announced.
    fn call_hosted(
        &mut self,
        item: &str,
        name: String,
        input: Value,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let is_known =
            |known: &HostedCall| known.item == item && !(item.is_empty() && known.is_settled);
        if self.hosted.iter().any(is_known) {
            return Ok(());
        }
        let (id, name): (BlockId, BlockId) = (sink.call_id(Some(item)), name.into());
        self.hosted.push(HostedCall {
            item: item.to_owned(),
            id: Arc::clone(&id),
            name: Arc::clone(&name),
            is_settled: false,
        });
        tool_input::check_size(self.hosted.len(), 0, sink)?;
        let input = tool_input::checked(input).unwrap_or_default();
        sink.emit(LlmEvent::ToolCall {
            id,
            name,
            input,
            provider_executed: true,
            provider_metadata: metadata(item_id(item)),
        })
    }

    fn settle_hosted(
        &mut self,
        of: &str,
        mut item: Value,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let mut open = self.hosted.iter_mut().filter(|call| !call.is_settled);
        let Some(call) = open.find(|call| call.item == of) else {
            return Ok(());
        };
        call.is_settled = true;
        let (id, name) = (Arc::clone(&call.id), Arc::clone(&call.name));
        let error = item.get("error").filter(|error| !error.is_null()).cloned();
        let attached = metadata(item_id(of));
        let output = hosted::take_image(&mut item).filter(|_| error.is_none());
        sink.emit(LlmEvent::ToolResult {
            id,
            name,
            result: error.map_or(ToolResultValue::Json(item), ToolResultValue::Error),
            output,
            provider_executed: true,
            provider_metadata: attached,
        })
    }

    /// Returns a reasoning item. Creates it if it was not announced. An item that is over is known by its identifier
    /// only.
    fn reasoning(&mut self, id: &str, sink: &Sink<'_>) -> Result<&mut Reasoning, LlmError> {
        let is_meant = |it: &Reasoning| it.id() == id && !(id.is_empty() && it.is_over());
        let known = self.reasoning.iter().rposition(is_meant);
        self.reasoning_at(known, id, Value::Null, sink)
    }

    /// Returns the reasoning item at a position, or a new one.
    fn reasoning_at(
        &mut self,
        at: Option<usize>,
        id: &str,
        encrypted: Value,
        sink: &Sink<'_>,
    ) -> Result<&mut Reasoning, LlmError> {
        let at = match at {
            Some(at) => at,
            None => {
                self.count_item(sink)?;
                let others = self.reasoning.iter().filter(|it| it.id() == id).count();
                let name = block_name(id, others);
                self.reasoning.push(Reasoning::new(id, name, encrypted));
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
        let is_meant = |it: &Text| it.item == id && !(id.is_empty() && it.is_over);
        let at = match self.texts.iter().rposition(is_meant) {
            Some(at) => at,
            None => {
                self.count_item(sink)?;
                let others = self.texts.iter().filter(|it| it.item == id).count();
                self.texts.push(Text {
                    item: id.to_owned(),
                    id: block_name(id, others).into(),
                    phase: phase.map(str::to_owned),
                    is_begun: false,
                    is_over: false,
                });
                self.texts.len() - 1
            }
        };
        Ok(&mut self.texts[at])
    }

    /// Handles text. The text stays open until the step ends, because more of it may follow other items.
    fn text_delta(&mut self, id: &str, delta: String, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let stores = self.stores;
        let text = self.text(id, None, sink)?;
        if !text.is_begun {
            text.is_begun = true;
            let item = item_id(id).filter(|_| stores);
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

    /// Attaches the annotations of a complete message to its text. The places in several parts do not fit the text,
    /// which is joined, so only their sources are reported.
    fn annotate(
        &mut self,
        id: &str,
        item: &mut Value,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let parts = item["content"].as_array_mut().map(Vec::as_mut_slice);
        let parts = parts.unwrap_or_default();
        let mut annotations = Annotations::default();
        for part in &mut *parts {
            annotations.add(openai_annotations::take_from(part), sink)?;
        }
        let attached = annotations.take().filter(|_| parts.len() == 1);
        let text = self.text(id, None, sink)?;
        match attached.filter(|_| text.is_begun) {
            Some(attached) => sink.emit(LlmEvent::TextDelta {
                id: Arc::clone(&text.id),
                text: String::new(),
                provider_metadata: Some(attached),
            }),
            None => Ok(()),
        }
    }

    /// Handles the end of the response. `kind` is the end that the event names.
    fn finish(
        &mut self,
        kind: &str,
        mut response: Value,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        let end = end_of(kind, &response);
        if end.is_failure() {
            return sink.finish(&end, false, None, None);
        }
        if let Some(Value::Array(items)) = response.get_mut("output").map(Value::take) {
            self.not_streamed(items, sink)?;
        }
        self.calls.complete_all(sink)?;
        // xAI lists all pages that it read.
        let pages = response.get("citations").and_then(Value::as_array);
        let pages = pages.into_iter().flatten().filter_map(Value::as_str);
        for page in pages.take(MAX_SOURCES) {
            sink.cite(Some(CitedSource::at(page, None)))?;
        }
        let usage = response.get("usage").cloned();
        let id = text(&response, "id").or(self.response.as_deref());
        let id = id.map(|id| ("responseId", id.into()));
        let tier = text(&response, "service_tier").map(|tier| ("serviceTier", tier.into()));
        sink.finish(
            &end,
            !self.calls.is_empty(),
            usage.and_then(usage::parse),
            metadata(id.into_iter().chain(tier)),
        )
    }

    /// Handles the items of a whole response, from servers that do not stream them. Of a kind that was streamed, all
    /// items were.
    fn not_streamed(&mut self, items: Vec<Value>, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let has_reasoning = !self.reasoning.is_empty();
        let has_texts = self.texts.iter().any(|text| text.is_begun);
        let (has_calls, has_hosted) = (!self.calls.is_empty(), !self.hosted.is_empty());
        for (place, it) in (0..).zip(items) {
            let it = item(it);
            let is_streamed = match text(&it, "type").unwrap_or_default() {
                "reasoning" => has_reasoning,
                "message" => has_texts,
                "function_call" => has_calls,
                _ => has_hosted,
            };
            if !is_streamed {
                self.done(Some(place), it, sink)?;
            }
        }
        Ok(())
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

/// Returns the end of a response: the reason why it is incomplete, otherwise its status. An event that names a bad
/// end counts more than the status, which some servers do not update.
fn end_of(kind: &str, response: &Value) -> End {
    let error = response
        .get("error")
        .filter(|error| failure::is_told(error));
    let details = response.get("incomplete_details");
    let why = details.and_then(|details| text(details, "reason"));
    let status = text(response, "status");
    let names = match kind {
        "completed" | "done" if error.is_none() => [why, status],
        "incomplete" => [why, None],
        _ => [Some("failed"), None],
    };
    let named = names.into_iter().flatten().find_map(End::of);
    let end = named.or_else(|| End::of(kind));
    let end = end.unwrap_or_else(|| End::failed(kind));
    end.with_detail(match error {
        Some(Value::String(text)) => json!({ "message": text }),
        error => error.cloned().unwrap_or_default(),
    })
}

/// Returns the name of the block of an item. `others` is the number of earlier items with the same identifier.
fn block_name(id: &str, others: usize) -> String {
    match others {
        0 => id.to_owned(),
        others => format!("{id}-{}", others + 1),
    }
}

fn encrypted(item: &Value) -> Value {
    item.get("encrypted_content").cloned().unwrap_or_default()
}
