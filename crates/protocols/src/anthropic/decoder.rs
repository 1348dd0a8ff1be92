//! Decodes stream events into canonical events.

use opencode_llm::canonical::error::LlmError;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::blocks::Blocks;
use super::frame::{self, Block, Delta, Document, Event, Start};
use super::metadata;
use super::usage::Counts;
use crate::ends::End;
use crate::failure;
use crate::framed::{Frames, Sink};
use crate::loose_objects::One;
use crate::stream_data::DONE;

/// The state of one reply.
#[derive(Default)]
pub(super) struct MessageFrames {
    blocks: Blocks,
    counts: Counts,
    /// True if the server sent the end of the message without a reason.
    is_complete: bool,
    /// True if nothing of the answer follows that end.
    is_last: bool,
}

impl Frames for MessageFrames {
    fn frame(&mut self, data: &[u8], sink: &mut Sink<'_>) -> Result<(), LlmError> {
        // Some proxies end the stream with the marker of another protocol.
        if data == DONE {
            return Ok(());
        }
        let mut mended = Vec::new();
        let mut event: Event<'_> = sink.parse(data, &mut mended)?;
        let kind = event.kind.take().unwrap_or_default();
        let index = event.index.0;
        match kind.as_str() {
            "message_start" => {
                self.counts.take(usage_within(event.message));
                Ok(())
            }
            "content_block_start" => {
                self.is_last = false;
                let One(start) = sink.read(event.content_block).unwrap_or_default();
                // Without a start, the pieces of the block tell what it is.
                match start {
                    Some(start) => self.blocks.start(index, start, sink),
                    None => Ok(()),
                }
            }
            "content_block_delta" => {
                self.is_last = false;
                let One(delta) = sink.read(event.delta).unwrap_or_default();
                match delta {
                    Some(delta) => self.blocks.delta(index, delta, sink),
                    None => Ok(()),
                }
            }
            "content_block_stop" => self.blocks.stop(index, sink),
            "message_delta" => {
                self.counts.take(event.usage);
                let One(end) = sink.read(event.delta).unwrap_or_default();
                self.message_delta(end.unwrap_or_default(), sink)
            }
            "message_stop" if self.is_complete => self.finish(&End::UNSAID, Map::new(), sink),
            "message_stop" => sink.end(),
            "message" => self.document(data, sink),
            "error" => sink.emit(failure::named(data)),
            // Some proxies report their own errors in the format of another protocol.
            "" if event.error.is_some() => sink.emit(failure::named(data)),
            _ => Ok(()),
        }
    }

    /// Without `message_stop`, a connection that broke may look like the end.
    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        if self.is_last && !self.blocks.has_open() {
            self.finish(&End::UNSAID, Map::new(), sink)
        } else {
            sink.end()
        }
    }
}

impl MessageFrames {
    /// Handles a whole answer, which some servers send in place of a stream.
    fn document(&mut self, data: &[u8], sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let (mut mended, mut again) = (Vec::new(), Vec::new());
        let document: Document<'_> = sink.parse(data, &mut mended)?;
        let end: frame::End = sink.parse(data, &mut again)?;
        self.counts.take(document.usage);
        let blocks: Option<Vec<&RawValue>> = document
            .content
            .and_then(|content| serde_json::from_str(content.get()).ok());
        match blocks {
            Some(blocks) => blocks
                .into_iter()
                .try_for_each(|block| self.block(block, sink))?,
            // A text alone is one block.
            None => {
                let text = document
                    .content
                    .and_then(|it| serde_json::from_str(it.get()).ok());
                let start = text.map(Start::of_plain_text);
                start.map_or(Ok(()), |start| self.blocks.start(None, start, sink))?;
            }
        }
        self.message_delta(end, sink)?;
        if self.is_complete {
            self.finish(&End::UNSAID, Map::new(), sink)?;
        }
        Ok(())
    }

    /// Handles a block of a whole answer.
    fn block(&mut self, block: &RawValue, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let Ok(mut read) = serde_json::from_str::<Block<'_>>(block.get()) else {
            return Ok(());
        };
        let kind = read.kind.take().unwrap_or_default();
        if let ("tool_use" | "server_tool_use", Some(input)) = (kind.as_str(), read.input) {
            let start = Start::of_call(kind, read.id, read.name);
            self.blocks.start(None, start, sink)?;
            let input = Delta::of_input(input.get().to_owned());
            self.blocks.delta(None, input, sink)?;
        } else {
            let One(start) = serde_json::from_str(block.get()).unwrap_or_default();
            self.blocks.start(None, start.unwrap_or_default(), sink)?;
            let citations = read.citations.as_array().cloned();
            for citation in citations.into_iter().flatten() {
                self.blocks
                    .delta(None, Delta::of_citation(citation), sink)?;
            }
        }
        self.blocks.stop(None, sink)
    }

    fn message_delta(&mut self, mut end: frame::End, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let reason = end.stop_reason.take();
        let Some(stop) = reason.as_deref().and_then(End::of) else {
            self.is_complete = true;
            self.is_last = true;
            return Ok(());
        };
        let mut members = Map::new();
        if let Some(sequence) = end.stop_sequence.take() {
            members.insert("stopSequence".to_owned(), sequence.into());
        }
        if stop.is_failure() {
            let stop = stop.with_detail(end.stop_details["explanation"].take());
            return sink.finish(&stop, false, None, None);
        }
        if let Some(explanation) = explanation(&end.stop_details) {
            members.insert("refusal".to_owned(), explanation);
        }
        if reason.as_deref() == Some("pause_turn") {
            members.insert("pauseTurn".to_owned(), Value::Bool(true));
        }
        self.finish(&stop, members, sink)
    }

    fn finish(
        &mut self,
        end: &End,
        members: Map<String, Value>,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        self.blocks.complete(sink)?;
        let usage = std::mem::take(&mut self.counts).usage();
        sink.finish(end, false, usage, metadata(members))
    }
}

fn usage_within(message: Option<&RawValue>) -> Option<&RawValue> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow, default)]
        usage: Option<&'a RawValue>,
    }
    let message: Message<'_> = serde_json::from_str(message?.get()).ok()?;
    message.usage
}

/// Returns the reasons of a refusal. The other members are for clients that try another model.
fn explanation(details: &Value) -> Option<Value> {
    let texts = ["category", "explanation"].into_iter().filter_map(|name| {
        let text = details.get(name)?.as_str()?;
        Some((name.to_owned(), text.into()))
    });
    let reasons: Map<String, Value> = texts.collect();
    (!reasons.is_empty()).then_some(Value::Object(reasons))
}
